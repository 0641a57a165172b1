#pragma once
// Bessel functions. Computed in double for both types; plain branching code.

#include <math.h>

#include "isa.h"

FL_VM_BEGIN

namespace detail {

// I_v(x) e^-x for x >= 0 and v = 0 or 1. The power series has positive terms only, so nothing cancels; from x = 30 on
// the asymptotic series is exact to double before it starts to diverge.
inline double scaled_bessel_i(int v, double x) {
  if (x == kInf<double>) return 0.0;
  if (x < 30.0) {
    const double q = 0.25 * x * x;
    double term = v ? 0.5 * x : 1.0, sum = term;
    for (int k = 1; term > 1e-17 * sum; ++k) sum += term *= q / (static_cast<double>(k) * (k + v));
    return sum * std::exp(-x);
  }
  const double mu = 4.0 * v * v;
  double term = 1.0, sum = 1.0;
  for (int k = 1; k < 40; ++k) {
    const double odd = 2.0 * k - 1.0;
    term *= (odd * odd - mu) / (8.0 * k * x);
    sum += term;
    if (std::fabs(term) < 1e-17) break;
  }
  return sum / std::sqrt(6.28318530717958647693 * x);
}

}  // namespace detail

/// Modified Bessel functions of the first kind; the `e` forms are multiplied by exp(-|x|).
inline double i0e(double x) { return x != x ? x : detail::scaled_bessel_i(0, std::fabs(x)); }
inline double i1e(double x) { return x != x ? x : std::copysign(detail::scaled_bessel_i(1, std::fabs(x)), x); }
// exp(|x|) in two halves: the product may be finite when exp(|x|) is not.
inline double i0(double x) {
  const double h = std::exp(0.5 * std::fabs(x));
  return x != x ? x : (std::isinf(x) ? kInf<double> : i0e(x) * h * h);
}
inline double i1(double x) {
  const double h = std::exp(0.5 * std::fabs(x));
  return x != x ? x : (std::isinf(x) ? x : i1e(x) * h * h);
}
inline float i0(float x) { return static_cast<float>(i0(static_cast<double>(x))); }
inline float i0e(float x) { return static_cast<float>(i0e(static_cast<double>(x))); }
inline float i1(float x) { return static_cast<float>(i1(static_cast<double>(x))); }
inline float i1e(float x) { return static_cast<float>(i1e(static_cast<double>(x))); }

/// Bessel functions of the first and second kind. y is -inf at 0 and NaN below.
inline double bessel_j0(double x) { return ::j0(x); }
inline double bessel_j1(double x) { return ::j1(x); }
inline double bessel_y0(double x) { return x < 0.0 ? kNaN<double> : ::y0(x); }
inline double bessel_y1(double x) { return x < 0.0 ? kNaN<double> : ::y1(x); }
inline float bessel_j0(float x) { return static_cast<float>(::j0(x)); }
inline float bessel_j1(float x) { return static_cast<float>(::j1(x)); }
inline float bessel_y0(float x) { return static_cast<float>(bessel_y0(static_cast<double>(x))); }
inline float bessel_y1(float x) { return static_cast<float>(bessel_y1(static_cast<double>(x))); }

FL_VM_END
