// f32 and f64: which path a product takes, and the paths that do not pack both operands.
// The choice looks at the whole product's shape only, so sharing it out between threads changes no bit of the result.
#include "blocked.h"
#include "flambeau/core/parallel.h"
#include "problem.h"
#include "scratch.h"

namespace flambeau::gemm {
namespace {

// Below these many bytes of B a product runs on the operands as they lie: packing would cost more than it saves.
constexpr int64_t kDirectBytes = 256 * 1024;
constexpr int64_t kFewRowsNT = 48;  // up to here dot products beat transposing B
constexpr int64_t kDotLength = 20;  // times M: shorter dot products spend their time adding lanes up
constexpr int64_t kFewRowsNN = 32;
constexpr int64_t kFewColumns = 8;

template <class T> TileArgs<T> tile_args(const Problem<T>& p, int64_t row, int64_t column) {
  return {p.K,   p.a_at(row, 0),           p.a_row(), p.a_k(), p.b_at(0, column), p.ldb, p.C + row * p.ldc + column,
          p.ldc, finish_at(p, row, column)};
}

// C = dot products of rows of A with rows of B. A is [M, K] with contiguous rows.
template <class T> void run_dots(const Problem<T>& p) {
  const FloatKernels<T>& kernels = *p.kernels;
  const int64_t grain = round_up(units_per_chunk(static_cast<double>(p.M * p.K)), 8);
  parallel_for(0, p.N, grain, [&](int64_t begin, int64_t end) {
    kernels.few_rows_nt(tile_args(p, 0, begin), static_cast<int>(p.M), end - begin);
  });
}

template <class T> void run_few_rows_nt(const Problem<T>& p) {
  if (!p.ta) return run_dots(p);
  Scratch<T> rows(p.M * p.K);  // A^T, so that each row is contiguous
  for (int64_t k = 0; k < p.K; k++) {
    for (int64_t i = 0; i < p.M; i++) rows.get()[i * p.K + k] = p.A[k * p.lda + i];
  }
  Problem<T> q = p;
  q.ta = false;
  q.A = rows.get();
  q.lda = p.K;
  run_dots(q);
}

template <class T> void run_few_rows_nn(const Problem<T>& p) {
  const FloatKernels<T>& kernels = *p.kernels;
  const EvenParts rows(p.M, kernels.mr);
  const int64_t strip = 8 * kernels.lanes;  // columns that stay cached while every block of rows uses them
  const int64_t grain = round_up(units_per_chunk(static_cast<double>(p.M * p.K)), strip);
  parallel_for(0, p.N, grain, [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; j += strip) {
      for (int64_t i = 0; i < rows.count; i++) {
        kernels.few_rows_nn(tile_args(p, rows.begin(i), j), static_cast<int>(rows.size(i)), std::min(strip, end - j));
      }
    }
  });
}

template <class T> void run_direct(const Problem<T>& p) {
  const FloatKernels<T>& kernels = *p.kernels;
  const EvenParts rows(p.M, kernels.mr);
  const int64_t columns = (p.N + kernels.nr - 1) / kernels.nr;
  const double tile_work = static_cast<double>((rows.base + 1) * std::min<int64_t>(kernels.nr, p.N) * p.K);
  parallel_for(0, columns * rows.count, units_per_chunk(tile_work), [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; task++) {
      const int64_t column = task / rows.count * kernels.nr, i = task % rows.count;
      const int n = static_cast<int>(std::min<int64_t>(kernels.nr, p.N - column));
      kernels.tile_direct(tile_args(p, rows.begin(i), column), static_cast<int>(rows.size(i)), n);
    }
  });
}

// Small with B transposed: B is packed once, A is read where it lies.
template <class T> void run_direct_panels(const Problem<T>& p) {
  const FloatKernels<T>& kernels = *p.kernels;
  const EvenParts rows(p.M, kernels.mr);
  const int64_t panel = kernels.nr * p.K;
  const int64_t columns = (p.N + kernels.nr - 1) / kernels.nr;
  Scratch<T> packed(columns * panel);
  const double panel_work = static_cast<double>(p.M * std::min<int64_t>(kernels.nr, p.N) * p.K);
  parallel_for(0, columns, units_per_chunk(panel_work), [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; j++) {
      const int64_t column = j * kernels.nr;
      const int n = static_cast<int>(std::min<int64_t>(kernels.nr, p.N - column));
      kernels.pack_b(p.tb, p.K, n, p.b_at(0, column), p.ldb, packed.get() + j * panel);
      for (int64_t i = 0; i < rows.count; i++) {
        TileArgs<T> t = tile_args(p, rows.begin(i), column);
        t.b = packed.get() + j * panel;
        t.b_k = kernels.nr;
        kernels.tile_panel(t, static_cast<int>(rows.size(i)), n);
      }
    }
  });
}

// Few columns: C^T = op(B)^T op(A)^T has few rows.
template <class T> void run_transposed(const Problem<T>& p) {
  Problem<T> q{!p.tb, !p.ta, p.N, p.M, p.K, p.alpha, p.B, p.ldb, p.A, p.lda, p.beta, p.C, p.M, p.epilogue, p.kernels};
  q.epilogue.bias_per_row = !p.epilogue.bias_per_row;
  if (p.N == 1 && p.ldc == 1) return run_problem(q);
  Scratch<T> rows(p.M * p.N);
  q.C = rows.get();
  if (p.beta != T(0)) {
    for (int64_t i = 0; i < p.M; i++) {
      for (int64_t j = 0; j < p.N; j++) q.C[j * p.M + i] = p.C[i * p.ldc + j];
    }
  }
  run_problem(q);
  for (int64_t i = 0; i < p.M; i++) {
    for (int64_t j = 0; j < p.N; j++) p.C[i * p.ldc + j] = q.C[j * p.M + i];
  }
}

}  // namespace

template <class T> void run_problem(const Problem<T>& p) {
  if (p.M <= 0 || p.N <= 0) return;
  const int64_t lanes = p.kernels->lanes;
  if (p.N <= kFewColumns && p.M > 2 * p.N && p.K >= lanes) return run_transposed(p);
  if (p.tb && p.M <= kFewRowsNT && p.K >= kDotLength * p.M) return run_few_rows_nt(p);
  const int64_t b_bytes = p.N * p.K * static_cast<int64_t>(sizeof(T));
  if (!p.tb && p.M <= kFewRowsNN && b_bytes > kDirectBytes / 8) return run_few_rows_nn(p);
  if (b_bytes <= kDirectBytes && p.K <= 2 * block_sizes<T>().k) return p.tb ? run_direct_panels(p) : run_direct(p);
  run_blocked(p);
}
template void run_problem(const Problem<float>&);
template void run_problem(const Problem<double>&);

void gemm_f32(bool ta, bool tb, int64_t M, int64_t N, int64_t K, float alpha, const float* A, int64_t lda,
              const float* B, int64_t ldb, float beta, float* C, int64_t ldc, const GemmEpilogue* epilogue) {
  run_problem(make_problem(ta, tb, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc, epilogue));
}

void gemm_f64(bool ta, bool tb, int64_t M, int64_t N, int64_t K, double alpha, const double* A, int64_t lda,
              const double* B, int64_t ldb, double beta, double* C, int64_t ldc, const GemmEpilogue* epilogue) {
  run_problem(make_problem(ta, tb, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc, epilogue));
}

}  // namespace flambeau::gemm
