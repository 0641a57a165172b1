#pragma once
// Orthogonal polynomials of degree n at x, by their three-term recurrences. n is a floating number cut to an integer; a
// negative integer gives 0; a NaN anywhere is NaN (for n > 0), and so is a value that overflows. The time is
// proportional to n, up to a limit: beyond it Chebyshev polynomials have closed forms, those of Hermite have
// overflowed, and the others are NaN, which their operators report.

#include "hyperbolic.h"
#include "isa.h"
#include "trig.h"

FL_VM_BEGIN

namespace detail {

constexpr int64_t kMaxDegree = 1 << 20;        // about 3 ms a value
constexpr int64_t kMaxChebyshevDegree = 4096;  // closed forms are as exact from here on, and quicker

// p(n) from p(0) = 1, p(1) and p(k + 1) = next(k, p(k), p(k - 1)).
template <typename T, typename Next> inline T recur(T first, T n, Next next) {
  if (n != n) return n;
  if (n <= T(-1)) return T(0);
  if (n > T(kMaxDegree)) return kNaN<T>;
  const int64_t degree = static_cast<int64_t>(n);
  if (degree == 0) return T(1);
  T before = T(1), now = first;
  for (int64_t k = 1; k < degree && now == now; ++k) {
    const T after = next(T(k), now, before);
    before = now;
    now = after;
  }
  return now;
}

enum class Chebyshev { T, U, V, W };

// By the angle t of |x| = cos t, or cosh t beyond 1. p(-x) = (-1)^n p(x), but V and W change places.
inline double chebyshev_closed(Chebyshev kind, double x, double n) {
  const double a = abs(x), count = trunc(n);
  if (x < 0 && kind == Chebyshev::V)
    kind = Chebyshev::W;
  else if (x < 0 && kind == Chebyshev::W)
    kind = Chebyshev::V;
  const bool wave = a <= 1;
  const double t = wave ? acos(a) : acosh(a);
  const auto even = [wave](double angle) { return wave ? cos(angle) : cosh(angle); };
  const auto odd = [wave](double angle) { return wave ? sin(angle) : sinh(angle); };
  double value = 0;
  switch (kind) {
    case Chebyshev::T: value = even(count * t); break;
    case Chebyshev::U: value = t == 0 ? count + 1 : odd((count + 1) * t) / odd(t); break;
    case Chebyshev::V: value = even((count + 0.5) * t) / even(0.5 * t); break;
    case Chebyshev::W: value = t == 0 ? 2 * count + 1 : odd((count + 0.5) * t) / odd(0.5 * t); break;
  }
  if (value - value != 0) return kNaN<double>;
  return x < 0 && std::fmod(count, 2.0) != 0 ? -value : value;
}

template <typename T> inline T chebyshev(Chebyshev kind, T first, T x, T n) {
  if (n > T(kMaxChebyshevDegree)) return static_cast<T>(chebyshev_closed(kind, x, n));
  return recur(first, n, [x](T, T now, T before) { return (x + x) * now - before; });
}

}  // namespace detail

/// First kind: cos(n acos x).
template <typename T> inline Real<T> chebyshev_polynomial_t(T x, T n) {
  return detail::chebyshev(detail::Chebyshev::T, x, x, n);
}
/// Second kind: sin((n + 1) acos x) / sin(acos x).
template <typename T> inline Real<T> chebyshev_polynomial_u(T x, T n) {
  return detail::chebyshev(detail::Chebyshev::U, x + x, x, n);
}
/// Third kind: cos((n + 1/2) acos x) / cos(acos(x) / 2).
template <typename T> inline Real<T> chebyshev_polynomial_v(T x, T n) {
  return detail::chebyshev(detail::Chebyshev::V, x + x - T(1), x, n);
}
/// Fourth kind: sin((n + 1/2) acos x) / sin(acos(x) / 2).
template <typename T> inline Real<T> chebyshev_polynomial_w(T x, T n) {
  return detail::chebyshev(detail::Chebyshev::W, x + x + T(1), x, n);
}

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
