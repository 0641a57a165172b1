#pragma once
// Products with and sums of logarithms, with the conventions at 0 * log(0).

#include "hyperbolic.h"

FL_VM_BEGIN

/// log(e^a + e^b). Equal infinities give that infinity rather than NaN.
template <typename T> FL_VM Real<T> logaddexp(T a, T b) {
  const T m = a > b ? a : b;
  const T r = m + log1p(exp(-abs(a - b)));
  const T equal_inf = (a == b) & (abs(a) == kInf<T>) ? a : r;
  return (a != a) | (b != b) ? a + b : equal_inf;
}
/// log2(2^a + 2^b).
template <typename T> FL_VM Real<T> logaddexp2(T a, T b) {
  const T m = a > b ? a : b;
  const T r = m + log1p(exp2(-abs(a - b))) * T(1.44269504088896340736);
  const T equal_inf = (a == b) & (abs(a) == kInf<T>) ? a : r;
  return (a != a) | (b != b) ? a + b : equal_inf;
}
/// x log(y), 0 where x is 0 unless y is NaN.
template <typename T> FL_VM Real<T> xlogy(T x, T y) {
  const T r = x == T(0) ? T(0) : x * log(y);
  return y != y ? y : r;
}
/// -x log(x): 0 at 0, -inf below.
template <typename T> FL_VM Real<T> entr(T x) {
  const T r = x > T(0) ? -x * log(x) : T(0);
  const T neg = x < T(0) ? -kInf<T> : r;
  return x != x ? x : neg;
}

FL_VM_END
