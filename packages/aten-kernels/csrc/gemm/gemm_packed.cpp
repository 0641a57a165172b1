// Weights packed once. The layout is the blocked path's: per block of K, panels of nr columns.
#include "blocked.h"
#include "flambeau/core/parallel.h"
#include "problem.h"
#include "scratch.h"

namespace flambeau::gemm {

class PackedB {
 public:
  PackedB(bool tb, int64_t N, int64_t K, const float* B, int64_t ldb)
      : N_(N), K_(K), width_(round_up(N, float_kernels<float>().nr)), panels_(width_ * K) {
    const FloatKernels<float>& kernels = float_kernels<float>();
    const int64_t depth = k_block<float>(K), columns = width_ / kernels.nr, blocks = (K + depth - 1) / depth;
    parallel_for(0, blocks * columns, 2, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; task++) {
        const int64_t k = task / columns * depth, j = task % columns * kernels.nr, d = std::min(depth, K - k);
        kernels.pack_b(tb, d, static_cast<int>(std::min<int64_t>(kernels.nr, N - j)),
                       tb ? B + j * ldb + k : B + k * ldb + j, ldb, panels_.get() + k * width_ + j * d);
      }
    });
  }
  int64_t num_columns() const { return N_; }
  int64_t depth() const { return K_; }
  const float* panels() const { return panels_.get(); }
  int64_t width() const { return width_; }

 private:
  int64_t N_, K_, width_;
  Scratch<float> panels_;
};

PackedBPtr pack_b_f32(bool tb, int64_t N, int64_t K, const float* B, int64_t ldb) {
  return std::make_shared<const PackedB>(tb, N, K, B, ldb);
}

namespace {

constexpr int64_t kRowsInPlace = 128;  // packing A pays from about here on

// A stays where it is; each thread takes panels of B through every block of K.
void run_rows_in_place(const Problem<float>& p, const PackedB& B) {
  const FloatKernels<float>& kernels = *p.kernels;
  const EvenParts rows(p.M, kernels.mr);
  const int64_t depth = k_block<float>(p.K), panels = B.width() / kernels.nr;
  const double work = static_cast<double>(p.M) * static_cast<double>(p.K) * kernels.nr;
  parallel_for(0, panels, units_per_chunk(work), [&](int64_t begin, int64_t end) {
    for (int64_t k = 0; k < p.K; k += depth) {
      const int64_t d = std::min(depth, p.K - k);
      for (int64_t panel = begin; panel < end; panel++) {
        const int64_t column = panel * kernels.nr;
        const int n = static_cast<int>(std::min<int64_t>(kernels.nr, p.N - column));
        for (int64_t i = 0; i < rows.count; i++) {
          const int64_t row = rows.begin(i);
          const TileArgs<float> t{d,
                                  p.a_at(row, k),
                                  p.a_row(),
                                  p.a_k(),
                                  B.panels() + k * B.width() + column * d,
                                  kernels.nr,
                                  p.C + row * p.ldc + column,
                                  p.ldc,
                                  finish_at(p, row, column, k == 0, k + d == p.K)};
          kernels.tile_panel(t, static_cast<int>(rows.size(i)), n);
        }
      }
    }
  });
}

}  // namespace

void gemm_f32_packed(bool ta, int64_t M, float alpha, const float* A, int64_t lda, const PackedB& B, float beta,
                     float* C, int64_t ldc, const GemmEpilogue* epilogue) {
  const Problem<float> p =
      make_problem<float>(ta, false, M, B.num_columns(), B.depth(), alpha, A, lda, nullptr, 0, beta, C, ldc, epilogue);
  if (M <= 0 || p.N <= 0) return;
  if (p.K == 0) return run_problem(p);
  M <= kRowsInPlace ? run_rows_in_place(p, B) : run_blocked_with(p, B.panels());
}

}  // namespace flambeau::gemm
