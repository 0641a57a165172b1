#pragma once
// What every file of the scalar math library starts from.
//
// Note [Scalar math library]
// The functions here take one float or double and are free of branches, tables and calls, so that g++ turns a plain
// loop over them into vector code (-O3 -fno-math-errno -fno-trapping-math -ffp-contract=off). Each kernel source is
// compiled once per instruction set with FL_ISA set to v2, v3 or v4; the inline namespace keeps those copies apart.
// Multiply-adds are written fma_() and never left to the compiler: the vector body and the scalar tail of a loop then
// do the same operations in the same order, and f(x)[i] equals f(x[i]) bit for bit. Results may differ between
// instruction sets (v2 has no fused multiply-add).
//
// Everything that may stay out of line lives in the inline namespace, but templates of the standard library do not:
// what calls them (std::complex in complex_math.h, std::cyl_bessel_* in bessel.h) belongs in units that are compiled
// once, for the base instruction set, or the linker might keep the copy that the oldest processor cannot run.

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#ifndef FL_ISA
#define FL_ISA v2
#endif

#define FL_VM_BEGIN         \
  namespace flambeau {      \
  inline namespace FL_ISA { \
  namespace vm {
#define FL_VM_END \
  }               \
  }               \
  }

// For functions meant to disappear into a vectorised loop.
#define FL_VM inline __attribute__((always_inline))

FL_VM_BEGIN

template <typename T> inline constexpr bool is_real_v = std::is_same_v<T, float> || std::is_same_v<T, double>;

// Lets one template serve float and double without catching Half, Complex or integers.
template <typename T> using Real = std::enable_if_t<is_real_v<T>, T>;

template <typename T> inline constexpr T kInf = std::numeric_limits<T>::infinity();
template <typename T> inline constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();

FL_VM float fma_(float a, float b, float c) {
#ifdef __FMA__
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}
FL_VM double fma_(double a, double b, double c) {
#ifdef __FMA__
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

/// c0 + c1 x + c2 x^2 + ..., by Horner's rule.
template <typename T> FL_VM T horner(T, T c0) { return c0; }
template <typename T, typename... C> FL_VM T horner(T x, T c0, C... rest) {
  return fma_(horner(x, static_cast<T>(rest)...), x, c0);
}

FL_VM constexpr int32_t bits(float x) { return __builtin_bit_cast(int32_t, x); }
FL_VM constexpr int64_t bits(double x) { return __builtin_bit_cast(int64_t, x); }
FL_VM constexpr float from_bits(int32_t x) { return __builtin_bit_cast(float, x); }
FL_VM constexpr double from_bits(int64_t x) { return __builtin_bit_cast(double, x); }

FL_VM float abs(float x) { return __builtin_fabsf(x); }
FL_VM double abs(double x) { return __builtin_fabs(x); }
FL_VM float copysign(float x, float s) { return __builtin_copysignf(x, s); }
FL_VM double copysign(double x, double s) { return __builtin_copysign(x, s); }
FL_VM bool signbit(float x) { return bits(x) < 0; }
FL_VM bool signbit(double x) { return bits(x) < 0; }
template <typename T> FL_VM bool isnan(T x) { return x != x; }
template <typename T> FL_VM bool isinf(T x) { return abs(x) == kInf<T>; }
template <typename T> FL_VM bool isfinite(T x) { return abs(x) < kInf<T>; }

FL_VM_END
