#pragma once
// Integer arithmetic with torch's results for every input. None of these traps: whether a zero divisor is an error is
// the caller's decision (torch raises "ZeroDivisionError"), taken before or after; here it yields 0. INT_MIN / -1
// wraps.

#include "isa.h"

FL_VM_BEGIN

template <typename T> using Int = std::enable_if_t<std::is_integral_v<T>, T>;

namespace detail {

// Wrapping arithmetic happens in the unsigned type of at least int's width (smaller ones promote to signed int).
template <typename T, bool kNarrow = (sizeof(T) < sizeof(unsigned))> struct WideOf {
  using type = unsigned;
};
template <typename T> struct WideOf<T, false> {
  using type = std::make_unsigned_t<T>;
};
template <typename T> using Wide = typename WideOf<T>::type;

// A divisor that cannot trap, equal to b unless b is 0, or -1 with a signed type (then the result is replaced).
template <typename T> FL_VM T safe_divisor(T b) {
  if constexpr (std::is_signed_v<T>) {
    return (b == T(0)) | (b == T(-1)) ? T(1) : b;
  } else {
    return b == T(0) ? T(1) : b;
  }
}

}  // namespace detail

template <typename T> FL_VM Int<T> wrapping_mul(T a, T b) {
  return static_cast<T>(static_cast<detail::Wide<T>>(a) * static_cast<detail::Wide<T>>(b));
}
template <typename T> FL_VM Int<T> wrapping_neg(T a) {
  return static_cast<T>(detail::Wide<T>(0) - static_cast<detail::Wide<T>>(a));
}
/// |a|; the most negative value stays itself.
template <typename T> FL_VM Int<T> iabs(T a) {
  if constexpr (std::is_signed_v<T>) {
    return a < T(0) ? wrapping_neg(a) : a;
  } else {
    return a;
  }
}

/// Quotient towards zero.
template <typename T> FL_VM Int<T> trunc_div(T a, T b) {
  T q = static_cast<T>(a / detail::safe_divisor(b));
  if constexpr (std::is_signed_v<T>) q = b == T(-1) ? wrapping_neg(a) : q;
  return b == T(0) ? T(0) : q;
}
/// Remainder with the sign of the dividend (C's %).
template <typename T> FL_VM Int<T> trunc_mod(T a, T b) {
  return static_cast<T>(a % detail::safe_divisor(b));  // x % 1 == 0 serves both replaced divisors
}
/// Quotient towards minus infinity (Python's //).
template <typename T> FL_VM Int<T> floor_div(T a, T b) {
  const T s = detail::safe_divisor(b);
  T q = static_cast<T>(a / s);
  if constexpr (std::is_signed_v<T>) {
    q = static_cast<T>(q - static_cast<T>((static_cast<T>(q * s) != a) & ((a < T(0)) != (s < T(0)))));
    q = b == T(-1) ? wrapping_neg(a) : q;
  }
  return b == T(0) ? T(0) : q;
}
/// Remainder with the sign of the divisor (Python's %).
template <typename T> FL_VM Int<T> floor_mod(T a, T b) {
  const T s = detail::safe_divisor(b);
  T m = static_cast<T>(a % s);
  if constexpr (std::is_signed_v<T>) m = (m != T(0)) & ((m < T(0)) != (s < T(0))) ? static_cast<T>(m + s) : m;
  return m;
}

/// base^exponent, wrapping. A negative exponent gives 0 except for the bases 1 and -1.
template <typename T> inline Int<T> ipow(T base, T exponent) {
  if constexpr (std::is_signed_v<T>) {
    if (exponent < T(0)) {
      if (base == T(1)) return T(1);
      if (base == T(-1)) return exponent % 2 == 0 ? T(1) : T(-1);
      return T(0);
    }
  }
  detail::Wide<T> b = static_cast<detail::Wide<T>>(base), r = 1;
  for (auto e = static_cast<detail::Wide<T>>(exponent); e != 0; e >>= 1) {
    if (e & 1) r *= b;
    b *= b;
  }
  return static_cast<T>(r);
}

/// Greatest common divisor of the absolute values. |INT_MIN| stays negative, and the sign of the result then follows
/// the signed remainders, as in torch.
template <typename T> inline Int<T> gcd(T a, T b) {
  T x = iabs(a), y = iabs(b);
  while (x != T(0)) {
    const T r = trunc_mod(y, x);
    y = x;
    x = r;
  }
  return y;
}
/// Least common multiple; 0 when both are 0. The product of types narrower than int is formed in int, then cut.
template <typename T> inline Int<T> lcm(T a, T b) {
  using Product = std::conditional_t<(sizeof(T) < sizeof(int)), int, T>;
  const T g = gcd(a, b);
  const Product product = wrapping_mul(static_cast<Product>(trunc_div(a, g)), static_cast<Product>(b));
  return static_cast<T>(iabs(product));
}

/// a << n; 0 when n is negative or not below the width.
template <typename T> FL_VM Int<T> shift_left(T a, T n) {
  constexpr int kBits = static_cast<int>(sizeof(T)) * 8;
  using U = detail::Wide<T>;
  const U count = static_cast<U>(n) & (kBits - 1);
  const bool outside = (n < T(0)) | (static_cast<U>(n) >= U(kBits));
  return outside ? T(0) : static_cast<T>(static_cast<U>(a) << count);
}
/// a >> n, arithmetic; the sign (0 or -1) when n is negative or not below the width.
template <typename T> FL_VM Int<T> shift_right(T a, T n) {
  constexpr int kBits = static_cast<int>(sizeof(T)) * 8;
  using U = detail::Wide<T>;
  const bool outside = (n < T(0)) | (static_cast<U>(n) >= U(kBits));
  if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(a >> (outside ? T(kBits - 1) : n));
  } else {
    return outside ? T(0) : static_cast<T>(a >> (outside ? T(0) : n));
  }
}

FL_VM_END
