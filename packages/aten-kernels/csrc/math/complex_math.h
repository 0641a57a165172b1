#pragma once
// Elementary functions of a complex argument.

#include <flambeau/core/complex.h>

#include <complex>

#include "activation.h"
#include "pow.h"
#include "trig.h"

FL_VM_BEGIN

namespace detail {
template <typename T>
FL_VM std::complex<T> to_std(Complex<T> z) {
  return {z.re, z.im};
}
template <typename T>
FL_VM Complex<T> from_std(std::complex<T> z) {
  return {z.real(), z.imag()};
}
}  // namespace detail

#define FL_VM_COMPLEX_FROM_STD(NAME)             \
  template <typename T>                          \
  inline Complex<T> NAME(Complex<T> z) {         \
    return detail::from_std(std::NAME(detail::to_std(z))); \
  }
FL_VM_COMPLEX_FROM_STD(exp)
FL_VM_COMPLEX_FROM_STD(log)
FL_VM_COMPLEX_FROM_STD(sqrt)
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

template <typename T>
FL_VM T abs(Complex<T> z) {
  return hypot(z.re, z.im);
}
template <typename T>
FL_VM T angle(Complex<T> z) {
  return atan2(z.im, z.re);
}
/// angle of a real number: 0 or pi; NaN stays NaN.
template <typename T>
FL_VM Real<T> angle(T x) {
  const T r = x < T(0) ? T(3.14159265358979323846) : T(0);
  return x != x ? x : r;
}
template <typename T>
FL_VM Complex<T> conj(Complex<T> z) {
  return {z.re, -z.im};
}
template <typename T>
FL_VM Complex<T> polar(T r, T theta) {
  return {r * cos(theta), r * sin(theta)};
}

/// exp2(z) = exp(z log 2).
template <typename T>
inline Complex<T> exp2(Complex<T> z) {
  return exp(Complex<T>{z.re * T(0.69314718055994530942), z.im * T(0.69314718055994530942)});
}
template <typename T>
inline Complex<T> log2(Complex<T> z) {
  const Complex<T> w = log(z);
  return {w.re * T(1.44269504088896340736), w.im * T(1.44269504088896340736)};
}
template <typename T>
inline Complex<T> log10(Complex<T> z) {
  const Complex<T> w = log(z);
  return {w.re * T(0.43429448190325182765), w.im * T(0.43429448190325182765)};
}
/// log(1 + z); |1 + z|^2 - 1 = re (2 + re) + im^2 is formed without adding 1 first.
template <typename T>
inline Complex<T> log1p(Complex<T> z) {
  const T x = T(1) + z.re;
  const T r = abs(Complex<T>{x, z.im});
  const T near = T(0.5) * log1p(z.re * (T(2) + z.re) + z.im * z.im);
  return {(r > T(0.5)) & (r < T(2)) ? near : log(r), atan2(z.im, x)};
}
/// e^z - 1, with cos(im) - 1 taken as -2 sin(im/2)^2.
template <typename T>
inline Complex<T> expm1(Complex<T> z) {
  const T e = expm1(z.re);
  const T s = sin(T(0.5) * z.im);
  const T v = T(-2) * s * s;
  return {e * cos(z.im) + v, exp(z.re) * sin(z.im)};
}
template <typename T>
inline Complex<T> rsqrt(Complex<T> z) {
  return Complex<T>{T(1), T(0)} / sqrt(z);
}
template <typename T>
FL_VM Complex<T> reciprocal(Complex<T> z) {
  return Complex<T>{T(1), T(0)} / z;
}
template <typename T>
inline Complex<T> sigmoid(Complex<T> z) {
  return Complex<T>{T(1), T(0)} / (Complex<T>{T(1), T(0)} + exp(-z));
}
/// z / |z|, 0 at 0.
template <typename T>
FL_VM Complex<T> sgn(Complex<T> z) {
  const T r = abs(z);
  return r == T(0) ? Complex<T>{T(0), T(0)} : Complex<T>{z.re / r, z.im / r};
}
template <typename T>
FL_VM Real<T> sgn(T x) {
  return sign(x);
}
template <typename T>
inline Complex<T> pow(Complex<T> z, Complex<T> w) {
  return detail::from_std(std::pow(detail::to_std(z), detail::to_std(w)));
}

FL_VM_END
