#include "blocked.h"

#include "flambeau/core/parallel.h"
#include "scratch.h"

namespace flambeau::gemm {
namespace {

constexpr int64_t kMaxRows = 3072;     // bounds the packed copy of A
constexpr int64_t kMaxColumns = 3072;  // and of B
constexpr int64_t kPackChunk = 65536;  // elements

// C[row0 .. row0 + rows.total, column0 .. column0 + columns) += the block [k0, k0 + depth) of K.
template <class T> struct Block {
  const Problem<T>& p;
  const FloatKernels<T>& kernels;
  int64_t row0, column0, columns, k0, depth;
  EvenParts panels;  // of rows
  const T* packed_a;
  const T* packed_b;

  void multiply(int64_t panel_begin, int64_t panel_end, int64_t column_begin, int64_t column_end) const {
    TileArgs<T> t;
    t.k = depth;
    t.a_row = 1;
    t.b_k = kernels.nr;
    t.ldc = p.ldc;
    const bool first = k0 == 0, last = k0 + depth == p.K;
    for (int64_t j = column_begin; j < column_end; j += kernels.nr) {
      t.b = packed_b + j * depth;
      const int n = static_cast<int>(std::min<int64_t>(kernels.nr, column_end - j));
      for (int64_t i = panel_begin; i < panel_end; i++) {
        const int64_t row = row0 + panels.begin(i);
        t.a = packed_a + panels.begin(i) * depth;
        t.a_k = panels.size(i);
        t.c = p.C + row * p.ldc + column0 + j;
        t.finish = finish_at(p, row, column0 + j, first, last);
        kernels.tile_packed(t, static_cast<int>(panels.size(i)), n);
      }
    }
  }
};

// Panels of A and of B in one parallel pass; B's may have been packed before (packed_b == nullptr).
template <class T> void pack_block(const Block<T>& b, T* packed_a, T* packed_b) {
  const int64_t nr = b.kernels.nr;
  const int64_t b_panels = packed_b == nullptr ? 0 : (b.columns + nr - 1) / nr;
  const int64_t grain = std::max<int64_t>(1, kPackChunk / (b.depth * nr));
  parallel_for(0, b_panels + b.panels.count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      if (i < b_panels) {
        const int n = static_cast<int>(std::min(nr, b.columns - i * nr));
        b.kernels.pack_b(b.p.tb, b.depth, n, b.p.b_at(b.k0, b.column0 + i * nr), b.p.ldb, packed_b + i * nr * b.depth);
      } else {
        const int64_t row = b.panels.begin(i - b_panels);
        b.kernels.pack_a(b.p.ta, b.depth, static_cast<int>(b.panels.size(i - b_panels)), b.p.a_at(b.row0 + row, b.k0),
                         b.p.lda, packed_a + row * b.depth);
      }
    }
  });
}

// Tasks small enough to balance, large enough to reuse what they load.
template <class T> void multiply_block(const Block<T>& b) {
  const int64_t nr = b.kernels.nr;
  const EvenParts groups(b.panels.count, std::max<int64_t>(1, block_sizes<T>().rows / b.kernels.mr));
  const double rows_work = static_cast<double>(b.panels.begin(b.panels.count)) / static_cast<double>(groups.count) *
                           static_cast<double>(b.depth);
  int64_t width = round_up(block_sizes<T>().columns, nr);
  while (width > 2 * nr && groups.count * ((b.columns + width - 1) / width) < 16 &&
         rows_work * static_cast<double>(width / 2) > kWorkPerChunk) {
    width = round_up(width / 2, nr);
  }
  const int64_t strips = (b.columns + width - 1) / width;
  const double task_work = rows_work * static_cast<double>(std::min(width, b.columns));
  parallel_for(0, groups.count * strips, units_per_chunk(task_work), [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; task++) {
      const int64_t g = task / strips, column = task % strips * width;
      b.multiply(groups.begin(g), groups.begin(g) + groups.size(g), column, std::min(column + width, b.columns));
    }
  });
}

template <class T> void run(const Problem<T>& p, const T* prepacked) {
  const FloatKernels<T>& kernels = *p.kernels;
  const int64_t depth = k_block<T>(p.K), nr = kernels.nr;
  const EvenParts row_blocks(p.M, kMaxRows);
  const int64_t width =
      prepacked != nullptr ? round_up(p.N, nr) : std::min(round_up(p.N, nr), round_up(kMaxColumns, nr));
  Scratch<T> a((row_blocks.base + 1) * depth), b(prepacked != nullptr ? 0 : width * depth);
  for (int64_t column = 0; column < p.N; column += width) {
    for (int64_t k = 0; k < p.K; k += depth) {
      for (int64_t r = 0; r < row_blocks.count; r++) {
        const T* panels_b = prepacked != nullptr ? prepacked + k * width : b.get();
        const int64_t block_depth = std::min(depth, p.K - k);
        const Block<T> block{p,
                             kernels,
                             row_blocks.begin(r),
                             column,
                             std::min(width, p.N - column),
                             k,
                             block_depth,
                             EvenParts(row_blocks.size(r), kernels.mr),
                             a.get(),
                             panels_b};
        pack_block(block, a.get(), prepacked != nullptr || r > 0 ? nullptr : b.get());
        multiply_block(block);
      }
    }
  }
}

}  // namespace

template <class T> void run_blocked(const Problem<T>& p) { run<T>(p, nullptr); }

template <class T> void run_blocked_with(const Problem<T>& p, const T* packed_b) { run<T>(p, packed_b); }

template void run_blocked(const Problem<float>&);
template void run_blocked(const Problem<double>&);
template void run_blocked_with(const Problem<float>&, const float*);
template void run_blocked_with(const Problem<double>&, const double*);

}  // namespace flambeau::gemm
