#include <algorithm>

#include "../gemm/problem.h"
#include "correlation.h"
#include "flambeau/core/parallel.h"

namespace flambeau::conv {

template <class T> Extent<T>::Extent(const Correlation<T>& c) {
  inside = true;
  for (int d = 0; d < 3; d++) {
    const auto [least, most] =
        std::minmax_element(c.taps[d].begin(), c.taps[d].end(), [](const Tap& a, const Tap& b) { return a.at < b.at; });
    low[d] = least->at;
    const int64_t high = (c.out[d] - 1) * c.step[d] + most->at;
    size[d] = high - low[d] + 1;
    inside = inside && low[d] >= 0 && high < c.in[d];
  }
}

namespace {

// Elements [begin, end) of a dimension of the padded image come from the input.
struct Range {
  int64_t begin, end;
  Range(int64_t low, int64_t size, int64_t in_size)
      : begin(std::clamp<int64_t>(-low, 0, size)), end(std::clamp<int64_t>(in_size - low, begin, size)) {}
};

// One plane of the outermost dimension, `width` values per element; `exists` is false where all of it is padding.
template <class T>
void copy_plane(const Correlation<T>& c, const Extent<T>& e, const T* in, bool exists, int64_t width, T* out,
                T* limit) {
  const ConvKernels<T>& kernels = conv_kernels<T>();
  const Range rows(e.low[1], exists ? e.size[1] : 0, c.in[1]), columns(e.low[2], e.size[2], c.in[2]);
  const int64_t row = e.size[2] * width, stride = c.xs.d[2];
  const T* from = in + (e.low[1] + rows.begin) * c.xs.d[1] + (e.low[2] + columns.begin) * stride;
  PadRows<T> p{rows.begin, row, 0, 0, 1, nullptr, 0, out, limit};
  kernels.pad_rows(p);  // zeros above
  p.rows = rows.end - rows.begin;
  p.out = out + rows.begin * row;
  if (width == 1 || stride == width) {
    p.begin = columns.begin * width;
    p.end = columns.end * width;
    p.step = width == 1 ? stride : 1;
    p.in = from;
    p.in_ld = c.xs.d[1];
    kernels.pad_rows(p);
  } else {
    kernels.pad_rows(p);
    for (int64_t i = rows.begin; i < rows.end; i++, from += c.xs.d[1]) {
      T* to = out + i * row + columns.begin * width;
      for (int64_t k = 0; k < columns.end - columns.begin; k++) std::copy_n(from + k * stride, width, to + k * width);
    }
  }
  kernels.pad_rows({e.size[1] - rows.end, row, 0, 0, 1, nullptr, 0, out + rows.end * row, limit});  // and below
}

bool is_channels_last(const Strides& s, int64_t channels) { return s.c == 1 && channels > 1; }

}  // namespace

template <class T>
PaddedImages<T> pad_images(const Correlation<T>& c, const Extent<T>& e, int64_t first, int64_t count) {
  PaddedImages<T> p;
  const T* x = c.x + first * c.xs.n;
  if (e.inside) {
    p.s = c.xs;
    p.data = x + e.low[0] * c.xs.d[0] + e.low[1] * c.xs.d[1] + e.low[2] * c.xs.d[2];
    return p;
  }
  const int64_t width = is_channels_last(c.xs, c.C) ? c.C : 1, planes = c.C / width;
  const int64_t row = e.size[2] * width, volume = e.size[0] * e.size[1] * row;
  p.copy = std::make_unique<gemm::Scratch<T>>(count * planes * volume);
  p.data = p.copy->get();
  p.s = {planes * volume, width > 1 ? 1 : volume, {e.size[1] * row, row, width}};
  T* out = p.copy->get();
  parallel_for(0, count * planes, std::max<int64_t>(1, 16384 / volume), [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; plane++) {
      const T* from = x + plane / planes * c.xs.n + plane % planes * c.xs.c;
      T* to = out + plane * volume;
      for (int64_t i = 0; i < e.size[0]; i++) {
        const int64_t at = e.low[0] + i;
        copy_plane(c, e, from + at * c.xs.d[0], at >= 0 && at < c.in[0], width, to + i * e.size[1] * row, to + volume);
      }
    }
  });
  return p;
}

template <class T> KOrder k_order(const Correlation<T>& c, const Strides& xs, int64_t channels) {
  std::vector<int64_t> tap_x, tap_w;
  const Extent<T> e(c);
  for (const Tap& a : c.taps[0]) {
    for (const Tap& b : c.taps[1]) {
      for (const Tap& d : c.taps[2]) {
        tap_x.push_back((a.at - e.low[0]) * xs.d[0] + (b.at - e.low[1]) * xs.d[1] + (d.at - e.low[2]) * xs.d[2]);
        tap_w.push_back(a.weight + b.weight + d.weight);
      }
    }
  }
  KOrder order;
  const int64_t taps = static_cast<int64_t>(tap_x.size());
  order.x.reserve(static_cast<size_t>(channels * taps));
  order.w.reserve(static_cast<size_t>(channels * taps));
  const bool channel_inside = c.w_c == 1 && taps > 1;
  const int64_t outer = channel_inside ? taps : channels, inner = channel_inside ? channels : taps;
  for (int64_t i = 0; i < outer; i++) {
    for (int64_t j = 0; j < inner; j++) {
      const int64_t channel = channel_inside ? j : i;
      const size_t tap = static_cast<size_t>(channel_inside ? i : j);
      order.x.push_back(channel * xs.c + tap_x[tap]);
      order.w.push_back(channel * c.w_c + tap_w[tap]);
    }
  }
  return order;
}

template <class T> std::vector<int64_t> pixel_offsets(const Correlation<T>& c, const Strides& xs) {
  std::vector<int64_t> at;
  at.reserve(static_cast<size_t>(c.num_pixels()));
  for (int64_t i = 0; i < c.out[0]; i++) {
    for (int64_t j = 0; j < c.out[1]; j++) {
      const int64_t row = i * c.step[0] * xs.d[0] + j * c.step[1] * xs.d[1];
      for (int64_t k = 0; k < c.out[2]; k++) at.push_back(row + k * c.step[2] * xs.d[2]);
    }
  }
  return at;
}

#define FL_INSTANTIATE(T)                                                                         \
  template struct Extent<T>;                                                                      \
  template PaddedImages<T> pad_images(const Correlation<T>&, const Extent<T>&, int64_t, int64_t); \
  template KOrder k_order(const Correlation<T>&, const Strides&, int64_t);                        \
  template std::vector<int64_t> pixel_offsets(const Correlation<T>&, const Strides&);
FL_INSTANTIATE(float)
FL_INSTANTIATE(double)
#undef FL_INSTANTIATE

}  // namespace flambeau::conv
