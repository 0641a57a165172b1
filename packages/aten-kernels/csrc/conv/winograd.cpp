#include "winograd.h"

#include <algorithm>

#include "../gemm/problem.h"
#include "flambeau/core/parallel.h"

// Note [Winograd]
// 2x2 outputs of a 3x3 kernel need 16 products per pair of channels instead of 36: patches of the input and the weights
// are transformed, multiplied as 16 matrix products over the channels, and transformed back. The transforms add and halve
// only, so the error grows by about a factor of two over the direct sum. F(4x4, 3x3) would save more and lose two digits:
// not taken. f64 stays direct. An infinity or NaN in the input reaches all four outputs of each patch it lies in, where the
// direct sum would keep it from some of them.

namespace flambeau::conv {
namespace {

using gemm::EvenParts;
using gemm::Scratch;

constexpr int64_t kMostChannels = 512;        // beyond, the transformed weights leave the caches
constexpr int64_t kLeastPixels = 128;         // of all images: less does not pay for transforming the weights
constexpr int64_t kBlockBytes = 640 << 10;    // transformed input and output of one task
constexpr int64_t kMostTiles = 112;           // per task
constexpr int64_t kImageBytes = 8 << 20;      // of inputs turned channels-last at a time
constexpr int64_t kOutputs = 128;             // per pass over a block of tiles

bool are_three_in_a_row(const std::vector<Tap>& taps) {
  if (taps.size() != 3) return false;
  const auto [low, high] = std::minmax({taps[0].at, taps[1].at, taps[2].at});
  return high - low == 2 && taps[0].at + taps[1].at + taps[2].at == 3 * low + 3;
}

struct Winograd {
  const Correlation<float>& c;
  const ConvKernels<float>& kernels = conv_kernels<float>();
  const gemm::FloatKernels<float>& tiles = gemm::float_kernels<float>();
  int64_t columns = (c.out[2] + 1) / 2;                       // tiles in a row of tiles
  int64_t tile_rows = (c.out[1] + 1) / 2;                     // in an image
  int64_t panels = (c.O + kernels.nr - 1) / kernels.nr;
  int64_t position_size = panels * kernels.nr * c.C;          // of the weights, for one of the 16 positions
  int64_t low[2];                                             // first input row and column that output (0, 0) reads
  bool channels_last = c.xs.c == 1;
  int64_t outputs_at_once = std::min(gemm::round_up(c.O, kernels.nr), kOutputs);
  int64_t rows_at_once = std::clamp<int64_t>(
      std::min(kMostTiles, kBlockBytes / (64 * (c.C + outputs_at_once))) / columns, 1, c.N * tile_rows);
  Scratch<float> weights{16 * position_size};

  explicit Winograd(const Correlation<float>& correlation) : c(correlation) {
    for (int d = 0; d < 2; d++) low[d] = std::min({c.taps[d + 1][0].at, c.taps[d + 1][1].at, c.taps[d + 1][2].at});
    transform_weights();
  }

  // [position][panel][channel][nr]
  void transform_weights() {
    int order[9];
    int64_t at[9];
    for (int i = 0; i < 3; i++) {
      for (int j = 0; j < 3; j++) {
        const Tap &a = c.taps[1][static_cast<size_t>(i)], &b = c.taps[2][static_cast<size_t>(j)];
        order[3 * (a.at - low[0]) + (b.at - low[1])] = 3 * i + j;
        at[3 * i + j] = c.taps[0][0].weight + a.weight + b.weight;
      }
    }
    bool in_row = true;
    for (int t = 0; t < 9; t++) in_row = in_row && at[t] == at[0] + t;
    parallel_for(0, panels * c.C, 64, [&](int64_t begin, int64_t end) {
      const Scratch<float> taps(9 * kernels.nr);
      for (int64_t task = begin; task < end; task++) {
        const int64_t panel = task / c.C, channel = task % c.C, o = panel * kernels.nr;
        const int n = static_cast<int>(std::min<int64_t>(kernels.nr, c.O - o));
        const float* w = c.w + o * c.w_o + channel * c.w_c;
        if (in_row) {
          kernels.pack_b(true, 9, n, w + at[0], c.w_o, taps.get());
        } else {
          for (int t = 0; t < 9; t++) {
            for (int q = 0; q < kernels.nr; q++) taps.get()[t * kernels.nr + q] = q < n ? w[at[t] + q * c.w_o] : 0.0f;
          }
        }
        kernels.winograd_weights(taps.get(), order, weights.get() + task * kernels.nr, position_size);
      }
    });
  }

  // Tile rows [begin, end) of images that lie channels-last from `x` on, image_step apart; first: image of tile row 0.
  void block(int64_t begin, int64_t end, const float* x, int64_t image_step, int64_t row_step, int64_t pixel_step,
             int64_t first) const {
    const int64_t count = (end - begin) * columns;
    const Scratch<float> v(16 * count * c.C), m(16 * count * outputs_at_once), y(4 * count * outputs_at_once), zeros(c.C);
    std::fill(zeros.get(), zeros.get() + c.C, 0.0f);
    for (int64_t t = 0; t < count; t++) {
      const int64_t row = begin + t / columns;
      const float* image = x + row / tile_rows * image_step;
      const int64_t top = 2 * (row % tile_rows) + low[0], left = 2 * (t % columns) + low[1];
      const float* d[16];
      for (int64_t i = 0; i < 4; i++) {
        for (int64_t j = 0; j < 4; j++) {
          const bool exists = top + i >= 0 && top + i < c.in[1] && left + j >= 0 && left + j < c.in[2];
          d[4 * i + j] = exists ? image + (top + i) * row_step + (left + j) * pixel_step : zeros.get();
        }
      }
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
  void transform_outputs(const float* m, int64_t begin, int64_t end, int64_t first, int64_t o, int64_t outputs, float* y) const {
    const int64_t width = c.out[2], count = (end - begin) * columns;
    for (int64_t row = begin; row < end; row++) {
      const int64_t image = first + row / tile_rows, p = 2 * (row % tile_rows);
      const bool both = p + 1 < c.out[1];
      for (int64_t j = 0; j < columns; j++) {
        float* pixel[4];
        for (int64_t q = 0; q < 4; q++) {
          const bool exists = (q < 2 || both) && 2 * j + q % 2 < width;
          pixel[q] = exists ? y + (q / 2 * width + 2 * j + q % 2) * outputs : nullptr;
        }
        kernels.winograd_output(m + ((row - begin) * columns + j) * outputs, count * outputs, outputs, pixel,
                                c.bias != nullptr ? c.bias + o : nullptr, c.relu);
      }
      store_rows(y, image, p, both ? 2 : 1, o, outputs);
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
    const float* x = c.x + first * c.xs.n;
    const int64_t pixels = c.in[1] * c.in[2];
    const Scratch<float> turned(channels_last ? 0 : count * pixels * c.C);
    if (!channels_last) {
      parallel_for(0, count, std::max<int64_t>(1, 32768 / (pixels * c.C)), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; i++) {
          kernels.transpose(c.C, pixels, x + i * c.xs.n, c.xs.c, turned.get() + i * pixels * c.C, c.C);
        }
      });
    }
    const EvenParts parts(count * tile_rows, rows_at_once);
    parallel_for(0, parts.count, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) {
        const int64_t row = parts.begin(i);
        channels_last ? block(row, row + parts.size(i), x, c.xs.n, c.xs.d[1], c.xs.d[2], first)
                      : block(row, row + parts.size(i), turned.get(), pixels * c.C, c.in[2] * c.C, c.C, first);
      }
    });
  }
};

}  // namespace

bool is_winograd(const Correlation<float>& c) {
  const int lanes = conv_kernels<float>().lanes;
  const bool planar = c.xs.d[2] == 1 && c.xs.d[1] == c.in[2];
  return c.groups == 1 && c.out[0] == 1 && c.taps[0].size() == 1 && c.in[0] == 1 && c.taps[0][0].at == 0 && c.step[1] == 1 && c.step[2] == 1 &&
         are_three_in_a_row(c.taps[1]) && are_three_in_a_row(c.taps[2]) && c.C % lanes == 0 && c.O % lanes == 0 && c.C >= 16 &&
         c.O >= 16 && c.C <= kMostChannels && c.N * c.num_pixels() >= kLeastPixels && (planar || c.xs.c == 1);
}

void run_winograd(const Correlation<float>& c) {
  const Winograd w(c);
  const int64_t image_bytes = c.C * c.in[1] * c.in[2] * int64_t(sizeof(float));
  const int64_t at_once = w.channels_last ? c.N : std::clamp<int64_t>(kImageBytes / image_bytes, 1, c.N);
  for (int64_t image = 0; image < c.N; image += at_once) w.images(image, std::min(at_once, c.N - image));
}

}  // namespace flambeau::conv
