// Rows of 16-bit floats to f32 and back, rounding to nearest even.
#pragma once

#include "flambeau/core/half.h"
#include "isa.h"

namespace flambeau::gemm::FL_ISA {

// Runs of a fixed length, which compilers vectorise whole, and what is left one by one.
template <class In, class Out, class F> FL_INLINE void convert_row(const In* in, Out* out, int64_t n, F f) {
  constexpr int64_t kRun = 32;
  int64_t i = 0;
  for (; i + kRun <= n; i += kRun) {
    for (int64_t j = 0; j < kRun; j++) out[i + j] = f(in[i + j]);
  }
  for (; i < n; i++) out[i] = f(in[i]);
}

inline void bf16_to_f32(const uint16_t* in, float* out, int64_t n) {
  convert_row(in, out, n, [](uint16_t x) __attribute__((always_inline)) { return half_detail::bfloat16_to_float(x); });
}

inline void f32_to_bf16(const float* in, uint16_t* out, int64_t n) {
  convert_row(in, out, n, [](float x) __attribute__((always_inline)) { return half_detail::bfloat16_from_float(x); });
}

inline void f16_to_f32(const uint16_t* in, float* out, int64_t n) {
  int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16) {
    const __m256i half = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i));
    _mm512_storeu_ps(out + i, _mm512_maskz_cvtph_ps(0xffff, half));  // the plain form warns in gcc 12
  }
#endif
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8) {
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
  }
#endif
  for (; i < n; i++) out[i] = half_detail::half_to_float_portable(in[i]);
}

inline void f32_to_f16(const float* in, uint16_t* out, int64_t n) {
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT));
  }
#endif
  for (; i < n; i++) out[i] = half_detail::half_from_float_portable(in[i]);
}

}  // namespace flambeau::gemm::FL_ISA
