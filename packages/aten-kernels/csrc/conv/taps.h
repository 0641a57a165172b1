// Kernels for one channel at a time (depthwise convolutions), vectors along the innermost dimension.
#pragma once

#include "../gemm/isa.h"
#include "conv_kernels.h"

namespace flambeau::gemm::FL_ISA {

// R rows by V vectors; `head` covers the last vector. Each sum runs over the taps in order, whatever the block.
template <class T, int R, int V>
FL_INLINE void tap_block(const conv::TapRow<T>& t, const T* x, int64_t x_step, Head<T> head, T bias, bool relu, T* out,
                         int64_t out_step) {
  constexpr int W = kLanes<T>;
  Vec<T> sum[R][V];
#pragma GCC unroll 8
  for (int r = 0; r < R; r++) {
#pragma GCC unroll 4
    for (int v = 0; v < V; v++) sum[r][v] = splat(bias);
  }
  for (int64_t q = 0; q < t.taps; q++) {
    const Vec<T> w = splat(t.weights[q]);
    const T* from = x + t.offsets[q];
#pragma GCC unroll 8
    for (int r = 0; r < R; r++) {
#pragma GCC unroll 4
      for (int v = 0; v < V; v++) {
        const T* p = from + r * x_step + v * W;
        sum[r][v] = fma(w, v == V - 1 ? load(p, head) : load(p), sum[r][v]);
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; r++) {
#pragma GCC unroll 4
    for (int v = 0; v < V; v++) {
      const Vec<T> y = relu ? (sum[r][v] < T(0) ? Vec<T>{} : sum[r][v]) : sum[r][v];
      T* to = out + r * out_step + v * W;
      v == V - 1 ? store(to, y, head) : store(to, y);
    }
  }
}

template <class T, int R, int V>
FL_INLINE int64_t tap_blocks(const conv::TapRow<T>& t, int64_t rows, Head<T> head, const T* x, int64_t x_step, T bias,
                             bool relu, T* out, int64_t out_step) {
  int64_t r = 0;
  for (; r + R <= rows; r += R) {
    tap_block<T, R, V>(t, x + r * x_step, x_step, head, bias, relu, out + r * out_step, out_step);
  }
  return r;
}

template <class T>
void tap_rows(const conv::TapRow<T>& t, int64_t rows, int64_t n, const T* x, int64_t x_step, T bias, bool relu, T* out,
              int64_t out_step) {
  constexpr int W = kLanes<T>;
  for (int64_t j = 0; j < n; j += 2 * W) {
    const int64_t left = n - j;
    const T* from = x + j;
    T* to = out + j;
    if (left > W) {
      const Head<T> head(smaller<int64_t>(W, left - W));
      const int64_t r = tap_blocks<T, 4, 2>(t, rows, head, from, x_step, bias, relu, to, out_step);
      tap_blocks<T, 1, 2>(t, rows - r, head, from + r * x_step, x_step, bias, relu, to + r * out_step, out_step);
    } else {
      const Head<T> head(left);
      int64_t r = tap_blocks<T, 8, 1>(t, rows, head, from, x_step, bias, relu, to, out_step);
      r += tap_blocks<T, 3, 1>(t, rows - r, head, from + r * x_step, x_step, bias, relu, to + r * out_step, out_step);
      tap_blocks<T, 1, 1>(t, rows - r, head, from + r * x_step, x_step, bias, relu, to + r * out_step, out_step);
    }
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

template <class T, int V>
FL_INLINE void tap_channel_block(int64_t taps, const int64_t* offsets, const T* x, const T* w, int64_t w_step,
                                 const T* bias, bool relu, T* out, Head<T> head) {
  constexpr int W = kLanes<T>;
  Vec<T> sum[V] = {};
#pragma GCC unroll 4
  for (int v = 0; v < V; v++) {
    if (bias != nullptr) sum[v] = v == V - 1 ? load(bias + v * W, head) : load(bias + v * W);
  }
  for (int64_t t = 0; t < taps; t++) {
#pragma GCC unroll 4
    for (int v = 0; v < V; v++) {
      const T *wp = w + t * w_step + v * W, *xp = x + offsets[t] + v * W;
      sum[v] = v == V - 1 ? fma(load(wp, head), load(xp, head), sum[v]) : fma(load(wp), load(xp), sum[v]);
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < V; v++) {
    const Vec<T> y = relu ? (sum[v] < T(0) ? Vec<T>{} : sum[v]) : sum[v];
    v == V - 1 ? store(out + v * W, y, head) : store(out + v * W, y);
  }
}

template <class T>
void tap_channels(int64_t taps, const int64_t* offsets, int64_t channels, const T* x, const T* w, int64_t w_step,
                  const T* bias, bool relu, T* out) {
  constexpr int W = kLanes<T>;
  int64_t c = 0;
  const auto bias_at = [&](int64_t i) __attribute__((always_inline)) { return bias != nullptr ? bias + i : nullptr; };
  for (; c + 4 * W <= channels; c += 4 * W) {
    tap_channel_block<T, 4>(taps, offsets, x + c, w + c, w_step, bias_at(c), relu, out + c, Head<T>(W));
  }
  for (; c < channels; c += W) {
    tap_channel_block<T, 1>(taps, offsets, x + c, w + c, w_step, bias_at(c), relu, out + c,
                            Head<T>(smaller<int64_t>(W, channels - c)));
  }
}

template <class T, int C>
FL_INLINE void tap_channels_grad_of(const int64_t* offsets, int64_t pixels, const T* x, int64_t x_step, const T* g,
                                    int64_t g_step, T* sums, int64_t step, Head<T> head) {
  Vec<T> sum[C] = {};
  for (int64_t p = 0; p < pixels; p++, x += x_step, g += g_step) {
    const Vec<T> gv = load(g, head);
#pragma GCC unroll 8
    for (int q = 0; q < C; q++) sum[q] = fma(gv, load(x + offsets[q], head), sum[q]);
  }
#pragma GCC unroll 8
  for (int q = 0; q < C; q++) store(sums + q * step, sum[q] + load(sums + q * step, head), head);
}

template <class T>
void tap_channels_grad(int64_t taps, const int64_t* offsets, int64_t pixels, int64_t channels, const T* x,
                       int64_t x_step, const T* g, int64_t g_step, T* sums, int64_t step) {
  constexpr int W = kLanes<T>;
  for (int64_t c = 0; c < channels; c += W) {
    const Head<T> head(smaller<int64_t>(W, channels - c));
    int64_t q = 0;
    for (; q + 5 <= taps; q += 5) {
      tap_channels_grad_of<T, 5>(offsets + q, pixels, x + c, x_step, g + c, g_step, sums + q * step + c, step, head);
    }
    for (; q + 2 <= taps; q += 2) {
      tap_channels_grad_of<T, 2>(offsets + q, pixels, x + c, x_step, g + c, g_step, sums + q * step + c, step, head);
    }
    for (; q < taps; q++) {
      tap_channels_grad_of<T, 1>(offsets + q, pixels, x + c, x_step, g + c, g_step, sums + q * step + c, step, head);
    }
  }
}

}  // namespace flambeau::gemm::FL_ISA
