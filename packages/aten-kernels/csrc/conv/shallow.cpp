#include "shallow.h"

#include <algorithm>

#include "../gemm/problem.h"
#include "flambeau/core/parallel.h"

namespace flambeau::conv {
namespace {

using gemm::EvenParts;
using gemm::Scratch;

constexpr int64_t kImageBytes = 8 << 20;  // of padded copies at a time

template <class T> struct Shallow {
  const Correlation<T>& c;
  const ConvKernels<T>& kernels = conv_kernels<T>();
  const gemm::FloatKernels<T>& tiles = gemm::float_kernels<T>();
  int64_t depth = c.C * c.num_taps();
  EvenParts rows{c.O, gemm::float_kernels<T>().mr};
  Scratch<T> weights{c.O * c.C * c.num_taps()};  // panels of `rows`
  KOrder k{};

  explicit Shallow(const Correlation<T>& correlation) : c(correlation) {}

  void pack_weights() {
    const Scratch<T> matrix(c.O * depth);
    for (int64_t o = 0; o < c.O; o++) {
      for (int64_t q = 0; q < depth; q++) matrix.get()[o * depth + q] = c.w[o * c.w_o + k.w[static_cast<size_t>(q)]];
    }
    for (int64_t i = 0; i < rows.count; i++) {
      tiles.pack_a(false, depth, static_cast<int>(rows.size(i)), matrix.get() + rows.begin(i) * depth, depth,
                   weights.get() + rows.begin(i) * depth);
    }
  }

  // Pixels [p, p + n) of one image, n <= nr.
  void panel(const T* x, const Strides& s, T* y, int64_t p, int n, T* unfolded) const {
    int64_t from[64], length[64], num_runs = 0;
    for (int64_t q = p; q < p + n; q += length[num_runs - 1]) {
      const int64_t column = q % c.out[2], row = q / c.out[2] % c.out[1], plane = q / c.out[2] / c.out[1];
      from[num_runs] = plane * c.step[0] * s.d[0] + row * c.step[1] * s.d[1] + column * c.step[2] * s.d[2];
      length[num_runs++] = std::min(p + n - q, c.out[2] - column);
    }
    kernels.fill_panel({depth, k.x.data(), num_runs, from, length, c.step[2] * s.d[2], x, unfolded});
    gemm::TileArgs<T> t{};
    t.k = depth;
    t.a_row = 1;
    t.b = unfolded;
    t.b_k = kernels.nr;
    t.ldc = c.ys.c;
    t.finish.bias_per_row = true;
    t.finish.relu = c.relu;
    for (int64_t i = 0; i < rows.count; i++) {
      const int64_t o = rows.begin(i);
      t.a = weights.get() + o * depth;
      t.a_k = rows.size(i);
      t.c = y + p + o * c.ys.c;
      t.finish.bias = c.bias != nullptr ? c.bias + o : nullptr;
      tiles.tile_packed(t, static_cast<int>(rows.size(i)), n);
    }
  }

  void images(const PaddedImages<T>& padded, int64_t first, int64_t count) const {
    const int64_t pixels = c.num_pixels(), panels = (pixels + kernels.nr - 1) / kernels.nr;
    const double work = static_cast<double>(kernels.nr * (depth + 8) * c.O);
    parallel_for(0, count * panels, gemm::units_per_chunk(work), [&](int64_t begin, int64_t end) {
      const Scratch<T> unfolded((depth + 1) * kernels.nr);
      for (int64_t task = begin; task < end; task++) {
        const int64_t image = task / panels, p = task % panels * kernels.nr;
        panel(padded.data + image * padded.s.n, padded.s, c.y + (first + image) * c.ys.n, p,
              static_cast<int>(std::min<int64_t>(kernels.nr, pixels - p)), unfolded.get());
      }
    });
  }
};

}  // namespace

template <class T> bool is_shallow(const Correlation<T>& c) {
  const bool planar = c.ys.d[2] == 1 && (c.out[1] == 1 || c.ys.d[1] == c.out[2]) &&
                      (c.out[0] == 1 || c.ys.d[0] == c.out[1] * c.out[2]) && (c.C == 1 || c.xs.c != 1);
  return c.groups == 1 && planar && c.out[2] >= 4 && 10 * c.C * c.num_taps() < 16 * c.O;
}

template <class T> void run_shallow(const Correlation<T>& c) {
  const Extent<T> extent(c);
  const int64_t image_bytes =
      std::max<int64_t>(1, c.C * extent.size[0] * extent.size[1] * extent.size[2]) * int64_t(sizeof(T));
  const int64_t at_once = extent.inside ? c.N : std::clamp<int64_t>(kImageBytes / image_bytes, 1, c.N);
  Shallow<T> shallow(c);
  for (int64_t image = 0; image < c.N; image += at_once) {
    const int64_t count = std::min(at_once, c.N - image);
    const PaddedImages<T> padded = pad_images(c, extent, image, count);
    if (image == 0) {
      shallow.k = k_order(c, padded.s, c.C);
      shallow.pack_weights();
    }
    shallow.images(padded, image, count);
  }
}

template bool is_shallow(const Correlation<float>&);
template bool is_shallow(const Correlation<double>&);
template void run_shallow(const Correlation<float>&);
template void run_shallow(const Correlation<double>&);

}  // namespace flambeau::conv
