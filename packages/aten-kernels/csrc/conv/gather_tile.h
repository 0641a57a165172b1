// The register tile of tile.h with a left operand given by one pointer per row and one offset per k.
#pragma once

#include "../gemm/isa.h"
#include "../gemm/tile.h"
#include "conv_kernels.h"

namespace flambeau::gemm::FL_ISA {

template <class T, int R, int V>
void gather_tile_of(const conv::GatherTile<T>& g, int n) {
  constexpr int W = kLanes<T>;
  Vec<T> sum[R][V] = {};
  const T* row[R];
#pragma GCC unroll 16
  for (int i = 0; i < R; i++) row[i] = g.rows[i];
  const T* b = g.b;
  const int64_t* offset = g.k_offsets;
  for (int64_t k = 0; k < g.k; k++, b += 2 * W) {
    const int64_t at = offset[k];
    Vec<T> bv[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; v++) bv[v] = load(b + v * W);
#pragma GCC unroll 16
    for (int i = 0; i < R; i++) {
      const Vec<T> av = splat(row[i][at]);
#pragma GCC unroll 4
      for (int v = 0; v < V; v++) sum[i][v] = fma(av, bv[v], sum[i][v]);
    }
  }
  TileArgs<T> out{};
  out.c = g.c;
  out.ldc = g.ldc;
  out.finish = g.finish;
  write<T, R, V>(sum, out, n);
}

template <class T, int... I>
FL_INLINE void gather_tile_rows(const conv::GatherTile<T>& g, int m, int n, std::integer_sequence<int, I...>) {
  using Function = void (*)(const conv::GatherTile<T>&, int);
  constexpr Function wide[] = {gather_tile_of<T, I + 1, 2>...};
  constexpr Function narrow[] = {gather_tile_of<T, I + 1, 1>...};
  (n > kLanes<T> ? wide : narrow)[m - 1](g, n);
}

template <class T>
void gather_tile(const conv::GatherTile<T>& g, int m, int n) {
  gather_tile_rows(g, m, n, std::make_integer_sequence<int, kTileRows>{});
}

}  // namespace flambeau::gemm::FL_ISA
