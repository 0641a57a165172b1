// What generated kernels may use besides the math headers: short names, integer helpers that never trap.
#pragma once

#include <cstdint>
#include <type_traits>

#include "flambeau/core/complex.h"
#include "flambeau/core/half.h"
#include "math/isa.h"
#include "math/vm.h"
#include "pointwise/block_driver.h"

namespace flambeau {
inline namespace FL_ISA {
namespace pw {

using c64 = Complex<float>;
using c128 = Complex<double>;
using vm::kInf;
using vm::kNaN;

// Quotient toward zero. A divisor of 0 gives 0; the most negative value by -1 wraps.
template <typename T>
FL_VM T safe_div(T x, T y) {
  using U = std::make_unsigned_t<T>;
  if constexpr (std::is_signed_v<T>) {
    const T divisor = (y == T(0)) | (y == T(-1)) ? T(1) : y;
    const T q = static_cast<T>(x / divisor);
    return y == T(0) ? T(0) : y == T(-1) ? static_cast<T>(U(0) - U(x)) : q;
  } else {
    const T divisor = y == T(0) ? T(1) : y;
    return y == T(0) ? T(0) : static_cast<T>(x / divisor);
  }
}

// Remainder of safe_div, with the sign of x; 0 where the divisor is 0.
template <typename T>
FL_VM T safe_rem(T x, T y) {
  if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(x % ((y == T(0)) | (y == T(-1)) ? T(1) : y));
  } else {
    return static_cast<T>(x % (y == T(0) ? T(1) : y));
  }
}

// Shifts by a negative amount or by the width and more: all bits leave (left: 0; right: 0 or the sign).
template <typename T>
FL_VM T shift_left(T x, T n) {
  using U = std::make_unsigned_t<T>;
  constexpr int kBits = sizeof(T) * 8;
  const bool in_range = static_cast<U>(n) < static_cast<U>(kBits);
  using W = std::conditional_t<(sizeof(T) < 4), uint32_t, U>;
  const T shifted = static_cast<T>(static_cast<W>(static_cast<U>(x)) << (in_range ? static_cast<W>(static_cast<U>(n)) : W(0)));
  return in_range ? shifted : T(0);
}
template <typename T>
FL_VM T shift_right(T x, T n) {
  using U = std::make_unsigned_t<T>;
  constexpr int kBits = sizeof(T) * 8;
  const bool in_range = static_cast<U>(n) < static_cast<U>(kBits);
  if constexpr (std::is_signed_v<T>) return static_cast<T>(x >> (in_range ? n : T(kBits - 1)));
  return in_range ? static_cast<T>(x >> (in_range ? n : T(0))) : T(0);
}

FL_VM float round_to_float16(float x) { return Half(x); }
FL_VM float round_to_bfloat16(float x) { return BFloat16(x); }

}  // namespace pw
}  // namespace FL_ISA
}  // namespace flambeau
