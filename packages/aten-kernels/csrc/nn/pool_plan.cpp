#include "nn/pool_plan.h"

namespace flambeau::nn {

Planes planes_of(IntList sizes, int64_t spatial, MemoryFormat format) {
  int64_t plane = 1, total = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    total *= sizes[d];
    if (d + static_cast<size_t>(spatial) >= sizes.size()) plane *= sizes[d];
  }
  if (format == MemoryFormat::Contiguous) return {plane ? total / plane : 0, 1};
  return {sizes[0], sizes[1]};
}

void check_pool_input(const char* op, const Tensor& self, int64_t spatial) {
  FL_CHECK_SHAPE(self.dim() == spatial + 1 || self.dim() == spatial + 2, op, ": Expected ", spatial + 1, "D or ",
                 spatial + 2,
                 "D (batch mode) tensor with optional 0 dim batch size for input, but got: ", self.sizes());
  const bool batched = self.dim() == spatial + 2;
  for (int64_t d = batched; d < self.dim(); ++d)
    FL_CHECK_SHAPE(self.sizes()[d] > 0, op, ": Expected ", spatial + 1, "D or ", spatial + 2,
                   "D (batch mode) tensor with optional 0 dim batch size for input, but got: ", self.sizes());
}

namespace {

int64_t floor_divide(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

// Of one dim; stands before the look at the input, which an empty batch would end.
void check_padding(const char* op, int64_t k, int64_t pad, int64_t dil) {
  FL_CHECK(k > 0, op, ": kernel size should be greater than zero, but got ", k);
  FL_CHECK(dil > 0, op, ": dilation should be greater than zero, but got ", dil);
  FL_CHECK(pad >= 0, "pad must be non-negative, but got pad: ", pad);
  int64_t effective;
  FL_CHECK(!__builtin_mul_overflow(k - 1, dil, &effective) && effective < (int64_t{1} << 60), op, ": kernel size ", k,
           " with dilation ", dil, " overflows");
  FL_CHECK(pad <= (effective + 1) / 2, "pad should be at most half of effective kernel size, but got pad=", pad,
           ", kernel_size=", k, " and dilation=", dil);
}

int64_t output_size(const char* op, int64_t in, int64_t k, int64_t stride, int64_t pad, int64_t dil, bool ceil_mode) {
  FL_CHECK(stride > 0 && stride < (int64_t{1} << 60), op,
           ": stride should be greater than zero, and below 2^60, but got ", stride);
  const int64_t effective = (k - 1) * dil;
  const int64_t room = in + 2 * pad - effective - 1;
  int64_t out = floor_divide(room + (ceil_mode ? stride - 1 : 0), stride) + 1;
  if (ceil_mode && (out - 1) * stride >= in + pad) --out;
  FL_CHECK_SHAPE(out >= 1, op, ": given input size ", in, ", calculated output size ", out,
                 ". Output size is too small");
  return out;
}

}  // namespace

PoolPlan plan_pool(const char* op, int64_t spatial, const Tensor& self, IntList kernel, IntList stride, IntList padding,
                   IntList dilation, bool ceil_mode) {
  const std::vector<int64_t> k = spread(op, "kernel_size", kernel, spatial),
                             st = stride.empty() ? k : spread(op, "stride", stride, spatial),
                             pad = spread(op, "padding", padding, spatial),
                             dil = spread(op, "dilation", dilation, spatial);
  for (size_t i = 0; i < pad.size(); ++i) check_padding(op, k[i], pad[i], dil[i]);
  check_pool_input(op, self, spatial);
  PoolPlan p;
  p.sizes = self.sizes().vec();
  for (int64_t d = 0; d < 3; ++d) {
    const bool real = d >= 3 - spatial;
    const size_t i = static_cast<size_t>(d - (3 - spatial));
    p.in[d] = real ? self.sizes()[self.dim() - 3 + d] : 1;
    p.k[d] = real ? k[i] : 1;
    p.stride[d] = real ? st[i] : 1;
    p.pad[d] = real ? pad[i] : 0;
    p.dil[d] = real ? dil[i] : 1;
    p.out[d] = real ? output_size(op, p.in[d], p.k[d], p.stride[d], p.pad[d], p.dil[d], ceil_mode) : 1;
    if (real) p.sizes[static_cast<size_t>(self.dim() - 3 + d)] = p.out[d];
  }
  checked_numel(p.sizes, op);
  return p;
}

}  // namespace flambeau::nn
