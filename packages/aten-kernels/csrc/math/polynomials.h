#pragma once
// Orthogonal polynomials of degree n at x, by their three-term recurrences. n is a floating number cut to an integer; a
// negative integer gives 0. The time is proportional to n; a NaN anywhere is NaN (for n > 0).

#include "isa.h"
#include "trig.h"

FL_VM_BEGIN

namespace detail {

// p(n) from p(0) = 1, p(1) and p(k + 1) = next(k, p(k), p(k - 1)).
template <typename T, typename Next> inline T recur(T first, T n, Next next) {
  if (n != n) return n;
  if (n <= T(-1)) return T(0);
  const int64_t degree = n < T(0x1p62) ? static_cast<int64_t>(n) : int64_t{1} << 62;
  if (degree == 0) return T(1);
  T before = T(1), now = first;
  for (int64_t k = 1; k < degree && now == now; ++k) {
    const T after = next(T(k), now, before);
    before = now;
    now = after;
  }
  return now;
}

template <typename T> inline T chebyshev(T first, T x, T n) {
  return recur(first, n, [x](T, T now, T before) { return (x + x) * now - before; });
}

}  // namespace detail

/// First kind: cos(n acos x).
template <typename T> inline Real<T> chebyshev_polynomial_t(T x, T n) { return detail::chebyshev(x, x, n); }
/// Second kind: sin((n + 1) acos x) / sin(acos x).
template <typename T> inline Real<T> chebyshev_polynomial_u(T x, T n) { return detail::chebyshev(x + x, x, n); }
/// Third kind.
template <typename T> inline Real<T> chebyshev_polynomial_v(T x, T n) { return detail::chebyshev(x + x - T(1), x, n); }
/// Fourth kind.
template <typename T> inline Real<T> chebyshev_polynomial_w(T x, T n) { return detail::chebyshev(x + x + T(1), x, n); }

// The same on [0, 1] instead of [-1, 1].
template <typename T> inline Real<T> shifted_chebyshev_polynomial_t(T x, T n) {
  return chebyshev_polynomial_t(x + x - T(1), n);
}
template <typename T> inline Real<T> shifted_chebyshev_polynomial_u(T x, T n) {
  return chebyshev_polynomial_u(x + x - T(1), n);
}
template <typename T> inline Real<T> shifted_chebyshev_polynomial_v(T x, T n) {
  return chebyshev_polynomial_v(x + x - T(1), n);
}
template <typename T> inline Real<T> shifted_chebyshev_polynomial_w(T x, T n) {
  return chebyshev_polynomial_w(x + x - T(1), n);
}

/// Physicist's Hermite polynomial.
template <typename T> inline Real<T> hermite_polynomial_h(T x, T n) {
  return detail::recur(x + x, n, [x](T k, T now, T before) { return (x + x) * now - T(2) * k * before; });
}
/// Probabilist's Hermite polynomial.
template <typename T> inline Real<T> hermite_polynomial_he(T x, T n) {
  return detail::recur(x, n, [x](T k, T now, T before) { return x * now - k * before; });
}
template <typename T> inline Real<T> laguerre_polynomial_l(T x, T n) {
  return detail::recur(T(1) - x, n,
                       [x](T k, T now, T before) { return ((k + k + T(1) - x) * now - k * before) / (k + T(1)); });
}
template <typename T> inline Real<T> legendre_polynomial_p(T x, T n) {
  return detail::recur(x, n,
                       [x](T k, T now, T before) { return ((k + k + T(1)) * x * now - k * before) / (k + T(1)); });
}

FL_VM_END
