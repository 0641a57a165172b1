#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")  // so that the loops over eight lanes become vectors
#endif

#include "box_muller.h"

#include <cmath>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "clones.h"

// In f32 the logarithm, sine and cosine are the polynomials of the Cephes library (Moshier), with the products and sums
// fused that make the results equal torch's AVX2 ones to the last bit: a seed must give the same initial weights. They
// are good to 2 ulp, and the same on every instruction set.

namespace flambeau::random {

namespace {

#define FL_INLINE inline __attribute__((always_inline))

FL_INLINE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
FL_INLINE float from_bits(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }
FL_INLINE std::uint32_t to_bits(float x) { return __builtin_bit_cast(std::uint32_t, x); }

// log of x in (0, 1]
FL_INLINE float cephes_log(float x) {
  const std::uint32_t bits = to_bits(x);
  float exponent = static_cast<float>(static_cast<std::int32_t>(bits >> 23) - 126);
  const float mantissa = from_bits((bits & 0x807fffffu) | 0x3f000000u);  // in [0.5, 1)
  const bool below = mantissa < 0.707106781186547524f;
  exponent -= below ? 1.0f : 0.0f;
  const float v = (mantissa - 1.0f) + (below ? mantissa : 0.0f);
  const float z = v * v;
  float y = 7.0376836292e-2f;
  y = fma(y, v, -1.1514610310e-1f);
  y = fma(y, v, 1.1676998740e-1f);
  y = fma(y, v, -1.2420140846e-1f);
  y = fma(y, v, 1.4249322787e-1f);
  y = fma(y, v, -1.6668057665e-1f);
  y = fma(y, v, 2.0000714765e-1f);
  y = fma(y, v, -2.4999993993e-1f);
  y = fma(y, v, 3.3333331174e-1f);
  y = fma(y * v, z, exponent * -2.12194440e-4f);
  y = fma(z, -0.5f, y);
  return fma(exponent, 0.693359375f, v + y);  // log 2 in two parts
}

// x in [0, 2 pi)
FL_INLINE void cephes_sincos(float x, float& sine, float& cosine) {
  // Octants, made even; pi / 4 in three parts.
  const std::int32_t octant = (static_cast<std::int32_t>(x * 1.27323954473516f) + 1) & ~1;
  const float k = static_cast<float>(octant);
  x = fma(k, -0.78515625f, x);
  x = fma(k, -2.4187564849853515625e-4f, x);
  x = fma(k, -3.77489497744594108e-8f, x);
  const float z = x * x;
  float c = fma(2.443315711809948e-5f, z, -1.388731625493765e-3f);
  c = fma(c, z, 4.166664568298827e-2f);
  c = fma(c * z, z, z * -0.5f) + 1.0f;
  float s = fma(-1.9515295891e-4f, z, 8.3321608736e-3f);
  s = fma(s, z, -1.6666654611e-1f);
  s = fma(s * z, x, x);
  const bool straight = (octant & 2) == 0;
  const std::uint32_t sine_sign = static_cast<std::uint32_t>(octant & 4) << 29;
  const std::uint32_t cosine_sign = static_cast<std::uint32_t>(~(octant - 2) & 4) << 29;
  sine = from_bits(to_bits(straight ? s : c) ^ sine_sign);
  cosine = from_bits(to_bits(straight ? c : s) ^ cosine_sign);
}

// As vectors by hand: the compiler keeps sqrt scalar unless told that nobody reads errno.
FL_INLINE void square_roots(float* x) {
#if defined(__SSE__)
  _mm_storeu_ps(x, _mm_sqrt_ps(_mm_loadu_ps(x)));
  _mm_storeu_ps(x + 4, _mm_sqrt_ps(_mm_loadu_ps(x + 4)));
#else
  for (int i = 0; i < 8; ++i) x[i] = __builtin_sqrtf(x[i]);
#endif
}

}  // namespace

FL_CLONES void box_muller(float* data, std::int64_t n, float mean, float std) {
  for (float* group = data; group != data + n; group += 16) {
    float radius[8];
    for (int i = 0; i < 8; ++i) radius[i] = -2.0f * cephes_log(1.0f - group[i]);
    square_roots(radius);
    for (int i = 0; i < 8; ++i) {
      float sine, cosine;
      cephes_sincos(6.283185307179586f * group[i + 8], sine, cosine);
      group[i] = fma(radius[i] * cosine, std, mean);
      group[i + 8] = fma(radius[i] * sine, std, mean);
    }
  }
}

void box_muller(double* data, std::int64_t n, double mean, double std) {
  for (double* group = data; group != data + n; group += 16) {
    for (int i = 0; i < 8; ++i) {
      const double radius = ::sqrt(-2 * ::log(1 - group[i]));
      const double theta = 2 * M_PI * group[i + 8];
      group[i] = __builtin_fma(radius * ::cos(theta), std, mean);
      group[i + 8] = __builtin_fma(radius * ::sin(theta), std, mean);
    }
  }
}

}  // namespace flambeau::random
