// Correlations with one or few outputs per group, depthwise ones among them: rows of planes, vectors along the
// innermost dimension. With fewer outputs than lanes this beats the product of dense.cpp, whose vectors lie along the
// outputs.
#include <algorithm>

#include "../gemm/problem.h"
#include "correlation.h"
#include "flambeau/core/parallel.h"
#include "phase_planes.h"

namespace flambeau::conv {
namespace {

constexpr int64_t kMostOutputs = 4;

// One output channel of one image, from the planes of its group.
template <class T>
void write_output(const Correlation<T>& c, const PhasePlanes<T>& planes, const T* x, const TapRow<T>& taps, T bias,
                  T* y, T* row) {
  const ConvKernels<T>& kernels = conv_kernels<T>();
  const int64_t x_step = c.step[1] * planes.step[1], width = c.out[2];
  for (int64_t i = 0; i < c.out[0]; i++, y += c.ys.d[0], x += c.step[0] * planes.step[0]) {
    if (c.ys.d[2] == 1) {
      kernels.tap_rows(taps, c.out[1], width, x, x_step, bias, c.relu, y, c.ys.d[1]);
      continue;
    }
    constexpr int64_t kRows = 8;
    for (int64_t j = 0; j < c.out[1]; j += kRows) {
      const int64_t rows = std::min(kRows, c.out[1] - j);
      kernels.tap_rows(taps, rows, width, x + j * x_step, x_step, bias, c.relu, row, width);
      for (int64_t r = 0; r < rows; r++) {
        T* to = y + (j + r) * c.ys.d[1];
        for (int64_t k = 0; k < width; k++) to[k * c.ys.d[2]] = row[r * width + k];
      }
    }
  }
}

}  // namespace

template <class T> bool has_few_outputs(const Correlation<T>& c) {
  return c.O / c.groups <= kMostOutputs && c.O / c.groups <= conv_kernels<T>().lanes / 4;
}

template <class T> void run_planes(const Correlation<T>& c) {
  const PhasePlanes<T> planes(c);
  const int64_t channels = c.C / c.groups, outputs = c.O / c.groups, taps = c.num_taps(), depth = channels * taps;
  std::vector<int64_t> at, weight_at;
  for (int64_t i = 0; i < channels; i++) {
    for (size_t t = 0; t < planes.tap_at.size(); t++) {
      at.push_back(i * planes.channel_step() + planes.tap_at[t]);
      weight_at.push_back(i * c.w_c + planes.weight_at[t]);
    }
  }
  const int64_t planes_size = planes.buffer_size(channels);
  const double work = static_cast<double>(c.num_pixels() * depth * outputs) * 8 + static_cast<double>(planes_size) * 8;
  parallel_for(0, c.N * c.groups, gemm::units_per_chunk(work), [&](int64_t begin, int64_t end) {
    const gemm::Scratch<T> x(planes_size), row(c.ys.d[2] == 1 ? 0 : 8 * c.out[2]), weights(depth);
    for (int64_t task = begin; task < end; task++) {
      const int64_t image = task / c.groups, group = task % c.groups;
      const T* from = planes.fill(image, group * channels, channels, x.get());
      for (int64_t o = 0; o < outputs; o++) {
        const int64_t output = group * outputs + o;
        for (int64_t q = 0; q < depth; q++) {
          weights.get()[q] = c.w[group * c.w_group + o * c.w_o + weight_at[static_cast<size_t>(q)]];
        }
        write_output(c, planes, from, {depth, weights.get(), at.data()}, c.bias != nullptr ? c.bias[output] : T(0),
                     c.y + image * c.ys.n + output * c.ys.c, row.get());
      }
    }
  });
}

#define FL_INSTANTIATE(T)                               \
  template bool has_few_outputs(const Correlation<T>&); \
  template void run_planes(const Correlation<T>&);
FL_INSTANTIATE(float)
FL_INSTANTIATE(double)
#undef FL_INSTANTIATE

}  // namespace flambeau::conv
