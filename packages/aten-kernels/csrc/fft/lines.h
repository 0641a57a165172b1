#pragma once
/// Transforms of many lines side by side, so that every operation is a whole vector whatever the length.
/// Element k of line v lies at [k * kWidth + v]; real and imaginary parts have arrays of their own.
#include <complex>
#include <cstdint>
#include <vector>

namespace flambeau::fft {

template <class R> inline constexpr int64_t kWidth = 64 / static_cast<int64_t>(sizeof(R));

inline constexpr int64_t kLargestFactor = 31;  // a prime p costs p operations an element; beyond, Bluestein is quicker

/// What the stages of a mixed-radix transform need.
template <class R> struct Stages {
  int64_t n = 0;
  bool forward = true;
  std::vector<int64_t> factors;
  std::vector<std::complex<R>> twiddles;     // of every stage: p - 1 a group
  std::vector<std::complex<R>> small_roots;  // of every stage: exp(-+2 pi i q / p)
};

template <class R> struct SplitLines {
  R* re;
  R* im;
};

/// Runs the stages on kWidth lines. Returns where the result is: `data` or `scratch`.
template <class R>
using LineKernel = SplitLines<R> (*)(const Stages<R>& stages, SplitLines<R> data, SplitLines<R> scratch);

/// The kernel of this processor's instruction set.
template <class R> LineKernel<R> line_kernel();

}  // namespace flambeau::fft
