#pragma once
// Roots, rounding, remainders and the other functions that need no approximation.

#include "isa.h"

FL_VM_BEGIN

FL_VM float sqrt(float x) { return __builtin_sqrtf(x); }
FL_VM double sqrt(double x) { return __builtin_sqrt(x); }
FL_VM float rsqrt(float x) { return 1.0f / sqrt(x); }
FL_VM double rsqrt(double x) { return 1.0 / sqrt(x); }
template <typename T> FL_VM Real<T> reciprocal(T x) { return T(1) / x; }

FL_VM float floor(float x) { return __builtin_floorf(x); }
FL_VM double floor(double x) { return __builtin_floor(x); }
FL_VM float ceil(float x) { return __builtin_ceilf(x); }
FL_VM double ceil(double x) { return __builtin_ceil(x); }
FL_VM float trunc(float x) { return __builtin_truncf(x); }
FL_VM double trunc(double x) { return __builtin_trunc(x); }
/// Nearest integer, halves to even.
FL_VM float round(float x) { return __builtin_rintf(x); }
FL_VM double round(double x) { return __builtin_rint(x); }
/// x - trunc(x); carries the sign of x, NaN at infinities.
template <typename T> FL_VM Real<T> frac(T x) { return x - trunc(x); }

/// round(x, decimals): scaled by a power of ten in the type of x, as torch.
template <typename T> FL_VM Real<T> round_decimals(T x, T ten_to_decimals, bool negative_decimals) {
  const T p = ten_to_decimals;
  return negative_decimals ? round(x / p) * p : round(x * p) / p;
}

/// -1, 0 or 1; 0 for NaN, as in torch.
template <typename T> FL_VM Real<T> sign(T x) { return T(x > T(0)) - T(x < T(0)); }
/// 0 below zero and at NaN, `at_zero` at zero, 1 above.
template <typename T> FL_VM Real<T> heaviside(T x, T at_zero) { return x == T(0) ? at_zero : T(x > T(0)); }

// NaN in either argument wins (torch.maximum, clamp) ...
template <typename T> FL_VM Real<T> maximum(T a, T b) {
  const T r = a > b ? a : b;
  return a != a ? a : r;
}
template <typename T> FL_VM Real<T> minimum(T a, T b) {
  const T r = a < b ? a : b;
  return a != a ? a : r;
}
// ... or loses (torch.fmax, fmin).
template <typename T> FL_VM Real<T> fmax(T a, T b) {
  const T r = a > b ? a : b;
  return b != b ? a : r;
}
template <typename T> FL_VM Real<T> fmin(T a, T b) {
  const T r = a < b ? a : b;
  return b != b ? a : r;
}

/// sqrt(a^2 + b^2) without overflow in between; infinite if either is, even when the other is NaN.
FL_VM float hypot(float a, float b) {
  const double x = a, y = b;
  const float r = static_cast<float>(sqrt(x * x + y * y));
  return (abs(a) == kInf<float>) | (abs(b) == kInf<float>) ? kInf<float> : r;
}
FL_VM double hypot(double a, double b) {
  const double x = abs(a), y = abs(b);
  const double big = x > y ? x : y;
  double scale = big > 0x1p500 ? 0x1p-600 : 1.0;
  scale = big < 0x1p-400 ? 0x1p600 : scale;
  double back = big > 0x1p500 ? 0x1p600 : 1.0;
  back = big < 0x1p-400 ? 0x1p-600 : back;
  const double u = x * scale, v = y * scale;
  const double r = sqrt(fma_(u, u, v * v)) * back;
  return (x == kInf<double>) | (y == kInf<double>) ? kInf<double> : r;
}

/// The number next to a towards b; b itself when equal.
template <typename T> FL_VM Real<T> nextafter(T a, T b) {
  using Bits = decltype(bits(a));
  const Bits i = bits(a);
  const bool outward = (b > a) == (a > T(0));
  const T step = from_bits(static_cast<Bits>(i + (outward ? 1 : -1)));
  const T r = a == T(0) ? copysign(std::numeric_limits<T>::denorm_min(), b) : step;
  const T n = a == b ? b : r;
  return (a != a) | (b != b) ? a + b : n;
}

// Note [Remainders]
// While the quotient is small its integer part is exact up to one, and so is x - n y (fused, or in double for float):
// one correction either way makes the remainder exact. fmod_is_narrow says when; a kernel that scans its block with it
// may use the _narrow forms, which vectorise. Larger quotients go to the C library's bit by bit loop.
FL_VM bool fmod_is_narrow(float a, float b) { return (abs(a) < abs(b) * 4194304.0f) & (abs(b) < kInf<float>); }
FL_VM bool fmod_is_narrow(double a, double b) {
#ifdef __FMA__
  return (abs(a) < abs(b) * 2251799813685248.0) & (abs(b) < kInf<double>);
#else
  (void)a, (void)b;
  return false;
#endif
}
template <typename T> FL_VM Real<T> fmod_narrow(T a, T b) {
#ifdef __FMA__
  using Wide = T;
#else
  using Wide = double;
#endif
  const Wide x = abs(a), y = abs(b);
  Wide r = fma_(trunc(x / y), -y, x);
  r = r < Wide(0) ? r + y : r;
  r = r >= y ? r - y : r;
  return copysign(static_cast<T>(r), a);
}
template <typename T> inline Real<T> fmod(T a, T b) {
  return fmod_is_narrow(a, b) ? fmod_narrow(a, b) : std::fmod(a, b);
}

namespace detail {
// Python's % and // from m = fmod(a, b).
template <typename T> FL_VM T floor_remainder(T m, T b) { return (m != T(0)) & ((b < T(0)) != (m < T(0))) ? m + b : m; }
template <typename T> FL_VM T floor_quotient(T a, T b, T m) {
  T q = (a - m) / b;
  q = (m != T(0)) & ((b < T(0)) != (m < T(0))) ? q - T(1) : q;
  T f = floor(q);
  f = q - f > T(0.5) ? f + T(1) : f;
  f = q != T(0) ? f : copysign(T(0), a / b);
  return b == T(0) ? a / b : f;
}
}  // namespace detail

/// Remainder with the sign of the divisor (Python's %).
template <typename T> inline Real<T> remainder(T a, T b) { return detail::floor_remainder(fmod(a, b), b); }
template <typename T> FL_VM Real<T> remainder_narrow(T a, T b) { return detail::floor_remainder(fmod_narrow(a, b), b); }
/// Python's // on floats: floor of the exact quotient, found through fmod so that it agrees with remainder().
template <typename T> inline Real<T> floor_divide(T a, T b) { return detail::floor_quotient(a, b, fmod(a, b)); }
template <typename T> FL_VM Real<T> floor_divide_narrow(T a, T b) {
  return detail::floor_quotient(a, b, fmod_narrow(a, b));
}

FL_VM_END
