// Poisson numbers: products of uniform numbers for small rates, Hormann's transformed rejection (PTRS) for large ones.
#include <cmath>
#include <mutex>

#include "random/draw.h"

namespace flambeau {

namespace {

double uniform(GeneratorImpl& g) { return static_cast<double>(g.random64() & ((uint64_t{1} << 53) - 1)) * 0x1p-53; }

double poisson_small(double rate, GeneratorImpl& g) {
  const double floor = std::exp(-rate);
  double product = 1;
  for (int64_t k = 0;; ++k) {
    product *= uniform(g);
    if (product <= floor) return static_cast<double>(k);
  }
}

double poisson_large(double rate, GeneratorImpl& g) {
  const double log_rate = std::log(rate), b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), accept = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = uniform(g) - 0.5, v = uniform(g), margin = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / margin + b) * u + rate + 0.43);
    if (margin >= 0.07 && v <= accept) return k;
    if (k < 0 || (margin < 0.013 && v > margin)) continue;
    if (std::log(v) + std::log(inverse_alpha) - std::log(a / (margin * margin) + b) <=
        -rate + k * log_rate - std::lgamma(k + 1))
      return k;
  }
}

template <class T> T from_double(double v) {
  if constexpr (sizeof(T) == 2)
    return T(static_cast<float>(v));
  else
    return static_cast<T>(v);
}

template <class T> void draw_poisson(T* out, const T* rates, int64_t n, GeneratorImpl& g) {
  const std::lock_guard lock(g.mutex());
  for (int64_t i = 0; i < n; ++i) {
    const double rate = static_cast<double>(rates[i]);
    out[i] = from_double<T>(rate == 0 ? 0 : rate >= 10 ? poisson_large(rate, g) : poisson_small(rate, g));
  }
}

template <class T> void check_rates(const T* rates, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const double rate = static_cast<double>(rates[i]);
    FL_CHECK(rate >= 0 && std::isfinite(rate), "invalid Poisson rate, expected rate to be non-negative, got ", rate);
  }
}

}  // namespace

Tensor poisson_op(const Tensor& self, GeneratorImpl* generator) {
  const Tensor rates = contiguous(self);
  Tensor out = empty(self.sizes(), self.options());
  const auto draw = [&] {
    FL_DISPATCH_FLOAT(self.dtype(), "poisson_cpu", {
      check_rates(rates.data_as<scalar_t>(), rates.numel());
      draw_poisson(out.data_as<scalar_t>(), rates.data_as<scalar_t>(), rates.numel(), generator_or_default(generator));
    });
  };
  draw();
  return out;
}

}  // namespace flambeau
