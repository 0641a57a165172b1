// gw^T[(channel, tap), output] = sum over pixels of x at (pixel, channel, tap) * gy[pixel, output]: the dense product with
// pixels as the summed dimension. Rows are (channel, tap) pointers, k offsets are pixels; x is read in place.
#include "weight_grad.h"

#include <algorithm>

#include "../gemm/problem.h"
#include "flambeau/core/parallel.h"
#include "phase_planes.h"

namespace flambeau::conv {
namespace {

using gemm::EvenParts;
using gemm::Scratch;

constexpr int64_t kDepth = 512;           // pixels per block
constexpr int64_t kImageBytes = 8 << 20;  // of padded input at a time
constexpr int64_t kRowsPerTask = 168;
constexpr int64_t kEnoughTasks = 16;

// gy of images [first, first + count) as panels [image][output panel][pixel][nr].
template <class T>
void pack_gradient(const Correlation<T>& c, int64_t first, int64_t count, T* panels) {
  const ConvKernels<T>& kernels = conv_kernels<T>();
  const int64_t per_group = c.O / c.groups, columns = (per_group + kernels.nr - 1) / kernels.nr, pixels = c.num_pixels();
  const bool planes = c.ys.d[2] == 1 && (c.out[1] == 1 || c.ys.d[1] == c.out[2]) && (c.out[0] == 1 || c.ys.d[0] == c.out[1] * c.out[2]);
  const int64_t tasks = count * c.groups * columns;
  parallel_for(0, tasks, std::max<int64_t>(1, 32768 / (pixels * kernels.nr)), [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; task++) {
      const int64_t image = task / (c.groups * columns), group = task / columns % c.groups, column = task % columns * kernels.nr;
      const int n = static_cast<int>(std::min<int64_t>(kernels.nr, per_group - column));
      const T* g = c.y + (first + image) * c.ys.n + (group * per_group + column) * c.ys.c;
      T* out = panels + task * pixels * kernels.nr;
      if (planes) {
        kernels.pack_b(true, pixels, n, g, c.ys.c, out);
        continue;
      }
      for (int64_t i = 0; i < c.out[0]; i++) {
        for (int64_t j = 0; j < c.out[1]; j++) {
          const T* row = g + i * c.ys.d[0] + j * c.ys.d[1];
          if (c.ys.c == 1) {
            kernels.pack_b(false, c.out[2], n, row, c.ys.d[2], out);
            out += c.out[2] * kernels.nr;
            continue;
          }
          for (int64_t k = 0; k < c.out[2]; k++, out += kernels.nr) {
            for (int64_t q = 0; q < kernels.nr; q++) out[q] = q < n ? row[k * c.ys.d[2] + q * c.ys.c] : T(0);
          }
        }
      }
    }
  });
}

}  // namespace

template <class T>
void run_weight_grad(const Correlation<T>& c, T* gw) {
  const ConvKernels<T>& kernels = conv_kernels<T>();
  const Extent<T> extent(c);
  const int64_t per_group = c.O / c.groups, columns = (per_group + kernels.nr - 1) / kernels.nr, width = columns * kernels.nr;
  const int64_t channels = c.C / c.groups, depth = channels * c.num_taps(), pixels = c.num_pixels();
  const int64_t image_bytes = int64_t(sizeof(T)) * std::max<int64_t>(1, c.C * extent.size[0] * extent.size[1] * extent.size[2]);
  const int64_t group_of_images = std::clamp<int64_t>(kImageBytes / image_bytes, 1, c.N);
  const EvenParts tiles(depth, kernels.mr);
  const EvenParts row_groups(tiles.count, std::max<int64_t>(1, kRowsPerTask / kernels.mr));
  const int64_t tile_tasks = c.groups * columns * row_groups.count;
  // Few tiles: shares of the images sum on their own. By shape alone, or the bits would depend on the machine.
  const int64_t shares = std::clamp<int64_t>(kEnoughTasks / tile_tasks, 1, group_of_images);
  const int64_t share_size = c.groups * depth * width;
  Scratch<T> sums(shares * share_size), panels(group_of_images * c.groups * columns * pixels * kernels.nr);
  std::fill(sums.get(), sums.get() + shares * share_size, T(0));
  KOrder k;
  std::vector<int64_t> pixel_at;
  for (int64_t image = 0; image < c.N; image += group_of_images) {
    const int64_t count = std::min(group_of_images, c.N - image);
    const PaddedImages<T> images = pad_images(c, extent, image, count);
    if (image == 0) {
      k = k_order(c, images.s, channels);
      pixel_at = pixel_offsets(c, images.s);
    }
    pack_gradient(c, image, count, panels.get());
    const EvenParts share_images(count, (count + shares - 1) / shares);
    parallel_for(0, tile_tasks * share_images.count, 1, [&](int64_t begin, int64_t end) {
      std::vector<const T*> rows(static_cast<size_t>(tiles.base + 1) * 16);
      for (int64_t task = begin; task < end; task++) {
        const int64_t share = task / tile_tasks, group = task / (columns * row_groups.count) % c.groups;
        const int64_t column = task / row_groups.count % columns, row_group = task % row_groups.count;
        const int n = static_cast<int>(std::min<int64_t>(kernels.nr, per_group - column * kernels.nr));
        GatherTile<T> t{};
        t.ldc = width;
        t.finish.beta = 1;
        for (int64_t i = share_images.begin(share); i < share_images.begin(share) + share_images.size(share); i++) {
          const T* x = images.data + i * images.s.n + group * channels * images.s.c;
          const T* panel = panels.get() + ((i * c.groups + group) * columns + column) * pixels * kernels.nr;
          for (int64_t p = 0; p < pixels; p += kDepth) {
            t.k = std::min(kDepth, pixels - p);
            t.k_offsets = pixel_at.data() + p;
            t.b = panel + p * kernels.nr;
            for (int64_t tile = row_groups.begin(row_group); tile < row_groups.begin(row_group) + row_groups.size(row_group); tile++) {
              const int64_t row = tiles.begin(tile), m = tiles.size(tile);
              for (int64_t r = 0; r < m; r++) rows[static_cast<size_t>(r)] = x + k.x[static_cast<size_t>(row + r)];
              t.rows = rows.data();
              t.c = sums.get() + share * share_size + (group * depth + row) * width + column * kernels.nr;
              kernels.gather_tile(t, static_cast<int>(m), n);
            }
          }
        }
      }
    });
  }
  for (int64_t share = 1; share < shares; share++) {
    for (int64_t i = 0; i < share_size; i++) sums.get()[i] += sums.get()[share * share_size + i];
  }
  bool in_order = true;  // gw of one output is [depth] as it is summed here
  for (int64_t i = 0; i < depth; i++) in_order = in_order && k.w[static_cast<size_t>(i)] == i;
  for (int64_t group = 0; group < c.groups; group++) {
    const T* from = sums.get() + group * depth * width;
    T* to = gw + group * c.w_group;
    if (in_order) {
      kernels.transpose(depth, per_group, from, width, to, c.w_o);
      continue;
    }
    for (int64_t i = 0; i < depth; i++) {
      for (int64_t j = 0; j < per_group; j++) to[j * c.w_o + k.w[static_cast<size_t>(i)]] = from[i * width + j];
    }
  }
}

template <class T>
void run_depthwise_weight_grad(const Correlation<T>& c, T* gw) {
  const ConvKernels<T>& kernels = conv_kernels<T>();
  const PhasePlanes<T> planes(c);
  const int64_t taps = c.num_taps();
  const bool in_place = c.ys.d[2] == 1;
  const double work = static_cast<double>(c.N * c.num_pixels() * taps) * 8;
  parallel_for(0, c.C, gemm::units_per_chunk(work), [&](int64_t begin, int64_t end) {
    Scratch<T> plane(planes.plane_size()), gradient(in_place ? 0 : c.out[1] * c.out[2]), sums(taps);
    for (int64_t channel = begin; channel < end; channel++) {
      std::fill(sums.get(), sums.get() + taps, T(0));
      for (int64_t image = 0; image < c.N; image++) {
        const T* x = planes.fill(image, channel, plane.get());
        for (int64_t i = 0; i < c.out[0]; i++) {
          const T* g = c.y + image * c.ys.n + channel * c.ys.c + i * c.ys.d[0];
          int64_t g_step = c.ys.d[1];
          if (!in_place) {
            for (int64_t j = 0; j < c.out[1]; j++) {
              for (int64_t q = 0; q < c.out[2]; q++) gradient.get()[j * c.out[2] + q] = g[j * c.ys.d[1] + q * c.ys.d[2]];
            }
            g = gradient.get();
            g_step = c.out[2];
          }
          kernels.tap_dots(taps, planes.tap_at.data(), c.out[1], c.out[2], x + i * c.step[0] * planes.step[0],
                           c.step[1] * planes.step[1], g, g_step, sums.get());
        }
      }
      for (int64_t t = 0; t < taps; t++) gw[channel * c.w_group + planes.weight_at[static_cast<size_t>(t)]] = sums.get()[t];
    }
  });
}

template void run_weight_grad(const Correlation<float>&, float*);
template void run_weight_grad(const Correlation<double>&, double*);
template void run_depthwise_weight_grad(const Correlation<float>&, float*);
template void run_depthwise_weight_grad(const Correlation<double>&, double*);

}  // namespace flambeau::conv
