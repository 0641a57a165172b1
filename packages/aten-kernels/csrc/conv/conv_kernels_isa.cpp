// Compiled once per instruction set; see ../gemm/isa.h.
#include "conv_kernels.h"

#include "../gemm/isa.h"
#include "../gemm/pack.h"
#include "gather_tile.h"
#include "pad.h"
#include "taps.h"
#include "winograd_transforms.h"

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

template <class T> constexpr conv::ConvKernels<T> conv_table() {
  return {kLanes<T>,
          kTileRows,
          2 * kLanes<T>,
          gather_tile<T>,
          transpose_copy<T>,
          pad_rows<T>,
          fill_panel<T>,
          tap_channels<T>,
          tap_channels_grad<T>,
          winograd_input<T>,
          winograd_output<T>,
          winograd_weights<T>,
          winograd_gradient<T>,
          winograd_weights_gradient<T>,
          pack_b<T>,
          tap_rows<T>,
          tap_dots<T>};
}

extern const conv::ConvKernels<float> conv_kernels_f32;
extern const conv::ConvKernels<double> conv_kernels_f64;
const conv::ConvKernels<float> conv_kernels_f32 = conv_table<float>();
const conv::ConvKernels<double> conv_kernels_f64 = conv_table<double>();

}  // namespace flambeau::gemm::FL_ISA
