#pragma once
// Roots, rounding, remainders and the other functions that need no approximation.

#include "isa.h"

FL_VM_BEGIN

FL_VM float sqrt(float x) { return __builtin_sqrtf(x); }
FL_VM double sqrt(double x) { return __builtin_sqrt(x); }
FL_VM float rsqrt(float x) { return 1.0f / sqrt(x); }
FL_VM double rsqrt(double x) { return 1.0 / sqrt(x); }
template <typename T>
FL_VM Real<T> reciprocal(T x) {
  return T(1) / x;
}

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
template <typename T>
FL_VM Real<T> frac(T x) {
  return x - trunc(x);
}

/// round(x, decimals): scaled by a power of ten in the type of x, as torch.
template <typename T>
FL_VM Real<T> round_decimals(T x, T ten_to_decimals, bool negative_decimals) {
  return negative_decimals ? round(x / ten_to_decimals) * ten_to_decimals : round(x * ten_to_decimals) / ten_to_decimals;
}

/// -1, 0 or 1; 0 for NaN, as in torch.
template <typename T>
FL_VM Real<T> sign(T x) {
  return T(x > T(0)) - T(x < T(0));
}
/// 0 below zero and at NaN, `at_zero` at zero, 1 above.
template <typename T>
FL_VM Real<T> heaviside(T x, T at_zero) {
  return x == T(0) ? at_zero : T(x > T(0));
}

// NaN in either argument wins (torch.maximum, clamp) ...
template <typename T>
FL_VM Real<T> maximum(T a, T b) {
  const T r = a > b ? a : b;
  return a != a ? a : r;
}
template <typename T>
FL_VM Real<T> minimum(T a, T b) {
  const T r = a < b ? a : b;
  return a != a ? a : r;
}
// ... or loses (torch.fmax, fmin).
template <typename T>
FL_VM Real<T> fmax(T a, T b) {
  const T r = a > b ? a : b;
  return b != b ? a : r;
}
template <typename T>
FL_VM Real<T> fmin(T a, T b) {
  const T r = a < b ? a : b;
  return b != b ? a : r;
}

FL_VM float fmod(float a, float b) { return std::fmod(a, b); }
FL_VM double fmod(double a, double b) { return std::fmod(a, b); }
FL_VM float hypot(float a, float b) { return std::hypot(a, b); }
FL_VM double hypot(double a, double b) { return std::hypot(a, b); }
FL_VM float nextafter(float a, float b) { return std::nextafter(a, b); }
FL_VM double nextafter(double a, double b) { return std::nextafter(a, b); }

/// Remainder with the sign of the divisor (Python's %).
template <typename T>
FL_VM Real<T> remainder(T a, T b) {
  const T m = fmod(a, b);
  return (m != T(0)) & ((b < T(0)) != (m < T(0))) ? m + b : m;
}

/// Python's // on floats: floor of the exact quotient, found through fmod so that it agrees with remainder().
template <typename T>
FL_VM Real<T> floor_divide(T a, T b) {
  const T m = fmod(a, b);
  T q = (a - m) / b;
  q = (m != T(0)) & ((b < T(0)) != (m < T(0))) ? q - T(1) : q;
  T f = floor(q);
  f = q - f > T(0.5) ? f + T(1) : f;
  f = q != T(0) ? f : copysign(T(0), a / b);
  return b == T(0) ? a / b : f;
}

/// x * 2^e, in the type of x (torch multiplies by pow(2, e)).
template <typename T>
FL_VM Real<T> ldexp(T x, T e) {
  return x * T(std::exp2(e));
}

FL_VM_END
