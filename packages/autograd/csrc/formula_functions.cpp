#include "formula_functions.h"

#include <cmath>

#include "flambeau/ops/add.h"
#include "flambeau/ops/copy_.h"
#include "flambeau/ops/div.h"
#include "flambeau/ops/expand.h"
#include "flambeau/ops/mul.h"
#include "flambeau/ops/ne.h"
#include "flambeau/ops/neg.h"
#include "flambeau/ops/reciprocal.h"
#include "flambeau/ops/reshape.h"
#include "flambeau/ops/rsub.h"
#include "flambeau/ops/sub.h"
#include "flambeau/ops/to.h"
#include "flambeau/ops/unsqueeze.h"
#include "flambeau/ops/zeros.h"

namespace flambeau::autograd {

namespace {

// Operators of families that this file must not wait for at compile time are found by name.
template <class... Args> Tensor by_name(const char* name, const Args&... args) {
  return call<Tensor>(get_operator("aten", name), args...);
}

}  // namespace

Tensor operator+(const Tensor& a, const Tensor& b) { return ops::add(a, b); }
Tensor operator-(const Tensor& a, const Tensor& b) { return ops::sub(a, b); }
Tensor operator*(const Tensor& a, const Tensor& b) { return ops::mul(a, b); }
Tensor operator/(const Tensor& a, const Tensor& b) { return ops::div(a, b); }
Tensor operator-(const Tensor& a) { return ops::neg(a); }
Tensor operator*(const Tensor& a, const Scalar& b) { return ops::mul(a, wrapped_number(b)); }
Tensor operator*(const Scalar& a, const Tensor& b) { return b * a; }
Tensor operator/(const Tensor& a, const Scalar& b) { return ops::div(a, wrapped_number(b)); }
Tensor operator/(const Scalar& a, const Tensor& b) { return ops::reciprocal(b) * a; }
Tensor operator+(const Tensor& a, const Scalar& b) { return ops::add(a, wrapped_number(b)); }
Tensor operator-(const Tensor& a, const Scalar& b) { return ops::sub(a, wrapped_number(b)); }
Tensor operator-(const Scalar& a, const Tensor& b) { return ops::rsub(b, wrapped_number(a)); }

Tensor conj(const Tensor& t) { return t.is_complex() ? by_name("conj", t) : t; }
Tensor scaled(const Tensor& grad, const Scalar& a) { return a.equals(1) ? grad : grad * a.conj(); }
Tensor real_part(const Tensor& t) { return by_name("real", t); }
Tensor to_dtype(const Tensor& t, DType dtype) { return ops::to(t, dtype, false, false, std::nullopt); }
Tensor zeros_like_options(IntList sizes, TensorOptions options) {
  return ops::zeros(sizes, options.dtype, std::nullopt, options.device, std::nullopt);
}

Tensor sum_to(const Tensor& t, IntList sizes) {
  const int64_t extra = t.dim() - static_cast<int64_t>(sizes.size());
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < t.dim(); ++d)
    if (d < extra || (sizes[static_cast<size_t>(d - extra)] == 1 && t.sizes()[static_cast<size_t>(d)] != 1))
      dims.push_back(d);
  Tensor r = dims.empty() ? t : by_name("sum.dim_IntList", t, IntList(dims), true, std::nullopt);
  return extra > 0 ? ops::reshape(r, sizes) : r;
}

bool has_nan(const Tensor& t) { return item(by_name("any", ops::ne(t, t))).to_bool(); }

Tensor scatter_strided(const Tensor& store, const Tensor& grad, const Geometry& view, const Geometry& base) {
  std::vector<int64_t> flat(static_cast<size_t>(grad.numel()));
  std::vector<bool> seen(static_cast<size_t>(store.numel()));
  bool meets_itself = false;
  for (int64_t i = 0; i < grad.numel(); ++i) {
    int64_t rest = i, at = view.offset;
    for (size_t d = view.sizes.size(); d-- > 0;) {
      at += rest % view.sizes[d] * view.strides[d];
      rest /= view.sizes[d];
    }
    flat[static_cast<size_t>(i)] = at;
    meets_itself = meets_itself || seen[static_cast<size_t>(at)];
    seen[static_cast<size_t>(at)] = true;
  }
  const int64_t n = grad.numel();
  Tensor index = empty({n}, {DType::Int64, {}});
  std::copy(flat.begin(), flat.end(), index.data_as<int64_t>());
  const Tensor filled = by_name("index_add", store, int64_t{0}, index, ops::reshape(grad, {n}), 1);
  return call<Tensor>(get_operator("aten", "as_strided"), filled, IntList(base.sizes), IntList(base.strides),
                      std::optional<int64_t>(base.offset));
}

Tensor restore_dims(const Tensor& t, IntList dims, int64_t ndim, bool keepdim) {
  if (keepdim || ndim == 0) return t;
  std::vector<bool> reduced(static_cast<size_t>(ndim), dims.empty());
  for (int64_t d : dims) reduced[static_cast<size_t>(wrap_dim(d, ndim))] = true;
  Tensor r = t;
  for (int64_t d = 0; d < ndim; ++d)
    if (reduced[static_cast<size_t>(d)]) r = ops::unsqueeze(r, d);
  return r;
}

Tensor expand_reduced(const Tensor& grad, IntList sizes, std::optional<IntList> dims, bool keepdim) {
  return ops::expand(restore_dims(grad, dims.value_or(IntList{}), static_cast<int64_t>(sizes.size()), keepdim), sizes);
}

int64_t reduced_count(IntList sizes, std::optional<IntList> dims) {
  int64_t n = 1;
  const int64_t ndim = static_cast<int64_t>(sizes.size());
  if (!dims || dims->empty()) {
    for (int64_t s : sizes) n *= s;
    return n;
  }
  for (int64_t d : *dims) n *= ndim == 0 ? 1 : sizes[static_cast<size_t>(wrap_dim(d, ndim))];
  return n;
}

}  // namespace flambeau::autograd
