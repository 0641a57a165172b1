// Derivatives of pointwise operators that need more than an expression.
#include <cmath>

#include "flambeau/ops/_where.h"
#include "flambeau/ops/abs.h"
#include "flambeau/ops/complex.h"
#include "flambeau/ops/cos.h"
#include "flambeau/ops/eq.h"
#include "flambeau/ops/exp.h"
#include "flambeau/ops/gt.h"
#include "flambeau/ops/i0.h"
#include "flambeau/ops/le.h"
#include "flambeau/ops/log.h"
#include "flambeau/ops/logical_and.h"
#include "flambeau/ops/lt.h"
#include "flambeau/ops/ne.h"
#include "flambeau/ops/neg.h"
#include "flambeau/ops/pow.h"
#include "flambeau/ops/sgn.h"
#include "flambeau/ops/sigmoid.h"
#include "flambeau/ops/sin.h"
#include "flambeau/ops/softplus.h"
#include "flambeau/ops/special_i0e.h"
#include "flambeau/ops/square.h"
#include "flambeau/ops/tanh.h"
#include "flambeau/ops/zeros_like.h"
#include "formula_functions.h"

namespace flambeau::autograd {

namespace {

Tensor number(double v) { return wrapped_number(Scalar(v)); }

}  // namespace

Tensor zeros_of(const Shape& like, const Tensor& grad) { return zeros_like_options(like.sizes(), grad.options()); }
Tensor masked(const Tensor& t, const Tensor& condition) { return ops::_where(condition, t, wrapped_number(Scalar(0))); }
Tensor sign_of(const Tensor& t) { return ops::sgn(t); }
Tensor imag_part(const Tensor& t) { return call<Tensor>(get_operator("aten", "imag"), t); }
Tensor times_i(const Tensor& t) { return t * Scalar(0.0, 1.0); }

Tensor choose_backward(const Tensor& grad, const Tensor& self, const Tensor& other, const Tensor& wins) {
  return masked(grad, wins) + masked(grad * Scalar(0.5), ops::eq(self, other));
}

Tensor pow_backward_self(const Tensor& grad, const Tensor& self, const Tensor& exponent) {
  // 0 where the exponent is 0, whatever the base
  const Tensor g = grad * conj(exponent * ops::pow(self, exponent - Scalar(1)));
  return masked(g, ops::ne(exponent, number(0)));
}

Tensor pow_backward_exponent(const Tensor& grad, const Tensor& self, const Tensor& exponent, const Tensor& result) {
  // 0 ** positive does not depend on the exponent
  const Tensor at_zero = exponent.is_complex()
                             ? ops::eq(self, number(0))
                             : ops::logical_and(ops::eq(self, number(0)), ops::le(-exponent, number(0)));
  // a Python number as the base is converted first: its logarithm would be rounded to the default dtype
  const Tensor g = grad * conj(result * ops::log(to_dtype(self, result.dtype())));
  return ops::_where(at_zero, number(0), g);
}

Tensor sgn_backward(const Tensor& grad, const Tensor& self, const Tensor& sgn) {
  const Tensor magnitude = ops::abs(self);
  const Tensor g = (grad - conj(grad) * sgn * sgn) / (magnitude * Scalar(2));
  return masked(g, ops::ne(magnitude, number(0)));
}

Tensor copysign_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  return masked(grad * (result / self), ops::ne(self, number(0)));
}

Tensor sinc_derivative(const Tensor& self) {
  const Tensor x = self * Scalar(M_PI);
  const Tensor d = (ops::cos(x) * x - ops::sin(x)) / (x * self);
  return ops::_where(ops::eq(self, number(0)), number(0), d);
}

Tensor angle_backward(const Tensor& grad, const Tensor& self) {
  if (!self.is_complex()) return ops::zeros_like(grad);
  const Tensor magnitude = ops::abs(self);
  const Tensor direction = times_i(self) / (magnitude * magnitude);
  return masked(direction * grad, ops::ne(magnitude, number(0)));
}

// --- second derivatives of activations
// -----------------------------------------------------------------------------------

Tensor elu_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& x, const Scalar& alpha,
                           const Scalar& scale, const Scalar& input_scale, bool is_result) {
  const double a = alpha.to_double(), s = scale.to_double(), i = input_scale.to_double();
  const Tensor slope = is_result ? grad * grad_output * Scalar(i)
                                 : grad * grad_output * (ops::exp(x * Scalar(i)) * Scalar(a * s * i * i));
  return masked(slope, ops::le(x, number(0)));
}

Tensor silu_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& x) {
  const Tensor s = ops::sigmoid(x);
  const Tensor slope = s * (Scalar(1) - s);
  return grad * grad_output * (slope * (x * (Scalar(1) - s * Scalar(2)) + Scalar(2)));
}

Tensor mish_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& x) {
  const Tensor t = ops::tanh(ops::softplus(x, Scalar(1), Scalar(20)));
  const Tensor s = ops::sigmoid(x);
  const Tensor dt = (Scalar(1) - t * t) * s;
  const Tensor second = dt * Scalar(2) + x * (dt * (Scalar(1) - s) - t * dt * s * Scalar(2));
  return grad * grad_output * second;
}

Tensor softplus_double_backward(const Tensor& g, const Tensor& x, const Scalar& beta, const Scalar& threshold) {
  const Tensor s = ops::sigmoid(x * beta);
  return masked(g * (s * (Scalar(1) - s)) * beta, ops::le(x * beta, wrapped_number(threshold)));
}

Tensor gelu_second_derivative(const Tensor& x) {
  const Tensor pdf = ops::exp(x * x * Scalar(-0.5)) * Scalar(0.3989422804014327);
  return pdf * (Scalar(2) - x * x);
}

Tensor gelu_tanh_second_derivative(const Tensor& x) {
  const double k = 0.7978845608028654, c = 0.044715;
  const Tensor u = (x + x * x * x * Scalar(c)) * Scalar(k);
  const Tensor du = (x * x * Scalar(3 * c) + Scalar(1)) * Scalar(k);
  const Tensor d2u = x * Scalar(6 * c * k);
  const Tensor t = ops::tanh(u);
  const Tensor sech2 = Scalar(1) - t * t;
  return sech2 * du + x * Scalar(0.5) * sech2 * (d2u - t * du * du * Scalar(2));
}

Tensor prelu_double_output(const Tensor& gx, const Tensor& gw, const Tensor& x, const Tensor& w) {
  return ops::_where(ops::gt(x, number(0)), gx, w * gx + x * gw);
}

Tensor glu_double_output(const Tensor& ga, const Tensor& gb, const Tensor& a, const Tensor& b) {
  const Tensor s = ops::sigmoid(b);
  return ga * s + gb * a * s * (Scalar(1) - s);
}

Tensor glu_double_gate(const Tensor& ga, const Tensor& gb, const Tensor& grad_output, const Tensor& a,
                       const Tensor& b) {
  const Tensor s = ops::sigmoid(b);
  const Tensor ds = s * (Scalar(1) - s);
  return grad_output * (ga * ds + gb * a * ds * (Scalar(1) - s * Scalar(2)));
}

Tensor i1_derivative(const Tensor& x, const Tensor& result) {
  return ops::_where(ops::eq(x, number(0)), number(0.5), ops::i0(x) - result / x);
}

Tensor i1e_derivative(const Tensor& x, const Tensor& result) {
  return ops::_where(ops::eq(x, number(0)), number(0.5),
                     ops::special_i0e(x) - result * (ops::sgn(x) + (Scalar(1) / x)));
}

}  // namespace flambeau::autograd
