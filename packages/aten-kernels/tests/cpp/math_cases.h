#pragma once
// The unary functions that math_accuracy.cpp measures, with their references and bars.

#include <cmath>
#include <cstdint>
#include <vector>

#include "vm.h"

namespace flambeau::testing {

template <typename T> struct Case {
  const char* name;
  void (*loop)(const T*, T*, int64_t);
  T (*single)(T);
  long double (*reference)(T);
  double bar;
};

namespace functions {
using namespace vm;
// The short reductions are for |x| < 2^19; the references below are NaN elsewhere too.
template <typename T> FL_VM T near_sin(T x) { return trig_is_narrow(x) ? sin_narrow(x) : kNaN<T>; }
template <typename T> FL_VM T near_cos(T x) { return trig_is_narrow(x) ? cos_narrow(x) : kNaN<T>; }
template <typename T> FL_VM T near_tan(T x) { return trig_is_narrow(x) ? tan_narrow(x) : kNaN<T>; }
}  // namespace functions

// A loop as a kernel has it, and the same function called for one element in code that is not vectorised.
#define FL_CASE_BODY(NAME, T)                                     \
  inline void loop_##NAME(const T* x, T* y, int64_t n) {          \
    for (int64_t i = 0; i < n; ++i) y[i] = functions::NAME(x[i]); \
  }                                                               \
  [[gnu::noinline, gnu::optimize("no-tree-vectorize")]] inline T single_##NAME(T x) { return functions::NAME(x); }

// References for float are in double, where the C library errs by 2^-29 of a float's last place; for double, in long
// double.
inline double ref_sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
inline long double ref_sigmoid(long double x) { return 1 / (1 + std::exp(-x)); }
template <typename T> T ref_near_sin(T x) { return std::fabs(x) < 524288 ? std::sin(x) : T(NAN); }
template <typename T> T ref_near_cos(T x) { return std::fabs(x) < 524288 ? std::cos(x) : T(NAN); }
template <typename T> T ref_near_tan(T x) { return std::fabs(x) < 524288 ? std::tan(x) : T(NAN); }
template <typename T> T ref_rsqrt(T x) { return 1 / std::sqrt(x); }
template <typename T> T ref_gelu(T x) {
  return x == -INFINITY ? NAN : x * T(0.5) * std::erfc(x * T(-0.70710678118654752440084436210485L));
}
template <typename T> T ref_silu(T x) { return x == -INFINITY ? NAN : x * ref_sigmoid(x); }
template <typename T> T ref_logsigmoid(T x) {
  return x < 0 ? x - std::log1p(std::exp(x)) : 0 - std::log1p(std::exp(-x));
}
inline long double ref_lgamma(long double x) {
  int sign;
  return ::lgammal_r(x, &sign);
}
// Newton's method on the better conditioned of erf and erfc.
template <typename T> T ref_erfinv(T x) {
  const T a = std::fabs(x);
  if (!(a < 1)) return a == 1 ? std::copysign(T(INFINITY), x) : T(NAN);
  T y = vm::erfinv(static_cast<double>(a));
  for (int i = 0; i < 3 && a > 0; ++i) {
    const T slope = T(1.1283791670955125738961589031215L) * std::exp(-y * y);
    y -= (a < T(0.5) ? std::erf(y) - a : (1 - a) - std::erfc(y)) / slope;
  }
  return std::copysign(y, x);
}
template <typename T> T ref_erfcx(T x) {
  if (x < 30) return std::exp(static_cast<long double>(x) * x) * std::erfc(static_cast<long double>(x));
  const T z = 1 / (x * x);
  return T(0.56418958354775628694807945156077L) / x *
         (1 -
          z / 2 *
              (1 - z * T(1.5) *
                       (1 - z * T(2.5) * (1 - z * T(3.5) * (1 - z * T(4.5) * (1 - z * T(5.5) * (1 - z * T(6.5))))))));
}

// Where a division in two parts needs fused multiply-add; erfc without it is the C library's.
#ifdef __FMA__
inline constexpr double kDivisionBar = 2, kErfcBar = 2;
#else
inline constexpr double kDivisionBar = 2.5, kErfcBar = 3;
#endif

// name, reference, bar for f32, bar for f64
#define FL_CASES(_)                       \
  _(exp, std::exp, 1.5, 2)                \
  _(exp2, std::exp2, 1.5, 2)              \
  _(expm1, std::expm1, 1.5, 2)            \
  _(log, std::log, 1.5, 2)                \
  _(log2, std::log2, 1.5, 2)              \
  _(log10, std::log10, 1.5, 2)            \
  _(log1p, std::log1p, 1.5, 2)            \
  _(sqrt, std::sqrt, 0.5, 0.5001)         \
  _(rsqrt, ref_rsqrt, 1.5, 1.5)           \
  _(tanh, std::tanh, 1.5, kDivisionBar)   \
  _(sinh, std::sinh, 1.5, 2)              \
  _(cosh, std::cosh, 1.5, 2)              \
  _(asinh, std::asinh, 1.5, 2)            \
  _(acosh, std::acosh, 1.5, kDivisionBar) \
  _(atanh, std::atanh, 1.5, 2)            \
  _(sin, std::sin, 1.5, 2)                \
  _(cos, std::cos, 1.5, 2)                \
  _(tan, std::tan, 1.5, 2)                \
  _(near_sin, ref_near_sin, 1.5, 2)       \
  _(near_cos, ref_near_cos, 1.5, 2)       \
  _(near_tan, ref_near_tan, 1.5, 2)       \
  _(asin, std::asin, 1.5, 2)              \
  _(acos, std::acos, 1.5, 2)              \
  _(atan, std::atan, 1.5, 2)              \
  _(erf, std::erf, 1.5, 2)                \
  _(erfc, std::erfc, 1.5, kErfcBar)       \
  _(sigmoid, ref_sigmoid, 1.5, 2)         \
  _(silu, ref_silu, 2, 3)                 \
  _(logsigmoid, ref_logsigmoid, 1.5, 2)   \
  _(lgamma, ref_lgamma, 1.5, 6)           \
  _(erfinv, ref_erfinv, 3, 6)             \
  _(erfcx, ref_erfcx, 1.5, kErfcBar)

#define FL_MAKE(NAME, REF, BAR32, BAR64)                                                  \
  namespace f32 {                                                                         \
  FL_CASE_BODY(NAME, float)                                                               \
  inline long double ref_of_##NAME(float x) { return REF(static_cast<double>(x)); }       \
  }                                                                                       \
  namespace f64 {                                                                         \
  FL_CASE_BODY(NAME, double)                                                              \
  inline long double ref_of_##NAME(double x) { return REF(static_cast<long double>(x)); } \
  }
FL_CASES(FL_MAKE)
#undef FL_MAKE

inline std::vector<Case<float>> float_cases() {
  return {
#define FL_ROW(NAME, REF, BAR32, BAR64) {#NAME, f32::loop_##NAME, f32::single_##NAME, f32::ref_of_##NAME, BAR32},
      FL_CASES(FL_ROW)
#undef FL_ROW
  };
}
inline std::vector<Case<double>> double_cases() {
  return {
#define FL_ROW(NAME, REF, BAR32, BAR64) {#NAME, f64::loop_##NAME, f64::single_##NAME, f64::ref_of_##NAME, BAR64},
      FL_CASES(FL_ROW)
#undef FL_ROW
  };
}

}  // namespace flambeau::testing
