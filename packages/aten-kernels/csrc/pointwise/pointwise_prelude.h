// What generated kernels may use besides the math headers: short names and rounding to the half kinds.
#pragma once

#include <cmath>
#include <cstdint>

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

FL_VM float round_to_float16(float x) { return Half(x); }
FL_VM float round_to_bfloat16(float x) { return BFloat16(x); }

// The 16-bit number next to x towards y; both are widened ones. `kInfBits` is the pattern of infinity.
template <uint16_t kInfBits> FL_VM uint16_t next_half_bits(uint16_t x, uint16_t y, bool up, bool equal) {
  const bool negative = (x & 0x8000u) != 0;
  const uint16_t magnitude = x & 0x7fffu;
  if (magnitude > kInfBits) return x;
  if ((y & 0x7fffu) > kInfBits) return y;
  if (equal) return y;
  if (magnitude == 0) return up ? 1 : 0x8001u;
  return static_cast<uint16_t>(up == negative ? x - 1 : x + 1);
}
FL_VM float nextafter_float16(float x, float y) {
  return Half::from_bits(next_half_bits<0x7c00>(Half(x).bits, Half(y).bits, y > x, y == x));
}
FL_VM float nextafter_bfloat16(float x, float y) {
  return BFloat16::from_bits(next_half_bits<0x7f80>(BFloat16(x).bits, BFloat16(y).bits, y > x, y == x));
}

template <typename T> FL_VM T frexp_mantissa(T x) {
  int exponent;
  return std::frexp(x, &exponent);
}
template <typename T> FL_VM int32_t frexp_exponent(T x) {
  int exponent = 0;
  (void)std::frexp(x, &exponent);
  return vm::isfinite(x) ? exponent : 0;
}

}  // namespace pw
}  // namespace FL_ISA
}  // namespace flambeau
