// Panels: what the tile reads, in the order it reads it.
#pragma once

#include "isa.h"

namespace flambeau::gemm::FL_ISA {

// Rows r[0 .. W) starting at `k`, as W columns; rows past `rows` and elements past `count` are 0.
template <class T> FL_INLINE void load_block(Vec<T> (&r)[kLanes<T>], const T* p, int64_t stride, int rows, int count) {
  constexpr int W = kLanes<T>;
  if (rows == W && count == W) {
#pragma GCC unroll 16
    for (int i = 0; i < W; i++) r[i] = load(p + i * stride);
  } else {
    const Head<T> head(count);
#pragma GCC unroll 16
    for (int i = 0; i < W; i++) r[i] = i < rows ? load(p + i * stride, head) : Vec<T>{};
  }
  transpose<T>(r);
}

template <class T> FL_INLINE void pack_b_rows(int64_t k, int n, const T* b, int64_t ldb, T* out) {
  constexpr int W = kLanes<T>;
  if (n == 2 * W) {
    for (int64_t i = 0; i < k; i++, b += ldb, out += 2 * W) {
      const Vec<T> x = load(b), y = load(b + W);
      prefetch(b + 8 * ldb);
      prefetch(b + 8 * ldb + W);
      store(out, x);
      store(out + W, y);
    }
    return;
  }
  const Head<T> first(smaller(n, W)), second(n > W ? n - W : 0);
  for (int64_t i = 0; i < k; i++, b += ldb, out += 2 * W) {
    store(out, load(b, first));
    store(out + W, second.n > 0 ? load(b + W, second) : Vec<T>{});
  }
}

template <class T> void pack_b(bool transposed, int64_t k, int n, const T* b, int64_t ldb, T* out) {
  constexpr int W = kLanes<T>;
  if (!transposed) return pack_b_rows(k, n, b, ldb, out);
  for (int half = 0; half < 2; half++) {
    const int rows = n - half * W < 0 ? 0 : smaller(n - half * W, W);
    for (int64_t q = 0; q < k; q += W) {
      const int count = static_cast<int>(smaller<int64_t>(W, k - q));
      Vec<T> r[W];
      load_block<T>(r, b + half * W * ldb + q, ldb, rows, count);
      T* o = out + q * 2 * W + half * W;
      for (int i = 0; i < count; i++) store(o + i * 2 * W, r[i]);
    }
  }
}

// m elements are kept of each stored vector; what a full store spills is overwritten by the next one, except at the
// end.
template <class T> FL_INLINE void store_spilling(T* p, Vec<T> v, int keep, const T* end) {
  if (p + kLanes<T> <= end) return store(p, v);
  for (int i = 0; i < keep; i++) p[i] = v[i];
}

template <class T> void pack_a(bool transposed, int64_t k, int m, const T* a, int64_t lda, T* out) {
  constexpr int W = kLanes<T>;
  const T* end = out + k * m;
  const int last_group = (m - 1) / W * W;
  if (transposed) {
    for (int64_t q = 0; q < k; q++, a += lda, out += m) {
      for (int g = last_group; g >= 0; g -= W) {
        const int keep = smaller(m - g, W);
        store_spilling(out + g, load(a + g, Head<T>(keep)), keep, end);
      }
    }
    return;
  }
  for (int64_t q = 0; q < k; q += W) {
    const int count = static_cast<int>(smaller<int64_t>(W, k - q));
    for (int g = last_group; g >= 0; g -= W) {  // last group first: its spill lands where the others write later
      const int keep = smaller(m - g, W);
      Vec<T> r[W];
      load_block<T>(r, a + g * lda + q, lda, keep, count);
      for (int i = 0; i < count; i++) store_spilling(out + (q + i) * m + g, r[i], keep, end);
    }
  }
}

}  // namespace flambeau::gemm::FL_ISA
