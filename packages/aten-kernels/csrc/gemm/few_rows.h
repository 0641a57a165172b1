// Products with few rows of A, where packing B would cost as much as using it.
#pragma once

#include "isa.h"
#include "kernel_table.h"
#include "tile.h"

namespace flambeau::gemm::FL_ISA {

// --- B is [k, n]: R rows by V vectors of columns, V as wide as the registers allow ---

template <class T, int R, int V> FL_INLINE void strip(const TileArgs<T>& t, int column) {
  constexpr int W = kLanes<T>;
  constexpr int kBases = (R + 2) / 3;
  const int64_t row = t.a_row;
  const T* base[kBases];
#pragma GCC unroll 16
  for (int g = 0; g < kBases; g++) base[g] = t.a + 3 * g * row;
  Vec<T> sum[R][V] = {};
  const T* b = t.b + column;
  // Rows of B are far apart, so the hardware sees no stream: ask for the rows to come.
  const int64_t ahead = 8 * t.b_k;
  for (int64_t k = 0; k < t.k; k++) {
    Vec<T> bv[V];
#pragma GCC unroll 16
    for (int v = 0; v < V; v++) {
      bv[v] = load(b + v * W);
      prefetch(b + v * W + ahead);
    }
#pragma GCC unroll 16
    for (int i = 0; i < R; i++) {
      const Vec<T> av = splat(base[i / 3][(i % 3) * row]);
#pragma GCC unroll 16
      for (int v = 0; v < V; v++) sum[i][v] = multiply_add(av, bv[v], sum[i][v]);
    }
    b += t.b_k;
#pragma GCC unroll 16
    for (int g = 0; g < kBases; g++) base[g] += t.a_k;
  }
  TileArgs<T> out = t;
  out.c = t.c + column;
  write<T, R, V>(sum, out, V * W, column);
}

template <class T, int R> void strips(const TileArgs<T>& t, int64_t n) {
  constexpr int W = kLanes<T>;
  constexpr int kSums = kRegisters == 32 ? 28 : 12;
  constexpr int kWide = smaller(8, kSums / R);
  int64_t j = 0;
  if constexpr (kWide > 2) {
    for (; j + kWide * W <= n; j += kWide * W) strip<T, R, kWide>(t, j);
  }
  for (; j + 2 * W <= n; j += 2 * W) strip<T, R, 2>(t, j);
  if (j < n) {
    TileArgs<T> rest = t;
    rest.b += j;
    rest.c += j;
    if (t.finish.bias != nullptr && !t.finish.bias_per_row) rest.finish.bias += j;
    tile_direct(rest, R, static_cast<int>(n - j));
  }
}

template <class T, int... I>
FL_INLINE void strips_of(const TileArgs<T>& t, int m, int64_t n, std::integer_sequence<int, I...>) {
  using Function = void (*)(const TileArgs<T>&, int64_t);
  constexpr Function all[] = {strips<T, I + 1>...};
  all[m - 1](t, n);
}

// m <= kTileRows
template <class T> void few_rows_nn(const TileArgs<T>& t, int m, int64_t n) {
  strips_of(t, m, n, std::make_integer_sequence<int, kTileRows>{});
}

// --- B is [n, k]: blocks of R by C dot products, vectors along k ---

constexpr int kDotRows = kRegisters == 32 ? 6 : 2;

template <class T> inline void finish_one(T x, const TileArgs<T>& t, int row, int64_t column) {
  const Finish<T>& f = t.finish;
  T* c = t.c + row * t.ldc + column;
  if (f.alpha != T(1)) x = x * f.alpha;
  if (f.beta == T(1)) {
    x = x + *c;
  } else if (f.beta != T(0)) {
    x = fma1(f.beta, *c, x);
  }
  if (f.bias != nullptr) x = x + f.bias[f.bias_per_row ? row : column];
  if (f.relu) x = x < T(0) ? T(0) : x;
  *c = x;
}

template <class T>
__attribute__((noinline)) void finish_dots(const T* total, int rows, int columns, const TileArgs<T>& t, int row,
                                           int64_t column) {
  for (int i = 0; i < rows * columns; i++) finish_one(total[i], t, row + i / columns, column + i % columns);
}

template <class T, int R, int C> FL_INLINE void dots(const TileArgs<T>& t, int row, int64_t column) {
  constexpr int W = kLanes<T>;
  const T* a = t.a + row * t.a_row;
  const T* b = t.b + column * t.b_k;
  Vec<T> sum[R * C] = {};
  int64_t k = 0;
  for (; k + W <= t.k; k += W) {
    Vec<T> bv[C];
#pragma GCC unroll 8
    for (int j = 0; j < C; j++) bv[j] = load(b + j * t.b_k + k);
#pragma GCC unroll 8
    for (int i = 0; i < R; i++) {
      const Vec<T> av = load(a + i * t.a_row + k);
#pragma GCC unroll 8
      for (int j = 0; j < C; j++) sum[i * C + j] = multiply_add(av, bv[j], sum[i * C + j]);
    }
  }
  if (k < t.k) {
    const Head<T> tail(t.k - k);
#pragma GCC unroll 8
    for (int i = 0; i < R; i++) {
      const Vec<T> av = load(a + i * t.a_row + k, tail);
#pragma GCC unroll 8
      for (int j = 0; j < C; j++) sum[i * C + j] = multiply_add(av, load(b + j * t.b_k + k, tail), sum[i * C + j]);
    }
  }
  alignas(kVectorBytes) T total[(R * C + W - 1) / W * W];
#pragma GCC unroll 16
  for (int s = 0; s < R * C; s += W) {
    Vec<T> group[W] = {};
#pragma GCC unroll 16
    for (int q = 0; q < W; q++) {
      if (s + q < R * C) group[q] = sum[s + q];
    }
    store(total + s, sum_each<T>(group));
  }
  if (t.finish.is_plain()) {
#pragma GCC unroll 8
    for (int i = 0; i < R; i++) __builtin_memcpy(t.c + (row + i) * t.ldc + column, total + i * C, C * sizeof(T));
  } else {
    finish_dots(total, R, C, t, row, column);
  }
}

template <class T, int C> FL_INLINE void dot_rows(const TileArgs<T>& t, int m, int64_t column) {
  int row = 0;
  while (row < m) {
    // 7 and 8 rows go as 4 + 3 and 4 + 4: a block of 6 and a thin one would be slower.
    const int left = m - row;
    const int take = left <= kDotRows ? left : (left == 7 || left == 8) && kDotRows > 4 ? 4 : kDotRows;
    if constexpr (kDotRows == 6) {
      switch (take) {
        case 6: dots<T, 6, C>(t, row, column); break;
        case 5: dots<T, 5, C>(t, row, column); break;
        case 4: dots<T, 4, C>(t, row, column); break;
        case 3: dots<T, 3, C>(t, row, column); break;
        default: break;
      }
    }
    if (take == 2) dots<T, 2, C>(t, row, column);
    if (take == 1) dots<T, 1, C>(t, row, column);
    row += take;
  }
}

template <class T> void few_rows_nt(const TileArgs<T>& t, int m, int64_t n) {
  int64_t j = 0;
  if (m == 1) {
    for (; j + 8 <= n; j += 8) dots<T, 1, 8>(t, 0, j);
  }
  for (; j + 4 <= n; j += 4) dot_rows<T, 4>(t, m, j);
  for (; j < n; j++) dot_rows<T, 1>(t, m, j);
}

}  // namespace flambeau::gemm::FL_ISA
