#pragma once
/// The vocabulary of derivative formulas beside the operators themselves. All of it is differentiable again.
#include <cmath>
#include <optional>
#include <tuple>
#include <vector>

#include "flambeau/core/operator.h"
#include "flambeau/core/views.h"
#include "formula.h"
#include "nn_formulas.h"

namespace flambeau::autograd {

Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);
Tensor operator*(const Tensor& a, const Tensor& b);
Tensor operator/(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a);
Tensor operator*(const Tensor& a, const Scalar& b);
Tensor operator*(const Scalar& a, const Tensor& b);
Tensor operator/(const Tensor& a, const Scalar& b);
Tensor operator/(const Scalar& a, const Tensor& b);
Tensor operator+(const Tensor& a, const Scalar& b);
Tensor operator-(const Tensor& a, const Scalar& b);
Tensor operator-(const Scalar& a, const Tensor& b);

/// The conjugate; the tensor itself when it is real.
Tensor conj(const Tensor& t);
/// a * grad where a is one: saves a multiplication.
Tensor scaled(const Tensor& grad, const Scalar& a);
Tensor real_part(const Tensor& t);
Tensor to_dtype(const Tensor& t, DType dtype);
Tensor zeros_like_options(IntList sizes, TensorOptions options);
/// Sums leading and broadcast dims away.
Tensor sum_to(const Tensor& t, IntList sizes);
bool has_nan(const Tensor& t);
/// `grad` placed where `view` looks into `store`, summed where the view meets itself; seen through `base`.
Tensor scatter_strided(const Tensor& store, const Tensor& grad, const Geometry& view, const Geometry& base);

/// Undoes keepdim=false of a reduction over `dims` (all when empty).
Tensor restore_dims(const Tensor& t, IntList dims, int64_t ndim, bool keepdim);
Tensor expand_reduced(const Tensor& grad, IntList sizes, std::optional<IntList> dims, bool keepdim);
/// How many elements a reduction folds into one.
int64_t reduced_count(IntList sizes, std::optional<IntList> dims);

// pointwise
inline Scalar operator-(const Scalar& a, const Scalar& b) {
  return a.is_complex() || b.is_complex()     ? Scalar(a.real() - b.real(), a.imag() - b.imag())
         : a.is_integral() && b.is_integral() ? Scalar(a.to_int() - b.to_int())
                                              : Scalar(a.real() - b.real());
}
Tensor zeros_of(const Shape& like, const Tensor& grad);
/// t where the condition holds, 0 elsewhere.
Tensor masked(const Tensor& t, const Tensor& condition);
Tensor sign_of(const Tensor& t);
Tensor imag_part(const Tensor& t);
Tensor times_i(const Tensor& t);
Tensor choose_backward(const Tensor& grad, const Tensor& self, const Tensor& other, const Tensor& wins);
Tensor pow_backward_self(const Tensor& grad, const Tensor& self, const Tensor& exponent);
Tensor pow_backward_exponent(const Tensor& grad, const Tensor& self, const Tensor& exponent, const Tensor& result);
Tensor sgn_backward(const Tensor& grad, const Tensor& self, const Tensor& sgn);
Tensor copysign_backward(const Tensor& grad, const Tensor& self, const Tensor& result);
Tensor sinc_derivative(const Tensor& self);
Tensor angle_backward(const Tensor& grad, const Tensor& self);
Tensor elu_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& x, const Scalar& alpha,
                           const Scalar& scale, const Scalar& input_scale, bool is_result);
Tensor silu_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& x);
Tensor mish_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& x);
Tensor softplus_double_backward(const Tensor& g, const Tensor& x, const Scalar& beta, const Scalar& threshold);
Tensor gelu_second_derivative(const Tensor& x);
Tensor gelu_tanh_second_derivative(const Tensor& x);
Tensor prelu_double_output(const Tensor& gx, const Tensor& gw, const Tensor& x, const Tensor& w);
Tensor glu_double_output(const Tensor& ga, const Tensor& gb, const Tensor& a, const Tensor& b);
Tensor glu_double_gate(const Tensor& ga, const Tensor& gb, const Tensor& grad_output, const Tensor& a, const Tensor& b);
Tensor i1_derivative(const Tensor& x, const Tensor& result);
Tensor i1e_derivative(const Tensor& x, const Tensor& result);

// reductions
Tensor prod_backward(const Tensor& grad, const Tensor& self, const Tensor& result);
Tensor prod_dim_backward(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim, bool keepdim);
Tensor extreme_backward(const Tensor& grad, const Tensor& self, const Tensor& result, IntList dim, bool keepdim);
Tensor aminmax_backward(const Tensor& gmin, const Tensor& gmax, const Tensor& self, const Tensor& min,
                        const Tensor& max, std::optional<int64_t> dim, bool keepdim);
/// All of the gradient to the elements equal to the result, evenly.
Tensor first_equal_backward(const Tensor& grad, const Tensor& self, const Tensor& result);
Tensor scatter_back(const Tensor& grad, IntList sizes, const Tensor& indices, int64_t dim);
Tensor index_backward(const Tensor& grad, IntList sizes, const Tensor& indices, int64_t dim, bool keepdim);
Tensor norm_backward(const Tensor& grad, const Tensor& self, const Tensor& result, double p, IntList dim, bool keepdim);
Tensor var_backward(const Tensor& grad, const Tensor& self, double correction, IntList dim, bool keepdim);
Tensor var_mean_backward(const Tensor& gvar, const Tensor& gmean, const Tensor& self, double correction, IntList dim,
                         bool keepdim);
Tensor reverse_cumsum(const Tensor& t, int64_t dim);
Tensor cumprod_backward(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim);
Tensor logcumsumexp_backward(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim);

// views
Tensor contiguous(const Tensor& t);
Tensor unpermute(const Tensor& grad, IntList dims);
Tensor select_backward(const Tensor& grad, IntList sizes, int64_t dim, int64_t index);
Tensor slice_backward(const Tensor& grad, IntList sizes, int64_t dim, std::optional<int64_t> start,
                      std::optional<int64_t> end, int64_t step);
Tensor diagonal_backward(const Tensor& grad, IntList sizes, int64_t offset, int64_t dim1, int64_t dim2);
Tensor unfold_backward(const Tensor& grad, IntList sizes, int64_t dim, int64_t size, int64_t step);
Tensor unbind_backward(const Node& n, const Tensor* grads, int64_t dim);
Tensor split_backward(const Node& n, const Tensor* grads, IntList sizes, TensorOptions options, int64_t dim);
Tensor as_strided_formula(const Tensor& grad, const Tensor& self, IntList size, IntList stride,
                          std::optional<int64_t> offset);

// shape and index operators
std::vector<int64_t> negated(IntList values);
/// Complex gradients of real inputs lose their imaginary part.
Tensor cast_back(const Tensor& grad, DType dtype, Device device);
std::vector<Tensor> cat_backward(const Tensor& grad, const std::vector<Shape>& shapes, int64_t dim);
/// Gradient of what was scattered: gathered, with zeros where `index` is smaller than the source.
Tensor scattered_backward(const Tensor& grad, int64_t dim, const Tensor& index, IntList sizes);
/// A vector of indices as the index of a scatter of `sizes`.
Tensor spread_index(const Tensor& index, IntList sizes, int64_t dim);
std::tuple<Tensor, Tensor> scatter_reduce_backward(const Tensor& grad, const Tensor& self, int64_t dim,
                                                   const Tensor& index, const Tensor& src, const std::string& reduce,
                                                   bool include_self, const Tensor& result);
Tensor masked_scatter_backward(const Tensor& grad, const Tensor& mask, IntList sizes);
double dropout_scale(double p, std::optional<bool> train, DType dtype);

// linear algebra
/// Conjugate transpose of the last two dims.
Tensor adjoint(const Tensor& t);
Tensor cholesky_backward(const Tensor& grad, const Tensor& L, bool upper);
std::tuple<Tensor, Tensor> cholesky_solve_backward(const Tensor& grad, const Tensor& result, const Tensor& factor,
                                                   bool upper);
Tensor cholesky_inverse_backward(const Tensor& grad, const Tensor& factor, const Tensor& inverse, bool upper);
Tensor lu_factor_backward(const Tensor& grad, const Tensor& LU, const Tensor& pivots);
Tensor lu_solve_backward(const Tensor& grad, const Tensor& LU, const Tensor& pivots, const Tensor& X, bool adjoint);
std::tuple<Tensor, Tensor> linalg_solve_backward(const Tensor& grad, const Tensor& A, const Tensor& X, const Tensor& LU,
                                                 const Tensor& pivots);
std::tuple<Tensor, Tensor> solve_triangular_backward(const Tensor& grad, const Tensor& A, const Tensor& X, bool upper,
                                                     bool left, bool unitriangular);
Tensor inverse_backward(const Tensor& grad, const Tensor& inverse);
Tensor det_backward(const Tensor& grad, const Tensor& A, const Tensor& det);
Tensor slogdet_backward(const Tensor& grad_sign, const Tensor& grad_log, const Tensor& A, const Tensor& sign);
std::tuple<Tensor, Tensor> householder_product_backward(const Tensor& grad, const Tensor& input, const Tensor& tau);
std::tuple<Tensor, Tensor, Tensor> ormqr_backward(const Tensor& grad, const Tensor& input, const Tensor& tau,
                                                  const Tensor& other, bool left, bool transpose);
Tensor qr_backward(const Tensor& grad_q, const Tensor& grad_r, const Tensor& A, const Tensor& Q, const Tensor& R,
                   std::string_view mode);
Tensor svd_backward(const Tensor& grad_u, const Tensor& grad_s, const Tensor& grad_vh, const Tensor& U, const Tensor& S,
                    const Tensor& Vh);
Tensor eigh_backward(const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& values,
                     const Tensor& vectors);
Tensor eig_backward(const Tensor& grad_values, const Tensor& grad_vectors, const Tensor& values, const Tensor& vectors,
                    bool real_input);
Tensor pinv_backward(const Tensor& grad, const Tensor& pinv, const Tensor& A);
std::tuple<Tensor, Tensor> lstsq_backward(const Tensor& grad, const Tensor& A, const Tensor& B,
                                          std::optional<double> rcond);
Tensor matrix_exp_backward(const Tensor& grad, const Tensor& A);

}  // namespace flambeau::autograd
