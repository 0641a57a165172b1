// Sequences and index grids: arange, range, linspace, logspace, eye, tril_indices, triu_indices.
#include <algorithm>
#include <cmath>

#include "creation/formats.h"
#include "flambeau/core/complex.h"
#include "flambeau/core/half.h"
#include "flambeau/core/parallel.h"
#include "pointwise/convert.h"

namespace flambeau {

using OptType = std::optional<DType>;
using OptLayout = std::optional<Layout>;
using OptDevice = std::optional<Device>;
using OptBool = std::optional<bool>;

namespace {

DType sequence_dtype(OptType dtype, std::initializer_list<Scalar> ends, const char* op) {
  bool integral = true;
  for (const Scalar& s : ends) {
    FL_CHECK(!s.is_complex(), "[", op,
             "] value cannot be converted to type double without overflow: the number is complex");
    integral = integral && s.is_integral();
  }
  const DType t = dtype.value_or(integral ? DType::Int64 : default_dtype());
  FL_CHECK_NOT_IMPLEMENTED((is_integral(t) || is_floating(t)) && !is_float8(t), "\"", op,
                           "_cpu\" not implemented for '", dtype_name(t), "'");
  return t;
}

// How many elements start, start + step, ... has before `end`.
int64_t count_steps(const char* op, const Scalar& start, const Scalar& end, const Scalar& step, bool closed) {
  const double a = start.real(), b = end.real(), s = step.real();
  FL_CHECK(s != 0, "[", op, "] step must be nonzero, got ", s);
  FL_CHECK(std::isfinite(a) && std::isfinite(b), "[", op, "] unsupported range: ", a, " -> ", b);
  FL_CHECK((s > 0 && b >= a) || (s < 0 && b <= a), "[", op,
           "] upper bound and lower bound inconsistent with step sign: ", a, " -> ", b, " step ", s);
  double n;
  if (start.is_integral() && end.is_integral() && step.is_integral()) {
    const __int128 width = static_cast<__int128>(end.to_int()) - start.to_int(), stride = step.to_int();
    const __int128 whole = width / stride;
    n = static_cast<double>(closed ? whole + 1 : whole + (width % stride != 0));
  } else {
    n = closed ? std::floor((b - a) / s) + 1 : std::ceil((b - a) / s);
  }
  FL_CHECK(n >= 0 && n <= 9007199254740992.0, "[", op, "] invalid size, possible overflow: ", n, " elements");
  return static_cast<int64_t>(n);
}

// Floating sequences go in blocks of 32 bytes whose first element is rounded to T before the others are added to it,
// two blocks at a time, the rest one by one: the numbers torch gives, to the last bit.
template <class T, class A> void fill_floating(T* out, int64_t n, A start, A step) {
  constexpr int64_t kBlock = 32 / sizeof(T);
  const int64_t blocks = n / (2 * kBlock) * 2;
  const auto at = [&](int64_t i) { return static_cast<T>(std::fma(step, static_cast<A>(i), start)); };
  parallel_for(0, blocks, 1024, [&](int64_t b, int64_t e) {
    for (int64_t k = b; k < e; ++k) {
      const A base = static_cast<A>(at(k * kBlock));
      for (int64_t i = 0; i < kBlock; ++i)
        out[k * kBlock + i] = static_cast<T>(std::fma(static_cast<A>(i), step, base));
    }
  });
  for (int64_t i = blocks * kBlock; i < n; ++i) out[i] = at(i);
}

template <class T> void fill_steps(T* out, int64_t n, const Scalar& start, const Scalar& step) {
  if constexpr (std::is_integral_v<T>) {
    const uint64_t a = static_cast<uint64_t>(start.to_int()), s = static_cast<uint64_t>(step.to_int());
    parallel_for(0, n, 1 << 15, [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i) out[i] = static_cast<T>(a + s * static_cast<uint64_t>(i));
    });
  } else if constexpr (sizeof(T) == 2) {
    fill_floating<T, float>(out, n, static_cast<float>(start.real()), static_cast<float>(step.real()));
  } else {
    fill_floating<T, double>(out, n, start.real(), step.real());
  }
}

void fill_sequence(const Tensor& t, const Scalar& start, const Scalar& step) {
  const int64_t n = t.numel();
  switch (t.dtype()) {
#define FL_CASE(name, T) \
  case DType::name: return fill_steps(t.data_as<T>(), n, start, step);
    FL_CASE(UInt8, uint8_t)
    FL_CASE(Int8, int8_t)
    FL_CASE(Int16, int16_t)
    FL_CASE(Int32, int32_t)
    FL_CASE(Int64, int64_t)
    FL_CASE(UInt16, uint16_t)
    FL_CASE(UInt32, uint32_t)
    FL_CASE(UInt64, uint64_t)
    FL_CASE(Float16, Half)
    FL_CASE(BFloat16, BFloat16)
    FL_CASE(Float32, float)
    FL_CASE(Float64, double)
#undef FL_CASE
    default: FL_CHECK_NOT_IMPLEMENTED(false, "\"arange_cpu\" not implemented for '", dtype_name(t.dtype()), "'");
  }
}

Tensor sequence(const char* op, Scalar start, Scalar end, Scalar step, DType dtype, OptLayout layout, OptDevice device,
                bool closed) {
  const TensorOptions o = factory_options(dtype, layout, device);
  const bool zero_step = step.equals(0);
  if (dtype == DType::Int64 && !closed) {  // torch cuts the ends of int64 sequences to integers first
    for (Scalar* s : {&start, &end, &step})
      if (s->is_floating() && std::isfinite(s->real())) *s = Scalar(s->to_int());
    FL_CHECK_VALUE(zero_step || !step.equals(0), "[", op,
                   "] step must be nonzero, got a fraction that an int64 sequence cuts to 0");
  }
  const int64_t size[1] = {count_steps(op, start, end, step, closed)};
  Tensor t = empty({size, 1}, o);
  if (t.storage().data && size[0]) fill_sequence(t, start, step);
  return t;
}

}  // namespace

Tensor arange_end(const Scalar& end, OptType dtype, OptLayout layout, OptDevice device, OptBool) {
  return sequence("arange", Scalar(0), end, Scalar(1), sequence_dtype(dtype, {end}, "arange"), layout, device, false);
}
Tensor arange_start_step(const Scalar& start, const Scalar& end, const Scalar& step, OptType dtype, OptLayout layout,
                         OptDevice device, OptBool) {
  return sequence("arange", start, end, step, sequence_dtype(dtype, {start, end, step}, "arange"), layout, device,
                  false);
}
Tensor arange_start(const Scalar& start, const Scalar& end, OptType dtype, OptLayout layout, OptDevice device,
                    OptBool) {
  return sequence("arange", start, end, Scalar(1), sequence_dtype(dtype, {start, end}, "arange"), layout, device,
                  false);
}
Tensor range_op(const Scalar& start, const Scalar& end, const Scalar& step, OptType dtype, OptLayout layout,
                OptDevice device, OptBool) {
  return sequence("range", start, end, step,
                  sequence_dtype(dtype.value_or(default_dtype()), {start, end, step}, "range"), layout, device, true);
}

// --- spaces
// ---------------------------------------------------------------------------------------------------------------

namespace {

// From both ends to the middle, so that both ends are exact.
template <class T, class S> void fill_space(T* out, int64_t n, S start, S end, S step) {
  parallel_for(0, n, 1 << 14, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i)
      out[i] = static_cast<T>(i < n / 2 ? std::fma(step, static_cast<S>(i), start)
                                        : std::fma(-step, static_cast<S>(n - i - 1), end));
  });
}

template <class T> void fill_complex_space(Complex<T>* out, int64_t n, const Scalar& start, const Scalar& end) {
  const Complex<T> a{static_cast<T>(start.real()), static_cast<T>(start.imag())},
      b{static_cast<T>(end.real()), static_cast<T>(end.imag())};
  const Complex<T> step{(b.re - a.re) / static_cast<T>(n - 1), (b.im - a.im) / static_cast<T>(n - 1)};
  for (int64_t i = 0; i < n; ++i) {
    const T k = static_cast<T>(i < n / 2 ? i : n - i - 1);
    out[i] = i < n / 2 ? Complex<T>{std::fma(step.re, k, a.re), std::fma(step.im, k, a.im)}
                       : Complex<T>{std::fma(-step.re, k, b.re), std::fma(-step.im, k, b.im)};
  }
}

void fill_linear(const Tensor& t, const Scalar& start, const Scalar& end) {
  const int64_t n = t.numel();
  if (n == 1) {
    fill_value(t, start);
    return;
  }
  const auto whole = [&]<class T>(T* out) {
    const double a = static_cast<double>(static_cast<T>(start.to_double())),
                 b = static_cast<double>(static_cast<T>(end.to_double()));
    fill_space(out, n, a, b, (b - a) / static_cast<double>(n - 1));
  };
  const auto floating = [&]<class T>(T* out) {
    const T a = static_cast<T>(start.to_double()), b = static_cast<T>(end.to_double());
    fill_space(out, n, a, b, (b - a) / static_cast<T>(n - 1));
  };
  const auto narrow = [&]<class T>(T* out) {  // every operation rounds, as arithmetic of the dtype does
    const T a(static_cast<float>(start.to_double())), b(static_cast<float>(end.to_double()));
    const T step(static_cast<float>(T(static_cast<float>(b) - static_cast<float>(a))) / static_cast<float>(n - 1));
    for (int64_t i = 0; i < n; ++i) {
      const bool low = i < n / 2;
      const float moved = static_cast<float>(T(static_cast<float>(step) * static_cast<float>(low ? i : n - i - 1)));
      out[i] = T(low ? static_cast<float>(a) + moved : static_cast<float>(b) - moved);
    }
  };
  switch (t.dtype()) {
    case DType::UInt8: return whole(t.data_as<uint8_t>());
    case DType::Int8: return whole(t.data_as<int8_t>());
    case DType::Int16: return whole(t.data_as<int16_t>());
    case DType::Int32: return whole(t.data_as<int32_t>());
    case DType::Int64: return whole(t.data_as<int64_t>());
    case DType::Float32: return floating(t.data_as<float>());
    case DType::Float64: return floating(t.data_as<double>());
    case DType::Float16: return narrow(t.data_as<Half>());
    case DType::BFloat16: return narrow(t.data_as<BFloat16>());
    case DType::Complex64: return fill_complex_space(t.data_as<Complex<float>>(), n, start, end);
    case DType::Complex128: return fill_complex_space(t.data_as<Complex<double>>(), n, start, end);
    default: FL_CHECK_NOT_IMPLEMENTED(false, "\"linspace_cpu\" not implemented for '", dtype_name(t.dtype()), "'");
  }
}

DType space_dtype(OptType dtype, const Scalar& start, const Scalar& end, const char* op) {
  const bool complex = start.is_complex() || end.is_complex();
  FL_CHECK(!complex || !dtype || is_complex(*dtype), "torch.", op, "(): inferred dtype ",
           dtype_name(to_complex(default_dtype())), " can't be safely cast to passed dtype ",
           dtype_name(dtype.value_or(DType::Float32)));
  return dtype.value_or(complex ? to_complex(default_dtype()) : default_dtype());
}

Tensor empty_space(const char* op, int64_t steps, DType dtype, OptLayout layout, OptDevice device) {
  FL_CHECK(steps >= 0, "[", op, "] number of steps must be non-negative, got ", steps);
  const int64_t size[1] = {steps};
  return empty({size, 1}, factory_options(dtype, layout, device));
}

Scalar end_of_space(const Tensor& t, const char* op) {
  FL_CHECK(t.dim() == 0, op, " only supports 0-dimensional start and end tensors, but got a tensor with ", t.dim(),
           " dimension(s).");
  return item(t);
}

}  // namespace

Tensor linspace_op(const Scalar& start, const Scalar& end, int64_t steps, OptType dtype, OptLayout layout,
                   OptDevice device, OptBool) {
  Tensor t = empty_space("linspace", steps, space_dtype(dtype, start, end, "linspace"), layout, device);
  if (t.storage().data && steps) fill_linear(t, start, end);
  return t;
}
Tensor linspace_tensors(const Tensor& start, const Tensor& end, int64_t steps, OptType dtype, OptLayout layout,
                        OptDevice device, OptBool pin) {
  return linspace_op(end_of_space(start, "linspace"), end_of_space(end, "linspace"), steps, dtype, layout, device, pin);
}

Tensor logspace_op(const Scalar& start, const Scalar& end, int64_t steps, double base, OptType dtype, OptLayout layout,
                   OptDevice device, OptBool) {
  Tensor t = empty_space("logspace", steps, space_dtype(dtype, start, end, "logspace"), layout, device);
  if (!t.storage().data || !steps) return t;
  if (is_complex(t.dtype())) {
    Tensor exponents = empty(t.sizes(), {DType::Complex128, {}});
    if (steps == 1)
      fill_value(exponents, start);
    else
      fill_complex_space(exponents.data_as<Complex<double>>(), steps, start, end);
    Complex<double>* p = exponents.data_as<Complex<double>>();
    const double log_size = std::log(std::fabs(base)), turn = base < 0 ? 3.141592653589793 : 0.0;
    for (int64_t i = 0; i < steps; ++i) {  // base^z = exp(z * log(base))
      const Complex<double> z = p[i];
      const double size = std::exp(z.re * log_size - z.im * turn), angle = z.re * turn + z.im * log_size;
      p[i] = {size * std::cos(angle), size * std::sin(angle)};
    }
    copy_values(t, exponents);
    return t;
  }
  FL_CHECK_NOT_IMPLEMENTED(!is_bool(t.dtype()), "\"logspace_cpu\" not implemented for 'bool'");
  // exponents in the precision of the result: float32 for the halves, float64 for integers
  const DType work = is_integral(t.dtype()) || t.dtype() == DType::Float64 ? DType::Float64 : DType::Float32;
  Tensor exponents = empty(t.sizes(), {work, {}});
  fill_linear(exponents, start, end);
  if (work == DType::Float32) {
    float* p = exponents.data_as<float>();
    for (int64_t i = 0; i < steps; ++i) p[i] = std::pow(static_cast<float>(base), p[i]);
  } else {
    double* p = exponents.data_as<double>();
    for (int64_t i = 0; i < steps; ++i) p[i] = std::pow(base, p[i]);
  }
  copy_values(t, exponents);
  return t;
}
Tensor logspace_tensors(const Tensor& start, const Tensor& end, int64_t steps, double base, OptType dtype,
                        OptLayout layout, OptDevice device, OptBool pin) {
  return logspace_op(end_of_space(start, "logspace"), end_of_space(end, "logspace"), steps, base, dtype, layout, device,
                     pin);
}

// --- matrices of indices
// --------------------------------------------------------------------------------------------------

Tensor eye_m(int64_t n, int64_t m, OptType dtype, OptLayout layout, OptDevice device, OptBool) {
  FL_CHECK(n >= 0, "[eye] n must be greater or equal to 0, got ", n);
  FL_CHECK(m >= 0, "[eye] m must be greater or equal to 0, got ", m);
  const int64_t sizes[2] = {n, m};
  Tensor t = empty({sizes, 2}, factory_options(dtype, layout, device));
  fill_zero(t);
  if (!t.storage().data || !n || !m) return t;
  Tensor diagonal = alias_without_history(t);
  const int64_t count[1] = {std::min(n, m)}, step[1] = {m + 1};
  set_geometry(*diagonal.impl(), {count, 1}, {step, 1}, 0);
  fill_value(diagonal, Scalar(1));
  return t;
}
Tensor eye_n(int64_t n, OptType dtype, OptLayout layout, OptDevice device, OptBool pin) {
  return eye_m(n, n, dtype, layout, device, pin);
}

namespace {

// How many elements at or below diagonal k a row x col matrix has.
__int128 triangle_size(__int128 row, __int128 col, __int128 k) {
  const __int128 first = std::max<__int128>(0, -k),
                 full = std::max(first, col - k);  // rows that grow, rows that are whole
  const __int128 growing = std::max<__int128>(0, std::min(row, col - k) - first);
  return growing * (2 * (first + k + 1) + growing - 1) / 2 + std::max<__int128>(0, row - full) * col;
}

// Rows and columns of the elements of a row x col matrix that a triangle holds, row by row.
Tensor triangle_indices(const char* op, int64_t row, int64_t col, int64_t offset, bool lower, OptType dtype,
                        OptLayout layout, OptDevice device) {
  FL_CHECK(row >= 0, "[", op, "] row must be non-negative, got ", row);
  FL_CHECK(col >= 0, "[", op, "] col must be non-negative, got ", col);
  const DType t = dtype.value_or(DType::Int64);
  FL_CHECK_NOT_IMPLEMENTED(
      t == DType::Int64 || t == DType::Int32 || t == DType::Int16 || t == DType::Int8 || t == DType::UInt8, "\"", op,
      "\" not implemented for '", dtype_name(t), "'");
  const auto range = [&](int64_t r) {  // columns of row r
    const __int128 edge = static_cast<__int128>(r) + offset;
    const int64_t at = static_cast<int64_t>(std::clamp<__int128>(edge + (lower ? 1 : 0), 0, col));
    return lower ? std::pair<int64_t, int64_t>{0, at} : std::pair<int64_t, int64_t>{at, col};
  };
  const __int128 lower_count = triangle_size(row, col, lower ? offset : static_cast<__int128>(offset) - 1);
  const __int128 total = lower ? lower_count : static_cast<__int128>(row) * col - lower_count;
  FL_CHECK(total < (__int128{1} << 58), "[", op, "] the triangle of a ", row, " x ", col,
           " matrix has too many elements");
  const int64_t count = static_cast<int64_t>(total);
  // rows outside [first, end) hold nothing: there may be too many of them to walk over
  const int64_t first = lower ? static_cast<int64_t>(std::clamp<__int128>(-static_cast<__int128>(offset), 0, row)) : 0;
  const int64_t end =
      lower ? row : static_cast<int64_t>(std::clamp<__int128>(static_cast<__int128>(col) - offset, 0, row));
  const int64_t sizes[2] = {2, count};
  Tensor wide = empty({sizes, 2}, factory_options(DType::Int64, layout, device));
  if (wide.storage().data && count) {
    int64_t *rows = wide.data_as<int64_t>(), *cols = rows + count;
    for (int64_t r = first; r < end; ++r)
      for (int64_t c = range(r).first; c < range(r).second; ++c) {
        *rows++ = r;
        *cols++ = c;
      }
  }
  if (t == DType::Int64) return wide;
  Tensor out = empty({sizes, 2}, factory_options(t, layout, device));
  if (out.storage().data) copy_values(out, wide);
  return out;
}

}  // namespace

Tensor tril_indices_op(int64_t row, int64_t col, int64_t offset, OptType dtype, OptLayout layout, OptDevice device,
                       OptBool) {
  return triangle_indices("tril_indices", row, col, offset, true, dtype, layout, device);
}
Tensor triu_indices_op(int64_t row, int64_t col, int64_t offset, OptType dtype, OptLayout layout, OptDevice device,
                       OptBool) {
  return triangle_indices("triu_indices", row, col, offset, false, dtype, layout, device);
}

}  // namespace flambeau
