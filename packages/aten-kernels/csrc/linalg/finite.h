#pragma once
/// Iterative routines can loop for ever, or crash, on infinities and NaN.
#include <cmath>
#include <complex>
#include <cstdint>

namespace flambeau::linalg {

inline bool is_finite(float x) { return std::isfinite(x); }
inline bool is_finite(double x) { return std::isfinite(x); }
template <class R> bool is_finite(std::complex<R> x) { return std::isfinite(x.real()) && std::isfinite(x.imag()); }

template <class T> bool all_finite(const T* a, int64_t n) {
  bool finite = true;
  for (int64_t i = 0; i < n; ++i) finite &= is_finite(a[i]);
  return finite;
}

}  // namespace flambeau::linalg
