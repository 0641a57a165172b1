#pragma once
/// Discrete Fourier transforms of one line: mixed radix for lengths of small primes, Bluestein's algorithm for others.
#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace flambeau::fft {

/// A transform of one length and direction; immutable, shared between threads. R is float or double.
template <class R>
class Transform {
 public:
  using C = std::complex<R>;
  Transform(int64_t n, bool forward);
  int64_t size() const { return n_; }
  /// How many numbers of scratch `run` wants.
  int64_t scratch_size() const { return n_ + extra_; }
  /// Transforms `line` in place, without any scaling.
  void run(C* line, C* scratch) const;

 private:
  void run_factors(C* line, C* scratch) const;
  void run_bluestein(C* line, C* scratch) const;

  int64_t n_;
  int64_t extra_ = 0;
  bool forward_;
  std::vector<int64_t> factors_;
  std::vector<C> twiddles_;     // of every stage: p - 1 a group
  std::vector<C> small_roots_;  // of every stage: exp(-+2 pi i q / p)
  std::vector<C> chirp_;        // Bluestein: exp(-+pi i k^2 / n)
  std::vector<C> kernel_;       // transform of the conjugate chirp, divided by its length
  std::unique_ptr<Transform> inner_, inner_back_;
};

/// A transform from a small cache of recent ones.
template <class R>
std::shared_ptr<const Transform<R>> cached_transform(int64_t n, bool forward);

}  // namespace flambeau::fft
