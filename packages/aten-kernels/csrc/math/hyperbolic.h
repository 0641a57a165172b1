#pragma once
#include "arith.h"
#include "mid.h"

FL_VM_BEGIN

FL_VM float sinh(float x) {
  const double a = abs(static_cast<double>(x));
  const double e = detail::exp_mid(a > 100.0 ? 100.0 : a);
  const double s = a * a;
  const double small = fma_(s * a, horner(s, 1.0 / 6, 1.0 / 120), a);
  return copysign(static_cast<float>(a < 0.03125 ? small : 0.5 * (e - 1.0 / e)), x);
}
FL_VM float cosh(float x) {
  const double a = abs(static_cast<double>(x));
  const double e = detail::exp_mid(a > 100.0 ? 100.0 : a);
  return static_cast<float>(0.5 * (e + 1.0 / e));
}
namespace detail {
// e^a / 2 for a >= 0; overflows only where cosh does.
FL_VM double half_exp(double a) {
  const auto e = exp_reduce(a > 711.0 ? 711.0 : a);
  return scale_pow2(1.0 + expm1_poly(e.r), e.shifted - 1.0);
}
}  // namespace detail

// (e^a - e^-a) / 2 from m = e^a - 1 while e^-a counts.
FL_VM double sinh(double x) {
  const double a = abs(x);
  const double m = expm1(a > 40.0 ? 40.0 : a);
  return copysign(a > 40.0 ? detail::half_exp(a) : 0.5 * (m + m / (m + 1.0)), x);
}
FL_VM double cosh(double x) {
  const double h = detail::half_exp(abs(x));
  return h + 0.25 / h;
}

// A polynomial below 0.625, 1 - 2 / (e^2a + 1) above.
FL_VM float tanh(float x) {
  const float a = abs(x);
  const float s = x * x;
  const float p = horner(s, -0.333333313f, 0.133332118f, -0.0539463758f, 0.021694554f, -0.00815515313f, 0.00211780844f);
  const float small = fma_(p * s, a, a);  // tanh_f
  const auto e = detail::exp_reduce(a > 10.0f ? 20.0f : a + a);
  const float scale = detail::pow2_bits(e.shifted);
  const float large = 1.0f - 2.0f / fma_(scale, detail::expm1_poly(e.r), scale + 1.0f);
  return copysign(a < 0.625f ? small : (x != x ? x : large), x);
}
// (e^2a - 1) / (e^2a + 1), both over 2^n.
FL_VM double tanh(double x) {
  const double a = abs(x);
  const auto e = detail::exp_reduce(a > 20.0 ? 40.0 : a + a);
  const double t = detail::inverse_pow2_bits(e.shifted);
  const auto [m, m_lo] = detail::add_expm1(1.0 - t, e);
  const double d = fma_(2.0, t, m);
#ifdef __FMA__
  // One step of division in two parts: three roundings of half a unit would add up to 2.3.
  const double d_lo = m - (d - 2.0 * t);
  const double inverse = 1.0 / d;
  const double q = m * inverse;
  const double rest = fma_(-q, d, m) + fma_(-q, d_lo, m_lo);
  return copysign(fma_(rest, inverse, q), x);
#else
  return copysign((m + m_lo) / d, x);
#endif
}

FL_VM float asinh(float x) {
  const double a = abs(static_cast<double>(x));
  const double s = a * a;
  const double small = fma_(s * a, horner(s, -1.0 / 6, 3.0 / 40), a);
  const double y = detail::log_mid(a + sqrt(s + 1.0));
  return copysign(static_cast<float>(a < 0.0078125 ? small : (a < kInf<double> ? y : a)), x);
}
FL_VM float acosh(float x) {
  const double a = x;
  const double y = detail::log_mid(a + sqrt(a * a - 1.0));
  return static_cast<float>(a >= 1.0 ? (a < kInf<double> ? y : a) : kNaN<double>);
}
FL_VM float atanh(float x) {
  const double a = abs(static_cast<double>(x));
  const double s = a * a;
  const double small = fma_(s * a, horner(s, 1.0 / 3, 1.0 / 5), a);
  const double y = 0.5 * detail::log_mid((1.0 + a) / (1.0 - a));
  const double r = a < 0.00390625 ? small : (a < 1.0 ? y : (a == 1.0 ? kInf<double> : kNaN<double>));
  return copysign(static_cast<float>(r), x);
}
// log1p(a + a^2 / (1 + sqrt(1 + a^2))); from 2^60 on log(2a).
FL_VM double asinh(double x) {
  const double a = abs(x);
  const bool big = a > 0x1p60;
  const double s = a * a;
  const double y = log1p(big ? a : a + s / (1.0 + sqrt(1.0 + s)));
  return copysign(big ? y + 0.69314718055994530942 : y, x);
}
// log1p(t + s) with t = x - 1 and s = sqrt(2t + t^2); what rounding took from s and the sum is added to first order.
FL_VM double acosh(double x) {
  const double t = x - 1.0;
  const bool big = x > 0x1p60;
  const double w = fma_(t, t, 2.0 * t);
  const double s = sqrt(w);
  const double u = t + s;
#ifdef __FMA__
  const double s_lo = s > 0.0 ? fma_(-s, s, w) * (0.5 / s) : 0.0;
  const double lost = (t - (u - s)) + s_lo;
  const double y = log1p(big ? x : u) + (big ? 0.0 : lost / (1.0 + u));
#else
  const double y = log1p(big ? x : u);
#endif
  return x >= 1.0 ? (big ? y + 0.69314718055994530942 : y) : kNaN<double>;
}
FL_VM double atanh(double x) {
  const double a = abs(x);
  return copysign(0.5 * log1p(2.0 * a / (1.0 - a)), x);
}

FL_VM_END
