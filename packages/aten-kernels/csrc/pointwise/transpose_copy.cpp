#include "pointwise/transpose_copy.h"

#include <algorithm>

#include "flambeau/core/parallel.h"
#include "flambeau/core/python_hook.h"

namespace flambeau {

namespace {

constexpr int64_t kTile = 16;

/// A matrix that is contiguous along its rows in dst and along its columns in src, and the dims around it.
struct Plan {
  int64_t rows, cols;          // rows: the dim with stride 1 in src; cols: the one with stride 1 in dst
  int64_t dst_step, src_step;  // of dst along rows, of src along cols, in elements
  std::vector<int64_t> sizes, dst_strides, src_strides;  // of the other dims
};

// The dim of stride 1 that has more than one element, or -1.
int64_t unit_dim(const Tensor& t) {
  for (int64_t d = t.dim(); d-- > 0;)
    if (t.strides()[d] == 1 && t.sizes()[d] > 1) return d;
  return -1;
}

bool make_plan(const Tensor& dst, const Tensor& src, Plan& p) {
  if (dst.dim() < 2 || !(dst.sizes() == src.sizes())) return false;
  const int64_t c = unit_dim(dst), r = unit_dim(src);
  if (c < 0 || r < 0 || c == r || dst.sizes()[c] < kTile || dst.sizes()[r] < kTile) return false;
  p.rows = dst.sizes()[r];
  p.cols = dst.sizes()[c];
  p.dst_step = dst.strides()[r];
  p.src_step = src.strides()[c];
  for (int64_t d = 0; d < dst.dim(); ++d) {
    if (d == r || d == c || dst.sizes()[d] == 1) continue;
    p.sizes.push_back(dst.sizes()[d]);
    p.dst_strides.push_back(dst.strides()[d]);
    p.src_strides.push_back(src.strides()[d]);
  }
  return true;
}

template <class T> void copy_strip(T* dst, const T* src, const Plan& p, int64_t row, int64_t height) {
  T tile[kTile][kTile];
  for (int64_t col = 0; col < p.cols; col += kTile) {
    const int64_t width = std::min(kTile, p.cols - col);
    for (int64_t j = 0; j < width; ++j) {
      const T* from = src + row + (col + j) * p.src_step;
      for (int64_t i = 0; i < height; ++i) tile[j][i] = from[i];
    }
    for (int64_t i = 0; i < height; ++i) {
      T* to = dst + (row + i) * p.dst_step + col;
      for (int64_t j = 0; j < width; ++j) to[j] = tile[j][i];
    }
  }
}

template <class T> void run(T* dst, const T* src, const Plan& p) {
  int64_t outer = 1;
  for (const int64_t s : p.sizes) outer *= s;
  const int64_t strips = (p.rows + kTile - 1) / kTile;
  parallel_for(0, outer * strips, std::max<int64_t>(1, 32768 / (p.cols * kTile)), [&](int64_t b, int64_t e) {
    for (int64_t k = b; k < e; ++k) {
      int64_t rest = k / strips, at = 0, from = 0;
      for (size_t d = p.sizes.size(); d-- > 0;) {
        at += rest % p.sizes[d] * p.dst_strides[d];
        from += rest % p.sizes[d] * p.src_strides[d];
        rest /= p.sizes[d];
      }
      const int64_t row = k % strips * kTile;
      copy_strip(dst + at, src + from, p, row, std::min(kTile, p.rows - row));
    }
  });
}

}  // namespace

bool copy_transposed(const Tensor& dst, const Tensor& src) {
  Plan p;
  if (dst.numel() < 4096 || !make_plan(dst, src, p)) return false;
  ReleaseInterpreter long_work(dst.numel() > 1 << 16);
  switch (dst.itemsize()) {
    case 1: run(dst.data_as<uint8_t>(), src.data_as<uint8_t>(), p); return true;
    case 2: run(dst.data_as<uint16_t>(), src.data_as<uint16_t>(), p); return true;
    case 4: run(dst.data_as<uint32_t>(), src.data_as<uint32_t>(), p); return true;
    case 8: run(dst.data_as<uint64_t>(), src.data_as<uint64_t>(), p); return true;
    default: return false;
  }
}

}  // namespace flambeau
