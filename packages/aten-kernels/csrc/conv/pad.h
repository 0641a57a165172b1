// Rows with zeros around them.
#pragma once

#include "../gemm/isa.h"
#include "conv_kernels.h"

namespace flambeau::gemm::FL_ISA {

template <class T> FL_INLINE int lane(int64_t x) {
  return static_cast<int>(x < 0 ? 0 : smaller<int64_t>(x, kLanes<T>));
}

// Elements j .. j + lanes of the row that starts, without its zeros, at `in`.
template <class T> FL_INLINE Vec<T> padded_vector(const conv::PadRows<T>& p, const T* in, int64_t j) {
  constexpr int W = kLanes<T>;
  const int low = lane<T>(p.begin - j), high = lane<T>(p.end - j);
  if (low >= high) return Vec<T>{};
  const T* from = in + (j - p.begin) * p.step;
  if (p.step == 1) return load_range(from, low, high);
  if (p.step == 2) {  // of 2 * lanes elements, those from the first to the last needed
    const int first = 2 * low, end = 2 * high - 1;
    const Vec<T> a = first < W ? load_range(from, first, smaller(end, W)) : Vec<T>{};
    const Vec<T> b = end > W ? load_range(from + W, first > W ? first - W : 0, end - W) : Vec<T>{};
    return Evens<T>::of(a, b);
  }
  alignas(kVectorBytes) T part[W] = {};
  for (int i = low; i < high; i++) part[i] = from[i * p.step];
  return load(part);
}

// Whole vectors, whose surplus the next row overwrites: a load that follows a masked store waits for it.
template <class T> void pad_rows(const conv::PadRows<T>& p) {
  constexpr int W = kLanes<T>;
  const T* in = p.in;
  T* out = p.out;
  for (int64_t r = 0; r < p.rows; r++, in += p.in_ld, out += p.pitch) {
    for (int64_t j = 0; j < p.pitch; j += W) {
      const Vec<T> v = padded_vector(p, in, j);
      if (out + j + W <= p.limit)
        store(out + j, v);
      else
        store(out + j, v, Head<T>(smaller<int64_t>(W, p.pitch - j)));
    }
  }
}

// n <= lanes elements, `step` apart.
template <class T> FL_INLINE Vec<T> load_apart(const T* p, int64_t step, int n) {
  constexpr int W = kLanes<T>;
  if (step == 1) return load(p, Head<T>(n));
  if (step == 2) {
    const int span = 2 * n - 1;
    return Evens<T>::of(load(p, Head<T>(smaller(span, W))), span > W ? load(p + W, Head<T>(span - W)) : Vec<T>{});
  }
  alignas(kVectorBytes) T part[W] = {};
  for (int i = 0; i < n; i++) part[i] = p[i * step];
  return load(part);
}

template <class T> void fill_panel(const conv::PanelRuns<T>& p) {
  constexpr int W = kLanes<T>;
  for (int64_t k = 0; k < p.k; k++) {
    T* out = p.panel + k * 2 * W;
    const T* x = p.x + p.k_offsets[k];
    for (int64_t r = 0; r < p.num_runs; r++) {
      const T* from = x + p.from[r];
      for (int64_t j = 0; j < p.length[r]; j += W) {
        const int n = static_cast<int>(smaller<int64_t>(W, p.length[r] - j));
        store(out, load_apart(from + j * p.step, p.step, n));  // the surplus is overwritten by what comes next
        out += n;
      }
    }
  }
}

}  // namespace flambeau::gemm::FL_ISA
