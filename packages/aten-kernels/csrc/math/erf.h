#pragma once
// The error function and its relatives.

#include "arith.h"
#include "hyperbolic.h"

FL_VM_BEGIN

namespace detail {
// log(erfc(a)) for a in [0.92, 4.2]; erfc(4.2) is below half a unit of 1.
FL_VM float log_erfc(float a) {  // erf_tail_f
  return fma_(a,
              horner(a, -0.128646567f, -0.635158598f, -0.106225699f, 0.0237531643f, -0.0036385858f, 0.000321929925f,
                     -1.11514437e-05f),
              -a);
}
// erf(a) / a - 1 for a up to 0.93, from s = a^2.
FL_VM float erf_small(float s) {  // erf_f
  return horner(s, 0.128379166f, -0.376126289f, 0.112836257f, -0.0268557314f, 0.00519240508f, -0.000804976968f,
                7.99664995e-05f);
}
// e^q for q in [-87, 88].
FL_VM float exp_normal(float q) {
  const auto [shifted, n, r, hi, lo] = exp_reduce(q);
  return (1.0f + expm1_poly(r)) * pow2_bits(shifted);
}
}  // namespace detail

FL_VM float erf(float x) {
  const float a = abs(x);
  const float small = fma_(detail::erf_small(x * x), x, x);
  const float t = a > 4.2f ? 4.2f : a;
  const float large = copysign(1.0f - detail::exp_normal(detail::log_erfc(t)), x);
  return a < 0.921875f ? small : (x != x ? x : large);
}
FL_VM float erfc(float x) {
  const double a = abs(static_cast<double>(x));
  const double t = a > 10.5 ? 10.5 : a;
  const double y = detail::exp_mid(-t * t) * detail::erfcx_mid(t);
  return static_cast<float>(x < 0.0f ? 2.0 - y : y);
}

namespace detail {

// erfc(a) e^(a^2) for a in [0, 28] is (1 + a S(a)) / (1 + 2a), and this is a S(a). The rational function S makes up at
// most an eighth of the numerator, so its own roundings hardly count.
FL_VM double erfcx_excess(double a) {
  const double p =
      horner(a, 7142.804374529974, 13540.856889298862, 12843.72862816062, 7793.098953034511, 3291.7685002203334,
             996.7582517524419, 215.53999358573657, 32.02757011318232, 2.9605170060973185, 0.1283791670934714);
  const double q =
      horner(a, 8194.852744315585, 27351.120433576925, 42440.89980430175, 40425.311944890505, 26257.33633847636,
             12198.156583486787, 4124.011453707312, 1007.9774444552468, 171.8393190071571, 18.6660147160762, 1.0);
  return a * (p / q);
}
// The quotient, with what its roundings lost in the second part.
FL_VM Parts<double> erfcx_parts(double a) {
  const double g = erfcx_excess(a);
  const double num = 1.0 + g, den = fma_(2.0, a, 1.0);
#ifdef __FMA__
  const double num_lo = g - (num - 1.0);
  const double den_lo = a < 0.5 ? fma_(2.0, a, 1.0 - den) : 1.0 - fma_(-2.0, a, den);
  const double inverse = 1.0 / den;
  const double y = num * inverse;
  return {y, (fma_(-y, den, num) + (num_lo - y * den_lo)) * inverse};
#else
  return {num / den, 0.0};
#endif
}
// v e^(sign a^2) for a up to 28, with a^2 in two exact parts: the rounding of a^2 alone would cost hundreds of ulp.
FL_VM double times_exp_square(Parts<double> v, double a, double sign) {
  const double z = high_part(a);
  auto e = exp_reduce(sign * (z * z));
  const double rest = sign * (a - z) * (a + z);
  e.r += rest;
  e.lo += rest;
  const auto [w, w_lo] = add_expm1(1.0, e);
  const double y = v.hi * w;
#ifdef __FMA__
  const double y_lo = fma_(v.hi, w, -y) + fma_(v.hi, w_lo, v.lo * w);
#else
  const double y_lo = fma_(v.hi, w_lo, v.lo * w);
#endif
  return scale_pow2(y + y_lo, e.shifted);
}

}  // namespace detail

FL_VM double erf(double x) {
  const double a = abs(x);
  const double s = x * x;
  const double small =
      fma_(horner(s, 0.12837916709551259, -0.37612638903183754, 0.11283791670955119, -0.026866170645129733,
                  0.005223977625422086, -0.00085483270218532359, 0.00012055332899359584, -1.492564746516723e-05,
                  1.646204340878667e-06, -1.6364614435004177e-07, 1.4792145876299148e-08, -1.2163042643794988e-09,
                  8.7037923267527362e-11, -4.2228999432497382e-12),
           x, x);  // erf_d
  const double t = a > 6.0 ? 6.0 : a;
  // 1 - erfc(t), where one part of everything is enough.
  const double z = detail::high_part(t);
  const auto e = detail::exp_reduce(-z * z);
  const double w = 1.0 + detail::expm1_poly(e.r - (t - z) * (t + z));
  const double erfc_t = (1.0 + detail::erfcx_excess(t)) * w / fma_(2.0, t, 1.0) * detail::pow2_bits(e.shifted);
  const double large = 1.0 - erfc_t;
  return a < 1.0 ? small : (x != x ? x : copysign(large, x));
}
#ifdef __FMA__
FL_VM double erfc(double x) {
  const double a = abs(x);
  const double t = a > 28.0 ? 28.0 : a;
  const double y = detail::times_exp_square(detail::erfcx_parts(t), t, -1.0);
  return x < 0.0 ? 2.0 - y : y;
}
#else
FL_VM double erfc(double x) { return std::erfc(x); }
#endif
/// erfc(x) e^(x^2).
FL_VM double erfcx(double x) {
  const double a = abs(x);
  const double t = a > 28.0 ? 28.0 : a;
  const double inverse = 1.0 / (a > 28.0 ? a : 28.0);
  const double z = -0.5 * inverse * inverse;
  const double far = 0.56418958354775628695 * inverse * horner(z, 1.0, 1.0, 3.0, 15.0, 105.0, 945.0, 10395.0);
  const auto near = detail::erfcx_parts(t);
  const double y = a > 28.0 ? far : near.hi + near.lo;
  const double grown = detail::times_exp_square({2.0, 0.0}, a > 26.7 ? 26.7 : a, 1.0);
  return x < 0.0 ? (a > 26.65 ? kInf<double> : grown - y) : (x != x ? x : y);
}
FL_VM float erfcx(float x) { return static_cast<float>(erfcx(static_cast<double>(x))); }

namespace detail {

// Standard normal quantile from q = p - 1/2 and tail = min(p, 1 - p), both exact where the caller can make them so.
// Source: Wichura 1988, Algorithm AS 241 (PPND16), relative error about 1e-16.
FL_VM double normal_quantile(double q, double tail) {
  const double u = 0.180625 - q * q;
  double n = 2.5090809287301226727e+3, d = 5.2264952788528545610e+3;
  n = n * u + 3.3430575583588128105e+4, d = d * u + 2.8729085735721942674e+4;
  n = n * u + 6.7265770927008700853e+4, d = d * u + 3.9307895800092710610e+4;
  n = n * u + 4.5921953931549871457e+4, d = d * u + 2.1213794301586595867e+4;
  n = n * u + 1.3731693765509461125e+4, d = d * u + 5.3941960214247511077e+3;
  n = n * u + 1.9715909503065514427e+3, d = d * u + 6.8718700749205790830e+2;
  n = n * u + 1.3314166789178437745e+2, d = d * u + 4.2313330701600911252e+1;
  n = n * u + 3.3871328727963666080e0, d = d * u + 1.0;
  const double central = q * n / d;

  const double r = sqrt(-log(tail));
  const double v = r - 1.6;
  n = 7.74545014278341407640e-4, d = 1.05075007164441684324e-9;
  n = n * v + 2.27238449892691845833e-2, d = d * v + 5.47593808499534494600e-4;
  n = n * v + 2.41780725177450611770e-1, d = d * v + 1.51986665636164571966e-2;
  n = n * v + 1.27045825245236838258e0, d = d * v + 1.48103976427480074590e-1;
  n = n * v + 3.64784832476320460504e0, d = d * v + 6.89767334985100004550e-1;
  n = n * v + 5.76949722146069140550e0, d = d * v + 1.67638483018380384940e0;
  n = n * v + 4.63033784615654529590e0, d = d * v + 2.05319162663775882187e0;
  n = n * v + 1.42343711074968357734e0, d = d * v + 1.0;
  const double mid = n / d;

  const double w = r - 5.0;
  n = 2.01033439929228813265e-7, d = 2.04426310338993978564e-15;
  n = n * w + 2.71155556874348757815e-5, d = d * w + 1.42151175831644588870e-7;
  n = n * w + 1.24266094738807843860e-3, d = d * w + 1.84631831751005468180e-5;
  n = n * w + 2.65321895265761230930e-2, d = d * w + 7.86869131145613259100e-4;
  n = n * w + 2.96560571828504891230e-1, d = d * w + 1.48753612908506148525e-2;
  n = n * w + 1.78482653991729133580e0, d = d * w + 1.36929880922735805310e-1;
  n = n * w + 5.46378491116411436990e0, d = d * w + 5.99832206555887937690e-1;
  n = n * w + 6.65790464350110377720e0, d = d * w + 1.0;
  const double far = n / d;

  const double outer = copysign(r <= 5.0 ? mid : far, q);
  return abs(q) <= 0.425 ? central : outer;
}

}  // namespace detail

/// Inverse of erf on [-1, 1]; infinite at the ends, NaN outside.
FL_VM double erfinv(double x) {
  const double a = abs(x);
  double r = 0.70710678118654752440 * detail::normal_quantile(0.5 * x, 0.5 * (1.0 - a));
  r = a == 1.0 ? copysign(kInf<double>, x) : r;
  return a <= 1.0 ? r : kNaN<double>;
}
FL_VM float erfinv(float x) {
  const float a = abs(x);
  const float w = -log((1.0f - a) * (1.0f + a));
  const float near = horner(w, 0.886226892f, 0.232013822f, 0.0115486486f, -0.00233428832f, -0.000127488252f,
                            4.45684891e-05f, 3.98225029e-06f, -1.97628333e-06f, 2.21012954e-07f,
                            -8.79028583e-09f);  // erfinv_f
  const float v = sqrt(w) - 3.0f;
  const float far = horner(v, 2.83297682f, 1.00167501f, 0.00944562256f, -0.007638935f, 0.00568380812f, -0.00358938053f,
                           0.00149395585f, -7.20387034e-05f, -0.000317043072f, 0.000125938415f);  // erfinv_far_f
  const float y = (w < 5.0f ? near : far) * x;
  return a < 1.0f ? y : (a == 1.0f ? copysign(kInf<float>, x) : kNaN<float>);
}

/// Quantile of the standard normal distribution.
FL_VM double ndtri(double p) {
  double r = detail::normal_quantile(p - 0.5, p < 0.5 ? p : 1.0 - p);
  r = p == 0.0 ? -kInf<double> : r;
  r = p == 1.0 ? kInf<double> : r;
  return (p >= 0.0) & (p <= 1.0) ? r : kNaN<double>;
}
FL_VM float ndtri(float p) { return static_cast<float>(ndtri(static_cast<double>(p))); }

/// Standard normal distribution function.
template <typename T> FL_VM Real<T> ndtr(T x) { return T(0.5) * erfc(x * T(-0.70710678118654752440)); }

/// log(ndtr(x)), without losing the lower tail.
FL_VM double log_ndtr(double x) {
  const double t = x * 0.70710678118654752440;
  const double lower = log(0.5 * erfcx(x < 0.0 ? -t : 0.0)) - t * t;
  const double a = t > 28.0 ? 28.0 : (t < 0.0 ? -t : t);
  const double tail = 0.5 * detail::times_exp_square(detail::erfcx_parts(a), a, -1.0);
  const double upper = log1p(t < 0.0 ? tail - 1.0 : -tail);
  return x < -1.0 ? lower : upper;
}
FL_VM float log_ndtr(float x) { return static_cast<float>(log_ndtr(static_cast<double>(x))); }

FL_VM_END
