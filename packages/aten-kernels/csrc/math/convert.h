#pragma once
// convert<To>(from): the one conversion between element types.
//
// Note [Casts]
//  * to bool: x != 0 (NaN is true); complex is true when either part is.
//  * complex to real: the imaginary part is dropped; real to complex: zero imaginary part.
//  * integer to integer: modulo 2^bits.
//  * float to integer truncates. Out of range and NaN, as the x86 instruction and hence torch: int32 and int64 give
//    their most negative value; int8, int16, uint8 and uint16 are the low bits of the int32 result; uint32 the low
//    bits of the int64 result. uint64 takes values from 2^63 as such, others through int64.
//  * to float: to nearest, ties to even. double to a 16-bit type goes through float, as in torch.

#include <flambeau/core/complex.h>
#include <flambeau/core/half.h>

#include "isa.h"

FL_VM_BEGIN

namespace detail {

template <typename T> inline constexpr bool is_half_v = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

template <typename To, typename From> FL_VM To float_to_integer(From x) {
  if constexpr (sizeof(To) < 4 || std::is_same_v<To, int32_t>) {
    return static_cast<To>(static_cast<int32_t>(x));
  } else if constexpr (sizeof(To) == 4 || std::is_signed_v<To>) {
    return static_cast<To>(static_cast<int64_t>(x));
  } else {
    const bool large = x >= From(9223372036854775808.0);
    const From y = large ? x - From(9223372036854775808.0) : x;
    return static_cast<To>(static_cast<int64_t>(y)) ^ (large ? To(1) << 63 : To(0));
  }
}

}  // namespace detail

template <typename To, typename From> FL_VM To convert(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (std::is_same_v<From, bool>) {
    return convert<To>(__builtin_bit_cast(uint8_t, x));  // a loop over loaded bools is not vectorised
  } else if constexpr (is_complex_v<From>) {
    if constexpr (is_complex_v<To>) {
      return To(x);
    } else if constexpr (std::is_same_v<To, bool>) {
      return (x.re != 0) | (x.im != 0);
    } else {
      return convert<To>(x.re);
    }
  } else if constexpr (is_complex_v<To>) {
    return To(convert<decltype(To::re)>(x));
  } else if constexpr (detail::is_half_v<From>) {
    return convert<To>(static_cast<float>(x));
  } else if constexpr (detail::is_half_v<To>) {
    return To(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return detail::float_to_integer<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

FL_VM_END
