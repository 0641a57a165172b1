// The register tile of tile.h with a left operand given by one pointer per row and one offset per k.
#pragma once

#include "../gemm/isa.h"
#include "../gemm/tile.h"
#include "conv_kernels.h"

namespace flambeau::gemm::FL_ISA {

// One pointer per row, kept in memory: there are more than registers, and the compiler would spill them to xmm.
template <class T> struct EachRow {
  const T* const* rows;
  int64_t at;
  explicit FL_INLINE EachRow(const conv::GatherTile<T>& g) : rows(g.rows), at(0) {}
  FL_INLINE void move(int64_t offset) {
    at = offset;
    asm("" : "+r"(rows));
  }
  FL_INLINE T operator[](int i) const { return rows[i][at]; }
};

// One pointer per pair of rows that are `pair_step` apart: half the addresses, and they stay in registers.
template <class T, int R> struct PairedRows {
  const T* base[(R + 1) / 2];
  int64_t step, first, second;
  explicit FL_INLINE PairedRows(const conv::GatherTile<T>& g) : step(g.pair_step), first(0), second(0) {
#pragma GCC unroll 16
    for (int i = 0; i < (R + 1) / 2; i++) base[i] = g.rows[2 * i];
  }
  FL_INLINE void move(int64_t offset) {
    first = offset;
    second = offset + step;
  }
  FL_INLINE T operator[](int i) const { return base[i / 2][i % 2 == 0 ? first : second]; }
};

template <class T, int R, int V, class Rows> void gather_tile_of(const conv::GatherTile<T>& g, int n) {
  constexpr int W = kLanes<T>;
  Vec<T> sum[R][V] = {};
  Rows row(g);
  const T* b = g.b;
  const int64_t* offset = g.k_offsets;
  for (int64_t k = 0; k < g.k; k++, b += 2 * W) {
    row.move(offset[k]);
    Vec<T> bv[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; v++) bv[v] = load(b + v * W);
#pragma GCC unroll 16
    for (int i = 0; i < R; i++) {
      const Vec<T> av = splat(row[i]);
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
  constexpr Function wide[] = {gather_tile_of<T, I + 1, 2, EachRow<T>>...};
  constexpr Function narrow[] = {gather_tile_of<T, I + 1, 1, EachRow<T>>...};
  constexpr Function pairs[] = {gather_tile_of<T, I + 1, 2, PairedRows<T, I + 1>>...};
  (n <= kLanes<T> ? narrow : g.pair_step != 0 ? pairs : wide)[m - 1](g, n);
}

template <class T> void gather_tile(const conv::GatherTile<T>& g, int m, int n) {
  gather_tile_rows(g, m, n, std::make_integer_sequence<int, kTileRows>{});
}

}  // namespace flambeau::gemm::FL_ISA
