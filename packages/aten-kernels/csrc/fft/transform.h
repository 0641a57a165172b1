#pragma once
/// Discrete Fourier transforms of one length: mixed radix for lengths of small primes, Bluestein's algorithm for
/// others. They work on kWidth lines side by side; see lines.h.
#include <memory>

#include "fft/lines.h"

namespace flambeau::fft {

/// A transform of one length and direction; immutable, shared between threads. R is float or double.
template <class R> class Transform {
 public:
  using C = std::complex<R>;
  Transform(int64_t n, bool forward);
  int64_t size() const { return stages_.n; }
  /// How many rows of kWidth numbers `run` wants as scratch, for each of the two parts.
  int64_t scratch_rows() const { return stages_.n + extra_; }
  /// Transforms the lines without any scaling. Returns where the result is: `data` or a part of `scratch`.
  SplitLines<R> run(SplitLines<R> data, SplitLines<R> scratch) const;

 private:
  SplitLines<R> run_bluestein(SplitLines<R> data, SplitLines<R> scratch) const;

  Stages<R> stages_;
  int64_t extra_ = 0;
  std::vector<C> chirp_;   // Bluestein: exp(-+pi i k^2 / n)
  std::vector<C> kernel_;  // transform of the conjugate chirp, divided by its length
  std::unique_ptr<Transform> inner_, inner_back_;
};

/// A transform from a small cache of recent ones.
template <class R> std::shared_ptr<const Transform<R>> cached_transform(int64_t n, bool forward);

}  // namespace flambeau::fft
