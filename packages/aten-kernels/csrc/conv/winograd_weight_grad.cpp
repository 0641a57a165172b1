// The adjoint of winograd.cpp with respect to the weights: patches of the input and of the gradient are transformed,
// the 16 products sum over tiles, and the sums are transformed back once. See Note [Winograd] in winograd.cpp.
#include <algorithm>

#include "../gemm/problem.h"
#include "flambeau/core/parallel.h"
#include "winograd.h"
#include "winograd_tiles.h"

namespace flambeau::conv {
namespace {

using gemm::EvenParts;
using gemm::Scratch;

constexpr int64_t kMostProducts = 256 * 256;  // of channels and outputs: the sums stay in the caches
constexpr int64_t kLeastPixels = 512;
constexpr int64_t kTransformedBytes = 2 << 20;
constexpr int64_t kImageBytes = 2 << 20;  // of inputs and gradients turned channels-last at a time
constexpr int64_t kDepth = 512;           // tiles per block of a sum

struct WeightGrad {
  const Correlation<float>& c;
  WinogradTiles grid{c};
  const ConvKernels<float>& kernels = conv_kernels<float>();
  const gemm::FloatKernels<float>& tiles = gemm::float_kernels<float>();
  int64_t panels = (c.O + kernels.nr - 1) / kernels.nr, width = panels * kernels.nr;
  int64_t rows_at_once = std::max<int64_t>(1, kTransformedBytes / (64 * (c.C + width)) / grid.columns);
  Scratch<float> v{16 * rows_at_once * grid.columns * c.C};    // [position][tile][channel]
  Scratch<float> z{16 * rows_at_once * grid.columns * width};  // [position][panel][tile][nr]
  Scratch<float> sums{16 * c.C * width};                       // [position][channel][output]
  Scratch<float> zeros{std::max(c.C, width)};

  explicit WeightGrad(const Correlation<float>& correlation) : c(correlation) {
    std::fill(zeros.get(), zeros.get() + std::max(c.C, width), 0.0f);
  }

  // Rows of tiles [begin, end).
  void transform(const LastImages& x, const LastImages& g, int64_t begin, int64_t end) const {
    const int64_t count = (end - begin) * grid.columns;
    parallel_for(begin, end, std::max<int64_t>(1, 512 / grid.columns), [&](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; row++) {
        for (int64_t j = 0; j < grid.columns; j++) {
          const int64_t tile = (row - begin) * grid.columns + j;
          const float* d[16];
          grid.patch(x, row, j, zeros.get(), d);
          kernels.winograd_input(d, c.C, v.get() + tile * c.C, count * c.C);
          const float* pixel[4];
          for (int64_t q = 0; q < 4; q++) {
            const int64_t r = row % grid.rows;
            pixel[q] = grid.has_pixel(r, j, q)
                           ? g.data + row / grid.rows * g.image + (2 * r + q / 2) * g.row + (2 * j + q % 2) * g.pixel
                           : zeros.get();
          }
          kernels.winograd_gradient(pixel, c.O, z.get() + tile * kernels.nr, count * width, count * kernels.nr);
        }
      }
    });
  }

  void multiply(int64_t count, bool first) const {
    const EvenParts parts(c.C, tiles.mr);
    const double work = static_cast<double>(c.C * kernels.nr * count);
    parallel_for(0, 16 * panels, gemm::units_per_chunk(work), [&](int64_t begin, int64_t end) {
      gemm::TileArgs<float> t{};
      t.a_row = 1;
      t.a_k = c.C;
      t.b_k = kernels.nr;
      t.ldc = width;
      for (int64_t task = begin; task < end; task++) {
        const int64_t position = task / panels, panel = task % panels;
        const int n = static_cast<int>(std::min<int64_t>(kernels.nr, c.O - panel * kernels.nr));
        for (int64_t k = 0; k < count; k += kDepth) {
          t.k = std::min(kDepth, count - k);
          t.finish.beta = first && k == 0 ? 0.0f : 1.0f;
          t.b = z.get() + position * count * width + (panel * count + k) * kernels.nr;
          for (int64_t i = 0; i < parts.count; i++) {
            const int64_t channel = parts.begin(i);
            t.a = v.get() + (position * count + k) * c.C + channel;
            t.c = sums.get() + (position * c.C + channel) * width + panel * kernels.nr;
            tiles.tile_panel(t, static_cast<int>(parts.size(i)), n);
          }
        }
      }
    });
  }

  void finish(float* gw) const {
    parallel_for(0, c.C, std::max<int64_t>(1, 512 / panels / 16), [&](int64_t begin, int64_t end) {
      const Scratch<float> taps(9 * kernels.nr);
      for (int64_t channel = begin; channel < end; channel++) {
        for (int64_t o = 0; o < c.O; o += kernels.nr) {
          const int64_t n = std::min<int64_t>(kernels.nr, c.O - o);
          kernels.winograd_weights_gradient(sums.get() + channel * width + o, c.C * width, grid.order, taps.get());
          float* to = gw + o * c.w_o + channel * c.w_c;
          if (grid.taps_in_row) {
            kernels.transpose(9, n, taps.get(), kernels.nr, to + grid.weight_at[0], c.w_o);
            continue;
          }
          for (int64_t t = 0; t < 9; t++) {
            for (int64_t q = 0; q < n; q++) to[grid.weight_at[t] + q * c.w_o] = taps.get()[t * kernels.nr + q];
          }
        }
      }
    });
  }
};

}  // namespace

bool is_winograd_weight_grad(const Correlation<float>& c) {
  const bool readable = c.ys.c == 1 || (c.ys.d[2] == 1 && c.ys.d[1] == c.out[2]);
  return is_winograd(c) && readable && c.C * c.O <= kMostProducts && c.N * c.num_pixels() >= kLeastPixels;
}

void run_winograd_weight_grad(const Correlation<float>& c, float* gw) {
  const WeightGrad w(c);
  const int64_t image_bytes = int64_t(sizeof(float)) * (c.C * c.in[1] * c.in[2] + c.O * c.num_pixels());
  const int64_t at_once = std::clamp<int64_t>(kImageBytes / image_bytes, 1, c.N);
  for (int64_t image = 0; image < c.N; image += at_once) {
    const int64_t count = std::min(at_once, c.N - image);
    const LastImages x(c.x + image * c.xs.n, c.xs, count, c.C, c.in[1], c.in[2]);
    const LastImages g(c.y + image * c.ys.n, c.ys, count, c.O, c.out[1], c.out[2]);
    const EvenParts parts(count * w.grid.rows, w.rows_at_once);
    for (int64_t i = 0; i < parts.count; i++) {
      w.transform(x, g, parts.begin(i), parts.begin(i) + parts.size(i));
      w.multiply(parts.size(i) * w.grid.columns, image == 0 && i == 0);
    }
  }
  w.finish(gw);
}

}  // namespace flambeau::conv
