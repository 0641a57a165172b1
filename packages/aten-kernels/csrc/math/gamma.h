#pragma once
// Gamma function and relatives. Computed in double for both types, so that float is nearly exact.

#include <math.h>

#include "arith.h"
#include "explog.h"
#include "trig.h"

FL_VM_BEGIN

namespace detail {

inline constexpr double kPi = 3.14159265358979323846;

// sin and cos of pi x, from the distance of x to the nearest integer, so that large x keeps its fraction.
struct SinCos {
  double sin, cos;
};
FL_VM SinCos sin_cos_pi(double x) {
  const double f = x - round(x);  // in [-1/2, 1/2]; its sign does not matter to the squares and quotients below
  const double a = abs(f);
  const bool small = a <= 0.25;
  const double r = kPi * (small ? a : 0.5 - a);
  const double s = sin_poly(r, 0.0), c = cos_poly(r, 0.0);
  return {copysign(small ? s : c, f), small ? c : s};
}

// Note [Shift by ten]
// The asymptotic series of these functions want an argument of at least 10. Ten steps of the recurrence are one
// quotient: with t = y^2 + 9y, (y + i)(y + 9 - i) = t + i (9 - i), so the product of y ... y + 9 is
// D(t) = t (t + 8)(t + 14)(t + 18)(t + 20), and the sum of the reciprocals is (2y + 9) D'(t) / D(t).
FL_VM double shift_product(double t) { return t * horner(t, 40320.0, 12176.0, 1308.0, 60.0, 1.0); }
FL_VM double shift_sum(double t) { return horner(t, 40320.0, 24352.0, 3924.0, 240.0, 5.0); }

}  // namespace detail

/// log |Gamma(x)|; +inf at zero and the negative integers.
inline double lgamma(double x) {
  int sign;  // the _r form: plain lgamma writes a global
  return ::lgamma_r(x, &sign);
}
#ifdef __FMA__
FL_VM float lgamma(float x) {
  const double a = abs(static_cast<double>(x));
  const bool near = a < 10.0;
  const double t = near ? a * (a + 9.0) : 1.0;
  const double y = near ? a + 10.0 : a;
  const double z = 1.0 / y;
  const double z2 = z * z;
  // Stirling's series; B_2k / (2k (2k - 1)).
  const double series = z * horner(z2, 1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360);
  const double core = ((y - 0.5) * log(y) - y) + (0.91893853320467274178 + series);
  // Gamma(x) Gamma(-x) = -pi / (x sin(pi x)); this factor and that of the shift share one logarithm.
  const double reflection = detail::kPi / (a * abs(detail::sin_cos_pi(a).sin));
  const double rest = log((near ? detail::shift_product(t) : 1.0) * (x < 0.0f ? reflection : 1.0));
  const double sum = x < 0.0f ? rest - core : core - rest;
  const double r = (x == 1.0f) | (x == 2.0f) ? 0.0 : sum;  // where the sum leaves 1e-15
  return a < kInf<double> ? static_cast<float>(a == 0.0 ? kInf<double> : r) : (x != x ? x : kInf<float>);
}
#else
// Two logarithms in double, two at a time, are slower than the C library.
inline float lgamma(float x) { return static_cast<float>(lgamma(static_cast<double>(x))); }
#endif

/// Derivative of lgamma. digamma(+-0) = -+inf, NaN at the negative integers.
FL_VM double digamma(double x) {
  const bool mirrored = x < 0.0;
  const double y = mirrored ? 1.0 - x : x;
  const bool near = y < 10.0;
  const double v = near ? y : 1.0;
  const double t = v * (v + 9.0);
  const double shift = (2.0 * v + 9.0) * detail::shift_sum(t) / detail::shift_product(t);
  const double w = near ? y + 10.0 : y;
  const double inverse = 1.0 / w;
  const double z = inverse * inverse;
  // B_2k / 2k.
  const double p = horner(z, 1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12);
  const double positive = (log(w) - fma_(z, p, 0.5 * inverse)) - (near ? shift : 0.0);
  const auto [s, c] = detail::sin_cos_pi(x);
  const double r = mirrored ? positive - detail::kPi * c / s : positive;
  const bool pole = mirrored & (s == 0.0);
  return x == 0.0 ? -copysign(kInf<double>, x) : (pole ? kNaN<double> : r);
}
FL_VM float digamma(float x) { return static_cast<float>(digamma(static_cast<double>(x))); }

/// Derivative of digamma; +inf at zero and the negative integers.
FL_VM double trigamma(double x) {
  const bool mirrored = x < 0.0;
  const double y = mirrored ? 1.0 - x : x;
  const bool near = y < 10.0;
  const double v = near ? y : 1.0;
  const double t = v * (v + 9.0);
  // Minus the derivative of the sum in Note [Shift by ten]: (2y + 9)^2 M / D^2 - 2 D' / D, M = D'^2 - D'' D.
  const double inverse_d = 1.0 / detail::shift_product(t);
  const double m =
      horner(t, 1625702400.0, 981872640.0, 296509952.0, 54028032.0, 6190512.0, 446528.0, 19632.0, 480.0, 5.0);
  const double u = (2.0 * v + 9.0) * inverse_d;
  const double shift = fma_(u * u, m, -2.0 * detail::shift_sum(t) * inverse_d);
  const double w = near ? y + 10.0 : y;
  const double inverse = 1.0 / w;
  const double z = inverse * inverse;
  // B_2k.
  const double p = horner(z, 1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66, -691.0 / 2730, 7.0 / 6);
  const double positive = (inverse + fma_(0.5, z, z * inverse * p)) + (near ? shift : 0.0);
  const double s = detail::sin_cos_pi(x).sin;
  const double q = detail::kPi / s;
  const double r = mirrored ? fma_(q, q, -positive) : positive;
  return x == 0.0 ? kInf<double> : r;
}
FL_VM float trigamma(float x) { return static_cast<float>(trigamma(static_cast<double>(x))); }

namespace detail {

// Hurwitz zeta for x > 1 and q > 0, by Euler and Maclaurin's formula once q exceeds the order of the correction and is
// not small against x. A sum whose terms have vanished before that is complete.
inline double zeta_positive(double x, double q) {
  double sum = 0.0;
  for (const double far = 10.0 + 0.5 * x; q < far; q += 1.0) {
    const double t = std::pow(q, -x);
    sum += t;
    if (q > 1.0 && t <= 1e-18 * sum) return sum;
  }
  const double t = std::pow(q, -x);
  sum += t * q / (x - 1.0) + 0.5 * t;
  // B_2k / (2k)!
  static constexpr double kCoef[] = {8.3333333333333333e-02,  -1.3888888888888889e-03, 3.3068783068783069e-05,
                                     -8.2671957671957672e-07, 2.0876756987868099e-08,  -5.2841901386874932e-10,
                                     1.3382536530684679e-11,  -3.3896802963225829e-13, 8.5860620562778446e-15,
                                     -2.1748686985580619e-16, 5.5090028283602295e-18,  -1.3954464685812523e-19};
  double factor = x, power = t / q;
  for (int k = 0; k < 12; ++k) {
    const double term = kCoef[k] * factor * power;
    sum += term;
    if (std::fabs(term) < 1e-17 * std::fabs(sum)) break;
    factor *= (x + 2 * k + 1) * (x + 2 * k + 2);
    power /= q * q;
  }
  return sum;
}

}  // namespace detail

/// Hurwitz zeta, sum over k >= 0 of (k + q)^-x, for x > 1.
/// inf at x = 1 and at q a non-positive integer; NaN for x < 1, and for q < 0 with x not an integer.
inline double zeta(double x, double q) {
  if (x == 1.0) return kInf<double>;
  if (x != x || q != q || x < 1.0 || q == kInf<double>) return kNaN<double>;
  if (q > 0.0) return detail::zeta_positive(x, q);
  if (q == std::floor(q)) return kInf<double>;
  if (x != std::floor(x)) return kNaN<double>;
  // The terms with k + q < 0 are those of f, f + 1, ..., -q with the sign (-1)^x, where f is the fraction of -q.
  const double f = -q - std::floor(-q);
  const double below = detail::zeta_positive(x, f) - detail::zeta_positive(x, 1.0 - q);
  return detail::zeta_positive(x, 1.0 - f) + (std::fmod(x, 2.0) == 0.0 ? below : -below);
}
inline float zeta(float x, float q) { return static_cast<float>(zeta(static_cast<double>(x), static_cast<double>(q))); }

/// n-th derivative of digamma, n >= 0.
inline double polygamma(int64_t n, double x) {
  if (n == 0) return digamma(x);
  if (n == 1) return trigamma(x);
  const double s = n % 2 ? 1.0 : -1.0;
  return s * std::exp(lgamma(static_cast<double>(n) + 1.0)) * zeta(static_cast<double>(n) + 1.0, x);
}
inline float polygamma(int64_t n, float x) { return static_cast<float>(polygamma(n, static_cast<double>(x))); }

FL_VM_END
