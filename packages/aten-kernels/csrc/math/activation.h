#pragma once
// Activation functions and the pieces of their derivatives that are better computed whole.

#include "erf.h"
#include "explog.h"
#include "hyperbolic.h"

FL_VM_BEGIN

namespace detail {

// sigmoid(x) = numerator / denominator with e^-x = 2^n (1 + p): both are divided by 2^n when n > 0, so that nothing
// overflows and neither part carries the rounding of a whole exponential.
template <typename T>
struct SigmoidParts {
  T a, b, denominator;  // a b is the numerator, a power of two; in two factors since it may be subnormal
};
template <typename T>
FL_VM SigmoidParts<T> sigmoid_parts(T x) {
  const T limit = std::is_same_v<T, float> ? T(110) : T(755);  // x e^x is below all subnormals from here on
  const T c = x < -limit ? -limit : x;
  const auto e = exp_reduce(-(c > limit ? limit : c));
  const bool scaled = e.n > T(0);
  const T half = fma_(abs(e.n), T(0.5), kRoundMagic<T>);
  const T rest = abs(e.n) - (half - kRoundMagic<T>) + kRoundMagic<T>;
  const T a = x < -limit ? T(0) : inverse_pow2_bits(half);
  const T b = inverse_pow2_bits(rest);
  const T t = a * b;
  // 1 + t + scale p, where all but the last addition are exact or too small to matter.
  const T scale = scaled ? T(1) : t;
  const T one = T(1) + t;
  const T hi = scale * e.hi;
  const T sum = one + hi;
  const T lost = hi - (sum - one);
  const T tail = fma_(exp_quotient(e.r), e.r * e.r, e.lo);
  return {scaled ? a : T(1), scaled ? b : T(1), sum + fma_(scale, tail, lost + (t - (one - T(1))))};
}

}  // namespace detail

/// 1 / (1 + e^-x).
template <typename T>
FL_VM Real<T> sigmoid(T x) {
  const auto s = detail::sigmoid_parts(x);
  return s.a * s.b / s.denominator;
}
/// log(sigmoid(x)) = min(x, 0) - log1p(exp(-|x|)).
template <typename T>
FL_VM Real<T> logsigmoid(T x) {
  return (x < T(0) ? x : (x != x ? x : T(0))) - log1p(exp(-abs(x)));
}
/// log(1 + e^(beta x)) / beta; x itself once beta x exceeds `threshold`.
template <typename T>
FL_VM Real<T> softplus(T x, T beta, T threshold) {
  const T z = x * beta;
  return z > threshold ? x : log1p(exp(z)) / beta;
}
/// Derivative of softplus(x, beta, threshold) by x.
template <typename T>
FL_VM Real<T> softplus_grad(T x, T beta, T threshold) {
  const T z = x * beta;
  return z > threshold ? T(1) : sigmoid(z);
}

/// x sigmoid(x); NaN at -inf, as in torch.
template <typename T>
FL_VM Real<T> silu(T x) {
  const auto s = detail::sigmoid_parts(x);
  return x / s.denominator * s.a * s.b;
}
template <typename T>
FL_VM Real<T> silu_grad(T x) {
  const T s = sigmoid(x);
  return s * (T(1) + x * (T(1) - s));
}
template <typename T>
FL_VM Real<T> mish(T x) {
  return x * tanh(log1p(exp(x)));
}

/// x Phi(x), Phi the standard normal distribution function.
template <typename T>
FL_VM Real<T> gelu(T x) {
  return T(0.5) * x * (T(1) + erf(x * T(0.70710678118654752440)));
}
/// d/dx gelu(x) = Phi(x) + x phi(x).
template <typename T>
FL_VM Real<T> gelu_grad(T x) {
  const T cdf = T(0.5) * (T(1) + erf(x * T(0.70710678118654752440)));
  const T pdf = exp(T(-0.5) * x * x) * T(0.39894228040143267794);
  return cdf + x * pdf;
}
/// 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
template <typename T>
FL_VM Real<T> gelu_tanh(T x) {
  const T u = T(0.79788456080286535588) * (x + T(0.044715) * x * x * x);
  return T(0.5) * x * (T(1) + tanh(u));
}
template <typename T>
FL_VM Real<T> gelu_tanh_grad(T x) {
  const T x2 = x * x;
  const T u = T(0.79788456080286535588) * (x + T(0.044715) * x2 * x);
  const T t = tanh(u);
  const T du = T(0.79788456080286535588) * (T(1) + T(3 * 0.044715) * x2);
  return T(0.5) * (T(1) + t) + T(0.5) * x * (T(1) - t * t) * du;
}

FL_VM_END
