// Integer products: wrapping arithmetic on the unsigned counterpart, blocked so that sums stay in registers.
#include <type_traits>

#include "flambeau/core/parallel.h"
#include "problem.h"
#include "scratch.h"

namespace flambeau::gemm {
namespace {

constexpr int64_t kRows = 4;

// The sums are at least 32 bits wide: they wrap to T as T itself would, and small types vectorise badly.
template <class T> using Sum = std::conditional_t<(sizeof(T) > 4), uint64_t, uint32_t>;

template <class S> constexpr int64_t kColumns = 128 / static_cast<int64_t>(sizeof(S));

template <class In, class Out> struct IntProblem {
  bool ta;
  int64_t M, N, K;
  Out alpha;
  const In* A;
  int64_t lda;
  const In* B;  // [K, N]
  int64_t ldb;
  Out beta;
  Out* C;
  int64_t ldc;
};

template <class In, class Out>
void int_tile(const IntProblem<In, Out>& p, int64_t row, int64_t rows, int64_t column, int64_t columns) {
  using S = Sum<Out>;
  S sum[kRows][kColumns<S>] = {};
  for (int64_t k = 0; k < p.K; k++) {
    S b[kColumns<S>];
    const In* from = p.B + k * p.ldb + column;
    if (columns == kColumns<S>) {
      for (int64_t j = 0; j < kColumns<S>; j++) b[j] = static_cast<S>(from[j]);
    } else {
      for (int64_t j = 0; j < kColumns<S>; j++) b[j] = j < columns ? static_cast<S>(from[j]) : S(0);
    }
    for (int64_t i = 0; i < kRows; i++) {
      const int64_t r = row + std::min(i, rows - 1);
      const S a = static_cast<S>(p.ta ? p.A[k * p.lda + r] : p.A[r * p.lda + k]);
      for (int64_t j = 0; j < kColumns<S>; j++) sum[i][j] += a * b[j];
    }
  }
  const S alpha = static_cast<S>(p.alpha), beta = static_cast<S>(p.beta);
  for (int64_t i = 0; i < rows; i++) {
    Out* c = p.C + (row + i) * p.ldc + column;
    for (int64_t j = 0; j < columns; j++) {
      const S kept = beta == 0 ? S(0) : beta * static_cast<S>(c[j]);
      c[j] = static_cast<Out>(alpha * sum[i][j] + kept);
    }
  }
}

template <class In, class Out> void run_int(IntProblem<In, Out> p, bool tb) {
  if (p.M <= 0 || p.N <= 0) return;
  Scratch<In> rows_of_b(tb ? p.K * p.N : 0);
  if (tb) {
    for (int64_t j = 0; j < p.N; j++) {
      for (int64_t k = 0; k < p.K; k++) rows_of_b.get()[k * p.N + j] = p.B[j * p.ldb + k];
    }
    p.B = rows_of_b.get();
    p.ldb = p.N;
  }
  constexpr int64_t width = kColumns<Sum<Out>>;
  const int64_t row_blocks = (p.M + kRows - 1) / kRows, column_blocks = (p.N + width - 1) / width;
  // Four times the work per multiply-add of the float kernels, roughly.
  const int64_t grain = units_per_chunk(4.0 * static_cast<double>(kRows * width * p.K));
  parallel_for(0, row_blocks * column_blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; task++) {
      const int64_t column = task / row_blocks * width, row = task % row_blocks * kRows;
      int_tile(p, row, std::min(kRows, p.M - row), column, std::min(width, p.N - column));
    }
  });
}

}  // namespace

template <class T>
void gemm_int(bool ta, bool tb, int64_t M, int64_t N, int64_t K, T alpha, const T* A, int64_t lda, const T* B,
              int64_t ldb, T beta, T* C, int64_t ldc) {
  run_int(IntProblem<T, T>{ta, M, N, alpha == 0 ? 0 : K, alpha, A, lda, B, ldb, beta, C, ldc}, tb);
}

void gemm_i8_i32(bool ta, bool tb, int64_t M, int64_t N, int64_t K, const int8_t* A, int64_t lda, const int8_t* B,
                 int64_t ldb, int32_t* C, int64_t ldc) {
  run_int(IntProblem<int8_t, int32_t>{ta, M, N, K, 1, A, lda, B, ldb, 0, C, ldc}, tb);
}

template <class T>
void gemm_int_batched(int64_t batch, bool ta, bool tb, int64_t M, int64_t N, int64_t K, T alpha, const T* A,
                      int64_t lda, int64_t stride_a, const T* B, int64_t ldb, int64_t stride_b, T beta, T* C,
                      int64_t ldc, int64_t stride_c) {
  const int64_t grain = units_per_chunk(4.0 * static_cast<double>(M * N * K));
  parallel_for(0, batch, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      gemm_int(ta, tb, M, N, K, alpha, A + i * stride_a, lda, B + i * stride_b, ldb, beta, C + i * stride_c, ldc);
    }
  });
}

#define FL_INSTANTIATE(T)                                                                                       \
  template void gemm_int(bool, bool, int64_t, int64_t, int64_t, T, const T*, int64_t, const T*, int64_t, T, T*, \
                         int64_t);                                                                              \
  template void gemm_int_batched(int64_t, bool, bool, int64_t, int64_t, int64_t, T, const T*, int64_t, int64_t, \
                                 const T*, int64_t, int64_t, T, T*, int64_t, int64_t);
FL_INSTANTIATE(int8_t)
FL_INSTANTIATE(uint8_t)
FL_INSTANTIATE(int16_t)
FL_INSTANTIATE(int32_t)
FL_INSTANTIATE(int64_t)
#undef FL_INSTANTIATE

}  // namespace flambeau::gemm
