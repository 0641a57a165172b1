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
// Beyond, 2/pi is cut into three chunks of 29 bits, whose products with a float are exact in double, and a fourth of
// 53. Each product is reduced modulo 4 on its own, so nothing is lost at any size of x. The chunks give x up to 2^86 an
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
namespace detail {

// x = n pi/2 + hi + lo.
struct TrigReducedDouble {
  double hi, lo;
  uint64_t quadrant;
};
inline constexpr double kTrigNarrowDouble = 0x1p19;

// Cody and Waite's method with pi/2 in parts of 33, 33 and 53 bits: n times either of the first two is exact.
FL_VM TrigReducedDouble trig_reduce_double(double x) {
  const double shifted = fma_(x, 0.63661977236758134308, kRoundMagic<double>);
  const double n = shifted - kRoundMagic<double>;
  const double a = fma_(n, -1.5707963267341256, x);
  const double w = n * 6.077100506303966e-11;
  const double b = a - w;
  const double v = fma_(n, 2.0222662487959506e-21, -((a - b) - w));
  const double hi = b - v;
  return {hi, (b - hi) - v, static_cast<uint64_t>(bits(shifted))};
}

// sin and cos of hi + lo, |hi| <= pi/4.
FL_VM double sin_poly(double hi, double lo) {  // sin_d
  const double s = hi * hi;
  const double p = horner(s, 0.0083333333333330435, -0.00019841269840966335, 2.7557319076868488e-06,
                          -2.5052071877868332e-08, 1.6054456235118021e-10, -7.3976518367355522e-13);
  const double cube = s * hi;
  // hi - ((s (lo/2 - cube p) - lo) + cube/6)
  return hi - fma_(cube, 0.16666666666666666, fma_(s, fma_(lo, 0.5, -(cube * p)), -lo));
}
FL_VM double cos_poly(double hi, double lo) {  // cos_d
  const double s = hi * hi;
  const double p =
      horner(s, 0.041666666666666664, -0.0013888888888888393, 2.4801587301187915e-05, -2.7557319064941476e-07,
             2.0876723204429173e-09, -1.1467020913143243e-11, 4.600794885064756e-14);
  const double half = 0.5 * s;
  const double w = 1.0 - half;
  return w + (((1.0 - w) - half) + fma_(s * s, p, -(hi * lo)));
}

FL_VM double sin_of(double x, TrigReducedDouble t) {
  const double y = t.quadrant & 1 ? cos_poly(t.hi, t.lo) : sin_poly(t.hi, t.lo);
  return abs(x) < 1e-8 ? x : flip_sign(y, (t.quadrant & 2) << 62);
}
FL_VM double cos_of(double, TrigReducedDouble t) {
  const double y = t.quadrant & 1 ? sin_poly(t.hi, t.lo) : cos_poly(t.hi, t.lo);
  return flip_sign(y, ((t.quadrant + 1) & 2) << 62);
}
FL_VM double tan_of(double x, TrigReducedDouble t) {
  const bool odd = t.quadrant & 1;
  const double s = sin_poly(t.hi, t.lo), c = cos_poly(t.hi, t.lo);
  const double y = (odd ? c : s) / (odd ? s : c);
  return abs(x) < 1e-8 ? x : flip_sign(y, (t.quadrant & 1) << 63);
}

}  // namespace detail

/// As for float, but there is no fast form of sin(double): where an argument is large the C library is called.
FL_VM bool trig_is_narrow(double x) { return abs(x) < detail::kTrigNarrowDouble; }
FL_VM double sin_narrow(double x) { return detail::sin_of(x, detail::trig_reduce_double(x)); }
FL_VM double cos_narrow(double x) { return detail::cos_of(x, detail::trig_reduce_double(x)); }
FL_VM double tan_narrow(double x) { return detail::tan_of(x, detail::trig_reduce_double(x)); }
FL_VM double sin(double x) { return trig_is_narrow(x) ? sin_narrow(x) : std::sin(x); }
FL_VM double cos(double x) { return trig_is_narrow(x) ? cos_narrow(x) : std::cos(x); }
FL_VM double tan(double x) { return trig_is_narrow(x) ? tan_narrow(x) : std::tan(x); }

namespace detail {

template <typename T> inline constexpr T kHalfPi = T(1.57079632679489661923);
template <typename T>
inline constexpr T kHalfPiLo = std::is_same_v<T, float> ? T(-4.37113883e-08) : T(6.123233995736766036e-17);

// asin of a = |x|: directly up to 1/2, above through asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)).
// asin(s) = s + tail with s = a or sqrt((1 - a) / 2); kept apart, for pi/2 - 2 s is exact.
template <typename T> struct AsinParts {
  T s, tail;
};
FL_VM AsinParts<float> asin_parts(float a) {
  const bool direct = a <= 0.5f;
  const float z = direct ? a * a : 0.5f - 0.5f * a;
  const float s = direct ? a : sqrt(z);
  const float p = horner(z, 0.166667521f, 0.0749530941f, 0.0454691537f, 0.0241847336f, 0.0421584323f);  // asin_f
  return {s, s * z * p};
}
}  // namespace detail

FL_VM float atan(float x) {
  const double a = abs(static_cast<double>(x));
  const bool steep = a > 1.0;
  const double y = detail::atan_mid((steep ? 1.0 : a) / (steep ? a : 1.0));
  return copysign(static_cast<float>(steep ? detail::kHalfPi<double> - y : y), x);
}
FL_VM float atan2(float y, float x) {
  const double ay = abs(static_cast<double>(y)), ax = abs(static_cast<double>(x));
  const bool steep = ay > ax;
  const double low = steep ? ax : ay, high = steep ? ay : ax;
  double q = low / high;
  q = high == 0.0 ? 0.0 : q;
  q = low == kInf<double> ? 1.0 : q;
  double r = detail::atan_mid(q);
  r = steep ? detail::kHalfPi<double> - r : r;
  r = signbit(x) ? 2.0 * detail::kHalfPi<double> - r : r;
  return (x != x) | (y != y) ? x + y : copysign(static_cast<float>(r), y);
}
namespace detail {

FL_VM AsinParts<double> asin_parts(double a) {
  const bool direct = a <= 0.5;
  const double z = direct ? a * a : 0.5 - 0.5 * a;
  const double s = direct ? a : sqrt(z);
  const double p = horner(z, 0.1666666666666676, 0.074999999999708661, 0.0446428571745612, 0.030381942709841386,
                          0.02237221493684367, 0.017351612832394059, 0.013980811593008648, 0.011398979879386279,
                          0.010779899433996126, 0.0037076615340771346, 0.02170456851291069, -0.020995195562305016,
                          0.032626317991208673);  // asin_d
  return {s, s * z * p};
}

// atan(t) - t for |t| <= tan(pi/8).
FL_VM double atan_tail(double t) {  // atan_d
  const double z = t * t;
  return t * z *
         horner(z, -0.33333333333333198, 0.19999999999953622, -0.14285714280191497, 0.11111110782992366,
                -0.090908977410171302, 0.076920598865638415, -0.066631001300013745, 0.058478601079290662,
                -0.050391719423114809, 0.038061187888306959, -0.017903538381459312);
}

// The angle of the point (x, y), both finite or both infinite, y >= 0.
FL_VM double angle_of(double y, double x) {
  const double ax = abs(x);
  const bool steep = y > ax;
  const double low = steep ? ax : y, high = steep ? y : ax;
  const bool diagonal = low > 0.41421356237309503 * high;
  double t = (diagonal ? low - high : low) / (diagonal ? low + high : high);
  t = high == 0.0 ? 0.0 : t;
  // atan(low / high) = [pi/4 +] atan(t); the rest are reflections, so the angle is k pi/4 +- atan(t).
  const bool mirrored = signbit(x);
  double k = diagonal ? 1.0 : 0.0;
  k = steep ? 2.0 - k : k;
  k = mirrored ? 4.0 - k : k;
  const double s = steep != mirrored ? -t : t;
  return fma_(k, 0.7853981633974483, s + fma_(k, 3.061616997868383e-17, atan_tail(s)));
}

}  // namespace detail

template <typename T> FL_VM Real<T> asin(T x) {
  const bool direct = abs(x) <= T(0.5);
  const auto [s, tail] = detail::asin_parts(abs(x));
  const T d = fma_(s, T(-2), detail::kHalfPi<T>);
  const T lost = fma_(s, T(-2), detail::kHalfPi<T> - d);
  const T far = d + (lost + fma_(tail, T(-2), detail::kHalfPiLo<T>));
  return copysign(direct ? s + tail : far, x);
}
template <typename T> FL_VM Real<T> acos(T x) {
  const bool direct = abs(x) <= T(0.5);
  const auto [s, tail] = detail::asin_parts(abs(x));
  const bool negative = x < T(0);
  const T centre = detail::kHalfPi<T> - ((negative ? -s : s) + ((negative ? -tail : tail) - detail::kHalfPiLo<T>));
  const T below = fma_(s, T(-2), T(2) * detail::kHalfPi<T>) + fma_(tail, T(-2), T(2) * detail::kHalfPiLo<T>);
  return direct ? centre : (negative ? below : T(2) * (s + tail));
}
FL_VM double atan(double x) {
  const double a = abs(x);
  const bool far = a > 2.414213562373095, near = a <= 0.41421356237309503;
  const double num = far ? -1.0 : (near ? a : a - 1.0);
  const double den = far ? a : (near ? 1.0 : a + 1.0);
  const double base = far ? detail::kHalfPi<double> : (near ? 0.0 : 0.5 * detail::kHalfPi<double>);
  const double base_lo = far ? detail::kHalfPiLo<double> : (near ? 0.0 : 0.5 * detail::kHalfPiLo<double>);
  const double t = num / den;
  return copysign(base + (t + (base_lo + detail::atan_tail(t))), x);
}
FL_VM double atan2(double y, double x) {
  const double ay = abs(y), ax = abs(x);
  const double m = ay > ax ? ay : ax;
  // Away from the ends of the range, where a sum could overflow or a quotient of subnormals lose digits.
  double scale = m > 1e300 ? 0x1p-100 : 1.0;
  scale = m < 1e-290 ? 0x1p100 : scale;
  const bool both_inf = (ay == kInf<double>)&(ax == kInf<double>);
  const bool one_inf = (m == kInf<double>)&!both_inf;
  const double py = both_inf ? 1.0 : (one_inf ? (ay == m ? 1.0 : 0.0) : ay * scale);
  const double px = both_inf ? 1.0 : (one_inf ? (ax == m ? 1.0 : 0.0) : ax * scale);
  const double r = detail::angle_of(py, copysign(px, x));
  return (x != x) | (y != y) ? x + y : copysign(r, y);
}

/// sin(pi x) / (pi x), 1 at zero.
template <typename T> FL_VM Real<T> sinc(T x) {
  const T p = T(3.14159265358979323846) * x;
  return x == T(0) ? T(1) : sin(p) / p;
}

FL_VM_END
