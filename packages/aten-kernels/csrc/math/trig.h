#pragma once
// Trigonometric functions.

#include "arith.h"
#include "isa.h"
#include "mid.h"

FL_VM_BEGIN

namespace detail {

// x = n pi/2 + r with |r| <= pi/4; n modulo 4 in the low bits of `quadrant`.
struct TrigReduced {
  double r;
  uint64_t quadrant;
};

// Note [Argument reduction of floats]
// Below kTrigNarrow two steps of Cody and Waite's method suffice: n pi/2 is subtracted in parts of 33 and 53 bits.
// Beyond, 2/pi is cut into three chunks of 29 bits, whose products with a float are exact in double, and a fourth of 53.
// Each product is reduced modulo 4 on its own, so nothing is lost at any size of x. The chunks give x up to 2^86 an
// absolute error below 2^-55; beyond, x is a multiple of 2^63, and they start at the bits of 2/pi below 2^-61 (those
// above contribute multiples of 4).
inline constexpr float kTrigNarrow = 0x1p19f;

FL_VM TrigReduced trig_reduce_narrow(double x) {
  const double shifted = fma_(x, 0.63661977236758134308, kRoundMagic<double>);
  const double n = shifted - kRoundMagic<double>;
  const double r = fma_(n, -6.077100506506192e-11, fma_(n, -1.5707963267341256, x));
  return {r, static_cast<uint64_t>(bits(shifted))};
}

// x c modulo 4, in [-2, 2]; exact when x has 24 bits and c 29.
FL_VM double product_mod4(double x, double c) {
  const double y = x * c;
  return fma_(round(y * 0.25), -4.0, y);
}
FL_VM TrigReduced trig_reduce_wide(double x) {
  const bool huge = abs(x) >= 0x1p86;
  const double y0 = product_mod4(x, huge ? 0x1.fc2757cp-64 : 0x1.45f306cp-1);
  const double y1 = product_mod4(x, huge ? 0x1.1f534dcp-92 : 0x1.c9c882ap-29);
  const double y2 = product_mod4(x, huge ? 0x1.c0db629p-120 : 0x1.4fe13aap-59);
  const double c3 = huge ? 0x1.664f10e4107f9p-150 : 0x1.e8fa9a6ee06dbp-87;
  const double n = round(((y0 + y1) + y2) + x * c3);
  const double f = fma_(x, c3, ((y0 - n) + y1) + y2);
  return {f * 1.57079632679489661923, static_cast<uint64_t>(bits(n + kRoundMagic<double>))};
}
FL_VM TrigReduced trig_reduce(double x) {
  const auto narrow = trig_reduce_narrow(x), wide = trig_reduce_wide(x);
  const bool near = abs(x) < kTrigNarrow;
  return {near ? narrow.r : wide.r, near ? narrow.quadrant : wide.quadrant};
}

FL_VM double flip_sign(double x, uint64_t sign_bit) {
  return from_bits(static_cast<int64_t>(static_cast<uint64_t>(bits(x)) ^ sign_bit));
}

}  // namespace detail

namespace detail {
FL_VM float sin_of(float x, TrigReduced t) {
  const double y = t.quadrant & 1 ? cos_mid(t.r) : sin_mid(t.r);
  return abs(x) < 1e-4f ? x : static_cast<float>(flip_sign(y, (t.quadrant & 2) << 62));
}
FL_VM float cos_of(float, TrigReduced t) {
  const double y = t.quadrant & 1 ? sin_mid(t.r) : cos_mid(t.r);
  return static_cast<float>(flip_sign(y, ((t.quadrant + 1) & 2) << 62));
}
FL_VM float tan_of(float x, TrigReduced t) {
  const bool odd = t.quadrant & 1;
  const double s = sin_mid(t.r), c = cos_mid(t.r);
  const double y = (odd ? c : s) / (odd ? s : c);
  return abs(x) < 1e-4f ? x : static_cast<float>(flip_sign(y, (t.quadrant & 1) << 63));
}
}  // namespace detail

/// Whether sin_narrow and its like may be used for x. A kernel that scans its block with this first and finds no large
/// argument halves its time; sin(x) and sin_narrow(x) are the same bits.
FL_VM bool trig_is_narrow(float x) { return abs(x) < detail::kTrigNarrow; }
FL_VM float sin_narrow(float x) { return detail::sin_of(x, detail::trig_reduce_narrow(x)); }
FL_VM float cos_narrow(float x) { return detail::cos_of(x, detail::trig_reduce_narrow(x)); }
FL_VM float tan_narrow(float x) { return detail::tan_of(x, detail::trig_reduce_narrow(x)); }

FL_VM float sin(float x) { return detail::sin_of(x, detail::trig_reduce(x)); }
FL_VM float cos(float x) { return detail::cos_of(x, detail::trig_reduce(x)); }
FL_VM float tan(float x) { return detail::tan_of(x, detail::trig_reduce(x)); }
FL_VM double sin(double x) { return std::sin(x); }
FL_VM double cos(double x) { return std::cos(x); }
FL_VM double tan(double x) { return std::tan(x); }

namespace detail {
inline constexpr double kHalfPi = 1.57079632679489661923;

// asin of a = |x|: directly up to 1/2, above through asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)).
struct AsinParts {
  double core;  // asin(a), or asin(sqrt((1 - a) / 2))
  bool direct;
};
FL_VM AsinParts asin_parts(double a) {
  const bool direct = a <= 0.5;
  const double z = direct ? a * a : 0.5 - 0.5 * a;
  return {asin_mid(direct ? a : sqrt(z), z), direct};
}
}  // namespace detail

FL_VM float asin(float x) {
  const auto [core, direct] = detail::asin_parts(abs(static_cast<double>(x)));
  return copysign(static_cast<float>(direct ? core : fma_(core, -2.0, detail::kHalfPi)), x);
}
FL_VM float acos(float x) {
  const auto [core, direct] = detail::asin_parts(abs(static_cast<double>(x)));
  const double upper = direct ? detail::kHalfPi - core : 2.0 * core;  // acos |x|
  return static_cast<float>(x < 0.0f ? 2.0 * detail::kHalfPi - upper : upper);
}
FL_VM float atan(float x) {
  const double a = abs(static_cast<double>(x));
  const bool steep = a > 1.0;
  const double y = detail::atan_mid((steep ? 1.0 : a) / (steep ? a : 1.0));
  return copysign(static_cast<float>(steep ? detail::kHalfPi - y : y), x);
}
FL_VM float atan2(float y, float x) {
  const double ay = abs(static_cast<double>(y)), ax = abs(static_cast<double>(x));
  const bool steep = ay > ax;
  const double low = steep ? ax : ay, high = steep ? ay : ax;
  double q = low / high;
  q = high == 0.0 ? 0.0 : q;
  q = low == kInf<double> ? 1.0 : q;
  double r = detail::atan_mid(q);
  r = steep ? detail::kHalfPi - r : r;
  r = signbit(x) ? 2.0 * detail::kHalfPi - r : r;
  return (x != x) | (y != y) ? x + y : copysign(static_cast<float>(r), y);
}
FL_VM double asin(double x) { return std::asin(x); }
FL_VM double acos(double x) { return std::acos(x); }
FL_VM double atan(double x) { return std::atan(x); }
FL_VM double atan2(double y, double x) { return std::atan2(y, x); }

/// sin(pi x) / (pi x), 1 at zero.
template <typename T>
FL_VM Real<T> sinc(T x) {
  const T p = T(3.14159265358979323846) * x;
  return x == T(0) ? T(1) : sin(p) / p;
}

FL_VM_END
