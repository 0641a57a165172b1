// Correlations that mix channels: a matrix product [pixels, channels * taps] x [channels * taps, output channels] whose
// left operand is read in place. Nothing is unfolded: a tile knows one pointer per pixel and one offset per k.
#include <algorithm>

#include "../gemm/problem.h"
#include "correlation.h"
#include "flambeau/core/parallel.h"

namespace flambeau::conv {
namespace {

using gemm::EvenParts;
using gemm::Scratch;

constexpr int64_t kPixels = 224;          // per task: 16 tiles of 14 rows share each panel of weights
constexpr int64_t kDepth = 512;           // per block of channels * taps
constexpr int64_t kOutputs = 256;         // output channels per task
constexpr int64_t kImageBytes = 8 << 20;  // padded copies are made for so many bytes of images at a time

template <class T> void pack_weights(const Correlation<T>& c, const KOrder& k, int64_t block, Scratch<T>& panels) {
  const ConvKernels<T>& kernels = conv_kernels<T>();
  const int64_t per_group = c.O / c.groups, columns = (per_group + kernels.nr - 1) / kernels.nr;
  const int64_t depth = static_cast<int64_t>(k.w.size());
  parallel_for(0, c.groups * columns, std::max<int64_t>(1, 32768 / (depth * kernels.nr)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t task = begin; task < end; task++) {
                   const int64_t group = task / columns, column = task % columns * kernels.nr;
                   const int n = static_cast<int>(std::min<int64_t>(kernels.nr, per_group - column));
                   const T* w = c.w + group * c.w_group + column * c.w_o;
                   for (int64_t k0 = 0; k0 < depth; k0 += block) {
                     const int64_t k1 = std::min(depth, k0 + block);
                     // A panel of the block that starts at k0; blocks follow each other, each `columns` panels of each
                     // group.
                     T* out = panels.get() + k0 * c.groups * columns * kernels.nr + task * (k1 - k0) * kernels.nr;
                     for (int64_t q = k0; q < k1;) {
                       int64_t run = 1;
                       while (q + run < k1 && k.w[q + run] == k.w[q] + run) run++;
                       if (c.w_o == 1) {
                         kernels.pack_b(false, 1, n, w + k.w[q], 1, out + (q - k0) * kernels.nr);
                         run = 1;
                       } else if (run >= 4) {
                         kernels.pack_b(true, run, n, w + k.w[q], c.w_o, out + (q - k0) * kernels.nr);
                       } else {
                         T* o = out + (q - k0) * kernels.nr;
                         for (int64_t j = 0; j < kernels.nr; j++) o[j] = j < n ? w[j * c.w_o + k.w[q]] : T(0);
                         run = 1;
                       }
                       q += run;
                     }
                   }
                 }
               });
}

// Whether pixel p of the run of all images lies at y + p * ys.d[2], with the output channels side by side.
template <class T> bool writes_rows(const Correlation<T>& c) {
  const int64_t s = c.ys.d[2];
  return c.ys.c == 1 && (c.out[1] == 1 || c.ys.d[1] == c.out[2] * s) &&
         (c.out[0] == 1 || c.ys.d[0] == c.out[1] * c.out[2] * s) && (c.N == 1 || c.ys.n == c.num_pixels() * s);
}

template <class T> bool writes_planes(const Correlation<T>& c) {
  return c.ys.d[2] == 1 && (c.out[1] == 1 || c.ys.d[1] == c.out[2]) &&
         (c.out[0] == 1 || c.ys.d[0] == c.out[1] * c.out[2]);
}

// Sums of `count` pixels from pixel `first` on (over all images), [count, outputs], to where they belong.
template <class T>
void scatter(const Correlation<T>& c, int64_t first, int64_t count, int64_t output, int64_t outputs, const T* sums) {
  const int64_t pixels = c.num_pixels();
  const bool planes = writes_planes(c);
  while (count > 0) {
    const int64_t image = first / pixels, p = first % pixels, run = std::min(count, pixels - p);
    T* y = c.y + image * c.ys.n + output * c.ys.c;
    if (planes) {
      conv_kernels<T>().transpose(run, outputs, sums, outputs, y + p, c.ys.c);
    } else {
      for (int64_t i = 0; i < run; i++) {
        const int64_t q = p + i;
        T* at =
            y + q / (c.out[1] * c.out[2]) * c.ys.d[0] + q / c.out[2] % c.out[1] * c.ys.d[1] + q % c.out[2] * c.ys.d[2];
        for (int64_t j = 0; j < outputs; j++) at[j * c.ys.c] = sums[i * outputs + j];
      }
    }
    first += run;
    count -= run;
    sums += run * outputs;
  }
}

template <class T> struct DensePlan {
  const Correlation<T>& c;
  const ConvKernels<T>& kernels;
  const KOrder& k;
  const T* panels;
  int64_t block;  // of k
  const PaddedImages<T>& images;
  const std::vector<int64_t>& pixel_at;
  int64_t first_image;
  bool in_rows;
  int64_t unit;  // pixels that stay together: 2 if tiles read them in pairs

  // Pixels [first, first + count) of these images, output channels [output, output + outputs) of one group.
  void task(int64_t first, int64_t count, int64_t group, int64_t output, int64_t outputs) const {
    const int64_t per_image = c.num_pixels(), per_group = c.O / c.groups, group_channels = c.C / c.groups;
    const T* rows[kPixels];
    for (int64_t i = 0; i < count; i++) {
      const int64_t image = (first + i) / per_image, p = (first + i) % per_image;
      rows[i] =
          images.data + image * images.s.n + group * group_channels * images.s.c + pixel_at[static_cast<size_t>(p)];
    }
    const int64_t channel = group * per_group + output, pixel = first_image * per_image + first;
    const Scratch<T> sums(in_rows ? 0 : count * outputs);
    GatherTile<T> t{};
    T* const target = in_rows ? c.y + pixel * c.ys.d[2] + channel : sums.get();
    t.ldc = in_rows ? c.ys.d[2] : outputs;
    const int64_t depth = static_cast<int64_t>(k.x.size());
    const int64_t columns = (per_group + kernels.nr - 1) / kernels.nr;
    const EvenParts tiles(count / unit, kernels.mr / unit);
    if (unit == 2) t.pair_step = c.step[2] * images.s.d[2];
    for (int64_t k0 = 0; k0 < depth; k0 += block) {
      const bool last = k0 + block >= depth;
      t.k = std::min(block, depth - k0);
      t.k_offsets = k.x.data() + k0;
      t.finish.beta = k0 == 0 ? T(0) : T(1);
      t.finish.relu = last && c.relu;
      const T* group_panels = panels + k0 * c.groups * columns * kernels.nr + group * columns * t.k * kernels.nr;
      for (int64_t j = 0; j < outputs; j += kernels.nr) {
        t.b = group_panels + (output + j) * t.k;
        t.finish.bias = last && c.bias != nullptr ? c.bias + channel + j : nullptr;
        const int n = static_cast<int>(std::min<int64_t>(kernels.nr, outputs - j));
        for (int64_t i = 0; i < tiles.count; i++) {
          t.rows = rows + tiles.begin(i) * unit;
          t.c = target + tiles.begin(i) * unit * t.ldc + j;
          kernels.gather_tile(t, static_cast<int>(tiles.size(i) * unit), n);
        }
      }
    }
    if (!in_rows) scatter(c, pixel, count, channel, outputs, sums.get());
  }
};

}  // namespace

template <class T> void run_dense(const Correlation<T>& c) {
  const ConvKernels<T>& kernels = conv_kernels<T>();
  const Extent<T> extent(c);
  const int64_t image_bytes =
      std::max<int64_t>(1, c.C * extent.size[0] * extent.size[1] * extent.size[2]) * int64_t(sizeof(T));
  const int64_t group_of_images = extent.inside ? c.N : std::clamp<int64_t>(kImageBytes / image_bytes, 1, c.N);
  const int64_t per_group = c.O / c.groups, columns = (per_group + kernels.nr - 1) / kernels.nr;
  const int64_t depth = c.C / c.groups * c.num_taps();
  const int64_t blocks = (depth + kDepth - 1) / kDepth, block = (depth + blocks - 1) / blocks;
  const int64_t unit = c.out[2] % 2 == 0 && c.step[2] * c.xs.d[2] != 0 ? 2 : 1;
  Scratch<T> panels(c.groups * columns * kernels.nr * depth);
  KOrder k;
  std::vector<int64_t> pixel_at;
  for (int64_t image = 0; image < c.N; image += group_of_images) {
    const int64_t count = std::min(group_of_images, c.N - image);
    const PaddedImages<T> images = pad_images(c, extent, image, count);
    if (image == 0) {  // every group of images has the same strides
      k = k_order(c, images.s, c.C / c.groups);
      pixel_at = pixel_offsets(c, images.s);
      pack_weights(c, k, block, panels);
    }
    const DensePlan<T> plan{c, kernels, k, panels.get(), block, images, pixel_at, image, writes_rows(c), unit};
    const int64_t pixels = count * c.num_pixels();
    // Few pixels: more tasks from narrower ranges of output channels.
    int64_t width = gemm::round_up(std::min(kOutputs, per_group), kernels.nr);
    const EvenParts parts(pixels / unit, kPixels / unit);
    while (width > 2 * kernels.nr && parts.count * c.groups * ((per_group + width - 1) / width) < 8) {
      width = gemm::round_up(width / 2, kernels.nr);
    }
    const int64_t widths = (per_group + width - 1) / width;
    const double work = static_cast<double>((parts.base + 1) * unit) * static_cast<double>(std::min(width, per_group)) *
                        static_cast<double>(depth);
    parallel_for(0, parts.count * c.groups * widths, gemm::units_per_chunk(work), [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; task++) {
        const int64_t part = task / (c.groups * widths), group = task / widths % c.groups,
                      output = task % widths * width;
        plan.task(parts.begin(part) * unit, parts.size(part) * unit, group, output,
                  std::min(width, per_group - output));
      }
    });
  }
}

template void run_dense(const Correlation<float>&);
template void run_dense(const Correlation<double>&);

}  // namespace flambeau::conv
