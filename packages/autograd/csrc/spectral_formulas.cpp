// Derivatives of determinants, singular values, eigenvalues, QR, and of products of reflections.
#include "flambeau/ops/_linalg_svd.h"
#include "flambeau/ops/_matrix_exp.h"
#include "flambeau/ops/any.h"
#include "flambeau/ops/cat.h"
#include "flambeau/ops/complex.h"
#include "flambeau/ops/cumprod.h"
#include "flambeau/ops/eq.h"
#include "flambeau/ops/flip.h"
#include "flambeau/ops/linalg_det.h"
#include "flambeau/ops/linalg_inv_ex.h"
#include "flambeau/ops/linalg_pinv.h"
#include "flambeau/ops/linalg_solve.h"
#include "flambeau/ops/linalg_solve_triangular.h"
#include "flambeau/ops/matmul.h"
#include "flambeau/ops/ones_like.h"
#include "flambeau/ops/select.h"
#include "flambeau/ops/stack.h"
#include "flambeau/ops/sum.h"
#include "flambeau/ops/tril.h"
#include "flambeau/ops/unsqueeze.h"
#include "flambeau/ops/where.h"
#include "flambeau/ops/zeros.h"
#include "flambeau/ops/zeros_like.h"
#include "linalg_formulas.h"

namespace flambeau::autograd {

namespace {

Tensor row(const Tensor& t) { return ops::unsqueeze(t, -2); }
Tensor column(const Tensor& t) { return ops::unsqueeze(t, -1); }
Tensor scalar_matrix(const Tensor& t) { return column(column(t)); }
Tensor zeros_as(const Tensor& t) {
  return ops::zeros_like(t, std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt);
}
Tensor ones_as(const Tensor& t) {
  return ops::ones_like(t, std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt);
}
Tensor identity(const Tensor& vector) { return diagonal_matrix(ones_as(vector)); }

// With zeros where x_i - x_j stands on the diagonal: 1 there, so that it can be divided by.
Tensor differences(const Tensor& x) { return row(x) - column(x) + identity(x); }

}  // namespace

Tensor exp_of_blocks(const Tensor& A, const Tensor& B) {
  const int64_t n = A.size(-1);
  const Tensor top = ops::cat(std::vector<Tensor>{A, B}, -1);
  const Tensor bottom = ops::cat(std::vector<Tensor>{zeros_as(A), A}, -1);
  const Tensor result = ops::_matrix_exp(ops::cat(std::vector<Tensor>{top, bottom}, -2));
  return part(part(result, -2, 0, n), -1, n, 2 * n);
}

namespace {

// Products of all but one of the last dim's elements.
Tensor products_of_others(const Tensor& s) {
  const int64_t n = s.size(-1);
  const Tensor one = ones_as(part(s, -1, 0, 1));
  const int64_t dims[] = {-1};
  const Tensor before = ops::cumprod(ops::cat(std::vector<Tensor>{one, part(s, -1, 0, n - 1)}, -1), -1, std::nullopt);
  const Tensor reversed = ops::flip(part(s, -1, 1, n), IntList(dims, 1));
  const Tensor after =
      ops::flip(ops::cumprod(ops::cat(std::vector<Tensor>{one, reversed}, -1), -1, std::nullopt), IntList(dims, 1));
  return before * after;
}

bool has_zero(const Tensor& t) { return item(ops::any(ops::eq(t, zeros_as(t)), std::nullopt, false)).to_bool(); }

}  // namespace

Tensor det_backward(const Tensor& grad, const Tensor& A, const Tensor& det) {
  if (!grad.defined()) return {};
  if (A.numel() == 0) return zeros_as(A);
  if (det.is_meta() || !has_zero(det))
    return scalar_matrix(grad * conj(det)) * adjoint(std::get<0>(ops::linalg_inv_ex(A, false)));
  // Of a singular matrix: the cofactors, from the singular values.
  const auto [U, S, Vh] = ops::_linalg_svd(A, false, true, std::nullopt);
  const Tensor phase = conj(ops::linalg_det(U) * ops::linalg_det(Vh));
  return scalar_matrix(grad * phase) * mm(U * row(to_dtype(products_of_others(S), A.dtype())), Vh);
}

// d log det = tr(A^-1 dA): its real part moves logabsdet, its imaginary one the sign.
Tensor slogdet_backward(const Tensor& grad_sign, const Tensor& grad_log, const Tensor& A, const Tensor& sign) {
  if (A.numel() == 0) return zeros_as(A);
  Tensor weight;
  if (grad_log.defined()) weight = to_dtype(grad_log, A.dtype());
  if (A.is_complex() && grad_sign.defined()) {
    const Tensor turned = times_i(to_dtype(imag_part(conj(sign) * grad_sign), A.dtype()));
    weight = weight.defined() ? weight + turned : turned;
  }
  if (!weight.defined()) return zeros_as(A);
  return scalar_matrix(weight) * adjoint(std::get<0>(ops::linalg_inv_ex(A, false)));
}

// --- reflections
// ------------------------------------------------------------------------------------------------------

namespace {

// v of H = I - tau v v^H, column i of `input` below its one.
Tensor reflection_vector(const Tensor& input, int64_t i) {
  const int64_t m = input.size(-2);
  const Tensor below = part(part(input, -2, i + 1, m), -1, i, i + 1);
  const Tensor first = part(part(input, -2, i, i + 1), -1, i, i + 1);
  const Tensor above = part(part(input, -2, 0, i), -1, i, i + 1);
  return ops::cat(std::vector<Tensor>{zeros_as(above), ones_as(first), below}, -2);
}

struct Reflections {
  std::vector<Tensor> v, tau;

  Reflections(const Tensor& input, const Tensor& taus, bool adjoint_product) {
    for (int64_t i = 0; i < taus.size(-1); ++i) {
      v.push_back(reflection_vector(input, i));
      const Tensor t = scalar_matrix(ops::select(taus, -1, i));
      tau.push_back(adjoint_product ? conj(t) : t);
    }
  }
  Tensor apply(size_t i, const Tensor& x) const { return x - tau[i] * mm(v[i], mm(adjoint(v[i]), x)); }
  Tensor apply_adjoint(size_t i, const Tensor& x) const { return x - conj(tau[i]) * mm(v[i], mm(adjoint(v[i]), x)); }
};

struct ReflectionGradients {
  Tensor input, tau, other;
};

// Of H_1 ... H_k C, or with the reflections' adjoints in reverse order.
ReflectionGradients product_backward(const Tensor& grad, const Tensor& input, const Tensor& taus, const Tensor& C,
                                     bool adjoint_product) {
  const Reflections h(input, taus, adjoint_product);
  const size_t k = h.v.size();
  const auto factor = [&](size_t step) { return adjoint_product ? k - 1 - step : step; };  // left to right
  std::vector<Tensor> right(k + 1);
  right[k] = C;
  for (size_t step = k; step-- > 0;) right[step] = h.apply(factor(step), right[step + 1]);
  std::vector<Tensor> gv(k), gtau(k);
  Tensor G = grad;
  for (size_t step = 0; step < k; ++step) {
    const size_t i = factor(step);
    const Tensor a = mm(adjoint(h.v[i]), right[step + 1]), b = mm(adjoint(G), h.v[i]);
    const Tensor t = -conj(mm(a, b));
    gtau[i] = ops::select(ops::select(adjoint_product ? conj(t) : t, -1, 0), -1, 0);
    gv[i] = -(h.tau[i] * mm(right[step + 1], b) + conj(h.tau[i]) * mm(G, adjoint(a)));
    G = h.apply_adjoint(i, G);
  }
  if (k == 0) return {zeros_as(input), zeros_as(taus), G};
  Tensor columns = ops::tril(ops::cat(gv, -1), -1);
  const int64_t n = input.size(-1);
  if (n > static_cast<int64_t>(k))
    columns = ops::cat(std::vector<Tensor>{columns, zeros_as(part(input, -1, static_cast<int64_t>(k), n))}, -1);
  return {columns, ops::stack(gtau, -1), G};
}

}  // namespace

std::tuple<Tensor, Tensor> householder_product_backward(const Tensor& grad, const Tensor& input, const Tensor& tau) {
  if (input.numel() == 0) return {zeros_as(input), zeros_as(tau)};
  const Tensor eye = diagonal_matrix(ones_as(ops::select(input, -1, 0)));
  const ReflectionGradients g = product_backward(grad, input, tau, part(eye, -1, 0, input.size(-1)), false);
  return {g.input, g.tau};
}

std::tuple<Tensor, Tensor, Tensor> ormqr_backward(const Tensor& grad, const Tensor& input, const Tensor& tau,
                                                  const Tensor& other, bool left, bool transpose) {
  if (grad.numel() == 0 || input.numel() == 0) return {zeros_as(input), zeros_as(tau), grad};
  // C Q = (Q^H C^H)^H
  const ReflectionGradients g = left ? product_backward(grad, input, tau, other, transpose)
                                     : product_backward(adjoint(grad), input, tau, adjoint(other), !transpose);
  return {g.input, g.tau, left ? g.other : adjoint(g.other)};
}

// --- QR
// -----------------------------------------------------------------------------------------------------------------

namespace {

// A = Q R with square R (Liao et al. 2019, arXiv:1903.09650, eq. 5).
Tensor qr_tall(const Tensor& gQ, const Tensor& gR, const Tensor& Q, const Tensor& R) {
  Tensor M;
  if (gR.defined()) M = mm(R, adjoint(gR));
  if (gQ.defined()) M = M.defined() ? M - mm(adjoint(gQ), Q) : -mm(adjoint(gQ), Q);
  const Tensor lower = ops::tril(M, -1);
  const Tensor symmetric = lower + adjoint(lower) + diagonal_matrix(to_dtype(real_part(diagonal_of(M)), M.dtype()));
  Tensor gA = mm(Q, symmetric);
  if (gQ.defined()) gA = gA + gQ;
  return ops::linalg_solve_triangular(adjoint(R), gA, false, false, false);
}

}  // namespace

Tensor qr_backward(const Tensor& gQ, const Tensor& gR, const Tensor& A, const Tensor& Q, const Tensor& R,
                   std::string_view mode) {
  if (!gQ.defined() && !gR.defined()) return {};
  const int64_t m = A.size(-2), n = A.size(-1);
  FL_CHECK(mode != "r",
           "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, "
           "mode='reduced') if you are going to require gradients");
  FL_CHECK(mode != "complete" || m <= n,
           "The QR decomposition is not differentiable when mode='complete' and nrows > ncols.");
  if (m >= n) return qr_tall(gQ, gR, Q, R);
  // A = [X Y], R = [U V] with square U: Q R of X, and V = Q^H Y.
  const Tensor Y = part(A, -1, m, n);
  if (!gR.defined()) return ops::cat(std::vector<Tensor>{qr_tall(gQ, {}, Q, part(R, -1, 0, m)), zeros_as(Y)}, -1);
  const Tensor gU = part(gR, -1, 0, m), gV = part(gR, -1, m, n);
  const Tensor moved = mm(Y, adjoint(gV));
  const Tensor gX = qr_tall(gQ.defined() ? gQ + moved : moved, gU, Q, part(R, -1, 0, m));
  return ops::cat(std::vector<Tensor>{gX, mm(Q, gV)}, -1);
}

// --- singular values and eigenvalues
// --------------------------------------------------------------------------------------

namespace {

Tensor skew(const Tensor& t) { return t - adjoint(t); }

}  // namespace

Tensor svd_backward(const Tensor& gU_full, const Tensor& gS, const Tensor& gVh_full, const Tensor& U_full,
                    const Tensor& S, const Tensor& Vh_full) {
  if (!gU_full.defined() && !gS.defined() && !gVh_full.defined()) return {};
  const int64_t k = S.size(-1);
  // Columns beyond the singular values span what is left: torch lets gradients reach them only as zeros.
  const Tensor U = part(U_full, -1, 0, k), Vh = part(Vh_full, -2, 0, k);
  const DType dtype = U_full.dtype();
  if (!gU_full.defined() && !gVh_full.defined()) return mm(U * row(to_dtype(gS, dtype)), Vh);
  const int64_t m = U.size(-2), n = Vh.size(-1);
  const Tensor gU = gU_full.defined() ? part(gU_full, -1, 0, k) : zeros_as(U);
  const Tensor gV = adjoint(gVh_full.defined() ? part(gVh_full, -2, 0, k) : zeros_as(Vh));
  const Tensor V = adjoint(Vh);
  const Tensor UgU = mm(adjoint(U), gU), VgV = mm(Vh, gV);
  const Tensor squares = S * S;
  const Tensor E = differences(squares);  // s_j^2 - s_i^2
  Tensor middle = skew(UgU) / E * row(S) + column(S) * (skew(VgV) / E);
  if (gS.defined()) middle = middle + diagonal_matrix(to_dtype(gS, dtype));
  // The diagonals of both skew parts are imaginary; a gauge-invariant loss has them cancel, so one half of each counts.
  if (U.is_complex()) {
    const Tensor phases = to_dtype(imag_part(diagonal_of(UgU)) - imag_part(diagonal_of(VgV)), dtype);
    const Tensor diagonal = times_i(phases / (S * Scalar(2.0)));
    const Tensor off = middle - diagonal_matrix(diagonal_of(middle));
    middle = off + diagonal_matrix(gS.defined() ? diagonal + to_dtype(gS, dtype) : diagonal);
  }
  Tensor gA = m >= n ? mm(U, mm(middle, Vh)) : mm(mm(U, middle), Vh);
  const Tensor inverse = to_dtype(Scalar(1.0) / S, dtype);
  if (m > k && gU_full.defined()) {
    const Tensor scaled_u = gU * row(inverse);
    gA = gA + mm(scaled_u - mm(U, mm(adjoint(U), scaled_u)), Vh);
  }
  if (n > k && gVh_full.defined()) {
    const Tensor scaled_v = adjoint(gV * row(inverse));
    gA = gA + mm(U, scaled_v - mm(mm(scaled_v, V), Vh));
  }
  return gA;
}

Tensor eigh_backward(const Tensor& gL, const Tensor& gV, const Tensor& L, const Tensor& V) {
  if (!gL.defined() && !gV.defined()) return {};
  if (!gV.defined()) return mm(V * row(to_dtype(gL, V.dtype())), adjoint(V));
  const Tensor VgV = mm(adjoint(V), gV);
  Tensor middle = VgV / to_dtype(differences(L), V.dtype());
  middle = middle - diagonal_matrix(diagonal_of(middle));
  if (gL.defined()) middle = middle + diagonal_matrix(to_dtype(gL, V.dtype()));
  return mm(V,
            mm((middle + adjoint(middle)) * Scalar(0.5), adjoint(V)));  // a Hermitian matrix moves along Hermitian ones
}

// Eigenvectors are of norm one: their own direction is projected out (Boeddeker et al. 2017, arXiv:1701.00392).
Tensor eig_backward(const Tensor& gL, const Tensor& gV, const Tensor& L, const Tensor& V, bool real_input) {
  if (!gL.defined() && !gV.defined()) return {};
  const Tensor Vh = adjoint(V);
  Tensor middle;
  if (gV.defined()) {
    const Tensor VgV = mm(Vh, gV);
    const Tensor projected = VgV - mm(Vh, V * row(to_dtype(real_part(diagonal_of(VgV)), V.dtype())));
    middle = projected / conj(differences(L));
    middle = middle - diagonal_matrix(diagonal_of(middle));
    if (gL.defined()) middle = middle + diagonal_matrix(gL);
  } else {
    middle = diagonal_matrix(gL);
  }
  const Tensor gA = ops::linalg_solve(Vh, mm(middle, Vh), true);
  return real_input ? real_part(gA) : gA;
}

std::tuple<Tensor, Tensor> lstsq_backward(const Tensor& grad, const Tensor& A, const Tensor& B,
                                          std::optional<double> rcond) {
  if (!grad.defined()) return {};
  const Tensor gX = part(grad, -2, 0, A.size(-1));
  const Tensor P = rcond ? ops::linalg_pinv(A, *rcond, false) : ops::linalg_pinv(A, std::nullopt, std::nullopt, false);
  return {pinv_backward(mm(gX, adjoint(B)), P, A), mm(adjoint(P), gX)};
}

}  // namespace flambeau::autograd
