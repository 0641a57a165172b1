#pragma once
/// Pieces of fused attention. L query rows, S keys, E features of queries and keys, V of values.
#include <cmath>
#include <limits>

#include "flambeau/core/views.h"
#include "gemm/gemm.h"
#include "nn/compute.h"
#include "nn/hot.h"

namespace flambeau::nn {

struct AttentionShape {
  int64_t B, H, L, S, E, V;
};

/// The mask as numbers to add, seen as (B, H, L, S); undefined without one. True of a bool mask lets a pair take part.
Tensor additive_mask(const char* op, const Tensor& mask, const AttentionShape& s, DType dtype);

/// A (B, H, rows, width) operand whose rows are contiguous.
template <class T> struct Heads {
  Tensor t;
  int64_t b, h, row;

  static bool fits(const Tensor& x, DType d) {
    const IntList size = x.sizes(), stride = x.strides();
    return x.dtype() == d && (stride[3] == 1 || size[3] <= 1) && (stride[2] >= size[3] || size[2] <= 1);
  }
  /// Copies where the operand does not fit.
  explicit Heads(const Tensor& x, DType d)
      : t(fits(x, d) ? x : prepared(x, d)),
        b(t.strides()[0]),
        h(t.strides()[1]),
        row(std::max<int64_t>(t.strides()[2], std::max<int64_t>(t.sizes()[3], 1))) {}
  T* at(int64_t i, int64_t j, int64_t r = 0) const { return t.data_as<T>() + i * b + j * h + r * row; }
  int64_t ld() const { return row; }
};

inline void product(bool ta, bool tb, int64_t M, int64_t N, int64_t K, float alpha, const float* a, int64_t lda,
                    const float* b, int64_t ldb, float beta, float* c, int64_t ldc) {
  gemm::gemm_f32(ta, tb, M, N, K, alpha, a, lda, b, ldb, beta, c, ldc);
}
inline void product(bool ta, bool tb, int64_t M, int64_t N, int64_t K, double alpha, const double* a, int64_t lda,
                    const double* b, int64_t ldb, double beta, double* c, int64_t ldc) {
  gemm::gemm_f64(ta, tb, M, N, K, alpha, a, lda, b, ldb, beta, c, ldc);
}

/// scores[rows, columns] of queries from `row` on against keys from `column` on: scaled products, mask added, later
/// keys hidden if causal.
template <class T> struct Scores {
  const AttentionShape& s;
  const Heads<T>&q, &k;
  const Tensor& mask;
  bool causal;
  T scale;

  void fill(int64_t i, int64_t j, int64_t row, int64_t rows, int64_t column, int64_t columns, T* out) const {
    product(false, true, rows, columns, s.E, scale, q.at(i, j, row), q.ld(), k.at(i, j, column), k.ld(), T(0), out,
            columns);
    if (mask.defined()) {
      const IntList st = mask.strides();
      for (int64_t r = 0; r < rows; ++r) {
        const T* m = mask.data_as<T>() + i * st[0] + j * st[1] + (row + r) * st[2] + column * st[3];
        T* to = out + r * columns;
        if (st[3] == 1)
          for (int64_t c = 0; c < columns; ++c) to[c] += m[c];
        else
          for (int64_t c = 0; c < columns; ++c) to[c] += m[c * st[3]];
      }
    }
    if (causal)
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = std::max<int64_t>(0, row + r + 1 - column); c < columns; ++c)
          out[r * columns + c] = -std::numeric_limits<T>::infinity();
  }
};

inline constexpr int64_t kQueryBlock = 64, kKeyBlock = 256;

}  // namespace flambeau::nn
