#include "winograd.h"

#include <algorithm>

#include "../gemm/problem.h"
#include "flambeau/core/parallel.h"
#include "winograd_tiles.h"

// Note [Winograd]
// 2x2 outputs of a 3x3 kernel need 16 products per pair of channels instead of 36: patches of the input and the weights
// are transformed, multiplied as 16 matrix products over the channels, and transformed back. The transforms add and
// halve only, so the error grows by about a factor of two over the direct sum. F(4x4, 3x3) would save more and lose two
// digits: not taken. f64 stays direct. An infinity or NaN in the input reaches all four outputs of each patch it lies
// in, where the direct sum would keep it from some of them.

namespace flambeau::conv {
namespace {

using gemm::EvenParts;
using gemm::Scratch;

constexpr int64_t kMostChannels = 512;      // beyond, the transformed weights leave the caches
constexpr int64_t kLeastPixels = 128;       // of all images: less does not pay for transforming the weights
constexpr int64_t kBlockBytes = 640 << 10;  // transformed input and output of one task
constexpr int64_t kMostTiles = 112;         // per task
constexpr int64_t kImageBytes = 2 << 20;    // of inputs turned channels-last at a time
constexpr int64_t kOutputs = 128;           // per pass over a block of tiles

bool are_three_in_a_row(const std::vector<Tap>& taps) {
  if (taps.size() != 3) return false;
  const auto [low, high] = std::minmax({taps[0].at, taps[1].at, taps[2].at});
  return high - low == 2 && taps[0].at + taps[1].at + taps[2].at == 3 * low + 3;
}

struct Winograd {
  const Correlation<float>& c;
  WinogradTiles grid{c};
  const ConvKernels<float>& kernels = conv_kernels<float>();
  const gemm::FloatKernels<float>& tiles = gemm::float_kernels<float>();
  int64_t panels = (c.O + kernels.nr - 1) / kernels.nr;
  int64_t position_size = panels * kernels.nr * c.C;  // of the weights, for one of the 16 positions
  int64_t outputs_at_once = std::min(gemm::round_up(c.O, kernels.nr), kOutputs);
  int64_t rows_at_once = std::clamp<int64_t>(
      std::min(kMostTiles, kBlockBytes / (64 * (c.C + outputs_at_once))) / grid.columns, 1, c.N* grid.rows);
  Scratch<float> weights{16 * position_size};

  explicit Winograd(const Correlation<float>& correlation) : c(correlation) { transform_weights(); }

  // [position][panel][channel][nr]
  void transform_weights() {
    parallel_for(0, panels * c.C, 64, [&](int64_t begin, int64_t end) {
      const Scratch<float> taps(9 * kernels.nr);
      for (int64_t task = begin; task < end; task++) {
        const int64_t panel = task / c.C, channel = task % c.C, o = panel * kernels.nr;
        const int n = static_cast<int>(std::min<int64_t>(kernels.nr, c.O - o));
        const float* w = c.w + o * c.w_o + channel * c.w_c;
        if (grid.taps_in_row) {
          kernels.pack_b(true, 9, n, w + grid.weight_at[0], c.w_o, taps.get());
        } else {
          for (int t = 0; t < 9; t++) {
            for (int q = 0; q < kernels.nr; q++)
              taps.get()[t * kernels.nr + q] = q < n ? w[grid.weight_at[t] + q * c.w_o] : 0.0f;
          }
        }
        kernels.winograd_weights(taps.get(), grid.order, weights.get() + task * kernels.nr, position_size);
      }
    });
  }

  // Rows of tiles [begin, end) of images x, the first of which is image `first` of all.
  void block(int64_t begin, int64_t end, const LastImages& x, int64_t first) const {
    const int64_t count = (end - begin) * grid.columns;
    const Scratch<float> v(16 * count * c.C), m(16 * count * outputs_at_once), y(4 * count * outputs_at_once),
        zeros(c.C);
    std::fill(zeros.get(), zeros.get() + c.C, 0.0f);
    for (int64_t t = 0; t < count; t++) {
      const float* d[16];
      grid.patch(x, begin + t / grid.columns, t % grid.columns, zeros.get(), d);
      kernels.winograd_input(d, c.C, v.get() + t * c.C, count * c.C);
    }
    for (int64_t o = 0; o < c.O; o += outputs_at_once) {
      const int64_t outputs = std::min(outputs_at_once, c.O - o);
      multiply(v.get(), count, o, outputs, m.get());
      transform_outputs(m.get(), begin, end, first, o, outputs, y.get());
    }
  }

  void multiply(const float* v, int64_t count, int64_t o, int64_t outputs, float* m) const {
    const EvenParts parts(count, tiles.mr);
    gemm::TileArgs<float> t{};
    t.k = c.C;
    t.a_row = c.C;
    t.a_k = 1;
    t.b_k = kernels.nr;
    t.ldc = outputs;
    for (int64_t position = 0; position < 16; position++) {
      for (int64_t j = 0; j < outputs; j += kernels.nr) {
        t.b = weights.get() + position * position_size + (o + j) * c.C;
        const int n = static_cast<int>(std::min<int64_t>(kernels.nr, outputs - j));
        for (int64_t i = 0; i < parts.count; i++) {
          t.a = v + (position * count + parts.begin(i)) * c.C;
          t.c = m + (position * count + parts.begin(i)) * outputs + j;
          tiles.tile_panel(t, static_cast<int>(parts.size(i)), n);
        }
      }
    }
  }

  // To y row by row of tiles, [2][out[2]][outputs], and from there to where they belong.
  void transform_outputs(const float* m, int64_t begin, int64_t end, int64_t first, int64_t o, int64_t outputs,
                         float* y) const {
    const int64_t width = c.out[2], count = (end - begin) * grid.columns;
    for (int64_t row = begin; row < end; row++) {
      const int64_t image = first + row / grid.rows, r = row % grid.rows;
      for (int64_t j = 0; j < grid.columns; j++) {
        float* pixel[4];
        for (int64_t q = 0; q < 4; q++) {
          pixel[q] = grid.has_pixel(r, j, q) ? y + (q / 2 * width + 2 * j + q % 2) * outputs : nullptr;
        }
        kernels.winograd_output(m + ((row - begin) * grid.columns + j) * outputs, count * outputs, outputs, pixel,
                                c.bias != nullptr ? c.bias + o : nullptr, c.relu);
      }
      store_rows(y, image, 2 * r, std::min<int64_t>(2, c.out[1] - 2 * r), o, outputs);
    }
  }

  void store_rows(const float* y, int64_t image, int64_t p, int64_t rows, int64_t o, int64_t outputs) const {
    const int64_t width = c.out[2];
    float* to = c.y + image * c.ys.n + o * c.ys.c + p * c.ys.d[1];
    if (c.ys.d[2] == 1 && c.ys.d[1] == width) return kernels.transpose(rows * width, outputs, y, outputs, to, c.ys.c);
    for (int64_t i = 0; i < rows; i++, to += c.ys.d[1], y += width * outputs) {
      if (c.ys.d[2] == 1) {
        kernels.transpose(width, outputs, y, outputs, to, c.ys.c);
        continue;
      }
      for (int64_t j = 0; j < width; j++) {
        for (int64_t q = 0; q < outputs; q++) to[j * c.ys.d[2] + q * c.ys.c] = y[j * outputs + q];
      }
    }
  }

  void images(int64_t first, int64_t count) const {
    const LastImages x(c.x + first * c.xs.n, c.xs, count, c.C, c.in[1], c.in[2]);
    const EvenParts parts(count * grid.rows, rows_at_once);
    parallel_for(0, parts.count, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) block(parts.begin(i), parts.begin(i) + parts.size(i), x, first);
    });
  }
};

}  // namespace

bool is_winograd(const Correlation<float>& c) {
  const int lanes = conv_kernels<float>().lanes;
  const bool planar = c.xs.d[2] == 1 && c.xs.d[1] == c.in[2];
  return c.groups == 1 && c.out[0] == 1 && c.taps[0].size() == 1 && c.in[0] == 1 && c.taps[0][0].at == 0 &&
         c.step[1] == 1 && c.step[2] == 1 && are_three_in_a_row(c.taps[1]) && are_three_in_a_row(c.taps[2]) &&
         c.C % lanes == 0 && c.O % lanes == 0 && c.C >= 16 && c.O >= 16 && c.C <= kMostChannels &&
         c.N * c.num_pixels() >= kLeastPixels && (planar || c.xs.c == 1);
}

void run_winograd(const Correlation<float>& c) {
  const Winograd w(c);
  const int64_t image_bytes = c.C * c.in[1] * c.in[2] * int64_t(sizeof(float));
  const int64_t at_once = c.xs.c == 1 ? c.N : std::clamp<int64_t>(kImageBytes / image_bytes, 1, c.N);
  for (int64_t image = 0; image < c.N; image += at_once) w.images(image, std::min(at_once, c.N - image));
}

}  // namespace flambeau::conv
