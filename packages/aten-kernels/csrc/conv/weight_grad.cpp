// gw^T[(channel, tap), output] = sum over pixels of x at (pixel, channel, tap) * gy[pixel, output]: the dense product
// with pixels as the summed dimension. Rows are (channel, tap) pointers, k offsets are pixels; x is read in place.
#include "weight_grad.h"

#include <algorithm>

#include "../gemm/problem.h"
#include "flambeau/core/parallel.h"

namespace flambeau::conv {
namespace {

using gemm::EvenParts;
using gemm::Scratch;

constexpr int64_t kDepth = 512;           // pixels per block
constexpr int64_t kImageBytes = 8 << 20;  // of padded input at a time
constexpr int64_t kRowsPerTask = 448;     // each packs the gradient for itself, at 1/rows of the cost of using it
constexpr int64_t kEnoughTasks = 16;

// A run of (channel, tap) rows. With two channels side by side, rows come in pairs one channel apart (see GatherTile).
struct RowOrder {
  int64_t channels, taps, unit;
  RowOrder(int64_t channels, int64_t taps) : channels(channels), taps(taps), unit(channels % 2 == 0 ? 2 : 1) {}
  int64_t count() const { return channels * taps; }
  int64_t channel(int64_t row) const { return row / (unit * taps) * unit + row % unit; }
  int64_t tap(int64_t row) const { return row / unit % taps; }
  int64_t first_row(int64_t channel) const {
    return channel / unit * unit * taps + channel % unit;
  }  // then every `unit`
};

template <class T> struct WeightGrad {
  const Correlation<T>& c;
  const ConvKernels<T>& kernels = conv_kernels<T>();
  int64_t outputs = c.O / c.groups, channels = c.C / c.groups;
  int64_t pixels = c.num_pixels();
  int64_t columns = (outputs + kernels.nr - 1) / kernels.nr, width = columns * kernels.nr;
  RowOrder order{channels, c.num_taps()};
  EvenParts tiles{order.count() / order.unit, kernels.mr / order.unit};
  EvenParts row_groups{tiles.count, std::max<int64_t>(1, kRowsPerTask / kernels.mr)};
  int64_t tile_tasks = c.groups * columns * row_groups.count;
  int64_t images_at_once = std::max<int64_t>(1, kDepth / pixels);  // small images are summed several to a block
  KOrder taps{};                                                   // of channel 0
  std::vector<int64_t> pixel_at{};                                 // of images_at_once images

  explicit WeightGrad(const Correlation<T>& correlation) : c(correlation) {}

  // Sums of one share: [group][row][width].
  int64_t share_size() const { return c.groups * order.count() * width; }

  void set_strides(const Strides& s) {
    taps = k_order(c, s, 1);
    const std::vector<int64_t> one = pixel_offsets(c, s);
    for (int64_t i = 0; i < images_at_once; i++) {
      for (int64_t at : one) pixel_at.push_back(i * s.n + at);
    }
  }

  // gy of image `image`, pixels [p, p + count), columns [column, column + n) of a group: rows of a panel.
  void pack_gradient(int64_t image, int64_t p, int64_t count, int64_t channel, int n, T* panel) const {
    const T* g = c.y + image * c.ys.n + channel * c.ys.c;
    while (count > 0) {  // runs inside of the innermost dimension, or longer where memory is
      const int64_t k = p % c.out[2], j = p / c.out[2] % c.out[1], i = p / c.out[2] / c.out[1];
      const bool linear = (c.out[1] == 1 || c.ys.d[1] == c.out[2] * c.ys.d[2]) &&
                          (c.out[0] == 1 || c.ys.d[0] == c.out[1] * c.out[2] * c.ys.d[2]);
      const int64_t run = linear ? count : std::min(count, c.out[2] - k);
      const T* from = g + i * c.ys.d[0] + j * c.ys.d[1] + k * c.ys.d[2];
      if (c.ys.d[2] == 1) {
        kernels.pack_b(true, run, n, from, c.ys.c, panel);
      } else if (c.ys.c == 1) {
        kernels.pack_b(false, run, n, from, c.ys.d[2], panel);
      } else {
        for (int64_t q = 0; q < run; q++) {
          for (int64_t o = 0; o < kernels.nr; o++)
            panel[q * kernels.nr + o] = o < n ? from[q * c.ys.d[2] + o * c.ys.c] : T(0);
        }
      }
      p += run;
      count -= run;
      panel += run * kernels.nr;
    }
  }

  // Adds images [begin, end) of `images`, which hold images first_image and up, to the rows and columns of one task.
  void task(int64_t index, const PaddedImages<T>& images, int64_t first_image, int64_t begin, int64_t end, bool clear,
            T* sums) const {
    const int64_t group = index / (columns * row_groups.count), column = index / row_groups.count % columns;
    const int64_t row_group = index % row_groups.count;
    const int n = static_cast<int>(std::min<int64_t>(kernels.nr, outputs - column * kernels.nr));
    const Scratch<T> panel(std::min(kDepth, images_at_once * pixels) * kernels.nr);
    GatherTile<T> t{};
    t.b = panel.get();
    t.ldc = width;
    t.pair_step = order.unit == 2 ? images.s.c : 0;
    for (int64_t image = begin; image < end; image += images_at_once) {
      const int64_t several = std::min(images_at_once, end - image);
      for (int64_t p = 0; p < pixels; p += kDepth) {  // one turn if there are several images
        const int64_t count = std::min(kDepth, pixels - p);
        for (int64_t i = 0; i < several; i++) {
          pack_gradient(first_image + image + i, p, count, group * outputs + column * kernels.nr, n,
                        panel.get() + i * count * kernels.nr);
        }
        t.k = several * count;
        t.k_offsets = pixel_at.data() + p;
        t.finish.beta = clear && image == begin && p == 0 ? T(0) : T(1);
        const T* x = images.data + image * images.s.n + group * channels * images.s.c;
        for (int64_t i = 0; i < row_groups.size(row_group); i++) {
          multiply_tile(t, row_groups.begin(row_group) + i, n, x, images.s.c,
                        sums + group * order.count() * width + column * kernels.nr);
        }
      }
    }
  }

  void multiply_tile(GatherTile<T> t, int64_t tile, int n, const T* x, int64_t channel_stride, T* sums) const {
    const T* rows[16];
    const int64_t row = tiles.begin(tile) * order.unit, m = tiles.size(tile) * order.unit;
    for (int64_t r = 0; r < m; r++) {
      rows[r] = x + order.channel(row + r) * channel_stride + taps.x[static_cast<size_t>(order.tap(row + r))];
    }
    t.rows = rows;
    t.c = sums + row * width;
    kernels.gather_tile(t, static_cast<int>(m), n);
  }

  // The sums of every share, added in their order, to gw[output, channel, tap].
  void finish(T* sums, int64_t shares, T* gw) const {
    bool taps_in_row = true;
    for (int64_t t = 0; t < order.taps; t++) taps_in_row = taps_in_row && taps.w[static_cast<size_t>(t)] == t;
    const int64_t grain = std::max<int64_t>(1, 16384 / (order.taps * width));
    parallel_for(0, c.groups * channels, grain, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; task++) {
        const int64_t group = task / channels, channel = task % channels;
        T* from = sums + (group * order.count() + order.first_row(channel)) * width;
        T* to = gw + group * c.w_group + channel * c.w_c;
        const int64_t step = order.unit * width;
        for (int64_t share = 1; share < shares; share++) {
          for (int64_t t = 0; t < order.taps; t++) {
            for (int64_t o = 0; o < outputs; o++) from[t * step + o] += from[share * share_size() + t * step + o];
          }
        }
        if (taps_in_row) {
          kernels.transpose(order.taps, outputs, from, step, to, c.w_o);
          continue;
        }
        for (int64_t t = 0; t < order.taps; t++) {
          T* at = to + taps.w[static_cast<size_t>(t)];
          for (int64_t o = 0; o < outputs; o++) at[o * c.w_o] = from[t * step + o];
        }
      }
    });
  }
};

}  // namespace

template <class T> void run_weight_grad(const Correlation<T>& c, T* gw) {
  WeightGrad<T> w(c);
  const Extent<T> extent(c);
  const int64_t image_bytes =
      int64_t(sizeof(T)) * std::max<int64_t>(1, c.C * extent.size[0] * extent.size[1] * extent.size[2]);
  const int64_t images_per_turn = extent.inside ? c.N : std::clamp<int64_t>(kImageBytes / image_bytes, 1, c.N);
  // Few tiles: shares of the images sum on their own. By shape alone, or the bits would depend on the machine.
  const int64_t shares = std::clamp<int64_t>(kEnoughTasks / w.tile_tasks, 1, images_per_turn);
  Scratch<T> sums(shares * w.share_size());
  if (shares > 1) std::fill(sums.get(), sums.get() + shares * w.share_size(), T(0));
  for (int64_t image = 0; image < c.N; image += images_per_turn) {
    const int64_t count = std::min(images_per_turn, c.N - image);
    const PaddedImages<T> images = pad_images(c, extent, image, count);
    if (image == 0) w.set_strides(images.s);
    const EvenParts parts(count, (count + shares - 1) / shares);
    const double work = static_cast<double>(parts.base * w.pixels) * static_cast<double>(w.order.count() * w.width) /
                        static_cast<double>(w.columns * w.row_groups.count);
    parallel_for(0, w.tile_tasks * parts.count, gemm::units_per_chunk(work), [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; task++) {
        const int64_t share = task / w.tile_tasks;
        w.task(task % w.tile_tasks, images, image, parts.begin(share), parts.begin(share) + parts.size(share),
               shares == 1 && image == 0, sums.get() + share * w.share_size());
      }
    });
  }
  w.finish(sums.get(), shares, gw);
}

template void run_weight_grad(const Correlation<float>&, float*);
template void run_weight_grad(const Correlation<double>&, double*);

}  // namespace flambeau::conv
