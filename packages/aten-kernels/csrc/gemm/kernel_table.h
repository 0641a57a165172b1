// The functions that exist once per instruction set, and the table that names them. See kernels_isa.cpp.
#pragma once

#include <cstdint>

namespace flambeau::gemm {

// How sums become elements of C.
template <class T> struct Finish {
  T alpha = 1;
  T beta = 0;               // 0: C is not read
  const T* bias = nullptr;  // per column from the tile's first column on, or per row from its first row on
  bool bias_per_row = false;
  bool relu = false;
  // Always inlined: a copy built for the widest instruction set must not be the one that the linker keeps.
  __attribute__((always_inline)) bool is_plain() const {
    return alpha == T(1) && beta == T(0) && bias == nullptr && !relu;
  }
  __attribute__((always_inline)) bool is_sum() const {
    return alpha == T(1) && beta == T(1) && bias == nullptr && !relu;
  }
};

// op(A)[i, k] = a[i * a_row + k * a_k]. In a packed panel of m rows a_row is 1 and a_k is m.
template <class T> struct TileArgs {
  int64_t k;
  const T* a;
  int64_t a_row;
  int64_t a_k;
  const T* b;  // [k, n] with rows b_k apart
  int64_t b_k;
  T* c;
  int64_t ldc;
  Finish<T> finish;
};

template <class T> struct FloatKernels {
  int lanes;
  int mr;  // most rows of a tile
  int nr;  // columns of a tile

  // 1 <= m <= mr, 1 <= n <= nr. The packed tile reads panels of B that are nr wide and zero filled.
  void (*tile_packed)(const TileArgs<T>&, int m, int n);
  // A strided, B in place: reads only the n columns.
  void (*tile_direct)(const TileArgs<T>&, int m, int n);
  // A strided, B a zero-filled panel.
  void (*tile_panel)(const TileArgs<T>&, int m, int n);
  // Few rows, B in place, n of any size.
  void (*few_rows_nn)(const TileArgs<T>&, int m, int64_t n);
  // Few rows, dot products along k: b is [n, k] with rows b_k apart; a_k is 1.
  void (*few_rows_nt)(const TileArgs<T>&, int m, int64_t n);

  // One panel of k * nr elements from n columns of B ([k, n], or [n, k] if transposed).
  void (*pack_b)(bool transposed, int64_t k, int n, const T* b, int64_t ldb, T* panel);
  // One panel of k * m elements from m rows of A ([m, k], or [k, m] if transposed).
  void (*pack_a)(bool transposed, int64_t k, int m, const T* a, int64_t lda, T* panel);
};

// 16-bit floats, as bits.
struct ConvertKernels {
  void (*bf16_to_f32)(const uint16_t*, float*, int64_t n);
  void (*f32_to_bf16)(const float*, uint16_t*, int64_t n);
  void (*f16_to_f32)(const uint16_t*, float*, int64_t n);
  void (*f32_to_f16)(const float*, uint16_t*, int64_t n);
};

template <class T> const FloatKernels<T>& float_kernels();

// f32 kernels that read units of two bf16; null where the CPU has no such instruction. See kernels_bf16_isa.cpp.
const FloatKernels<float>* bf16_pair_kernels();

const ConvertKernels& convert_kernels();

}  // namespace flambeau::gemm
