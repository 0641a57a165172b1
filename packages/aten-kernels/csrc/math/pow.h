#pragma once
// x^y.

#include "mid.h"

FL_VM_BEGIN

namespace detail {

// The value at x, y from r = |x|^y: signs, poles and the cases that are 1 or NaN, as C99's pow.
template <typename T> FL_VM T pow_special(T x, T y, T r) {
  const bool integer = y == std::trunc(y);
  const T half = T(0.5) * y;
  const bool odd = integer & (half != std::trunc(half));
  const T s = signbit(x) & odd ? -r : r;
  const bool undefined = (x < T(0)) & (x > -kInf<T>)&!integer & (y == y);
  const bool one = (x == T(1)) | (y == T(0)) | ((x == T(-1)) & (abs(y) == kInf<T>));
  return one ? T(1) : (undefined ? kNaN<T> : s);
}

}  // namespace detail

FL_VM float pow(float x, float y) {
  const double a = abs(static_cast<double>(x));
  double l = detail::log_mid(a);
  l = a == 0.0 ? -kInf<double> : l;
  l = a < kInf<double> ? l : a;
  double p = y * l;
  p = p < -200.0 ? -200.0 : p;
  p = p > 200.0 ? 200.0 : p;
  return detail::pow_special(x, y, static_cast<float>(detail::exp_mid(p)));
}

#ifdef __FMA__

namespace detail {

// log(x) as hi + lo to about 2^-66 of itself, for x positive and finite. With s = f / (2 + f),
// log(1 + f) = 2 s + 2/3 s^3 + s^5 P(s^2); the first two terms are formed in two parts.
FL_VM Parts<double> log_parts(double x) {
  const auto [k, f] = log_reduce(x);
  const double d = 2.0 + f;
  const double d_lo = f - (d - 2.0);
  const double inverse = 1.0 / d;
  const double s = f * inverse;
  const double s_lo = (fma_(-s, d, f) - s * d_lo) * inverse;
  const double z = s * s;
  const double z_lo = fma_(s, s, -z) + 2.0 * s * s_lo;
  const double cube = s * z;
  const double cube_lo = fma_(s, z, -cube) + s * z_lo + s_lo * z;
  const double third = cube * 0.66666666666666663;
  const double third_lo =
      fma_(cube, 0.66666666666666663, -third) + fma_(cube_lo, 0.66666666666666663, cube * 3.7007434154171886e-17);
  const double rest =
      cube * z *
      horner(z, 0.3999999999999998, 0.28571428571445234, 0.22222222217506185, 0.18181818874117903, 0.15384556606260169,
             0.13336327783915228, 0.11674604844205491, 0.11990817097475817);  // log_pow_d
  // Sums of a larger and a smaller number, each with what its rounding lost.
  const double a = k * 0.69314718055989033;  // 42 bits: exact
  const double b = a + 2.0 * s;
  const double b_lo = 2.0 * s - (b - a);
  const double c = b + third;
  const double c_lo = third - (c - b);
  const double lo = (c_lo + b_lo) + (2.0 * s_lo + third_lo + fma_(k, 5.497923018708371e-14, rest));
  const double hi = c + lo;
  return {hi, lo - (hi - c)};
}

}  // namespace detail

FL_VM double pow(double x, double y) {
  const double a = abs(x);
  auto [l, l_lo] = detail::log_parts(a);
  l = a == 0.0 ? -kInf<double> : l;
  l = a < kInf<double> ? l : a;
  const double p = y * l;
  const double p_lo = fma_(y, l, -p) + y * l_lo;
  const bool far = !(abs(p) < 800.0);  // 0, infinite or NaN; p_lo may be NaN
  const auto e = detail::exp_reduce(detail::clamp_exp(p));
  const double r = e.r + (far ? 0.0 : p_lo);
  return detail::pow_special(x, y, detail::scale_pow2(1.0 + detail::expm1_poly(r), e.shifted));
}

#else
// Without fused multiply-add a logarithm in two parts costs more than the C library's.
FL_VM double pow(double x, double y) { return std::pow(x, y); }
#endif

FL_VM_END
