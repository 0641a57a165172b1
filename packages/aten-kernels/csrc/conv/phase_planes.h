// Padded planes with their innermost dimension split by phase: outputs that are neighbours read inputs that are
// neighbours, whatever the step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "correlation.h"

namespace flambeau::conv {

template <class T> class PhasePlanes {
 public:
  std::vector<int64_t> tap_at, weight_at;  // per tap of one channel
  int64_t step[2];                         // elements between neighbours in the outer two dimensions

  explicit PhasePlanes(const Correlation<T>& c) : c_(c), e_(c), phases_(c.step[2]) {
    run_ = (e_.size[2] + phases_ - 1) / phases_;
    in_place_ = e_.inside && c.step[2] == 1 && c.xs.d[2] == 1;
    step[1] = in_place_ ? c.xs.d[1] : run_;
    step[0] = in_place_ ? c.xs.d[0] : e_.size[1] * step[1];
    for (const Tap& a : c.taps[0]) {
      for (const Tap& b : c.taps[1]) {
        for (const Tap& d : c.taps[2]) {
          const int64_t w = d.at - e_.low[2];
          const int64_t inner = in_place_ ? w : w % phases_ * phase_size() + w / phases_;
          tap_at.push_back((a.at - e_.low[0]) * step[0] + (b.at - e_.low[1]) * step[1] + inner);
          weight_at.push_back(a.weight + b.weight + d.weight);
        }
      }
    }
  }

  // Elements that `planes` of fill() has to have. Rows are written as whole vectors: what reaches past a plane is
  // written again, being part of the next one, or slack.
  int64_t buffer_size(int64_t channels) const { return in_place_ ? 0 : channels * plane_size() + kSlack; }

  int64_t plane_size() const { return phase_size() * phases_; }
  int64_t channel_step() const { return in_place_ ? c_.xs.c : plane_size(); }

  // The planes of channels [channel, channel + count): in place, or built in `planes`.
  const T* fill(int64_t image, int64_t channel, int64_t count, T* planes) const {
    const T* x = c_.x + image * c_.xs.n + channel * c_.xs.c;
    if (in_place_) return x + e_.low[0] * c_.xs.d[0] + e_.low[1] * c_.xs.d[1] + e_.low[2];
    std::fill(planes, planes + count * plane_size(), T(0));
    for (int64_t i = 0; i < count; i++) fill_plane(x + i * c_.xs.c, planes + i * plane_size());
    return planes;
  }

 private:
  static constexpr int64_t kSlack = 16;

  // Elements [begin, end) of a dimension of the plane that exist in the input, `every` apart from `low` on.
  struct Range {
    int64_t begin, end;
    Range(int64_t low, int64_t every, int64_t size, int64_t in_size) {
      begin = std::clamp<int64_t>(low < 0 ? (-low + every - 1) / every : 0, 0, size);
      end = std::clamp<int64_t>((in_size - low + every - 1) / every, begin, size);
    }
    int64_t size() const { return end - begin; }
  };

  // The plane is all zeros before. Each phase is a plane of its own, [size 0][size 1][run].
  void fill_plane(const T* x, T* out) const {
    const Range outer(e_.low[0], 1, e_.size[0], c_.in[0]), rows(e_.low[1], 1, e_.size[1], c_.in[1]);
    for (int64_t phase = 0; phase < phases_; phase++, out += phase_size()) {
      const int64_t low = e_.low[2] + phase, stride = c_.xs.d[2];
      const Range columns(low, phases_, run_, c_.in[2]);
      for (int64_t i = outer.begin; i < outer.end; i++) {
        const T* from = x + (e_.low[0] + i) * c_.xs.d[0] + (e_.low[1] + rows.begin) * c_.xs.d[1];
        kernels_.pad_rows({rows.size(), run_, columns.begin, columns.end, phases_ * stride,
                           from + (low + columns.begin * phases_) * stride, c_.xs.d[1],
                           out + (i * e_.size[1] + rows.begin) * run_, out + phase_size() + kSlack});
      }
    }
  }

  int64_t phase_size() const { return e_.size[0] * e_.size[1] * run_; }

  const ConvKernels<T>& kernels_ = conv_kernels<T>();
  const Correlation<T>& c_;
  Extent<T> e_;
  int64_t phases_, run_;
  bool in_place_;
};

}  // namespace flambeau::conv
