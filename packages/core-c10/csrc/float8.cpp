#include "flambeau/core/float8.h"

#include <cmath>

#include "flambeau/core/error.h"

namespace flambeau {
namespace {

// OCP 8-bit floating point specification 1.0; fnuz variants: no negative zero, its pattern is NaN, one more in the
// bias.
struct Format {
  int mantissa_bits;
  int bias;
  bool fnuz;
  bool has_inf;
  float max;
};

Format format_of(DType kind) {
  switch (kind) {
    case DType::Float8_e5m2: return {2, 15, false, true, 57344.f};
    case DType::Float8_e4m3fn: return {3, 7, false, false, 448.f};
    case DType::Float8_e5m2fnuz: return {2, 16, true, false, 57344.f};
    case DType::Float8_e4m3fnuz: return {3, 8, true, false, 240.f};
    default: FL_CHECK_TYPE(false, dtype_name(kind), " is not an 8-bit float with a mantissa");
  }
}

float e8m0_to_float(uint8_t b) { return b == 255 ? NAN : std::ldexp(1.f, int(b) - 127); }

uint8_t e8m0_from_float(float v) {
  if (!(std::fabs(v) <= 3.4028234663852886e38f)) return 255;
  int e = 0;
  const float m = std::frexp(std::fabs(v), &e);  // v = m 2^e, m in [0.5, 1)
  if (m == 0) return 0;
  int biased = e - 1 + 127;
  const float frac = m * 2 - 1;
  if (frac > 0.5f || (frac == 0.5f && biased > 0)) ++biased;
  return biased < 0 ? 0 : biased > 254 ? 255 : static_cast<uint8_t>(biased);
}

}  // namespace

float float8_to_float(uint8_t bits, DType kind) {
  if (kind == DType::Float8_e8m0fnu) return e8m0_to_float(bits);
  const Format f = format_of(kind);
  const int mantissa = bits & ((1 << f.mantissa_bits) - 1);
  const int exponent = (bits & 0x7f) >> f.mantissa_bits;
  const float sign = bits & 0x80 ? -1.f : 1.f;
  const int max_exponent = 0x7f >> f.mantissa_bits;
  if (f.fnuz && bits == 0x80) return NAN;
  if (f.has_inf && exponent == max_exponent) return mantissa ? NAN : sign * INFINITY;
  if (!f.fnuz && !f.has_inf && (bits & 0x7f) == 0x7f) return NAN;
  const float m = static_cast<float>(mantissa) / static_cast<float>(1 << f.mantissa_bits);
  return sign * (exponent == 0 ? std::ldexp(m, 1 - f.bias) : std::ldexp(1.f + m, exponent - f.bias));
}

uint8_t float8_from_float(float v, DType kind) {
  if (kind == DType::Float8_e8m0fnu) return e8m0_from_float(v);
  const Format f = format_of(kind);
  const uint8_t sign = std::signbit(v) ? 0x80 : 0;
  const uint8_t nan = f.fnuz ? 0x80 : static_cast<uint8_t>(sign | 0x7f);
  if (std::isnan(v)) return f.fnuz ? 0x80 : nan;
  const float a = std::fabs(v);
  const uint8_t over = f.has_inf ? static_cast<uint8_t>(sign | 0x7c) : nan;
  if (std::isinf(a)) return over;
  if (a == 0) return f.fnuz ? 0 : sign;
  int e = 0;
  std::frexp(a, &e);
  int exponent = e - 1;                              // a = 1.xxx 2^exponent
  if (exponent < 1 - f.bias) exponent = 1 - f.bias;  // subnormal
  const float quantum = std::ldexp(1.f, exponent - f.mantissa_bits);
  const float rounded = std::nearbyint(a / quantum) * quantum;  // ties to even
  if (rounded > f.max) return over;
  if (rounded == 0) return f.fnuz ? 0 : sign;
  std::frexp(rounded, &e);
  exponent = e - 1;
  const bool subnormal = exponent < 1 - f.bias;
  const float scale = std::ldexp(1.f, f.mantissa_bits - (subnormal ? 1 - f.bias : exponent));
  const int m = static_cast<int>(rounded * scale) & ((1 << f.mantissa_bits) - 1);
  const int be = subnormal ? 0 : exponent + f.bias;
  return static_cast<uint8_t>(sign | (be << f.mantissa_bits) | m);
}

}  // namespace flambeau
