// One channel of one image, padded, with its innermost dimension split by phase: outputs that are neighbours read
// inputs that are neighbours, whatever the step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "correlation.h"

namespace flambeau::conv {

template <class T>
class PhasePlanes {
 public:
  std::vector<int64_t> tap_at, weight_at;
  int64_t step[2];  // elements between neighbours in the outer two dimensions

  explicit PhasePlanes(const Correlation<T>& c) : c_(c), e_(c), phases_(c.step[2]) {
    run_ = (e_.size[2] + phases_ - 1) / phases_;
    const bool direct = e_.inside && c.step[2] == 1 && c.xs.d[2] == 1;
    in_place_ = direct;
    step[1] = direct ? c.xs.d[1] : run_ * phases_;
    step[0] = direct ? c.xs.d[0] : e_.size[1] * step[1];
    for (const Tap& a : c.taps[0]) {
      for (const Tap& b : c.taps[1]) {
        for (const Tap& d : c.taps[2]) {
          const int64_t w = d.at - e_.low[2];
          const int64_t inner = direct ? w : w % phases_ * run_ + w / phases_;
          tap_at.push_back((a.at - e_.low[0]) * step[0] + (b.at - e_.low[1]) * step[1] + inner);
          weight_at.push_back(a.weight + b.weight + d.weight);
        }
      }
    }
  }

  int64_t plane_size() const { return in_place_ ? 0 : e_.size[0] * e_.size[1] * run_ * phases_; }

  // The plane of one channel: in place, or built in `plane`.
  const T* fill(int64_t image, int64_t channel, T* plane) const {
    const T* x = c_.x + image * c_.xs.n + channel * c_.xs.c;
    if (in_place_) return x + e_.low[0] * c_.xs.d[0] + e_.low[1] * c_.xs.d[1] + e_.low[2];
    T* out = plane;
    const int64_t row = run_ * phases_;
    for (int64_t i = 0; i < e_.size[0]; i++) {
      for (int64_t j = 0; j < e_.size[1]; j++, out += row) {
        const int64_t a = i + e_.low[0], b = j + e_.low[1];
        if (a < 0 || a >= c_.in[0] || b < 0 || b >= c_.in[1]) {
          std::fill(out, out + row, T(0));
        } else {
          fill_row(x + a * c_.xs.d[0] + b * c_.xs.d[1], out);
        }
      }
    }
    return plane;
  }

 private:
  void fill_row(const T* x, T* out) const {
    const int64_t stride = c_.xs.d[2];
    for (int64_t phase = 0; phase < phases_; phase++, out += run_) {
      const int64_t low = e_.low[2] + phase;  // element q is x[low + q * phases]
      const int64_t begin = std::clamp<int64_t>(low < 0 ? (-low + phases_ - 1) / phases_ : 0, 0, run_);
      const int64_t end = std::clamp<int64_t>((c_.in[2] - low + phases_ - 1) / phases_, begin, run_);
      std::fill(out, out + begin, T(0));
      std::fill(out + end, out + run_, T(0));
      const T* from = x + low * stride;
      if (phases_ * stride == 1) {
        std::copy(from + begin, from + end, out + begin);
      } else {
        for (int64_t q = begin; q < end; q++) out[q] = from[q * phases_ * stride];
      }
    }
  }

  const Correlation<T>& c_;
  Extent<T> e_;
  int64_t phases_, run_;
  bool in_place_;
};

}  // namespace flambeau::conv
