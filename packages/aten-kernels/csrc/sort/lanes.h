#pragma once
/// Sorting works on lanes: a dimension moved last and made contiguous, so that every lane is a plain array.
#include <cmath>
#include <type_traits>

#include "flambeau/core/half.h"
#include "flambeau/core/parallel.h"
#include "flambeau/core/views.h"
#include "pointwise/convert.h"

namespace flambeau {

/// The tensor with `dim` last, row-major; 0-d tensors become one lane of one.
inline Tensor lanes_of(const Tensor& self, int64_t dim) {
  if (self.dim() == 0) return contiguous(unsqueeze(self, 0));
  return contiguous(transpose(self, dim, self.dim() - 1));
}

/// Back to the dimension's own place, with the layout of a fresh tensor.
inline Tensor from_lanes(const Tensor& t, const Tensor& self, int64_t dim) {
  if (self.dim() == 0) return select(t, 0, 0);
  return contiguous(transpose(t, dim, self.dim() - 1));
}

/// The same numbers, dense in the order of `model`'s strides.
inline Tensor laid_out_like(const Tensor& t, const Tensor& model) {
  if (model.is_contiguous() || model.dim() < 2) return t;
  Tensor out = empty_like(model, t.dtype());
  copy_values(out, t);
  return out;
}

template <class T> bool is_nan(const T& v) {
  if constexpr (std::is_integral_v<T>)
    return false;
  else if constexpr (std::is_same_v<T, double>)
    return std::isnan(v);
  else
    return std::isnan(static_cast<float>(v));
}

template <class T> auto ordered(const T& v) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return static_cast<float>(v);
  else
    return v;
}

/// a before b in ascending order, NaN last.
template <class T> bool ascends(const T& a, const T& b) {
  const auto x = ordered(a), y = ordered(b);
  return x < y || (is_nan(b) && !is_nan(a));
}
template <class T> bool descends(const T& a, const T& b) { return ascends(b, a); }

/// Calls f.template operator()<T>() with the C++ type of a real dtype.
template <class F> void with_type(const char* op, DType t, F&& f) {
  switch (t) {
    case DType::Float32: return f.template operator()<float>();
    case DType::Float64: return f.template operator()<double>();
    case DType::Float16: return f.template operator()<Half>();
    case DType::BFloat16: return f.template operator()<BFloat16>();
    case DType::Int64: return f.template operator()<int64_t>();
    case DType::Int32: return f.template operator()<int32_t>();
    case DType::Int16: return f.template operator()<int16_t>();
    case DType::Int8: return f.template operator()<int8_t>();
    case DType::UInt8:
    case DType::Bool: return f.template operator()<uint8_t>();
    default: FL_CHECK(false, "\"", op, "\" not implemented for '", dtype_name(t), "'");
  }
}

/// Runs f(lane) for every lane of length n.
template <class F> void for_each_lane(int64_t count, int64_t n, F f) {
  parallel_for(0, count, std::max<int64_t>(1, 2048 / std::max<int64_t>(n, 1)), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) f(i);
  });
}

}  // namespace flambeau
