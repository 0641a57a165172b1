// Derivatives of factorisations, written from operators so that they can be differentiated again.
// Notation: gX is the gradient of X; ^H is the conjugate transpose. A formula gives the W of dL = Re tr(W^H dA).
#include "linalg_formulas.h"
#include "flambeau/ops/_linalg_solve.h"
#include "flambeau/ops/_lu_solve.h"
#include "flambeau/ops/cat.h"
#include "flambeau/ops/cholesky_solve.h"
#include "flambeau/ops/diag_embed.h"
#include "flambeau/ops/diagonal.h"
#include "flambeau/ops/linalg_inv_ex.h"
#include "flambeau/ops/linalg_solve_triangular.h"
#include "flambeau/ops/lu_unpack.h"
#include "flambeau/ops/matmul.h"
#include "flambeau/ops/slice.h"
#include "flambeau/ops/transpose.h"
#include "flambeau/ops/tril.h"
#include "flambeau/ops/triu.h"

namespace flambeau::autograd {

Tensor adjoint(const Tensor& t) { return conj(ops::transpose(t, -2, -1)); }

Tensor mm(const Tensor& a, const Tensor& b) { return ops::matmul(a, b); }
Tensor part(const Tensor& t, int64_t dim, int64_t begin, int64_t end) { return ops::slice(t, dim, begin, end, 1); }
Tensor diagonal_of(const Tensor& t) { return ops::diagonal(t, 0, -2, -1); }
Tensor diagonal_matrix(const Tensor& t) { return ops::diag_embed(t, 0, -2, -1); }

namespace {

constexpr bool kUpper = true, kLower = false, kLeft = true, kRight = false, kUnit = true, kAnyDiagonal = false;

Tensor solve_triangular(const Tensor& A, const Tensor& B, bool upper, bool left, bool unit) {
  return ops::linalg_solve_triangular(A, B, upper, left, unit);
}

// tril with half the diagonal, made Hermitian.
Tensor half_lower_symmetrised(const Tensor& t) {
  const Tensor lower = ops::tril(t, -1);
  return (lower + adjoint(lower) + diagonal_matrix(diagonal_of(t))) * Scalar(0.5);
}

Tensor plus_adjoint(const Tensor& t) { return t + adjoint(t); }

}  // namespace

// L Phi(L^-1 dA L^-H) = dL, where Phi takes the lower triangle and half the diagonal.
Tensor cholesky_backward(const Tensor& grad, const Tensor& factor, bool upper) {
  if (!grad.defined()) return {};
  const Tensor L = upper ? adjoint(factor) : factor;
  const Tensor gL = upper ? adjoint(grad) : grad;
  const Tensor middle = half_lower_symmetrised(mm(adjoint(L), gL));
  const Tensor half = solve_triangular(adjoint(L), middle, kUpper, kLeft, kAnyDiagonal);
  return solve_triangular(L, half, kLower, kRight, kAnyDiagonal);
}

std::tuple<Tensor, Tensor> cholesky_solve_backward(const Tensor& grad, const Tensor& X, const Tensor& factor,
                                                   bool upper) {
  const Tensor gB = ops::cholesky_solve(grad, factor, upper);
  const Tensor gA = -plus_adjoint(mm(gB, adjoint(X)));
  return {gB, upper ? mm(factor, gA) : mm(gA, factor)};
}

Tensor cholesky_inverse_backward(const Tensor& grad, const Tensor& factor, const Tensor& inverse, bool upper) {
  const Tensor gA = -plus_adjoint(mm(inverse, mm(grad, inverse)));
  return upper ? mm(factor, gA) : mm(gA, factor);
}

namespace {

// gA of A = L U with square L and U.
Tensor lu_square(const Tensor& L, const Tensor& U, const Tensor& lower, const Tensor& upper) {
  const Tensor middle = ops::tril(lower, -1) + ops::triu(upper, 0);
  const Tensor left = solve_triangular(adjoint(L), middle, kUpper, kLeft, kUnit);
  return solve_triangular(adjoint(U), left, kLower, kRight, kAnyDiagonal);
}

}  // namespace

Tensor lu_factor_backward(const Tensor& grad, const Tensor& LU, const Tensor& pivots) {
  if (!grad.defined()) return {};
  const auto [P, L, U] = ops::lu_unpack(LU, pivots, true, true);
  const int64_t m = LU.size(-2), n = LU.size(-1), k = std::min(m, n);
  const Tensor gL = ops::tril(part(grad, -1, 0, k), -1), gU = ops::triu(part(grad, -2, 0, k), 0);
  if (m == n) return mm(P, lu_square(L, U, mm(adjoint(L), gL), mm(gU, adjoint(U))));
  if (m < n) {  // A = P L [U1 U2], U2 = L^-1 P^T A2
    const Tensor U1 = part(U, -1, 0, k), U2 = part(U, -1, k, n), g1 = part(gU, -1, 0, k), g2 = part(gU, -1, k, n);
    const Tensor first = lu_square(L, U1, mm(adjoint(L), gL) - mm(g2, adjoint(U2)), mm(g1, adjoint(U1)));
    const Tensor second = solve_triangular(adjoint(L), g2, kUpper, kLeft, kUnit);
    return mm(P, ops::cat(std::vector<Tensor>{first, second}, -1));
  }
  // A = P [L1; L2] U, L2 = A2 U^-1
  const Tensor L1 = part(L, -2, 0, k), L2 = part(L, -2, k, m), g1 = part(gL, -2, 0, k), g2 = part(gL, -2, k, m);
  const Tensor first = lu_square(L1, U, mm(adjoint(L1), g1), mm(gU, adjoint(U)) - mm(adjoint(L2), g2));
  const Tensor second = solve_triangular(adjoint(U), g2, kLower, kRight, kAnyDiagonal);
  return mm(P, ops::cat(std::vector<Tensor>{first, second}, -2));
}

Tensor lu_solve_backward(const Tensor& grad, const Tensor& LU, const Tensor& pivots, const Tensor& X,
                         bool adjoint_solve) {
  const Tensor gB = ops::_lu_solve(LU, pivots, grad, !adjoint_solve);
  const Tensor gA = adjoint_solve ? -mm(X, adjoint(gB)) : -mm(gB, adjoint(X));
  const auto [P, L, U] = ops::lu_unpack(LU, pivots, true, true);
  const Tensor rows = mm(ops::transpose(P, -2, -1), gA);
  return ops::tril(mm(rows, adjoint(U)), -1) + ops::triu(mm(adjoint(L), rows), 0);
}

std::tuple<Tensor, Tensor> linalg_solve_backward(const Tensor& grad, const Tensor& A, const Tensor& X, const Tensor& LU,
                                                 const Tensor& pivots) {
  if (!grad.defined()) return {};
  // The factors at hand are no function of A to autograd: only a first derivative may use them.
  const Tensor gB = grad_enabled() ? std::get<0>(ops::_linalg_solve(adjoint(A), grad, false))
                                   : ops::_lu_solve(LU, pivots, grad, true);
  return {-mm(gB, adjoint(X)), gB};
}

std::tuple<Tensor, Tensor> solve_triangular_backward(const Tensor& grad, const Tensor& A, const Tensor& X, bool upper,
                                                     bool left, bool unitriangular) {
  const Tensor gB = solve_triangular(adjoint(A), grad, !upper, left, unitriangular);
  const Tensor full = left ? -mm(gB, adjoint(X)) : -mm(adjoint(X), gB);
  const int64_t skipped = unitriangular ? 1 : 0;
  return {upper ? ops::triu(full, skipped) : ops::tril(full, -skipped), gB};
}

Tensor inverse_backward(const Tensor& grad, const Tensor& inverse) {
  if (!grad.defined()) return {};
  return -mm(adjoint(inverse), mm(grad, adjoint(inverse)));
}

Tensor pinv_backward(const Tensor& grad, const Tensor& P, const Tensor& A) {
  const Tensor Ph = adjoint(P), gh = adjoint(grad);
  // dP = -P dA P + P P^H dA^H (I - A P) + (I - P A) dA^H P^H P   (Golub, Pereyra 1973)
  const Tensor second = mm(gh, mm(P, Ph)), third = mm(mm(Ph, P), gh);
  return -mm(Ph, mm(grad, Ph)) + second - mm(A, mm(P, second)) + third - mm(mm(third, P), A);
}

Tensor matrix_exp_backward(const Tensor& grad, const Tensor& A) { return exp_of_blocks(adjoint(A), grad); }

}  // namespace flambeau::autograd
