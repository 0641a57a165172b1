// One product as the paths see it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "gemm.h"
#include "kernel_table.h"

namespace flambeau::gemm {

template <class T> struct Problem {
  bool ta, tb;
  int64_t M, N, K;
  T alpha;
  const T* A;
  int64_t lda;
  const T* B;
  int64_t ldb;
  T beta;
  T* C;
  int64_t ldc;
  GemmEpilogue epilogue;
  const FloatKernels<T>* kernels;

  int64_t a_row() const { return ta ? 1 : lda; }
  int64_t a_k() const { return ta ? lda : 1; }
  const T* a_at(int64_t row, int64_t k) const { return A + row * a_row() + k * a_k(); }
  const T* b_at(int64_t k, int64_t column) const { return tb ? B + column * ldb + k : B + k * ldb + column; }
  double work() const { return static_cast<double>(M) * static_cast<double>(N) * static_cast<double>(K); }
};

// The last block of K applies bias and activation, the first one beta.
template <class T>
Finish<T> finish_at(const Problem<T>& p, int64_t row, int64_t column, bool first = true, bool last = true) {
  Finish<T> f;
  f.alpha = p.alpha;
  f.beta = first ? p.beta : T(1);
  if (last) {
    f.relu = p.epilogue.activation == Activation::kRelu;
    f.bias_per_row = p.epilogue.bias_per_row;
    const T* bias = static_cast<const T*>(p.epilogue.bias);
    if (bias != nullptr) f.bias = bias + (f.bias_per_row ? row : column);
  }
  return f;
}

// [0, total) in parts that differ by one at most and are no larger than `most`.
struct EvenParts {
  int64_t count, base, extra;
  EvenParts(int64_t total, int64_t most) : count(std::max<int64_t>(1, (total + most - 1) / most)) {
    base = total / count;
    extra = total % count;
  }
  int64_t begin(int64_t i) const { return i * base + std::min(i, extra); }
  int64_t size(int64_t i) const { return base + (i < extra ? 1 : 0); }
};

inline int64_t round_up(int64_t x, int64_t multiple) { return (x + multiple - 1) / multiple * multiple; }

// Multiply-adds below which a thread is not worth waking: about 10 us of one core.
constexpr double kWorkPerChunk = 3e5;

inline int64_t units_per_chunk(double work_per_unit) {
  return static_cast<int64_t>(std::max(1.0, kWorkPerChunk / std::max(1.0, work_per_unit)));
}

template <class T>
Problem<T> make_problem(bool ta, bool tb, int64_t M, int64_t N, int64_t K, T alpha, const T* A, int64_t lda, const T* B,
                        int64_t ldb, T beta, T* C, int64_t ldc, const GemmEpilogue* epilogue) {
  // As in BLAS, alpha == 0 reads neither A nor B.
  return {ta,
          tb,
          M,
          N,
          alpha == T(0) ? 0 : K,
          alpha,
          A,
          lda,
          B,
          ldb,
          beta,
          C,
          ldc,
          epilogue != nullptr ? *epilogue : GemmEpilogue{},
          &float_kernels<T>()};
}

template <class T> void run_problem(const Problem<T>& p);  // f32 and f64

}  // namespace flambeau::gemm
