// Running reductions along a dimension. Each lane is sequential; lanes are independent.
#include <cmath>
#include <complex>
#include <tuple>

#include "flambeau/core/complex.h"
#include "flambeau/core/half.h"
#include "flambeau/core/parallel.h"
#include "flambeau/core/tensor.h"
#include "pointwise/convert.h"

namespace flambeau {

namespace {

// Calls f(in, out pointer(s) offset in elements, n, step) for each lane of two row-major tensors of one shape.
template <class F> void for_lanes(const Tensor& t, int64_t dim, F f) {
  const int64_t n = t.dim() ? t.sizes()[static_cast<size_t>(dim)] : 1;
  int64_t inner = 1, outer = 1;
  for (int64_t d = 0; d < t.dim(); ++d) (d < dim ? outer : inner) *= d == dim ? 1 : t.sizes()[static_cast<size_t>(d)];
  if (n == 0) return;
  parallel_for(0, outer * inner, std::max<int64_t>(1, 8192 / n), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) f((i / inner) * n * inner + i % inner, n, inner);
  });
}

template <class T, class Acc, class Op> void scan(const Tensor& in, const Tensor& out, int64_t dim, Acc start, Op op) {
  const T* x = in.data_as<T>();
  T* y = out.data_as<T>();
  for_lanes(in, dim, [&](int64_t at, int64_t n, int64_t step) {
    Acc acc = start;
    for (int64_t k = 0; k < n; ++k, at += step) {
      acc = op(acc, static_cast<Acc>(x[at]));
      y[at] = static_cast<T>(acc);
    }
  });
}

template <class Op>
void scan_any(const char* name, const Tensor& in, const Tensor& out, int64_t dim, int start, Op op) {
  switch (in.dtype()) {
    case DType::Float32: return scan<float, double>(in, out, dim, start, op);
    case DType::Float64: return scan<double, double>(in, out, dim, start, op);
    case DType::Float16: return scan<Half, float>(in, out, dim, static_cast<float>(start), op);
    case DType::BFloat16: return scan<BFloat16, float>(in, out, dim, static_cast<float>(start), op);
    case DType::Int64: return scan<int64_t, uint64_t>(in, out, dim, static_cast<uint64_t>(start), op);
    case DType::Int32: return scan<int32_t, uint32_t>(in, out, dim, static_cast<uint32_t>(start), op);
    case DType::Int16: return scan<int16_t, uint32_t>(in, out, dim, static_cast<uint32_t>(start), op);
    case DType::Int8: return scan<int8_t, uint32_t>(in, out, dim, static_cast<uint32_t>(start), op);
    case DType::UInt8: return scan<uint8_t, uint32_t>(in, out, dim, static_cast<uint32_t>(start), op);
    case DType::Complex64:
      return scan<Complex<float>, Complex<float>>(in, out, dim, Complex<float>(static_cast<float>(start), 0.f), op);
    case DType::Complex128:
      return scan<Complex<double>, Complex<double>>(in, out, dim, Complex<double>(start, 0.0), op);
    default: FL_CHECK(false, "\"", name, "\" not implemented for '", dtype_name(in.dtype()), "'");
  }
}

Tensor prepared(const Tensor& self, std::optional<DType> dtype) {
  const DType want = dtype.value_or(is_integral(self.dtype(), true) ? DType::Int64 : self.dtype());
  return contiguous(self.dtype() == want ? self : converted(self, want));
}

template <class T, class Better>
void scan_extreme(const Tensor& in, const Tensor& values, const Tensor& indices, int64_t dim, Better better) {
  const T* x = in.data_as<T>();
  T* v = values.data_as<T>();
  int64_t* where = indices.data_as<int64_t>();
  for_lanes(in, dim, [&](int64_t at, int64_t n, int64_t step) {
    T best = x[at];
    int64_t index = 0;
    for (int64_t k = 0; k < n; ++k, at += step) {
      if (better(x[at], best)) {
        best = x[at];
        index = k;
      }
      v[at] = best;
      where[at] = index;
    }
  });
}

// Ties move to the later index and NaN, once met, stays: torch's rule.
struct Later {
  bool max;
  template <class T> bool operator()(const T& x, const T& best) const {
    if constexpr (std::is_integral_v<T>)
      return max ? x >= best : x <= best;
    else {
      const double a = static_cast<double>(static_cast<float>(x)), b = static_cast<double>(static_cast<float>(best));
      if constexpr (std::is_same_v<T, double>) return x != x || (best == best && (max ? x >= best : x <= best));
      return a != a || (b == b && (max ? a >= b : a <= b));
    }
  }
};

std::tuple<Tensor, Tensor> extreme(const char* name, const Tensor& self, int64_t dim, bool max) {
  dim = wrap_dim(dim, self.dim());
  const Tensor in = contiguous(self);
  Tensor values = empty(in.sizes(), in.options()), indices = empty(in.sizes(), {DType::Int64, in.device()});
  if (in.numel() == 0) return {values, indices};
  const Later better{max};
  switch (in.dtype()) {
    case DType::Float32: scan_extreme<float>(in, values, indices, dim, better); break;
    case DType::Float64: scan_extreme<double>(in, values, indices, dim, better); break;
    case DType::Float16: scan_extreme<Half>(in, values, indices, dim, better); break;
    case DType::BFloat16: scan_extreme<BFloat16>(in, values, indices, dim, better); break;
    case DType::Int64: scan_extreme<int64_t>(in, values, indices, dim, better); break;
    case DType::Int32: scan_extreme<int32_t>(in, values, indices, dim, better); break;
    case DType::Int16: scan_extreme<int16_t>(in, values, indices, dim, better); break;
    case DType::Int8: scan_extreme<int8_t>(in, values, indices, dim, better); break;
    case DType::UInt8:
    case DType::Bool: scan_extreme<uint8_t>(in, values, indices, dim, better); break;
    default: FL_CHECK(false, "\"", name, "\" not implemented for '", dtype_name(in.dtype()), "'");
  }
  return {values, indices};
}

struct LogAdd {
  template <class T> T operator()(T a, T b) const {
    if (std::isnan(a) || std::isnan(b)) return static_cast<T>(NAN);
    const T low = a < b ? a : b, high = a < b ? b : a;
    if (std::isinf(high) && (low == high || high < 0)) return high;
    return high + std::log1p(std::exp(low - high));
  }
};

// The same of complex numbers, in double; log(0) is -inf without an angle.
struct ComplexLogAdd {
  template <class T> Complex<T> operator()(Complex<T> a, Complex<T> b) const {
    using C = std::complex<double>;
    if (std::isnan(a.re) || std::isnan(a.im) || std::isnan(b.re) || std::isnan(b.im)) return {T(NAN), T(NAN)};
    const Complex<T> low = a.re > b.re ? b : a, high = a.re > b.re ? a : b;
    if (std::isinf(high.re) && low.re == high.re) {
      if (high.re < 0) return {high.re, T(0)};
      return {high.re, low.im == 0 && high.im == 0 ? T(0) : T(NAN)};
    }
    const C ratio = std::isinf(low.re) ? C(0) : std::exp(C(low.re, low.im) - C(high.re, high.im));
    const double re = 1 + ratio.real(), im = ratio.imag();
    const bool near = re > 0.5 && re < 2 && std::abs(im) < 1;
    const double modulus =
        near ? 0.5 * std::log1p(ratio.real() * (2 + ratio.real()) + im * im) : std::log(std::hypot(re, im));
    return {static_cast<T>(high.re + modulus), static_cast<T>(high.im + std::atan2(im, re))};
  }
};

}  // namespace

Tensor cumsum_cpu(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
  dim = wrap_dim(dim, self.dim());
  const Tensor in = prepared(self, dtype);
  Tensor out = empty(in.sizes(), in.options());
  scan_any("cumsum_out_cpu", in, out, dim, 0, [](auto a, auto b) { return a + b; });
  return out;
}

Tensor cumprod_cpu(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
  dim = wrap_dim(dim, self.dim());
  const Tensor in = prepared(self, dtype);
  Tensor out = empty(in.sizes(), in.options());
  scan_any("cumprod_out_cpu", in, out, dim, 1, [](auto a, auto b) { return a * b; });
  return out;
}

std::tuple<Tensor, Tensor> cummax_cpu(const Tensor& self, int64_t dim) { return extreme("cummax", self, dim, true); }
std::tuple<Tensor, Tensor> cummin_cpu(const Tensor& self, int64_t dim) { return extreme("cummin", self, dim, false); }

Tensor logcumsumexp_cpu(const Tensor& self, int64_t dim) {
  dim = wrap_dim(dim, self.dim());
  const Tensor in = contiguous(self);
  Tensor out = empty(in.sizes(), in.options());
  switch (in.dtype()) {
    case DType::Float32: scan<float, double>(in, out, dim, -INFINITY, LogAdd{}); break;
    case DType::Float64: scan<double, double>(in, out, dim, -INFINITY, LogAdd{}); break;
    case DType::Float16: scan<Half, float>(in, out, dim, -INFINITY, LogAdd{}); break;
    case DType::BFloat16: scan<BFloat16, float>(in, out, dim, -INFINITY, LogAdd{}); break;
    case DType::Complex64: scan<Complex<float>, Complex<float>>(in, out, dim, {-INFINITY, 0.f}, ComplexLogAdd{}); break;
    case DType::Complex128:
      scan<Complex<double>, Complex<double>>(in, out, dim, {-INFINITY, 0.0}, ComplexLogAdd{});
      break;
    default: FL_CHECK(false, "\"logcumsumexp_out_cpu\" not implemented for '", dtype_name(in.dtype()), "'");
  }
  return out;
}

}  // namespace flambeau
