// Compiled once per instruction set; see ../gemm/isa.h.
#include "conv_kernels.h"

#include "../gemm/isa.h"
#include "../gemm/pack.h"
#include "gather_tile.h"
#include "taps.h"

namespace flambeau::gemm::FL_ISA {

template <class T>
void transpose_copy(int64_t rows, int64_t columns, const T* in, int64_t ld_in, T* out, int64_t ld_out) {
  constexpr int W = kLanes<T>;
  for (int64_t i = 0; i < rows; i += W) {
    const int m = static_cast<int>(smaller<int64_t>(W, rows - i));
    const Head<T> head(m);
    for (int64_t j = 0; j < columns; j += W) {
      const int n = static_cast<int>(smaller<int64_t>(W, columns - j));
      Vec<T> r[W];
      load_block<T>(r, in + i * ld_in + j, ld_in, m, n);
      T* to = out + j * ld_out + i;
      if (m == W && n == W) {
#pragma GCC unroll 16
        for (int q = 0; q < W; q++) store(to + q * ld_out, r[q]);
      } else {
        for (int q = 0; q < n; q++) store(to + q * ld_out, r[q], head);
      }
    }
  }
}

// Short rows: a library call for each would cost more than the copy.
template <class T>
void copy_rows(int64_t rows, int64_t columns, const T* in, int64_t ld_in, T* out, int64_t ld_out) {
  constexpr int W = kLanes<T>;
  const int64_t whole = columns / W * W;
  const Head<T> tail(columns - whole);
  for (int64_t i = 0; i < rows; i++, in += ld_in, out += ld_out) {
    for (int64_t j = 0; j < whole; j += W) store(out + j, load(in + j));
    if (tail.n > 0) store(out + whole, load(in + whole, tail), tail);
  }
}

template <class T>
constexpr conv::ConvKernels<T> conv_table() {
  return {kLanes<T>, kTileRows, 2 * kLanes<T>, gather_tile<T>, transpose_copy<T>, copy_rows<T>, take_every<T>, pack_b<T>, tap_rows<T>, tap_dots<T>};
}

extern const conv::ConvKernels<float> conv_kernels_f32;
extern const conv::ConvKernels<double> conv_kernels_f64;
const conv::ConvKernels<float> conv_kernels_f32 = conv_table<float>();
const conv::ConvKernels<double> conv_kernels_f64 = conv_table<double>();

}  // namespace flambeau::gemm::FL_ISA
