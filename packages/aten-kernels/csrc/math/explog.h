#pragma once
// Exponentials and logarithms.
//
// Coefficients come from tools/fits/elementary.py; the name beside each call is the entry there.

#include "isa.h"

FL_VM_BEGIN

namespace detail {

// Adding this constant leaves an integer in the low bits of the sum: rounding and conversion in one addition.
template <typename T>
inline constexpr T kRoundMagic = std::is_same_v<T, float> ? T(12582912.0) : T(6755399441055744.0);  // 1.5 * 2^23, 2^52

// ln 2 in two parts; the high one has enough trailing zeros for n * kLn2Hi to be exact without fma.
template <typename T>
inline constexpr T kLn2Hi = std::is_same_v<T, float> ? T(0.693359375) : T(6.93147180369123816490e-01);
template <typename T>
inline constexpr T kLn2Lo = std::is_same_v<T, float> ? T(-2.12194440e-4f) : T(1.90821492927058770002e-10);

// x = n log(2) + r with r = hi + lo rounded; hi is exact. `shifted` carries n in its low bits.
template <typename T> struct ExpReduced {
  T shifted, n, r, hi, lo;
};
template <typename T> FL_VM ExpReduced<T> exp_reduce(T x) {
  const T shifted = fma_(x, T(1.44269504088896340736), kRoundMagic<T>);
  const T n = shifted - kRoundMagic<T>;
  const T hi = fma_(n, -kLn2Hi<T>, x);
  return {shifted, n, fma_(n, -kLn2Lo<T>, hi), hi, n * -kLn2Lo<T>};
}

// 2^n from the low bits of `shifted`, for n a normal exponent.
FL_VM float pow2_bits(float shifted) {
  return from_bits(static_cast<int32_t>((static_cast<uint32_t>(bits(shifted)) << 23) + 0x3f800000u));
}
FL_VM double pow2_bits(double shifted) {
  return from_bits(static_cast<int64_t>((static_cast<uint64_t>(bits(shifted)) << 52) + 0x3ff0000000000000u));
}

// v 2^n over the whole range of results: two factors, since 2^n itself may overflow or be subnormal.
FL_VM float scale_pow2(float v, float shifted) {
  const uint32_t n = static_cast<uint32_t>(bits(shifted));
  const uint32_t half = static_cast<uint32_t>(static_cast<int32_t>(n << 9) >> 10);
  const float a = from_bits(static_cast<int32_t>((half << 23) + 0x3f800000u));
  const float b = from_bits(static_cast<int32_t>(((n - half) << 23) + 0x3f800000u));
  return v * a * b;
}
FL_VM double scale_pow2(double v, double shifted) {
  // Halved in floating point: AVX2 has no arithmetic shift of 64-bit integers.
  const double half = fma_(shifted - kRoundMagic<double>, 0.5, kRoundMagic<double>);
  const uint64_t rest = static_cast<uint64_t>(bits(shifted)) - static_cast<uint64_t>(bits(half));
  const double b = from_bits(static_cast<int64_t>((rest << 52) + 0x3ff0000000000000u));
  return v * pow2_bits(half) * b;
}

// (e^r - 1 - r) / r^2 for |r| <= log(2)/2.
FL_VM float exp_quotient(float r) {  // exp_f
  return horner(r, 0.49999994f, 0.166665092f, 0.041668009f, 0.00836999062f, 0.00138470635f);
}
FL_VM double exp_quotient(double r) {  // expm1_d
  return horner(r, 0.5, 0.1666666666666668, 0.04166666666666672, 0.0083333333333189367, 0.0013888888888842408,
                0.00019841269893333788, 2.4801587423770418e-05, 2.7557236808363003e-06, 2.7557187650719761e-07,
                2.511163197148204e-08, 2.0939679449487088e-09);
}
// e^r - 1.
template <typename T> FL_VM T expm1_poly(T r) { return fma_(exp_quotient(r), r * r, r); }
// 2^-n from the low bits of `shifted`, for -n a normal exponent.
FL_VM float inverse_pow2_bits(float shifted) {
  return from_bits(static_cast<int32_t>(0x3f800000u - (static_cast<uint32_t>(bits(shifted)) << 23)));
}
FL_VM double inverse_pow2_bits(double shifted) {
  return from_bits(static_cast<int64_t>(0x3ff0000000000000u - (static_cast<uint64_t>(bits(shifted)) << 52)));
}
template <typename T> struct Parts {
  T hi, lo;
};
// c + (e^r - 1) in two parts, for c = 0 or |c| >= |r|. With c = 1 - 2^-n it is 2^-n (e^x - 1), x = n log(2) + r.
template <typename T> FL_VM Parts<T> add_expm1(T c, const ExpReduced<T>& e) {
  const T tail = fma_(exp_quotient(e.r), e.r * e.r, e.lo);
  const T s = c + e.hi;
  const T rest = (e.hi - (s - c)) + tail;
  const T hi = s + rest;
  return {hi, rest - (hi - s)};
}

template <typename T> inline constexpr T kExpLow = std::is_same_v<T, float> ? T(-104) : T(-746);  // below: 0
template <typename T> inline constexpr T kExpHigh = std::is_same_v<T, float> ? T(89) : T(710);    // above: infinite

// Both comparisons are false for NaN, which passes.
template <typename T> FL_VM T clamp_exp(T x) {
  const T c = x < kExpLow<T> ? kExpLow<T> : x;
  return c > kExpHigh<T> ? kExpHigh<T> : c;
}

}  // namespace detail

/// e^x.
template <typename T> FL_VM Real<T> exp(T x) {
  const auto [shifted, n, r, hi, lo] = detail::exp_reduce(detail::clamp_exp(x));
  return detail::scale_pow2(T(1) + detail::expm1_poly(r), shifted);
}

namespace detail {
// (2^r - 1) / r for |r| <= 1/2.
FL_VM float exp2_poly(float r) {  // exp2_f
  return horner(r, 0.693147182f, 0.240226507f, 0.0555040538f, 0.00961808395f, 0.00133374881f, 0.0001545368f,
                1.44602736e-05f);
}
FL_VM double exp2_poly(double r) {  // exp2_d
  return horner(r, 0.69314718055994529, 0.2402265069591, 0.055504108664823734, 0.0096181291076685091,
                0.0013333558145913295, 0.00015403530320463234, 1.5252734299773102e-05, 1.3215544656748079e-06,
                1.0177873151914406e-07, 7.0341164811731147e-09, 4.4824591184337149e-10, 5.3422907548000874e-11);
}
}  // namespace detail

/// 2^x.
template <typename T> FL_VM Real<T> exp2(T x) {
  constexpr bool f32 = std::is_same_v<T, float>;
  T c = x < T(f32 ? -151 : -1077) ? T(f32 ? -151 : -1077) : x;
  c = c > T(f32 ? 129 : 1025) ? T(f32 ? 129 : 1025) : c;
  const T shifted = c + detail::kRoundMagic<T>;
  const T r = c - (shifted - detail::kRoundMagic<T>);
  return detail::scale_pow2(fma_(detail::exp2_poly(r), r, T(1)), shifted);
}

/// x 2^e for any real e; exact up to one rounding when e is an integer.
template <typename T> FL_VM Real<T> ldexp(T x, T e) {
  constexpr T low = std::numeric_limits<T>::min_exponent - 1, high = std::numeric_limits<T>::max_exponent - 1;
  T c = e < T(3) * low ? T(3) * low : e;
  c = c > T(3) * high ? T(3) * high : c;
  const T n = __builtin_rint(c);
  const T fraction = c - n;
  // Three normal factors, the one that may round to subnormals last.
  const T first = n < low ? low : (n > high ? high : n);
  const T left = n - first;
  const T second = left < low ? low : (left > high ? high : left);
  const T a = detail::pow2_bits(first + detail::kRoundMagic<T>);
  const T b = detail::pow2_bits(second + detail::kRoundMagic<T>);
  const T d = detail::pow2_bits(left - second + detail::kRoundMagic<T>);
  const T y = x * fma_(detail::exp2_poly(fraction), fraction, T(1)) * d * b * a;
  const T limit = x * (e > T(0) ? kInf<T> : T(0));
  return e != e ? e : (e - e != T(0) ? limit : y);
}

/// e^x - 1.
template <typename T> FL_VM Real<T> expm1(T x) {
  constexpr bool f32 = std::is_same_v<T, float>;
  T c = x < T(f32 ? -20 : -40) ? T(f32 ? -20 : -40) : x;
  c = c > detail::kExpHigh<T> ? detail::kExpHigh<T> : c;
  const auto e = detail::exp_reduce(c);
  // Half the scale, since 2^n overflows one binade before the result does.
  const T less = e.shifted - T(1);
  const T t = T(0.5) * detail::inverse_pow2_bits(less);
  const T y = T(2) * (detail::pow2_bits(less) * detail::add_expm1(T(1) - t, e).hi);
  return abs(x) < T(f32 ? 5.9604645e-8 : 1.1102230246251565e-16) ? x : y;  // also keeps -0 and subnormals
}

namespace detail {

// x = m 2^k with m in [sqrt(1/2), sqrt(2)), for any x that is positive and finite; f = m - 1.
template <typename T> struct LogReduced {
  T k, f;
};
FL_VM LogReduced<float> log_reduce(float x) {
  const bool subnormal = x < 1.17549435e-38f;
  const uint32_t u = static_cast<uint32_t>(bits(subnormal ? x * 8388608.0f : x));
  const uint32_t e = (u - 0x3f3504f3u) & 0xff800000u;
  const float k = static_cast<float>(static_cast<int32_t>(e)) * 1.1920928955078125e-07f;  // 2^-23
  return {subnormal ? k - 23.0f : k, from_bits(static_cast<int32_t>(u - e)) - 1.0f};
}
FL_VM LogReduced<double> log_reduce_normal(double x) {
  const uint64_t u = static_cast<uint64_t>(bits(x));
  // The exponent goes to floating point through the mantissa of 2^52: AVX2 converts no 64-bit integers.
  const uint64_t biased = (u - 0x3fe6a09e667f3bcdu + 0x3ff0000000000000u) >> 52;
  const double k = from_bits(static_cast<int64_t>(biased | 0x4330000000000000u)) - 4503599627371519.0;  // 2^52 + 1023
  const double m = from_bits(static_cast<int64_t>(u - (biased << 52) + 0x3ff0000000000000u));
  return {k, m - 1.0};
}
FL_VM LogReduced<double> log_reduce(double x) {
  const bool subnormal = x < 2.2250738585072014e-308;
  const auto [k, f] = log_reduce_normal(subnormal ? x * 18014398509481984.0 : x);
  return {subnormal ? k - 54.0 : k, f};
}

// log(1 + f) - f for f in [sqrt(1/2) - 1, sqrt(2) - 1].
FL_VM float log_tail(float f) {  // log_f
  const float f2 = f * f;
  const float p = horner(f, 0.333333135f, -0.250000149f, 0.200020611f, -0.166676268f, 0.142205715f, -0.124153204f,
                         0.1189197f, -0.116100378f, 0.0665021911f);
  return fma_(-0.5f, f2, p * f2 * f);
}
FL_VM double log_tail(double f) {  // log_d; with s = f / (2 + f), log(1 + f) = f - (f^2/2 - s (f^2/2 + R(s^2)))
  const double s = f / (2.0 + f);
  const double z = s * s;
  const double h = 0.5 * f * f;
  const double r = z * horner(z, 0.66666666666667351, 0.39999999999409136, 0.2857142874378103, 0.22222198414718744,
                              0.18183573322666696, 0.15313801851235406, 0.14798615396163761);
  return s * (h + r) - h;
}

// Results at the ends of the domain: log(0) = -inf, log(inf) = inf, NaN below zero.
template <typename T> FL_VM T log_special(T x, T y) {
  const T finite = x < kInf<T> ? y : x;
  return x > T(0) ? finite : (x == T(0) ? -kInf<T> : kNaN<T>);
}

// f with its low half cut off, so that a product with a constant of as many bits is exact.
FL_VM float high_part(float f) { return from_bits(static_cast<int32_t>(static_cast<uint32_t>(bits(f)) & 0xfffff000u)); }
FL_VM double high_part(double f) {
  return from_bits(static_cast<int64_t>(static_cast<uint64_t>(bits(f)) & 0xfffffffff8000000u));
}

// c (f + tail), where c = hi + lo and hi has half the bits: {large part, rest}.
template <typename T> FL_VM Parts<T> scale_log(T f, T tail, T hi, T lo) {
  const T a = high_part(f);
  const T b = (f - a) + tail;
  return {a * hi, fma_(a, lo, fma_(b, lo, b * hi))};
}

}  // namespace detail

/// Natural logarithm.
template <typename T> FL_VM Real<T> log(T x) {
  const auto [k, f] = detail::log_reduce(x);
  const T t = fma_(k, detail::kLn2Lo<T>, detail::log_tail(f));
  return detail::log_special(x, fma_(k, detail::kLn2Hi<T>, f + t));
}

FL_VM float log2(float x) {
  const auto [k, f] = detail::log_reduce(x);
  const auto [hi, lo] = detail::scale_log(f, detail::log_tail(f), 1.4423828125f, 3.122284e-4f);
  return detail::log_special(x, k + (hi + lo));
}
FL_VM double log2(double x) {
  const auto [k, f] = detail::log_reduce(x);
  const auto [hi, lo] = detail::scale_log(f, detail::log_tail(f), 1.4426950216293335, 1.9259629911266175e-08);
  return detail::log_special(x, k + (hi + lo));
}
FL_VM float log10(float x) {
  const auto [k, f] = detail::log_reduce(x);
  const auto [hi, lo] = detail::scale_log(f, detail::log_tail(f), 0.4342041015625f, 9.038034e-05f);
  return detail::log_special(x, fma_(k, 0.301025390625f, hi + fma_(k, 4.605039e-06f, lo)));
}
FL_VM double log10(double x) {
  const auto [k, f] = detail::log_reduce(x);
  const auto [hi, lo] = detail::scale_log(f, detail::log_tail(f), 0.4342944771051407, 4.798111141615973e-09);
  return detail::log_special(x, fma_(k, 0.30102999566395283, hi + fma_(k, 2.8363394551044964e-14, lo)));
}

namespace detail {

// 1 + x = 2^k (1 + f + lo): x 2^-k and 2^-k - 1 are exact, where 1 + x is not. For x > -1, finite.
// The power of two is made four times as large, since k may be the largest exponent.
template <typename T> struct Log1pReduced {
  T k, f, lo;
};
FL_VM Log1pReduced<float> log1p_reduce(float x) {
  const uint32_t e = (static_cast<uint32_t>(bits(1.0f + x)) - 0x3f3504f3u) & 0xff800000u;
  const float k = static_cast<float>(static_cast<int32_t>(e)) * 1.1920928955078125e-07f;  // 2^-23
  const float s = from_bits(static_cast<int32_t>(0x40800000u - e));
  const float a = fma_(s, 0.25f, -1.0f), b = x * 0.25f * s;
  const float f = a + b;
  return {k, f, b - (f - a)};
}
FL_VM Log1pReduced<double> log1p_reduce(double x) {
  const uint64_t u = static_cast<uint64_t>(bits(1.0 + x));
  const uint64_t biased = (u - 0x3fe6a09e667f3bcdu + 0x3ff0000000000000u) >> 52;
  const double k = from_bits(static_cast<int64_t>(biased | 0x4330000000000000u)) - 4503599627371519.0;
  const double s = from_bits(static_cast<int64_t>((2048 - biased) << 52));
  const double a = fma_(s, 0.25, -1.0), b = x * 0.25 * s;
  const double f = a + b;
  return {k, f, b - (f - a)};
}

}  // namespace detail

/// log(1 + x).
template <typename T> FL_VM Real<T> log1p(T x) {
  const auto [k, f, lo] = detail::log1p_reduce(x);
  const T t = fma_(k, detail::kLn2Lo<T>, detail::log_tail(f) + lo);
  const T y = detail::log_special(T(1) + x, fma_(k, detail::kLn2Hi<T>, f + t));
  return abs(x) < std::numeric_limits<T>::epsilon() / 4 ? x : y;
}

FL_VM_END
