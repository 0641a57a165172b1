// The convolution functions that exist once per instruction set. See conv_kernels_isa.cpp.
#pragma once

#include <cstdint>

#include "../gemm/kernel_table.h"

namespace flambeau::conv {

// C[i, j] = finish(sum over k of rows[i][k_offsets[k]] * b[k * nr + j]): a product whose left operand is wherever it
// is.
template <class T> struct GatherTile {
  int64_t k;
  const T* const* rows;
  int64_t pair_step;  // if not 0, rows 2i and 2i + 1 are this far apart for every i
  const int64_t* k_offsets;
  const T* b;  // a zero-filled panel, nr wide
  T* c;
  int64_t ldc;
  gemm::Finish<T> finish;
};

// One channel: out[j] = sum over taps of weights[t] * x[offsets[t] + j].
template <class T> struct TapRow {
  int64_t taps;
  const T* weights;
  const int64_t* offsets;
};

// Rows of `pitch` elements: element i is in[row * in_ld + (i - begin) * step] for i in [begin, end), 0 elsewhere.
template <class T> struct PadRows {
  int64_t rows, pitch, begin, end, step;
  const T* in;
  int64_t in_ld;
  T* out;
  T* limit;  // up to here zeros may be written past the last row
};

// Row k of a panel nr wide: runs of pixels, run r of length[r] elements, `step` apart from x + from[r] + k_offsets[k]
// on. The panel has to have room for one vector more.
template <class T> struct PanelRuns {
  int64_t k;
  const int64_t* k_offsets;
  int64_t num_runs;
  const int64_t* from;
  const int64_t* length;
  int64_t step;
  const T* x;
  T* panel;
};

template <class T> struct ConvKernels {
  int lanes, mr, nr;
  void (*gather_tile)(const GatherTile<T>&, int m, int n);
  // out[j, i] = in[i, j]
  void (*transpose)(int64_t rows, int64_t columns, const T* in, int64_t ld_in, T* out, int64_t ld_out);
  void (*pad_rows)(const PadRows<T>&);
  void (*fill_panel)(const PanelRuns<T>&);
  // One pixel, channels side by side: out[c] = bias[c] + sum over taps of w[t * w_step + c] * x[offsets[t] + c].
  void (*tap_channels)(int64_t taps, const int64_t* offsets, int64_t channels, const T* x, const T* w, int64_t w_step,
                       const T* bias, bool relu, T* out);
  // sums[t * step + c] += g[c] * x[offsets[t] + c] over pixels that are x_step and g_step apart.
  void (*tap_channels_grad)(int64_t taps, const int64_t* offsets, int64_t pixels, int64_t channels, const T* x,
                            int64_t x_step, const T* g, int64_t g_step, T* sums, int64_t step);
  // See winograd_transforms.h.
  void (*winograd_input)(const T* const* d, int64_t channels, T* v, int64_t v_step);
  void (*winograd_output)(const T* m, int64_t m_step, int64_t outputs, T* const* y, const T* bias, bool relu);
  void (*winograd_weights)(const T* g, const int* order, T* u, int64_t u_step);
  void (*winograd_gradient)(const T* const* g, int64_t outputs, T* z, int64_t z_step, int64_t panel_step);
  void (*winograd_weights_gradient)(const T* u, int64_t u_step, const int* order, T* g);
  void (*pack_b)(bool transposed, int64_t k, int n, const T* b, int64_t ldb, T* panel);
  // `rows` rows of n outputs, x rows x_step apart and outputs out_step apart.
  void (*tap_rows)(const TapRow<T>&, int64_t rows, int64_t n, const T* x, int64_t x_step, T bias, bool relu, T* out,
                   int64_t out_step);
  // sums[t] += sum over rows and j of g[row, j] * x[row, offsets[t] + j]
  void (*tap_dots)(int64_t taps, const int64_t* offsets, int64_t rows, int64_t n, const T* x, int64_t x_step,
                   const T* g, int64_t g_step, T* sums);
};

template <class T> const ConvKernels<T>& conv_kernels();

}  // namespace flambeau::conv
