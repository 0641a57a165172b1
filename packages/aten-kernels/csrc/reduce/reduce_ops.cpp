// The reduction operators: which dtype they compute in, what they refuse.
#include <cmath>
#include <tuple>

#include "pointwise/convert.h"
#include "reduce/reduce_tensor.h"

namespace flambeau {

namespace {

using Dims = std::optional<IntList>;
using Type = std::optional<DType>;

Tensor as(const Tensor& t, DType dtype) { return t.dtype() == dtype ? t : converted(t, dtype); }
IntList list(const Dims& dims) { return dims.value_or(IntList{}); }

// Sums and products of integers are int64; small unsigned ones too.
Tensor accumulate(const char* op, std::string_view kernel, const Tensor& self, IntList dims, bool keepdim, Type dtype) {
  const DType want = dtype.value_or(is_integral(self.dtype(), true) ? DType::Int64 : self.dtype());
  return reduce_tensor(op, kernel, as(self, want), dims, keepdim)[0];
}

void needs_elements(const char* op, const Tensor& self, IntList dims) {
  if (self.numel() != 0) return;
  const auto flags = reduced_flags(self, dims);
  for (int64_t d = 0; d < self.dim(); ++d)
    FL_CHECK_INDEX(!flags[static_cast<size_t>(d)] || self.sizes()[static_cast<size_t>(d)] != 0, op,
                   "(): Expected reduction dim ", d, " to have non-zero size.");
}

void needs_any(const char* op, const Tensor& self) {
  FL_CHECK(
      self.numel() != 0, op,
      "(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.");
}

Tensor mean_of(const Tensor& self, IntList dims, bool keepdim, Type dtype) {
  const DType want = dtype.value_or(self.dtype());
  FL_CHECK(is_floating(want) || is_complex(want), "mean(): could not infer output dtype. ",
           dtype ? "Optional" : "Input",
           " dtype must be either a floating point or complex dtype. Got: ", dtype_name(want));
  return reduce_tensor("mean", "mean", as(self, want), dims, keepdim)[0];
}

IntList one(const int64_t& d) { return {std::span<const int64_t>(&d, 1)}; }

}  // namespace

Tensor sum_all(const Tensor& self, Type dtype) { return accumulate("sum", "sum", self, {}, false, dtype); }
Tensor sum_dims(const Tensor& self, Dims dim, bool keepdim, Type dtype) {
  return accumulate("sum", "sum", self, list(dim), keepdim, dtype);
}
Tensor nansum_dims(const Tensor& self, Dims dim, bool keepdim, Type dtype) {
  FL_CHECK(!self.is_complex(), "nansum on CPU does not support complex inputs");
  if (is_integral(self.dtype(), true)) return sum_dims(self, dim, keepdim, dtype);
  return accumulate("nansum", "nansum", self, list(dim), keepdim, dtype);
}
Tensor mean_all(const Tensor& self, Type dtype) { return mean_of(self, {}, false, dtype); }
Tensor mean_dims(const Tensor& self, Dims dim, bool keepdim, Type dtype) {
  return mean_of(self, list(dim), keepdim, dtype);
}
Tensor prod_all(const Tensor& self, Type dtype) { return accumulate("prod", "prod", self, {}, false, dtype); }
Tensor prod_dim(const Tensor& self, int64_t dim, bool keepdim, Type dtype) {
  return accumulate("prod", "prod", self, one(dim), keepdim, dtype);
}

Tensor amax_dims(const Tensor& self, IntList dim, bool keepdim) {
  if (dim.empty()) needs_any("amax", self);
  needs_elements("amax", self, dim);
  return reduce_tensor("amax", "amax", self, dim, keepdim)[0];
}
Tensor amin_dims(const Tensor& self, IntList dim, bool keepdim) {
  if (dim.empty()) needs_any("amin", self);
  needs_elements("amin", self, dim);
  return reduce_tensor("amin", "amin", self, dim, keepdim)[0];
}
std::tuple<Tensor, Tensor> aminmax_dim(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  if (dim)
    needs_elements("aminmax", self, one(*dim));
  else
    FL_CHECK(self.numel() != 0,
             "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.");
  auto r = reduce_tensor("aminmax", "aminmax", self, dim ? one(*dim) : IntList{}, keepdim);
  return {r[0], r[1]};
}
Tensor max_all(const Tensor& self) {
  needs_any("max", self);
  return reduce_tensor("max", "amax", self, {}, false)[0];
}
Tensor min_all(const Tensor& self) {
  needs_any("min", self);
  return reduce_tensor("min", "amin", self, {}, false)[0];
}
std::tuple<Tensor, Tensor> max_dim(const Tensor& self, int64_t dim, bool keepdim) {
  needs_elements("max", self, one(dim));
  auto r = reduce_tensor("max", "max", self, one(dim), keepdim);
  return {r[0], r[1]};
}
std::tuple<Tensor, Tensor> min_dim(const Tensor& self, int64_t dim, bool keepdim) {
  needs_elements("min", self, one(dim));
  auto r = reduce_tensor("min", "min", self, one(dim), keepdim);
  return {r[0], r[1]};
}

namespace {

// Without a dim the tensor counts as one row: the index is into the flattened tensor.
Tensor arg_extreme(const char* op, const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  if (dim) {
    needs_elements(op, self, one(*dim));
    return reduce_tensor(op, op, self, one(*dim), keepdim)[0];
  }
  FL_CHECK_INDEX(self.numel() != 0, op, "(): Expected reduction dim to be specified for input.numel() == 0.");
  return reduce_tensor(op, op, self, {}, keepdim)[0];
}

Tensor truth(const char* op, const Tensor& self, IntList dims, bool keepdim) {
  Tensor r = reduce_tensor(op, op, self, dims, keepdim)[0];
  return self.dtype() == DType::UInt8 ? converted(r, DType::UInt8) : r;  // uint8 stays uint8, as masks once were
}

}  // namespace

Tensor argmax_dim(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return arg_extreme("argmax", self, dim, keepdim);
}
Tensor argmin_dim(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return arg_extreme("argmin", self, dim, keepdim);
}
Tensor any_all(const Tensor& self) { return truth("any", self, {}, false); }
Tensor any_dim(const Tensor& self, int64_t dim, bool keepdim) { return truth("any", self, one(dim), keepdim); }
Tensor any_dims(const Tensor& self, Dims dim, bool keepdim) {
  return dim && dim->empty() ? truth("any", self, {}, keepdim) : truth("any", self, list(dim), keepdim);
}
Tensor all_all(const Tensor& self) { return truth("all", self, {}, false); }
Tensor all_dim(const Tensor& self, int64_t dim, bool keepdim) { return truth("all", self, one(dim), keepdim); }
Tensor all_dims(const Tensor& self, Dims dim, bool keepdim) { return truth("all", self, list(dim), keepdim); }
Tensor count_nonzero_dims(const Tensor& self, IntList dim) {
  return reduce_tensor("count_nonzero", "count_nonzero", self, dim, false)[0];
}
Tensor count_nonzero_dim(const Tensor& self, std::optional<int64_t> dim) {
  return reduce_tensor("count_nonzero", "count_nonzero", self, dim ? one(*dim) : IntList{}, false)[0];
}

Tensor norm_dims(const Tensor& self, double p, IntList dim, bool keepdim) {
  FL_CHECK(is_floating(self.dtype()) || self.is_complex(),
           "norm(): input dtype should be either floating point or complex. Got ", dtype_name(self.dtype()),
           " instead.");
  if (std::isinf(p)) {
    if (self.numel() == 0) {
      const auto flags = reduced_flags(self, dim);
      for (int64_t d = 0; d < self.dim(); ++d)
        FL_CHECK(!flags[static_cast<size_t>(d)] || self.sizes()[static_cast<size_t>(d)] != 0,
                 "linalg.vector_norm cannot compute the ", p, " norm on the dimension ", d,
                 " because this dimension is empty and the operation does not have an identity");
    }
    return reduce_tensor("norm", p > 0 ? "norm_inf" : "norm_neg_inf", self, dim, keepdim)[0];
  }
  if (p == 0) return reduce_tensor("norm", "norm0", self, dim, keepdim)[0];
  if (p == 1) return reduce_tensor("norm", "norm1", self, dim, keepdim)[0];
  if (p == 2) return reduce_tensor("norm", "norm2", self, dim, keepdim)[0];
  Param param;
  param.d = p;
  return reduce_tensor("norm", "norm_p", self, dim, keepdim, &param)[0];
}

namespace {
std::array<Tensor, 2> moments(const char* op, const char* kernel, const Tensor& self, double correction, IntList dim,
                              bool keepdim) {
  FL_CHECK(is_floating(self.dtype()), op, " only support floating point and complex dtypes");
  Param param;
  param.d = correction;
  return reduce_tensor(op, kernel, self, dim, keepdim, &param);
}
}  // namespace

Tensor var_dims(const Tensor& self, double correction, IntList dim, bool keepdim) {
  return moments("std and var", "var", self, correction, dim, keepdim)[0];
}
std::tuple<Tensor, Tensor> var_mean_dims(const Tensor& self, double correction, IntList dim, bool keepdim) {
  auto r = moments("var_mean", "var_mean", self, correction, dim, keepdim);
  return {r[0], r[1]};
}

}  // namespace flambeau
