// Binomial numbers: waiting times by inversion for few expected successes, Hormann's transformed rejection (BTRS) for
// many.
#include <cmath>
#include <mutex>

#include "flambeau/core/views.h"
#include "random/draw.h"

namespace flambeau {

namespace {

double uniform(GeneratorImpl& g) { return static_cast<double>(g.random64() & ((uint64_t{1} << 53) - 1)) * 0x1p-53; }

// Failures before each success are geometric: count those that fit into n trials.
double binomial_few(double n, double p, GeneratorImpl& g) {
  const double log_failure = std::log1p(-p);
  double trials = 0;
  for (double successes = 0;; ++successes) {
    trials += std::ceil(std::log(uniform(g)) / log_failure);
    if (trials > n) return successes;
  }
}

// log(k!) less Stirling's formula for it.
double stirling_rest(double k) {
  constexpr double small[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
                              0.0166446911898211,  0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
                              0.00925546218271273, 0.00833056343336287};
  if (k <= 9) return small[static_cast<int>(k)];
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

double binomial_many(double n, double p, GeneratorImpl& g) {
  const double spread = std::sqrt(n * p * (1 - p)), b = 1.15 + 2.53 * spread, a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double center = n * p + 0.5, accept = 0.92 - 4.2 / b, odds = p / (1 - p), alpha = (2.83 + 5.1 / b) * spread;
  const double mode = std::floor((n + 1) * p);
  for (;;) {
    const double u = uniform(g) - 0.5, v = uniform(g), margin = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / margin + b) * u + center);
    if (margin >= 0.07 && v <= accept) return k;
    if (k < 0 || k > n) continue;
    const double bound = (mode + 0.5) * std::log((mode + 1) / (odds * (n - mode + 1))) +
                         (n + 1) * std::log((n - mode + 1) / (n - k + 1)) +
                         (k + 0.5) * std::log(odds * (n - k + 1) / (k + 1)) + stirling_rest(mode) +
                         stirling_rest(n - mode) - stirling_rest(k) - stirling_rest(n - k);
    if (std::log(v * alpha / (a / (margin * margin) + b)) <= bound) return k;
  }
}

double binomial(double n, double p, GeneratorImpl& g) {
  if (n <= 0 || p <= 0) return 0;
  if (p >= 1) return n;
  if (p > 0.5) return n - binomial(n, 1 - p, g);
  return n * p >= 10 ? binomial_many(n, p, g) : binomial_few(n, p, g);
}

template <class T> void draw_binomial(T* out, const T* counts, const T* probs, int64_t n, GeneratorImpl& g) {
  for (int64_t i = 0; i < n; ++i) {
    FL_CHECK(std::isfinite(counts[i]), "[binomial] count must be finite, got ", double(counts[i]), " at element ", i);
    FL_CHECK(!std::isnan(probs[i]), "[binomial] prob must be a number, got NaN at element ", i);
  }
  const std::lock_guard lock(g.mutex());
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(binomial(counts[i], probs[i], g));
}

}  // namespace

Tensor binomial_op(const Tensor& count, const Tensor& prob, GeneratorImpl* generator) {
  FL_CHECK_VALUE(is_floating(count.dtype()),
                 "binomial only supports floating-point dtypes for count, got: ", dtype_name(count.dtype()));
  FL_CHECK_VALUE(is_floating(prob.dtype()),
                 "binomial only supports floating-point dtypes for prob, got: ", dtype_name(prob.dtype()));
  FL_CHECK(count.dtype() == prob.dtype(), "[binomial] count and prob must have one dtype, got ",
           dtype_name(count.dtype()), " and ", dtype_name(prob.dtype()));
  const std::vector<int64_t> shape = broadcast_shapes(count.sizes(), prob.sizes(), "binomial");
  const Tensor n = contiguous(expand(count, shape)), p = contiguous(expand(prob, shape));
  Tensor out = empty(shape, count.options());
  GeneratorImpl& g = generator_or_default(generator);
  switch (count.dtype()) {
    case DType::Float32:
      draw_binomial(out.data_as<float>(), n.data_as<float>(), p.data_as<float>(), out.numel(), g);
      break;
    case DType::Float64:
      draw_binomial(out.data_as<double>(), n.data_as<double>(), p.data_as<double>(), out.numel(), g);
      break;
    default: FL_CHECK_NOT_IMPLEMENTED(false, "\"binomial_cpu\" not implemented for '", dtype_name(count.dtype()), "'");
  }
  return out;
}

}  // namespace flambeau
