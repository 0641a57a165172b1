#include "depthwise_last.h"

#include <algorithm>

#include "../gemm/problem.h"
#include "flambeau/core/parallel.h"

namespace flambeau::conv {
namespace {

using gemm::EvenParts;
using gemm::Scratch;

constexpr int64_t kImageBytes = 8 << 20;  // of padded copies at a time
constexpr int64_t kChannelsPerTask = 64;  // of a weight gradient
constexpr int64_t kEnoughTasks = 16;

// Input offset and weight offset of each tap.
template <class T> KOrder tap_order(const Correlation<T>& c, const Strides& s) { return k_order(c, s, 1); }

template <class T> int64_t images_at_once(const Correlation<T>& c, const Extent<T>& e) {
  const int64_t bytes = std::max<int64_t>(1, c.C * e.size[0] * e.size[1] * e.size[2]) * int64_t(sizeof(T));
  return e.inside ? c.N : std::clamp<int64_t>(kImageBytes / bytes, 1, c.N);
}

}  // namespace

template <class T> bool is_depthwise_last(const Correlation<T>& c) {
  return c.C == c.groups && c.O == c.groups && c.C >= conv_kernels<T>().lanes / 2 && c.xs.c == 1 && c.ys.c == 1;
}

template <class T> void run_depthwise_last(const Correlation<T>& c) {
  const ConvKernels<T>& kernels = conv_kernels<T>();
  const Extent<T> extent(c);
  const int64_t taps = c.num_taps(), at_once = images_at_once(c, extent), rows = c.out[0] * c.out[1];
  const Scratch<T> weights(taps * c.C);  // [tap][channel]
  KOrder order;
  for (int64_t image = 0; image < c.N; image += at_once) {
    const int64_t count = std::min(at_once, c.N - image);
    const PaddedImages<T> images = pad_images(c, extent, image, count);
    if (image == 0) {
      order = tap_order(c, images.s);
      for (int64_t t = 0; t < taps; t++) {
        for (int64_t i = 0; i < c.C; i++)
          weights.get()[t * c.C + i] = c.w[i * c.w_group + order.w[static_cast<size_t>(t)]];
      }
    }
    const double work = static_cast<double>(c.out[2] * c.C * taps) * 8;
    parallel_for(0, count * rows, gemm::units_per_chunk(work), [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; task++) {
        const int64_t n = task / rows, i = task % rows / c.out[1], j = task % c.out[1];
        const T* x = images.data + n * images.s.n + i * c.step[0] * images.s.d[0] + j * c.step[1] * images.s.d[1];
        T* y = c.y + (image + n) * c.ys.n + i * c.ys.d[0] + j * c.ys.d[1];
        for (int64_t k = 0; k < c.out[2]; k++) {
          kernels.tap_channels(taps, order.x.data(), c.C, x + k * c.step[2] * images.s.d[2], weights.get(), c.C, c.bias,
                               c.relu, y + k * c.ys.d[2]);
        }
      }
    });
  }
}

template <class T> void run_depthwise_last_weight_grad(const Correlation<T>& c, T* gw) {
  const ConvKernels<T>& kernels = conv_kernels<T>();
  const Extent<T> extent(c);
  const int64_t taps = c.num_taps(), at_once = images_at_once(c, extent), rows = c.out[0] * c.out[1];
  const int64_t channel_tasks = (c.C + kChannelsPerTask - 1) / kChannelsPerTask;
  const int64_t shares = std::clamp<int64_t>(kEnoughTasks / channel_tasks, 1, at_once);  // by shape alone
  const Scratch<T> sums(shares * taps * c.C);
  std::fill(sums.get(), sums.get() + shares * taps * c.C, T(0));
  KOrder order;
  for (int64_t image = 0; image < c.N; image += at_once) {
    const int64_t count = std::min(at_once, c.N - image);
    const PaddedImages<T> images = pad_images(c, extent, image, count);
    if (image == 0) order = tap_order(c, images.s);
    const EvenParts parts(count, (count + shares - 1) / shares);
    parallel_for(0, channel_tasks * parts.count, 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; task++) {
        const int64_t share = task / channel_tasks, channel = task % channel_tasks * kChannelsPerTask;
        T* to = sums.get() + share * taps * c.C + channel;
        for (int64_t n = parts.begin(share); n < parts.begin(share) + parts.size(share); n++) {
          for (int64_t row = 0; row < rows; row++) {
            const int64_t i = row / c.out[1], j = row % c.out[1];
            kernels.tap_channels_grad(
                taps, order.x.data(), c.out[2], std::min(kChannelsPerTask, c.C - channel),
                images.data + n * images.s.n + i * c.step[0] * images.s.d[0] + j * c.step[1] * images.s.d[1] + channel,
                c.step[2] * images.s.d[2], c.y + (image + n) * c.ys.n + i * c.ys.d[0] + j * c.ys.d[1] + channel,
                c.ys.d[2], to, c.C);
          }
        }
      }
    });
  }
  for (int64_t t = 0; t < taps; t++) {
    for (int64_t i = 0; i < c.C; i++) {
      T sum = sums.get()[t * c.C + i];
      for (int64_t share = 1; share < shares; share++) sum += sums.get()[(share * taps + t) * c.C + i];
      gw[i * c.w_group + order.w[static_cast<size_t>(t)]] = sum;
    }
  }
}

#define FL_INSTANTIATE(T)                                  \
  template bool is_depthwise_last(const Correlation<T>&);  \
  template void run_depthwise_last(const Correlation<T>&); \
  template void run_depthwise_last_weight_grad(const Correlation<T>&, T*);
FL_INSTANTIATE(float)
FL_INSTANTIATE(double)
#undef FL_INSTANTIATE

}  // namespace flambeau::conv
