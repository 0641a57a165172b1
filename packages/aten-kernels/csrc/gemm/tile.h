// The register tile: R rows by V vectors of C, summed over k in order.
#pragma once

#include <type_traits>
#include <utility>

#include "isa.h"
#include "kernel_table.h"

namespace flambeau::gemm::FL_ISA {

// 2 * 14 sums, 2 vectors of B and one broadcast of A fill 32 registers; 2 * 6 sums fill 16.
constexpr int kTileRows = kRegisters == 32 ? 14 : 6;

enum class ASource { kPacked, kStrided };
enum class BSource { kFull, kHead };  // kHead: the last vector has fewer columns than lanes

// Rows are reached from one pointer in three, as base + {0, 1, 2} * stride: that is what addressing modes offer.
template <class T, int R, int V, ASource kA, BSource kB>
FL_INLINE void accumulate(Vec<T> (&sum)[R][V], const TileArgs<T>& t, Head<T> head) {
  constexpr int kBases = kA == ASource::kPacked ? 1 : (R + 2) / 3;
  const int64_t row = t.a_row;
  const int64_t a_step = kA == ASource::kPacked ? R : t.a_k;
  const T* base[kBases];
#pragma GCC unroll 16
  for (int g = 0; g < kBases; g++) base[g] = t.a + 3 * g * row;
  const T* b = t.b;
  const int64_t b_step = t.b_k;
#pragma GCC unroll 2
  for (int64_t k = 0; k < t.k; k++) {
    Vec<T> bv[V];
#pragma GCC unroll 16
    for (int v = 0; v < V; v++) {
      bv[v] = kB == BSource::kHead && v == V - 1 ? load(b + v * kLanes<T>, head) : load(b + v * kLanes<T>);
    }
    if constexpr (kA == ASource::kPacked) {
#pragma GCC unroll 4
      for (int v = 0; v < V; v++) prefetch(b + 8 * V * kLanes<T> + v * kLanes<T>);
    }
    b += b_step;
#pragma GCC unroll 16
    for (int i = 0; i < R; i++) {
      const Vec<T> av = splat(kA == ASource::kPacked ? base[0][i] : base[i / 3][(i % 3) * row]);
#pragma GCC unroll 16
      for (int v = 0; v < V; v++) sum[i][v] = multiply_add(av, bv[v], sum[i][v]);
    }
#pragma GCC unroll 16
    for (int g = 0; g < kBases; g++) base[g] += a_step;
  }
}

template <class T>
FL_INLINE Vec<T> finish_vector(Vec<T> x, const Finish<T>& f, const T* c, int row, int column, Head<T> head) {
  if (f.alpha != T(1)) x = x * f.alpha;
  if (f.beta == T(1)) {
    x = x + load(c, head);
  } else if (f.beta != T(0)) {
    x = fma(splat(f.beta), load(c, head), x);
  }
  if (f.bias != nullptr) x = x + (f.bias_per_row ? splat(f.bias[row]) : load(f.bias + column, head));
  if (f.relu) x = x < T(0) ? Vec<T>{} : x;  // keeps NaN
  return x;
}

// Sums that are more than stored: kept out of line, because it would be most of each kernel's size.
template <class T>
__attribute__((noinline)) void finish_tile(const T* sum, int rows, int vectors, const TileArgs<T>& t, int n,
                                           int column) {
  constexpr int W = kLanes<T>;
  for (int i = 0; i < rows; i++) {
    for (int v = 0; v < vectors; v++, sum += W) {
      T* c = t.c + i * t.ldc + v * W;
      const Head<T> head(smaller(n - v * W, W));
      store(c, finish_vector(load(sum), t.finish, c, i, column + v * W, head), head);
    }
  }
}

// n: columns that exist; column: where this tile lies in the run that finish.bias belongs to.
template <class T, int R, int V>
FL_INLINE void write(Vec<T> (&sum)[R][V], const TileArgs<T>& t, int n, int column = 0) {
  constexpr int W = kLanes<T>;
  if (t.finish.is_plain() && n == V * W) {
#pragma GCC unroll 16
    for (int i = 0; i < R; i++) {
#pragma GCC unroll 16
      for (int v = 0; v < V; v++) store(t.c + i * t.ldc + v * W, sum[i][v]);
    }
    return;
  }
  if (t.finish.is_sum() && n == V * W) {
#pragma GCC unroll 16
    for (int i = 0; i < R; i++) {
#pragma GCC unroll 16
      for (int v = 0; v < V; v++) {
        T* c = t.c + i * t.ldc + v * W;
        store(c, sum[i][v] + load(c));
      }
    }
    return;
  }
  alignas(kVectorBytes) T spilled[R * V * W];
#pragma GCC unroll 16
  for (int i = 0; i < R; i++) {
#pragma GCC unroll 16
    for (int v = 0; v < V; v++) store(spilled + (i * V + v) * W, sum[i][v]);
  }
  finish_tile(spilled, R, V, t, n, column);
}

template <class T, int R, int V, ASource kA, BSource kB> void tile(const TileArgs<T>& t, int n) {
  const Head<T> head(n - (V - 1) * kLanes<T>);
  Vec<T> sum[R][V] = {};
  if constexpr (kA == ASource::kPacked) {  // C arrives while the sums are made
#pragma GCC unroll 16
    for (int i = 0; i < R; i++) {
#pragma GCC unroll 4
      for (int v = 0; v < V; v++) prefetch(t.c + i * t.ldc + v * kLanes<T>);
    }
  }
  accumulate<T, R, V, kA, kB>(sum, t, head);
  write<T, R, V>(sum, t, n);
}

template <class T, int V, ASource kA, BSource kB> struct TileRows {
  using Function = void (*)(const TileArgs<T>&, int n);
  template <int... I> static constexpr Function pick(int m, std::integer_sequence<int, I...>) {
    constexpr Function all[] = {tile<T, I + 1, V, kA, kB>...};
    return all[m - 1];
  }
  static void run(const TileArgs<T>& t, int m, int n) {
    static constexpr auto kRows = std::make_integer_sequence<int, kTileRows>{};
    pick(m, kRows)(t, n);
  }
};

template <class T> void tile_packed(const TileArgs<T>& t, int m, int n) {
  if (n > kLanes<T>) return TileRows<T, 2, ASource::kPacked, BSource::kFull>::run(t, m, n);
  TileRows<T, 1, ASource::kPacked, BSource::kFull>::run(t, m, n);
}

template <class T> void tile_panel(const TileArgs<T>& t, int m, int n) {
  if (n > kLanes<T>) return TileRows<T, 2, ASource::kStrided, BSource::kFull>::run(t, m, n);
  TileRows<T, 1, ASource::kStrided, BSource::kFull>::run(t, m, n);
}

template <class T> void tile_direct(const TileArgs<T>& t, int m, int n) {
  if (n == 2 * kLanes<T>) return TileRows<T, 2, ASource::kStrided, BSource::kFull>::run(t, m, n);
  if (n > kLanes<T>) return TileRows<T, 2, ASource::kStrided, BSource::kHead>::run(t, m, n);
  TileRows<T, 1, ASource::kStrided, BSource::kHead>::run(t, m, n);
}

}  // namespace flambeau::gemm::FL_ISA
