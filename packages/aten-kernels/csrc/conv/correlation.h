// What forward, both gradients and every phase of a strided gradient have in common: outputs on a grid, each a sum over
// taps of inputs at (position * step + tap).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "../gemm/scratch.h"
#include "conv.h"
#include "conv_kernels.h"

namespace flambeau::conv {

struct Tap {
  int64_t at;      // input position relative to output position * step
  int64_t weight;  // element offset in the weights
};

template <class T> struct Correlation {
  int64_t N, C, O, groups;
  const T* x;
  Strides xs;
  int64_t in[3];
  T* y;
  Strides ys;
  int64_t out[3];
  int64_t step[3];
  std::vector<Tap> taps[3];  // per dimension
  const T* w;
  int64_t w_o, w_c, w_group;  // strides of output channel, input channel (both within a group) and group
  const T* bias;
  bool relu;

  int64_t num_taps() const { return static_cast<int64_t>(taps[0].size() * taps[1].size() * taps[2].size()); }
  int64_t num_pixels() const { return out[0] * out[1] * out[2]; }
};

// Images that can be read at every position a correlation asks for: the input itself, or a copy with zeros around it.
// Position (p0, p1, p2) * step + tap of channel c in image n is data[n * s.n + c * s.c + sum(position * s.d) ].
template <class T> struct PaddedImages {
  std::unique_ptr<gemm::Scratch<T>> copy;
  const T* data;
  Strides s;
};

template <class T> struct Extent {  // of positions touched, per dimension
  int64_t low[3], size[3];
  bool inside;
  explicit Extent(const Correlation<T>& c);
};

// Images [first, first + count).
template <class T>
PaddedImages<T> pad_images(const Correlation<T>& c, const Extent<T>& e, int64_t first, int64_t count);

// One step through (channel, taps): where the input element lies and where its weight.
struct KOrder {
  std::vector<int64_t> x, w;
};
// Follows the order the weights have in memory.
template <class T> KOrder k_order(const Correlation<T>& c, const Strides& xs, int64_t channels);

template <class T> void run_dense(const Correlation<T>& c);
template <class T> bool has_few_outputs(const Correlation<T>& c);  // per group
template <class T> void run_planes(const Correlation<T>& c);

// Input offset of each output pixel of one image.
template <class T> std::vector<int64_t> pixel_offsets(const Correlation<T>& c, const Strides& xs);

}  // namespace flambeau::conv
