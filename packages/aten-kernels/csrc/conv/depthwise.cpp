// One input and one output channel per group: rows of one plane, vectors along the innermost dimension.
#include <algorithm>

#include "../gemm/problem.h"
#include "correlation.h"
#include "flambeau/core/parallel.h"
#include "phase_planes.h"

namespace flambeau::conv {

template <class T>
void run_depthwise(const Correlation<T>& c) {
  const ConvKernels<T>& kernels = conv_kernels<T>();
  const PhasePlanes<T> planes(c);
  const int64_t taps = c.num_taps(), width = c.out[2];
  const bool in_place = c.ys.d[2] == 1;
  const double work = static_cast<double>(c.num_pixels() * taps) * 8 + static_cast<double>(planes.plane_size()) * 8;
  parallel_for(0, c.N * c.C, gemm::units_per_chunk(work), [&](int64_t begin, int64_t end) {
    gemm::Scratch<T> plane(planes.plane_size()), row(in_place ? 0 : width), weights(taps);
    for (int64_t task = begin; task < end; task++) {
      const int64_t image = task / c.C, channel = task % c.C;
      const T* x = planes.fill(image, channel, plane.get());
      for (int64_t t = 0; t < taps; t++) weights.get()[t] = c.w[channel * c.w_group + planes.weight_at[static_cast<size_t>(t)]];
      const TapRow<T> tap_row{taps, weights.get(), planes.tap_at.data()};
      const T bias = c.bias != nullptr ? c.bias[channel] : T(0);
      T* y = c.y + image * c.ys.n + channel * c.ys.c;
      for (int64_t i = 0; i < c.out[0]; i++) {
        const T* from = x + i * c.step[0] * planes.step[0];
        T* to = y + i * c.ys.d[0];
        if (in_place) {
          kernels.tap_rows(tap_row, c.out[1], width, from, c.step[1] * planes.step[1], bias, c.relu, to, c.ys.d[1]);
          continue;
        }
        for (int64_t j = 0; j < c.out[1]; j++) {
          kernels.tap_rows(tap_row, 1, width, from + j * c.step[1] * planes.step[1], 0, bias, c.relu, row.get(), 0);
          for (int64_t k = 0; k < width; k++) to[j * c.ys.d[1] + k * c.ys.d[2]] = row.get()[k];
        }
      }
    }
  });
}

template void run_depthwise(const Correlation<float>&);
template void run_depthwise(const Correlation<double>&);

}  // namespace flambeau::conv
