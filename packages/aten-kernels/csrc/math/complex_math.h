#pragma once
// Elementary functions of a complex argument.

#include <flambeau/core/complex.h>

#include <complex>

#include "activation.h"
#include "pow.h"
#include "trig.h"

FL_VM_BEGIN

namespace detail {
template <typename T> FL_VM std::complex<T> to_std(Complex<T> z) { return {z.re, z.im}; }
template <typename T> FL_VM Complex<T> from_std(std::complex<T> z) { return {z.real(), z.imag()}; }
}  // namespace detail

inline Complex<double> exp(Complex<double> z) { return detail::from_std(std::exp(detail::to_std(z))); }
inline Complex<double> log(Complex<double> z) { return detail::from_std(std::log(detail::to_std(z))); }
inline Complex<double> sqrt(Complex<double> z) { return detail::from_std(std::sqrt(detail::to_std(z))); }

// For complex of float these three are computed in double, where nothing overflows on the way, and without branches.

/// e^re (cos im + i sin im). A zero imaginary part stays zero, and e^-inf is 0 whatever the angle, as in C99.
FL_VM Complex<float> exp(Complex<float> z) {
  double x = z.re;
  x = x < -300.0 ? -300.0 : x;
  x = x > 300.0 ? 300.0 : x;
  const double e = z.re == kInf<float> ? kInf<double> : detail::exp_mid(x);
  const auto t = detail::trig_reduce(static_cast<double>(z.im));
  const bool odd = t.quadrant & 1;
  const double s = detail::sin_mid(t.r), c = detail::cos_mid(t.r);
  const double cosine = detail::flip_sign(odd ? s : c, ((t.quadrant + 1) & 2) << 62);
  const double sine = detail::flip_sign(odd ? c : s, (t.quadrant & 2) << 62);
  const bool turned = abs(z.im) < kInf<float>;  // a finite angle
  const bool vanishes = (z.re == -kInf<float>)&!turned;
  const bool grows = (z.re == kInf<float>)&!turned;
  double re = e * cosine;
  re = vanishes ? 0.0 : (grows ? kInf<double> : re);
  double im = e * sine;
  im = vanishes ? 0.0 : (z.im == 0.0f ? z.im : (grows ? kNaN<double> : im));
  // The sign of a tiny angle is lost in its reduction.
  im = abs(z.im) < 1e-9f && z.im != 0.0f ? e * z.im : im;
  return {static_cast<float>(re), static_cast<float>(im)};
}

/// log |z| + i arg z. |z|^2 carries what its last addition lost, so that the result is accurate near |z| = 1 too.
FL_VM Complex<float> log(Complex<float> z) {
  const double x = abs(static_cast<double>(z.re)), y = abs(static_cast<double>(z.im));
  const double big = x > y ? x * x : y * y, small = x > y ? y * y : x * x;
  const double square = big + small;
  const double lost = small - (square - big);
  const double half_log = 0.5 * (detail::log_mid(square) + lost / square);
  const bool infinite = (x == kInf<double>) | (y == kInf<double>);
  double re = square == 0.0 ? -kInf<double> : half_log;
  re = (x != x) | (y != y) ? kNaN<double> : re;
  re = infinite ? kInf<double> : re;
  return {static_cast<float>(re), atan2(z.im, z.re)};
}

/// The root with a non-negative real part; the imaginary part has the sign of im.
FL_VM Complex<float> sqrt(Complex<float> z) {
  const double x = z.re, y = z.im;
  const double m = vm::sqrt(x * x + y * y);
  const double root = vm::sqrt(0.5 * (m + abs(x)));
  const double other = root == 0.0 ? 0.0 : 0.5 * abs(y) / root;
  const bool left = signbit(z.re);
  double re = left ? other : root;
  double im = left ? root : other;
  // C99: an infinite imaginary part wins; then an infinite real part.
  const bool y_inf = abs(y) == kInf<double>, x_inf = abs(x) == kInf<double>;
  re = x_inf ? (left ? (y != y ? y : 0.0) : kInf<double>) : re;
  im = x_inf ? (left ? kInf<double> : (y != y ? y : 0.0)) : im;
  re = y_inf ? kInf<double> : re;
  im = y_inf ? kInf<double> : im;
  return {static_cast<float>(re), copysign(static_cast<float>(im), z.im)};
}

#define FL_VM_COMPLEX_FROM_STD(NAME) \
  template <typename T> inline Complex<T> NAME(Complex<T> z) { return detail::from_std(std::NAME(detail::to_std(z))); }
FL_VM_COMPLEX_FROM_STD(sin)
FL_VM_COMPLEX_FROM_STD(cos)
FL_VM_COMPLEX_FROM_STD(tan)
FL_VM_COMPLEX_FROM_STD(asin)
FL_VM_COMPLEX_FROM_STD(acos)
FL_VM_COMPLEX_FROM_STD(atan)
FL_VM_COMPLEX_FROM_STD(sinh)
FL_VM_COMPLEX_FROM_STD(cosh)
FL_VM_COMPLEX_FROM_STD(tanh)
FL_VM_COMPLEX_FROM_STD(asinh)
FL_VM_COMPLEX_FROM_STD(acosh)
FL_VM_COMPLEX_FROM_STD(atanh)
#undef FL_VM_COMPLEX_FROM_STD

template <typename T> FL_VM T abs(Complex<T> z) { return hypot(z.re, z.im); }
template <typename T> FL_VM T angle(Complex<T> z) { return atan2(z.im, z.re); }
/// angle of a real number: 0 or pi; NaN stays NaN.
template <typename T> FL_VM Real<T> angle(T x) {
  const T r = x < T(0) ? T(3.14159265358979323846) : T(0);
  return x != x ? x : r;
}
template <typename T> FL_VM Complex<T> conj(Complex<T> z) { return {z.re, -z.im}; }
template <typename T> FL_VM Complex<T> polar(T r, T theta) { return {r * cos(theta), r * sin(theta)}; }

/// exp2(z) = exp(z log 2).
template <typename T> inline Complex<T> exp2(Complex<T> z) {
  return vm::exp(Complex<T>{z.re * T(0.69314718055994530942), z.im * T(0.69314718055994530942)});
}
template <typename T> inline Complex<T> log2(Complex<T> z) {
  const Complex<T> w = log(z);
  return {w.re * T(1.44269504088896340736), w.im * T(1.44269504088896340736)};
}
template <typename T> inline Complex<T> log10(Complex<T> z) {
  const Complex<T> w = log(z);
  return {w.re * T(0.43429448190325182765), w.im * T(0.43429448190325182765)};
}
/// log(1 + z); |1 + z|^2 - 1 = re (2 + re) + im^2 is formed without adding 1 first.
template <typename T> inline Complex<T> log1p(Complex<T> z) {
  const T x = T(1) + z.re;
  const T r = abs(Complex<T>{x, z.im});
  const T near = T(0.5) * log1p(z.re * (T(2) + z.re) + z.im * z.im);
  return {(r > T(0.5)) & (r < T(2)) ? near : log(r), atan2(z.im, x)};
}
/// e^z - 1, with cos(im) - 1 taken as -2 sin(im/2)^2.
template <typename T> inline Complex<T> expm1(Complex<T> z) {
  const T e = expm1(z.re);
  const T s = sin(T(0.5) * z.im);
  const T v = T(-2) * s * s;
  return {e * cos(z.im) + v, exp(z.re) * sin(z.im)};
}
template <typename T> inline Complex<T> rsqrt(Complex<T> z) { return Complex<T>{T(1), T(0)} / sqrt(z); }
template <typename T> FL_VM Complex<T> reciprocal(Complex<T> z) { return Complex<T>{T(1), T(0)} / z; }
template <typename T> inline Complex<T> sigmoid(Complex<T> z) {
  return Complex<T>{T(1), T(0)} / (Complex<T>{T(1), T(0)} + exp(-z));
}
/// z / |z|, 0 at 0.
template <typename T> FL_VM Complex<T> sgn(Complex<T> z) {
  const T r = abs(z);
  return r == T(0) ? Complex<T>{T(0), T(0)} : Complex<T>{z.re / r, z.im / r};
}
template <typename T> FL_VM Real<T> sgn(T x) { return sign(x); }
template <typename T> inline Complex<T> pow(Complex<T> z, Complex<T> w) {
  return detail::from_std(std::pow(detail::to_std(z), detail::to_std(w)));
}

FL_VM_END
