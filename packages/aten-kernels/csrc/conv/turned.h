// Small depthwise planes hold less than a vector per row: they go faster with the channels of a pixel side by side,
// even with the turning there and back.
#pragma once

#include "../gemm/scratch.h"
#include "conv.h"
#include "conv_kernels.h"
#include "flambeau/core/parallel.h"

namespace flambeau::conv {

constexpr int64_t kSmallWidth = 28;  // measured: wider rows fill the vectors

inline bool are_planes(const Strides& s, const int64_t (&size)[3]) {
  return s.d[2] == 1 && (size[1] == 1 || s.d[1] == size[2]) && (size[0] == 1 || s.d[0] == size[1] * size[2]);
}

template <class T> bool prefers_turning(const ConvShape& s, const Strides& xs, const Strides& ys) {
  return s.Cin == s.groups && s.Cout == s.groups && s.Cin >= conv_kernels<T>().lanes && s.out[2] <= kSmallWidth &&
         s.in[2] <= 2 * kSmallWidth && are_planes(xs, s.in) && are_planes(ys, s.out);
}

// N images of C planes, [N, C, pixels], held as [N, pixels, C].
template <class T> class Turned {
 public:
  Turned(int64_t N, int64_t C, const int64_t (&size)[3])
      : N_(N),
        C_(C),
        pixels_(size[0] * size[1] * size[2]),
        copy_(N * C * pixels_),
        strides_{C * pixels_, 1, {size[1] * size[2] * C, size[2] * C, C}} {}

  const Strides& strides() const { return strides_; }
  T* data() const { return copy_.get(); }

  void read(const T* planes, const Strides& s) const {
    each_image([&](int64_t n) {
      conv_kernels<T>().transpose(C_, pixels_, planes + n * s.n, s.c, copy_.get() + n * C_ * pixels_, C_);
    });
  }
  void write(T* planes, const Strides& s) const {
    each_image([&](int64_t n) {
      conv_kernels<T>().transpose(pixels_, C_, copy_.get() + n * C_ * pixels_, C_, planes + n * s.n, s.c);
    });
  }

 private:
  template <class F> void each_image(F&& f) const {
    const int64_t size = C_ * pixels_;
    parallel_for(0, N_, size > 32768 ? 1 : 32768 / (size + 1) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; n++) f(n);
    });
  }

  int64_t N_, C_, pixels_;
  gemm::Scratch<T> copy_;
  Strides strides_;
};

}  // namespace flambeau::conv
