#pragma once
// Gamma function and relatives. Computed in double for both types: these are rare, and float then is nearly exact.
// Plain branching code; a loop over them is not vectorised.

#include <math.h>

#include "arith.h"
#include "explog.h"
#include "trig.h"

FL_VM_BEGIN

namespace detail {
inline constexpr double kPi = 3.14159265358979323846;

// cot(pi x) and 1/sin(pi x)^2 with the argument reduced first, so that large x keeps its fraction.
inline double cot_pi(double x) {
  const double r = x - std::rint(x);
  return std::cos(kPi * r) / std::sin(kPi * r);
}
}  // namespace detail

/// log |Gamma(x)|; +inf at zero and the negative integers.
inline double lgamma(double x) {
  int sign;  // the _r form: plain lgamma writes a global
  return ::lgamma_r(x, &sign);
}
inline float lgamma(float x) {
  int sign;
  return ::lgammaf_r(x, &sign);
}

/// Derivative of lgamma. digamma(+-0) = -+inf, NaN at the negative integers.
inline double digamma(double x) {
  if (x == 0.0) return -copysign(kInf<double>, x);
  double r = 0.0;
  if (x < 0.0) {
    if (x == std::floor(x)) return kNaN<double>;
    r = -detail::kPi * detail::cot_pi(x);
    x = 1.0 - x;
  }
  while (x < 10.0) r -= 1.0 / x, x += 1.0;
  if (x == kInf<double>) return x + r;
  const double z = 1.0 / (x * x);
  // Bernoulli numbers B_2k / 2k.
  double p = 1.0 / 12.0;
  p = 691.0 / 32760.0 - z * p;
  p = 1.0 / 132.0 - z * p;
  p = 1.0 / 240.0 - z * p;
  p = 1.0 / 252.0 - z * p;
  p = 1.0 / 120.0 - z * p;
  p = 1.0 / 12.0 - z * p;
  return r + std::log(x) - 0.5 / x - z * p;
}
inline float digamma(float x) { return static_cast<float>(digamma(static_cast<double>(x))); }

/// Derivative of digamma; +inf at zero and the negative integers.
inline double trigamma(double x) {
  double sign = 1.0, r = 0.0;
  if (x <= 0.0) {
    if (x == std::floor(x)) return x == -kInf<double> ? kNaN<double> : kInf<double>;
    const double s = std::sin(detail::kPi * (x - std::rint(x)));
    r = -(detail::kPi / s) * (detail::kPi / s);
    sign = -1.0;
    x = 1.0 - x;
  }
  double sum = 0.0;
  while (x < 12.0) sum += 1.0 / (x * x), x += 1.0;
  const double z = 1.0 / (x * x);
  // Bernoulli numbers B_2k.
  double p = 7.0 / 6.0;
  p = -691.0 / 2730.0 + z * p;
  p = 5.0 / 66.0 + z * p;
  p = -1.0 / 30.0 + z * p;
  p = 1.0 / 42.0 + z * p;
  p = -1.0 / 30.0 + z * p;
  p = 1.0 / 6.0 + z * p;
  sum += 1.0 / x + 0.5 * z + z / x * p;
  return sign * (sum + r);
}
inline float trigamma(float x) { return static_cast<float>(trigamma(static_cast<double>(x))); }

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
  static constexpr double kCoef[] = {
      8.3333333333333333e-02, -1.3888888888888889e-03, 3.3068783068783069e-05, -8.2671957671957672e-07,
      2.0876756987868099e-08, -5.2841901386874932e-10, 1.3382536530684679e-11, -3.3896802963225829e-13,
      8.5860620562778446e-15, -2.1748686985580619e-16, 5.5090028283602295e-18, -1.3954464685812523e-19};
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
inline float zeta(float x, float q) {
  return static_cast<float>(zeta(static_cast<double>(x), static_cast<double>(q)));
}

/// n-th derivative of digamma, n >= 0.
inline double polygamma(int64_t n, double x) {
  if (n == 0) return digamma(x);
  if (n == 1) return trigamma(x);
  const double s = n % 2 ? 1.0 : -1.0;
  return s * std::exp(lgamma(static_cast<double>(n) + 1.0)) * zeta(static_cast<double>(n) + 1.0, x);
}
inline float polygamma(int64_t n, float x) { return static_cast<float>(polygamma(n, static_cast<double>(x))); }

FL_VM_END
