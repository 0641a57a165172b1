// Kernels for one channel at a time (depthwise convolutions), vectors along the innermost dimension.
#pragma once

#include "../gemm/isa.h"
#include "conv_kernels.h"

namespace flambeau::gemm::FL_ISA {

template <class T, int V>
FL_INLINE void tap_block(const conv::TapRow<T>& t, const T* x, Head<T> head, T bias, bool relu, T* out) {
  constexpr int W = kLanes<T>;
  Vec<T> sum[V];
#pragma GCC unroll 8
  for (int v = 0; v < V; v++) sum[v] = splat(bias);
  for (int64_t q = 0; q < t.taps; q++) {
    const Vec<T> w = splat(t.weights[q]);
    const T* from = x + t.offsets[q];
#pragma GCC unroll 8
    for (int v = 0; v < V; v++) sum[v] = fma(w, V == 1 ? load(from, head) : load(from + v * W), sum[v]);
  }
#pragma GCC unroll 8
  for (int v = 0; v < V; v++) {
    const Vec<T> y = relu ? (sum[v] < T(0) ? Vec<T>{} : sum[v]) : sum[v];
    if (V == 1) store(out, y, head);
    else store(out + v * W, y);
  }
}

template <class T>
void tap_rows(const conv::TapRow<T>& t, int64_t rows, int64_t n, const T* x, int64_t x_step, T bias, bool relu, T* out,
              int64_t out_step) {
  constexpr int W = kLanes<T>;
  const Head<T> all(W);
  for (int64_t r = 0; r < rows; r++, x += x_step, out += out_step) {
    int64_t j = 0;
    for (; j + 4 * W <= n; j += 4 * W) tap_block<T, 4>(t, x + j, all, bias, relu, out + j);
    for (; j < n; j += W) tap_block<T, 1>(t, x + j, Head<T>(smaller<int64_t>(W, n - j)), bias, relu, out + j);
  }
}

// C taps at a time, so that g is loaded once for all of them.
template <class T, int C>
FL_INLINE void tap_dots_of(const int64_t* offsets, int64_t rows, int64_t n, const T* x, int64_t x_step, const T* g,
                           int64_t g_step, T* sums) {
  constexpr int W = kLanes<T>;
  Vec<T> sum[C] = {};
  const Head<T> tail(n % W);
  for (int64_t r = 0; r < rows; r++, x += x_step, g += g_step) {
    int64_t j = 0;
    for (; j + W <= n; j += W) {
      const Vec<T> gv = load(g + j);
#pragma GCC unroll 8
      for (int q = 0; q < C; q++) sum[q] = fma(gv, load(x + offsets[q] + j), sum[q]);
    }
    if (j < n) {
      const Vec<T> gv = load(g + j, tail);
#pragma GCC unroll 8
      for (int q = 0; q < C; q++) sum[q] = fma(gv, load(x + offsets[q] + j, tail), sum[q]);
    }
  }
#pragma GCC unroll 8
  for (int q = 0; q < C; q++) {
    Vec<T> all[W] = {sum[q]};
    sums[q] += sum_each<T>(all)[0];
  }
}

template <class T>
void tap_dots(int64_t taps, const int64_t* offsets, int64_t rows, int64_t n, const T* x, int64_t x_step, const T* g,
              int64_t g_step, T* sums) {
  int64_t q = 0;
  for (; q + 5 <= taps; q += 5) tap_dots_of<T, 5>(offsets + q, rows, n, x, x_step, g, g_step, sums + q);
  for (; q + 3 <= taps; q += 3) tap_dots_of<T, 3>(offsets + q, rows, n, x, x_step, g, g_step, sums + q);
  for (; q < taps; q++) tap_dots_of<T, 1>(offsets + q, rows, n, x, x_step, g, g_step, sums + q);
}

}  // namespace flambeau::gemm::FL_ISA
