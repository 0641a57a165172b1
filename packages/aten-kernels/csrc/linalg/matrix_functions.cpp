// Pseudo-inverse and exponential: made of other operators, but with derivatives of their own.
#include <array>
#include <cmath>

#include "flambeau/core/views.h"
#include "flambeau/ops/_linalg_eigh.h"
#include "flambeau/ops/_linalg_svd.h"
#include "flambeau/ops/abs.h"
#include "flambeau/ops/add.h"
#include "flambeau/ops/bmm.h"
#include "flambeau/ops/conj_physical.h"
#include "flambeau/ops/gt.h"
#include "flambeau/ops/matmul.h"
#include "flambeau/ops/maximum.h"
#include "flambeau/ops/mul.h"
#include "flambeau/ops/reciprocal.h"
#include "flambeau/ops/where.h"
#include "linalg/batch.h"
#include "pointwise/convert.h"

namespace flambeau {

using namespace linalg;

namespace {

Tensor adjoint_of(const Tensor& t) {
  const Tensor m = transpose(t, -2, -1);
  return t.is_complex() ? ops::conj_physical(m) : m;
}

// 1 / values where they are above the tolerance, else 0.
Tensor inverse_values(const Tensor& values, const Tensor& sizes, const Tensor& largest, const Tensor& atol,
                      const Tensor& rtol) {
  const Tensor limit = unsqueeze(ops::maximum(atol, ops::mul(rtol, largest)), -1);
  const Tensor zero = scalar_tensor(Scalar(0.0), {values.dtype()});
  return ops::where(ops::gt(sizes, limit), ops::reciprocal(values), zero);
}

}  // namespace

Tensor pinv_op(const Tensor& A, const Tensor& atol, const Tensor& rtol, bool hermitian) {
  if (hermitian) {
    const auto [values, vectors] = ops::_linalg_eigh(A, "L", true);
    const Tensor sizes = ops::abs(values);
    const Tensor largest = ops::maximum(select(sizes, -1, 0), select(sizes, -1, -1));
    const Tensor inverse = inverse_values(values, sizes, largest, atol, rtol);
    return ops::matmul(ops::mul(vectors, unsqueeze(inverse, -2)), adjoint_of(vectors));
  }
  const auto [U, S, Vh] = ops::_linalg_svd(A, false, true, std::nullopt);
  const Tensor inverse = inverse_values(S, S, select(S, -1, 0), atol, rtol);
  return ops::matmul(ops::mul(adjoint_of(Vh), unsqueeze(inverse, -2)), adjoint_of(U));
}

namespace {

// Largest 1-norm of the batch.
double largest_norm(const Tensor& a, int64_t n) {
  double largest = 0;
  with_type(a.dtype(), [&]<class T>() {
    const T* data = a.data_as<T>();
    for (int64_t b = 0; b < a.numel(); b += n * n)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(std::abs(data[b + i * n + j]));
        if (!(sum <= largest)) largest = sum;  // NaN stays
      }
  });
  return largest;
}

Tensor identities(const Tensor& like) {
  Tensor eye = empty(like.sizes(), like.options());
  copy_values(eye, scalar_tensor(Scalar(0.0), {like.dtype()}));
  copy_values(diagonal(eye, 0, -2, -1), scalar_tensor(Scalar(1.0), {like.dtype()}));
  return eye;
}

// Degree 18 is exact to double precision up to this norm (Bader, Blanes, Casas 2019, table 2).
constexpr double kTaylorNorm = 1.09;
constexpr int kBlock =
    5;  // powers kept: the polynomial is evaluated in blocks of so many terms (Paterson, Stockmeyer 1973)
constexpr int kDegree = 18;

Tensor taylor(const Tensor& a) {
  std::array<Tensor, kBlock + 1> powers;
  powers[0] = identities(a);
  powers[1] = a;
  for (size_t i = 2; i <= kBlock; ++i) powers[i] = ops::bmm(powers[i - 1], a);
  double factorial[kDegree + 1] = {1};
  for (int i = 1; i <= kDegree; ++i) factorial[i] = factorial[i - 1] * i;
  Tensor sum;
  for (int first = kDegree / kBlock * kBlock; first >= 0; first -= kBlock) {
    if (sum.defined()) sum = ops::bmm(sum, powers[kBlock]);
    for (int i = 0; i < kBlock && first + i <= kDegree; ++i) {
      const Scalar coefficient(1.0 / factorial[first + i]);
      const Tensor& power = powers[static_cast<size_t>(i)];
      sum = sum.defined() ? ops::add(sum, power, coefficient) : ops::mul(power, wrapped_number(coefficient));
    }
  }
  return sum;
}

}  // namespace

Tensor matrix_exp_op(const Tensor& A) {
  check_square("linalg.matrix_exp", A);
  FL_CHECK(is_floating(A.dtype()) || is_complex(A.dtype()),
           "[linalg.matrix_exp] Expected a floating point or complex tensor, got ", dtype_name(A.dtype()));
  const bool half = A.dtype() == DType::Float16 || A.dtype() == DType::BFloat16;
  if (A.numel() == 0) return empty(A.sizes(), A.options());
  const int64_t n = columns(A);
  const Tensor a = contiguous(half ? converted(A, DType::Float32) : A);
  const int64_t batch = a.numel() / (n * n);
  Tensor matrices = view(a, IntList{batch, n, n});
  const double norm = largest_norm(a, n);
  int squarings = 0;
  if (std::isfinite(norm) && norm > kTaylorNorm) squarings = static_cast<int>(std::ceil(std::log2(norm / kTaylorNorm)));
  if (squarings) matrices = ops::mul(matrices, wrapped_number(Scalar(std::ldexp(1.0, -squarings))));
  Tensor result = taylor(matrices);
  for (int i = 0; i < squarings; ++i) result = ops::bmm(result, result);
  result = view(result, A.sizes());
  return half ? converted(result, A.dtype()) : result;
}

}  // namespace flambeau
