// Derivatives of operators that move elements: concatenation, scattering, selection.
#include "flambeau/core/half.h"
#include "flambeau/ops/_to_copy.h"
#include "flambeau/ops/constant_pad_nd.h"
#include "flambeau/ops/div.h"
#include "flambeau/ops/eq.h"
#include "flambeau/ops/expand.h"
#include "flambeau/ops/gather.h"
#include "flambeau/ops/logical_and.h"
#include "flambeau/ops/masked_fill.h"
#include "flambeau/ops/masked_select.h"
#include "flambeau/ops/narrow.h"
#include "flambeau/ops/reshape.h"
#include "flambeau/ops/scatter.h"
#include "flambeau/ops/scatter_add.h"
#include "flambeau/ops/scatter_reduce.h"
#include "flambeau/ops/where.h"
#include "formula_functions.h"

namespace flambeau::autograd {

std::vector<int64_t> negated(IntList values) {
  std::vector<int64_t> out = values.vec();
  for (int64_t& v : out) v = -v;
  return out;
}

Tensor cast_back(const Tensor& grad, DType dtype, Device device) {
  const Tensor t = grad.is_complex() && !is_complex(dtype) ? real_part(grad) : grad;
  if (t.dtype() == dtype && t.device() == device) return t;
  return ops::_to_copy(t, dtype, std::nullopt, device, std::nullopt, false, std::nullopt);
}

std::vector<Tensor> cat_backward(const Tensor& grad, const std::vector<Shape>& shapes, int64_t dim_) {
  std::vector<Tensor> out;
  const int64_t dim = wrap_dim(dim_, grad.dim());
  int64_t at = 0;
  for (const Shape& s : shapes) {
    if (s.sizes().size() == 1 && s.sizes()[0] == 0 &&
        grad.dim() != 1) {  // an empty vector among tensors of another rank
      out.push_back(zeros_like_options({0}, grad.options()));
      continue;
    }
    const int64_t size = s.sizes()[static_cast<size_t>(dim)];
    out.push_back(cast_back(ops::narrow(grad, dim, at, size), s.options().dtype, s.options().device));
    at += size;
  }
  return out;
}

Tensor scattered_backward(const Tensor& grad, int64_t dim, const Tensor& index, IntList sizes) {
  if (index.numel() == 0) return zeros_like_options(sizes, grad.options());
  const Tensor g = ops::gather(grad, dim, index, false);
  if (g.sizes() == sizes) return g;
  std::vector<int64_t> pad;
  for (size_t d = sizes.size(); d-- > 0;) pad.insert(pad.end(), {0, sizes[d] - g.sizes()[d]});
  return ops::constant_pad_nd(g, pad, Scalar(0));
}

Tensor spread_index(const Tensor& index, IntList sizes, int64_t dim) {
  if (sizes.empty()) return ops::reshape(index, {});
  std::vector<int64_t> line(sizes.size(), 1);
  line[static_cast<size_t>(wrap_dim(dim, static_cast<int64_t>(sizes.size())))] = index.numel();
  return ops::expand(ops::reshape(index, line), sizes);
}

namespace {

Tensor equals(const Tensor& t, int64_t number) { return ops::eq(t, wrapped_number(Scalar(number))); }

struct Reduced {
  const Tensor &grad, &self, &index, &src, &result;
  int64_t dim;
  bool include_self;

  Tensor zeros() const { return zeros_like_options(self.sizes(), grad.options()); }
  Tensor gathered(const Tensor& t) const { return scattered_backward(t, dim, index, src.sizes()); }
  Tensor as_number(const Tensor& mask) const { return to_dtype(mask, grad.dtype()); }
};

std::tuple<Tensor, Tensor> mean_backward(const Reduced& r) {
  Tensor counts = r.include_self ? r.zeros() + Scalar(1) : r.zeros();
  counts = ops::scatter_add(counts, r.dim, r.index, zeros_like_options(r.index.sizes(), r.grad.options()) + Scalar(1));
  counts = ops::masked_fill(counts, equals(counts, 0), Scalar(1));
  const Tensor share = r.grad / counts;
  return {share, r.gathered(share)};
}

// Elements that tie share the gradient.
std::tuple<Tensor, Tensor> extremum_backward(const Reduced& r) {
  const Tensor self_hit = r.as_number(ops::eq(r.self, r.result));
  const Tensor src_hit = r.as_number(ops::eq(r.src, r.gathered(r.result)));
  const Tensor own = r.include_self ? self_hit : ops::scatter(self_hit, r.dim, r.index, Scalar(0));
  const Tensor hits = ops::scatter_add(own, r.dim, r.index, src_hit);
  const Tensor share = r.grad / ops::masked_fill(hits, equals(hits, 0), Scalar(1));
  return {share * self_hit, src_hit * r.gathered(share)};
}

// Each factor's derivative is the product of the others, which is taken without dividing by zero.
std::tuple<Tensor, Tensor> product_backward(const Reduced& r) {
  const Tensor self_zero = equals(r.self, 0);
  const Tensor nonzero_self = ops::masked_fill(r.self, self_zero, Scalar(1));
  const Tensor others = ops::scatter_reduce(nonzero_self, r.dim, r.index, r.src, "prod", r.include_self);
  const Tensor grad_self = r.grad * conj(others) / conj(nonzero_self);
  const Tensor src_zero = equals(r.src, 0);
  const Tensor zeros_met = r.gathered(ops::scatter_add(r.zeros(), r.dim, r.index, r.as_number(src_zero)));
  const Tensor only_zero = ops::logical_and(src_zero, equals(zeros_met, 1));
  const Tensor without = ops::scatter_reduce(r.self, r.dim, r.index, ops::masked_fill(r.src, only_zero, Scalar(1)),
                                             "prod", r.include_self);
  const Tensor divided = r.gathered(r.grad * conj(r.result)) / conj(ops::masked_fill(r.src, src_zero, Scalar(1)));
  return {grad_self, ops::where(only_zero, r.gathered(r.grad * conj(without)), divided)};
}

}  // namespace

std::tuple<Tensor, Tensor> scatter_reduce_backward(const Tensor& grad, const Tensor& self, int64_t dim,
                                                   const Tensor& index, const Tensor& src, const std::string& reduce,
                                                   bool include_self, const Tensor& result) {
  if (index.numel() == 0) return {grad, zeros_like_options(src.sizes(), src.options())};
  const Reduced r{grad, self, index, src, result, dim, include_self};
  std::tuple<Tensor, Tensor> out;
  if (reduce == "sum")
    out = {grad, r.gathered(grad)};
  else if (reduce == "mean")
    out = mean_backward(r);
  else if (reduce == "prod")
    out = product_backward(r);
  else
    out = extremum_backward(r);
  if (!include_self) std::get<0>(out) = ops::scatter(std::get<0>(out), dim, index, Scalar(0));
  return out;
}

Tensor masked_scatter_backward(const Tensor& grad, const Tensor& mask, IntList sizes) {
  const Tensor picked = ops::masked_select(grad, mask);
  int64_t numel = 1;
  for (const int64_t s : sizes) numel *= s;
  return ops::reshape(ops::constant_pad_nd(picked, {0, numel - picked.numel()}, Scalar(0)), sizes);
}

double dropout_scale(double p, std::optional<bool> train, DType dtype) {
  if (!train.value_or(true)) return 1.0;
  if (p == 1) return 0.0;
  if (dtype == DType::Float64) return 1.0 / (1.0 - p);
  const float scale = 1.0f / static_cast<float>(1.0 - p);
  return dtype == DType::Float16    ? static_cast<float>(Half(scale))
         : dtype == DType::BFloat16 ? static_cast<float>(BFloat16(scale))
                                    : scale;
}

}  // namespace flambeau::autograd
