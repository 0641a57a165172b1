// The grid of 2x2 output tiles that F(2x2, 3x3) works on, and images in the layout its transforms read.
#pragma once

#include <algorithm>
#include <optional>

#include "correlation.h"
#include "flambeau/core/parallel.h"

namespace flambeau::conv {

// Images with the channels of a pixel side by side: in place, or turned.
struct LastImages {
  std::optional<gemm::Scratch<float>> copy;
  const float* data;
  int64_t image, row, pixel;  // strides

  // [count, channels, height, width]; either the channels or the pixels of a plane have to be contiguous.
  LastImages(const float* x, const Strides& s, int64_t count, int64_t channels, int64_t height, int64_t width) {
    if (s.c == 1) {
      data = x;
      image = s.n, row = s.d[1], pixel = s.d[2];
      return;
    }
    const int64_t pixels = height * width;
    copy.emplace(count * pixels * channels);
    data = copy->get();
    image = pixels * channels, row = width * channels, pixel = channels;
    float* out = copy->get();
    parallel_for(0, count, std::max<int64_t>(1, 32768 / (pixels * channels)), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) {
        conv_kernels<float>().transpose(channels, pixels, x + i * s.n, s.c, out + i * image, channels);
      }
    });
  }
};

struct WinogradTiles {
  const Correlation<float>& c;
  int64_t columns = (c.out[2] + 1) / 2;  // tiles in a row of tiles
  int64_t rows = (c.out[1] + 1) / 2;     // rows of tiles in an image
  int64_t low[2];                        // input row and column that output (0, 0) reads first
  int order[9];                          // tap (i, j) is element order[3 * i + j] of a kernel in memory
  int64_t weight_at[9];                  // and that lies here
  bool taps_in_row = true;               // weight_at counts up by one

  explicit WinogradTiles(const Correlation<float>& correlation) : c(correlation) {
    for (int d = 0; d < 2; d++) low[d] = std::min({c.taps[d + 1][0].at, c.taps[d + 1][1].at, c.taps[d + 1][2].at});
    for (int i = 0; i < 3; i++) {
      for (int j = 0; j < 3; j++) {
        const Tap &a = c.taps[1][static_cast<size_t>(i)], &b = c.taps[2][static_cast<size_t>(j)];
        order[3 * (a.at - low[0]) + (b.at - low[1])] = 3 * i + j;
        weight_at[3 * i + j] = c.taps[0][0].weight + a.weight + b.weight;
      }
    }
    for (int t = 0; t < 9; t++) taps_in_row = taps_in_row && weight_at[t] == weight_at[0] + t;
  }

  // The 4x4 input pixels of a tile; `row` counts over all images of x.
  void patch(const LastImages& x, int64_t row, int64_t column, const float* zeros, const float* (&d)[16]) const {
    const float* image = x.data + row / rows * x.image;
    const int64_t top = 2 * (row % rows) + low[0], left = 2 * column + low[1];
    for (int64_t i = 0; i < 4; i++) {
      for (int64_t j = 0; j < 4; j++) {
        const bool exists = top + i >= 0 && top + i < c.in[1] && left + j >= 0 && left + j < c.in[2];
        d[4 * i + j] = exists ? image + (top + i) * x.row + (left + j) * x.pixel : zeros;
      }
    }
  }

  // Whether output pixel q of 4 exists in a tile; the row is within its image.
  bool has_pixel(int64_t row, int64_t column, int64_t q) const {
    return 2 * row + q / 2 < c.out[1] && 2 * column + q % 2 < c.out[2];
  }
};

}  // namespace flambeau::conv
