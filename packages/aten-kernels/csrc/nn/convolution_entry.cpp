// conv1d, conv_transpose2d and relatives: convolution with the batch dimension made sure of and padding by name
// resolved.
#include "flambeau/ops/convolution.h"
#include "flambeau/ops/slice.h"
#include "flambeau/ops/squeeze.h"
#include "flambeau/ops/unsqueeze.h"
#include "nn/compute.h"

namespace flambeau {

using namespace nn;

namespace {

struct Batched {
  Tensor input;
  bool added;
};

Batched batched(const char* op, const Tensor& input, int64_t spatial) {
  FL_CHECK_SHAPE(input.dim() == spatial + 1 || input.dim() == spatial + 2, "Expected ", spatial + 1,
                 "D (unbatched) or ", spatial + 2, "D (batched) input to ", op,
                 ", but got input of size: ", input.sizes());
  if (input.dim() == spatial + 2) return {input, false};
  return {ops::unsqueeze(input, 0), true};
}

Tensor run(const char* op, const Tensor& input, const Tensor& weight, const Tensor& bias, IntList stride,
           IntList padding, IntList dilation, bool transposed, IntList output_padding, int64_t groups,
           int64_t spatial) {
  FL_CHECK_SHAPE(weight.dim() >= 3, "weight should have at least three dimensions, got ", weight.dim());
  const Batched b = batched(op, input, spatial);
  const std::vector<int64_t> st = spread(op, "stride", stride, spatial), pad = spread(op, "padding", padding, spatial),
                             dil = spread(op, "dilation", dilation, spatial),
                             extra = spread(op, "output_padding", output_padding, spatial);
  Tensor out = ops::convolution(b.input, weight, bias, st, pad, dil, transposed, extra, groups);
  return b.added ? ops::squeeze(out, 0) : out;
}

// 'same': the total padding of a dimension is dilation * (kernel - 1); an odd one has the larger half at the end. Such
// a dimension is padded by the larger half on both sides, and the first position of the result dropped.
Tensor run_same(const char* op, const Tensor& input, const Tensor& weight, const Tensor& bias, IntList stride,
                IntList dilation, int64_t groups, int64_t spatial) {
  FL_CHECK_SHAPE(weight.dim() == spatial + 2, "Expected ", spatial + 2, "-dimensional weight for ", op, ", got sizes ",
                 weight.sizes());
  const std::vector<int64_t> st = spread(op, "stride", stride, spatial),
                             dil = spread(op, "dilation", dilation, spatial), none(static_cast<size_t>(spatial), 0);
  std::vector<int64_t> pad(static_cast<size_t>(spatial));
  for (size_t d = 0; d < pad.size(); ++d) {
    FL_CHECK(st[d] == 1, "padding='same' is not supported for strided convolutions, got stride ", st);
    FL_CHECK(dil[d] > 0, "dilation should be greater than zero, got ", dil);
    pad[d] = (dil[d] * (weight.sizes()[d + 2] - 1) + 1) / 2;
  }
  const Batched b = batched(op, input, spatial);
  Tensor out = ops::convolution(b.input, weight, bias, st, pad, dil, false, none, groups);
  for (size_t d = 0; d < pad.size(); ++d)
    if (dil[d] * (weight.sizes()[d + 2] - 1) % 2)
      out = ops::slice(out, static_cast<int64_t>(d) + 2, 1, std::nullopt, 1);
  return b.added ? ops::squeeze(out, 0) : out;
}

Tensor run_named(const char* op, const Tensor& input, const Tensor& weight, const Tensor& bias, IntList stride,
                 std::string_view padding, IntList dilation, int64_t groups, int64_t spatial) {
  if (padding == "valid") return run(op, input, weight, bias, stride, {0}, dilation, false, {0}, groups, spatial);
  FL_CHECK(padding == "same", "Invalid padding string: '", padding, "'; allowed are 'valid' and 'same'");
  return run_same(op, input, weight, bias, stride, dilation, groups, spatial);
}

}  // namespace

#define FL_CONV(N)                                                                                                    \
  Tensor conv##N##d(const Tensor& input, const Tensor& weight, const Tensor& bias, IntList stride, IntList padding,   \
                    IntList dilation, int64_t groups) {                                                               \
    return run("conv" #N "d", input, weight, bias, stride, padding, dilation, false, {0}, groups, N);                 \
  }                                                                                                                   \
  Tensor conv##N##d_named(const Tensor& input, const Tensor& weight, const Tensor& bias, IntList stride,              \
                          std::string_view padding, IntList dilation, int64_t groups) {                               \
    return run_named("conv" #N "d", input, weight, bias, stride, padding, dilation, groups, N);                       \
  }                                                                                                                   \
  Tensor conv_transpose##N##d(const Tensor& input, const Tensor& weight, const Tensor& bias, IntList stride,          \
                              IntList padding, IntList output_padding, int64_t groups, IntList dilation) {            \
    return run("conv_transpose" #N "d", input, weight, bias, stride, padding, dilation, true, output_padding, groups, \
               N);                                                                                                    \
  }

FL_CONV(1)
FL_CONV(2)
FL_CONV(3)

}  // namespace flambeau
