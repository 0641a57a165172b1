// Weight gradients where a group has few outputs: dot products of planes, vectors along the innermost dimension.
#include <algorithm>

#include "../gemm/problem.h"
#include "flambeau/core/parallel.h"
#include "phase_planes.h"
#include "weight_grad.h"

namespace flambeau::conv {
namespace {

// The gradient of one output channel of one image with its rows in a row: in place, or copied to `copy`.
template <class T> const T* gradient_plane(const Correlation<T>& c, int64_t image, int64_t output, T* copy) {
  const T* g = c.y + image * c.ys.n + output * c.ys.c;
  if (c.ys.d[2] == 1) return g;
  for (int64_t i = 0; i < c.out[0]; i++) {
    T* out = copy + i * c.out[1] * c.out[2];
    conv_kernels<T>().pad_rows(
        {c.out[1], c.out[2], 0, c.out[2], c.ys.d[2], g + i * c.ys.d[0], c.ys.d[1], out, copy + c.num_pixels()});
  }
  return copy;
}

}  // namespace

template <class T> void run_planes_weight_grad(const Correlation<T>& c, T* gw) {
  const ConvKernels<T>& kernels = conv_kernels<T>();
  const PhasePlanes<T> planes(c);
  const int64_t channels = c.C / c.groups, outputs = c.O / c.groups, taps = c.num_taps();
  const bool in_place = c.ys.d[2] == 1;
  const int64_t g_step[2] = {in_place ? c.ys.d[0] : c.out[1] * c.out[2], in_place ? c.ys.d[1] : c.out[2]};
  const double work = static_cast<double>(c.N * c.num_pixels() * taps * outputs) * 8;
  parallel_for(0, c.C, gemm::units_per_chunk(work), [&](int64_t begin, int64_t end) {
    const gemm::Scratch<T> plane(planes.buffer_size(1)), copy(in_place ? 0 : c.num_pixels()), sums(outputs * taps);
    for (int64_t channel = begin; channel < end; channel++) {
      const int64_t group = channel / channels;
      std::fill(sums.get(), sums.get() + outputs * taps, T(0));
      for (int64_t image = 0; image < c.N; image++) {
        const T* x = planes.fill(image, channel, 1, plane.get());
        for (int64_t o = 0; o < outputs; o++) {
          const T* g = gradient_plane(c, image, group * outputs + o, copy.get());
          for (int64_t i = 0; i < c.out[0]; i++) {
            kernels.tap_dots(taps, planes.tap_at.data(), c.out[1], c.out[2], x + i * c.step[0] * planes.step[0],
                             c.step[1] * planes.step[1], g + i * g_step[0], g_step[1], sums.get() + o * taps);
          }
        }
      }
      for (int64_t o = 0; o < outputs; o++) {
        T* to = gw + group * c.w_group + o * c.w_o + channel % channels * c.w_c;
        for (int64_t t = 0; t < taps; t++) to[planes.weight_at[static_cast<size_t>(t)]] = sums.get()[o * taps + t];
      }
    }
  });
}

template void run_planes_weight_grad(const Correlation<float>&, float*);
template void run_planes_weight_grad(const Correlation<double>&, double*);

}  // namespace flambeau::conv
