#pragma once
// 16-bit floating-point storage types. Arithmetic is done in float by whoever computes; these two only store,
// round (to nearest, ties to even) and widen.
//
// Every function is always_inline: this header is compiled into translation units of several instruction sets,
// and an out-of-line copy built for the widest one must never be the copy that the linker keeps.

#include <cstdint>
#include <type_traits>

#if defined(__F16C__)
#include <immintrin.h>
#endif

#define FL_HALF_INLINE inline __attribute__((always_inline))

namespace flambeau {

namespace half_detail {

FL_HALF_INLINE constexpr uint32_t float_bits(float f) { return __builtin_bit_cast(uint32_t, f); }
FL_HALF_INLINE constexpr float bits_float(uint32_t u) { return __builtin_bit_cast(float, u); }

/// IEEE binary16 bits of `f`. NaN keeps its sign and the top of its payload, and becomes quiet (as VCVTPS2PH does).
FL_HALF_INLINE constexpr uint16_t half_from_float_portable(float f) {
  const uint32_t u = float_bits(f);
  const uint32_t sign = (u >> 16) & 0x8000u;
  const uint32_t a = u & 0x7fffffffu;
  // Normal results: rebias the exponent, then round by adding half of the last kept bit (minus one when it is even).
  const uint32_t normal = (a - 0x38000000u + 0x0fffu + ((a >> 13) & 1u)) >> 13;
  // Results below 2^-14: adding 0.5 leaves the value, in units of 2^-24, in the low bits, rounded by the addition.
  const uint32_t tiny = float_bits(bits_float(a) + 0.5f) - 0x3f000000u;
  const uint32_t nan = 0x7e00u | ((a >> 13) & 0x3ffu);
  uint32_t h = a < 0x38800000u ? tiny : normal;
  h = a >= 0x47800000u ? 0x7c00u : h;
  h = a > 0x7f800000u ? nan : h;
  return static_cast<uint16_t>(sign | h);
}

/// Value of binary16 bits, exact. A signalling NaN becomes quiet.
FL_HALF_INLINE constexpr float half_to_float_portable(uint16_t h) {
  const uint32_t sign = (static_cast<uint32_t>(h) & 0x8000u) << 16;
  const uint32_t a = static_cast<uint32_t>(h) & 0x7fffu;
  // An integer conversion, not a subnormal multiply: right also when the processor flushes denormals.
  const float tiny = static_cast<float>(static_cast<int32_t>(a)) * 5.9604644775390625e-08f;  // 2^-24
  const uint32_t normal = (a << 13) + 0x38000000u;
  const uint32_t special = (a << 13) | 0x7f800000u | (a > 0x7c00u ? 0x00400000u : 0u);
  uint32_t r = a < 0x0400u ? float_bits(tiny) : normal;
  r = a >= 0x7c00u ? special : r;
  return bits_float(sign | r);
}

/// bfloat16 bits of `f`. Every NaN becomes 0x7fc0, as in torch.
FL_HALF_INLINE constexpr uint16_t bfloat16_from_float(float f) {
  const uint32_t u = float_bits(f);
  const uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
  return static_cast<uint16_t>((u & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : rounded);
}

FL_HALF_INLINE constexpr float bfloat16_to_float(uint16_t b) { return bits_float(static_cast<uint32_t>(b) << 16); }

}  // namespace half_detail

/// IEEE binary16: 1 sign, 5 exponent, 10 fraction bits.
struct Half {
  uint16_t bits;

  Half() = default;
  FL_HALF_INLINE constexpr Half(float f) : bits(half_detail::half_from_float_portable(f)) {}
  FL_HALF_INLINE static constexpr Half from_bits(uint16_t b) {
    Half h{};
    h.bits = b;
    return h;
  }
  FL_HALF_INLINE constexpr operator float() const { return half_detail::half_to_float_portable(bits); }
};

/// bfloat16: the upper half of a float.
struct BFloat16 {
  uint16_t bits;

  BFloat16() = default;
  FL_HALF_INLINE constexpr BFloat16(float f) : bits(half_detail::bfloat16_from_float(f)) {}
  FL_HALF_INLINE static constexpr BFloat16 from_bits(uint16_t b) {
    BFloat16 h{};
    h.bits = b;
    return h;
  }
  FL_HALF_INLINE constexpr operator float() const { return half_detail::bfloat16_to_float(bits); }
};

/// y[i] = x[i], widened or rounded, for arrays. The bits are those of the single conversions; with F16C eight at a
/// time, where g++ would spell each conversion out.
FL_HALF_INLINE void widen(const Half* x, float* y, int64_t n) {
  int64_t i = 0;
#if defined(__F16C__)
  for (const int64_t whole = n & ~int64_t{7}; i < whole; i += 8) {
    _mm256_storeu_ps(y + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i))));
  }
#endif
  for (; i < n; ++i) y[i] = x[i];
}
FL_HALF_INLINE void narrow(const float* x, Half* y, int64_t n) {
  int64_t i = 0;
#if defined(__F16C__)
  for (const int64_t whole = n & ~int64_t{7}; i < whole; i += 8) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y + i), _mm256_cvtps_ph(_mm256_loadu_ps(x + i), 0));
  }
#endif
  for (; i < n; ++i) y[i] = x[i];
}
FL_HALF_INLINE void widen(const BFloat16* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i];
}
FL_HALF_INLINE void narrow(const float* x, BFloat16* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i];
}

static_assert(sizeof(Half) == 2 && std::is_trivially_copyable_v<Half> && std::is_trivial_v<Half>);
static_assert(sizeof(BFloat16) == 2 && std::is_trivially_copyable_v<BFloat16> && std::is_trivial_v<BFloat16>);

}  // namespace flambeau
