#pragma once
// Activation functions and the pieces of their derivatives that are better computed whole.

#include "erf.h"
#include "explog.h"
#include "hyperbolic.h"

FL_VM_BEGIN

namespace detail {

template <typename T> inline constexpr T kSigmoidScale = std::is_same_v<T, float> ? T(0x1p-64) : T(0x1p-512);
template <typename T>
inline constexpr T kSigmoidLimit = std::is_same_v<T, float> ? T(110) : T(755);  // x e^x is below all subnormals

// kSigmoidScale (1 + e^-x). The scale keeps e^-x from overflowing where the result is small, even subnormal. All but
// the last addition are exact or made good by `lost`, since an error here is doubled in the quotient.
template <typename T> FL_VM T sigmoid_denominator(T x) {
  constexpr bool f32 = std::is_same_v<T, float>;
  const T c = x < -kSigmoidLimit<T> ? -kSigmoidLimit<T> : x;
  const auto e = exp_reduce(-(c > T(f32 ? 41 : 60) ? T(f32 ? 41 : 60) : c));
  const T scale = pow2_bits(e.shifted - T(f32 ? 64 : 512));
  const T one = kSigmoidScale<T> + scale;
  const T hi = scale * e.hi;
  const T sum = one + hi;
  const T lost = (hi - (sum - one)) + (kSigmoidScale<T> - (one - scale));
  const T tail = fma_(exp_quotient(e.r), e.r * e.r, e.lo);
  return sum + fma_(scale, tail, lost);
}

}  // namespace detail

/// 1 / (1 + e^-x).
template <typename T> FL_VM Real<T> sigmoid(T x) { return detail::kSigmoidScale<T> / detail::sigmoid_denominator(x); }
/// log(sigmoid(x)) = min(x, 0) - log1p(e^-|x|). The exponential goes into the logarithm in two parts.
template <typename T> FL_VM Real<T> logsigmoid(T x) {
  const T a = -abs(x);
  const auto r = detail::exp_reduce(a < detail::kExpLow<T> ? detail::kExpLow<T> : a);
  const auto [v, v_lo] = detail::add_expm1(T(1), r);
  const T e = detail::scale_pow2(v, r.shifted), e_lo = detail::scale_pow2(v_lo, r.shifted);
  const auto [k, f, lo] = detail::log1p_reduce(e);  // k is 0 or 1
  const T t = fma_(k, detail::kLn2Lo<T>, detail::log_tail(f) + fma_(e_lo, fma_(k, T(-0.5), T(1)), lo));
  const T y = fma_(k, detail::kLn2Hi<T>, f + t);
  return (x < T(0) ? x : (x != x ? x : T(0))) - (e < std::numeric_limits<T>::epsilon() / 4 ? e : y);
}
/// log(1 + e^(beta x)) / beta; x itself once beta x exceeds `threshold`.
template <typename T> FL_VM Real<T> softplus(T x, T beta, T threshold) {
  const T z = x * beta;
  return z > threshold ? x : log1p(exp(z)) / beta;
}

/// x sigmoid(x); NaN at -inf, as in torch.
template <typename T> FL_VM Real<T> silu(T x) {
  const T y = x < -detail::kSigmoidLimit<T> ? x * T(0) : x;
  const T r = y * detail::kSigmoidScale<T> / detail::sigmoid_denominator(x);
  return abs(x) < T(1e-18) ? T(0.5) * x : r;  // the scaled numerator may be subnormal
}
template <typename T> FL_VM Real<T> mish(T x) { return x * tanh(log1p(exp(x))); }

namespace detail {

// Standard normal distribution function. Its tail is half of e^log(erfc), so that it keeps its digits where 1 + erf has
// none left; from -13.1 on it is 0.
FL_VM float normal_cdf(float x) {
  const float a = abs(x) * 0.70710678118654752440f;
  const float t = a > 9.2f ? 9.2f : a;
  const float u = t - 7.0f;
  const float far = horner(u, -2.52819967f, -0.139810845f, 0.00958295725f, -0.00097323372f, 9.88678148e-05f,
                           -6.12785527e-07f);  // erf_far_f
  const float half_erfc = 0.5f * exp_normal(t < 4.2f ? log_erfc(t) : fma_(-t, t, far));
  const float y = x * 0.70710678118654752440f;
  const float half = 0.5f * y;
  const float centre = fma_(erf_small(y * y), half, half) + 0.5f;
  const float tail = x < 0.0f ? (x < -13.1f ? 0.0f : half_erfc) : 1.0f - half_erfc;
  return a < 0.921875f ? centre : (x != x ? x : tail);
}
FL_VM double normal_cdf(double x) { return 0.5 * (1.0 + erf(x * 0.70710678118654752440)); }

}  // namespace detail

/// x Phi(x), Phi the standard normal distribution function.
template <typename T> FL_VM Real<T> gelu(T x) { return x * detail::normal_cdf(x); }
/// 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
template <typename T> FL_VM Real<T> gelu_tanh(T x) {
  const T u = T(0.79788456080286535588) * (x + T(0.044715) * x * x * x);
  return T(0.5) * x * (T(1) + tanh(u));
}

FL_VM_END
