// Derivatives of reductions and scans.
#include <cmath>

#include "flambeau/ops/_where.h"
#include "flambeau/ops/abs.h"
#include "flambeau/ops/amax.h"
#include "flambeau/ops/amin.h"
#include "flambeau/ops/cumprod.h"
#include "flambeau/ops/cumsum.h"
#include "flambeau/ops/eq.h"
#include "flambeau/ops/exp.h"
#include "flambeau/ops/log.h"
#include "flambeau/ops/logcumsumexp.h"
#include "flambeau/ops/lt.h"
#include "flambeau/ops/mean.h"
#include "flambeau/ops/ne.h"
#include "flambeau/ops/neg.h"
#include "flambeau/ops/pow.h"
#include "flambeau/ops/prod.h"
#include "flambeau/ops/reshape.h"
#include "flambeau/ops/sgn.h"
#include "flambeau/ops/sum.h"
#include "formula_functions.h"

namespace flambeau::autograd {

namespace {

Tensor number(double v) { return wrapped_number(Scalar(v)); }
Tensor flip(const Tensor& t, int64_t dim) {
  return call<Tensor>(get_operator("aten", "flip"), t, IntList(std::span<const int64_t>(&dim, 1)));
}
IntList one(const int64_t& d) { return {std::span<const int64_t>(&d, 1)}; }
Tensor sum_over(const Tensor& t, IntList dims, bool keepdim) {
  return ops::sum(t, std::optional<IntList>(dims), keepdim);
}

bool has_zero(const Tensor& t) {
  return item(call<Tensor>(get_operator("aten", "any"), ops::eq(t, number(0)))).to_bool();
}

// Product of all other elements of a lane: what comes before times what comes after. Right with any number of zeros.
Tensor product_of_others(const Tensor& self, int64_t dim) {
  const int64_t n = self.dim() ? self.size(dim) : 1;
  if (self.dim() == 0 || n <= 1) return zeros_like_options(self.sizes(), self.options()) + Scalar(1);
  std::vector<int64_t> edge = self.sizes().vec();
  edge[static_cast<size_t>(wrap_dim(dim, self.dim()))] = 1;
  const Tensor ones = zeros_like_options(edge, self.options()) + Scalar(1);
  const auto slice = [&](const Tensor& t, int64_t from, int64_t to) {
    return call<Tensor>(get_operator("aten", "slice.Tensor"), t, dim, std::optional<int64_t>(from),
                        std::optional<int64_t>(to), int64_t{1});
  };
  const auto cat = [&](const Tensor& a, const Tensor& b) {
    const Tensor list[2] = {a, b};
    return call<Tensor>(get_operator("aten", "cat"), TensorList(list, 2), dim);
  };
  const Tensor before = ops::cumprod(cat(ones, slice(self, 0, n - 1)), dim);
  const Tensor after = flip(ops::cumprod(cat(ones, slice(flip(self, dim), 0, n - 1)), dim), dim);
  return before * after;
}

}  // namespace

Tensor prod_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  if (self.dim() == 0) return grad;
  if (!has_zero(self)) return grad * conj(result / self);
  const Tensor flat = ops::reshape(self, {self.numel()});
  return ops::reshape(grad * conj(product_of_others(flat, 0)), self.sizes());
}

Tensor prod_dim_backward(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim, bool keepdim) {
  if (self.dim() == 0) return grad;
  const Tensor g = restore_dims(grad, one(dim), self.dim(), keepdim);
  if (!has_zero(self)) return g * conj(restore_dims(result, one(dim), self.dim(), keepdim) / self);
  return g * conj(product_of_others(self, dim));
}

Tensor extreme_backward(const Tensor& grad, const Tensor& self, const Tensor& result, IntList dim, bool keepdim) {
  const Tensor r = restore_dims(result, dim, self.dim(), keepdim), g = restore_dims(grad, dim, self.dim(), keepdim);
  Tensor mask = ops::eq(self, r);
  if (self.is_floating_point())
    mask = call<Tensor>(get_operator("aten", "logical_or"), mask,
                        call<Tensor>(get_operator("aten", "logical_and"), ops::ne(self, self), ops::ne(r, r)));
  const Tensor m = to_dtype(mask, grad.dtype());
  return m * (g / sum_over(m, dim, true));  // elements that tie share the gradient evenly
}

Tensor aminmax_backward(const Tensor& gmin, const Tensor& gmax, const Tensor& self, const Tensor& min,
                        const Tensor& max, std::optional<int64_t> dim, bool keepdim) {
  const IntList dims = dim ? one(*dim) : IntList{};
  Tensor out;
  if (gmin.defined()) out = extreme_backward(gmin, self, min, dims, keepdim);
  if (gmax.defined()) {
    const Tensor b = extreme_backward(gmax, self, max, dims, keepdim);
    out = out.defined() ? out + b : b;
  }
  return out;
}

Tensor scatter_back(const Tensor& grad, IntList sizes, const Tensor& indices, int64_t dim) {
  if (!grad.defined()) return Tensor();
  const Tensor zeros = zeros_like_options(sizes, grad.options());
  return call<Tensor>(get_operator("aten", "scatter_add"), zeros, dim, indices, grad);
}

Tensor index_backward(const Tensor& grad, IntList sizes, const Tensor& indices, int64_t dim, bool keepdim) {
  if (!grad.defined()) return Tensor();
  const int64_t ndim = static_cast<int64_t>(sizes.size());
  if (ndim == 0) return grad;
  return scatter_back(restore_dims(grad, one(dim), ndim, keepdim), sizes,
                      restore_dims(indices, one(dim), ndim, keepdim), dim);
}

Tensor norm_backward(const Tensor& grad, const Tensor& self, const Tensor& result, double p, IntList dim,
                     bool keepdim) {
  const Tensor n = restore_dims(result, dim, self.dim(), keepdim), g = restore_dims(grad, dim, self.dim(), keepdim);
  if (p == 0) return {};
  if (p == 1) return ops::sgn(self) * g;
  if (p == 2) return masked(self * (g / n), ops::ne(n, number(0)));
  if (std::isinf(p)) {
    const Tensor magnitude = ops::abs(self);
    // Magnitudes of complex numbers are rounded differently inside the reduction: compare like with like.
    const Tensor extreme = !self.is_complex() ? n
                           : p > 0            ? ops::amax(magnitude, dim, true)
                                              : ops::amin(magnitude, dim, true);
    Tensor m = ops::eq(magnitude, extreme);
    m = call<Tensor>(get_operator("aten", "logical_or"), m,
                     call<Tensor>(get_operator("aten", "logical_and"), ops::ne(magnitude, magnitude), ops::ne(n, n)));
    const Tensor weight = to_dtype(m, g.dtype());
    return ops::sgn(self) * (weight * (g / sum_over(weight, dim, true)));
  }
  if (p < 1) {
    const Tensor scaled_self =
        masked(ops::sgn(self) * ops::pow(ops::abs(self), number(p - 1)), ops::ne(self, number(0)));
    return scaled_self * (g * ops::pow(n, number(1 - p)));
  }
  if (p < 2)
    return masked(ops::sgn(self) * ops::pow(ops::abs(self), number(p - 1)) * (g / ops::pow(n, number(p - 1))),
                  ops::ne(n, number(0)));
  return masked(self * ops::pow(ops::abs(self), number(p - 2)) * (g / ops::pow(n, number(p - 1))),
                ops::ne(n, number(0)));
}

Tensor var_backward(const Tensor& grad, const Tensor& self, double correction, IntList dim, bool keepdim) {
  const double n = static_cast<double>(reduced_count(self.sizes(), dim));
  const Tensor mean = ops::mean(self, std::optional<IntList>(dim), true);
  return restore_dims(grad, dim, self.dim(), keepdim) * Scalar(2.0 / (n - correction)) * (self - mean);
}

Tensor var_mean_backward(const Tensor& gvar, const Tensor& gmean, const Tensor& self, double correction, IntList dim,
                         bool keepdim) {
  Tensor out;
  if (gvar.defined()) out = var_backward(gvar, self, correction, dim, keepdim);
  if (gmean.defined()) {
    const Tensor g = expand_reduced(gmean, self.sizes(), dim, keepdim) /
                     Scalar(static_cast<double>(reduced_count(self.sizes(), dim)));
    out = out.defined() ? out + g : g;
  }
  return out;
}

Tensor first_equal_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  return extreme_backward(grad, self, result, IntList{}, false);
}

Tensor reverse_cumsum(const Tensor& t, int64_t dim) {
  if (t.dim() == 0 || t.numel() == 0) return t;
  return flip(ops::cumsum(flip(t, dim), dim), dim);
}

Tensor cumprod_backward(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim) {
  if (self.dim() == 0 || self.numel() == 0) return grad;
  if (!has_zero(self)) return reverse_cumsum(grad * conj(result), dim) / conj(self);
  // d out[j] / d x[i], i <= j: the product of the others up to j. One column at a time, as a sum of scans.
  const int64_t n = self.size(dim);
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < n; ++i) {
    const auto slice = [&](const Tensor& t, int64_t from, int64_t to) {
      return call<Tensor>(get_operator("aten", "slice.Tensor"), t, dim, std::optional<int64_t>(from),
                          std::optional<int64_t>(to), int64_t{1});
    };
    const Tensor head = ops::prod(slice(self, 0, i), dim, true);
    Tensor sum = slice(grad, i, i + 1) * conj(head);
    if (i + 1 < n) {
      const Tensor tail = ops::cumprod(slice(self, i + 1, n), dim) * head;
      sum = sum + sum_over(slice(grad, i + 1, n) * conj(tail), one(dim), true);
    }
    parts.push_back(sum);
  }
  return call<Tensor>(get_operator("aten", "cat"), TensorList(parts), dim);
}

Tensor logcumsumexp_backward(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim) {
  if (self.dim() == 0 || self.numel() == 0) return grad;
  if (self.is_complex()) {  // a complex logarithm carries the sign
    const Tensor weights = ops::log(grad) - conj(result);
    return ops::exp(flip(ops::logcumsumexp(flip(weights, dim), dim), dim) + conj(self));
  }
  // split by sign so that everything stays in the log domain
  const Tensor tiny = number(-INFINITY);
  const auto half = [&](const Tensor& g) {
    const Tensor lg = ops::_where(ops::lt(number(0), g), ops::log(ops::abs(g)), tiny);
    return ops::exp(flip(ops::logcumsumexp(flip(lg - result, dim), dim), dim) + self);
  };
  return half(grad) - half(-grad);
}

}  // namespace flambeau::autograd
