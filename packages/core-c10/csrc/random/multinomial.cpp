#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "draws.h"
#include "flambeau/core/error.h"
#include "flambeau/core/random.h"

// With replacement: inverse of the cumulative distribution, one double uniform per sample. Without, and for a single
// sample: the categories with the largest weight / exponential (Efraimidis and Spirakis), which draws for every
// category.

namespace flambeau::random {

namespace {

// Cumulative sums are kept in the weights' type, 16-bit floats' in f32: rounding decides which category a number hits.
template <class T> using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class T> Sum<T> checked_sum(const T* weights, std::int64_t categories, Sum<T>* cumulative) {
  Sum<T> sum = 0;
  for (std::int64_t i = 0; i < categories; ++i) {
    const Sum<T> w = weights[i];
    FL_CHECK(w >= 0 && std::isfinite(w),
             "[multinomial] probability tensor contains either `inf`, `nan` or element < 0: got ", w, " for category ",
             i);
    sum += w;
    if (cumulative != nullptr) cumulative[i] = sum;
  }
  FL_CHECK(sum > 0, "[multinomial] invalid multinomial distribution (sum of probabilities <= 0): got ", sum, " over ",
           categories, " categories");
  return sum;
}

template <class T>
void sample_with_replacement(GeneratorImpl& gen, std::int64_t* out, const T* weights, std::int64_t rows,
                             std::int64_t categories, std::int64_t num_samples) {
  std::vector<Sum<T>> cumulative(static_cast<std::size_t>(categories));
  const std::lock_guard lock(gen.mutex());
  for (std::int64_t row = 0; row < rows; ++row) {
    const Sum<T> sum = checked_sum(weights + row * categories, categories, cumulative.data());
    for (Sum<T>& c : cumulative) c /= sum;
    cumulative.back() = 1;
    for (std::int64_t i = 0; i < num_samples; ++i) {
      const double u = unit_double(gen.random64());
      const auto hit = std::lower_bound(cumulative.begin(), cumulative.end(), u);
      out[row * num_samples + i] = hit - cumulative.begin();
    }
  }
}

template <class T>
void sample_largest(GeneratorImpl& gen, std::int64_t* out, const T* weights, std::int64_t rows, std::int64_t categories,
                    std::int64_t num_samples) {
  const auto total = static_cast<std::size_t>(rows * categories);
  for (std::int64_t row = 0; row < rows; ++row) checked_sum<T>(weights + row * categories, categories, nullptr);
  std::vector<T> races(total);
  exponential(gen, races.data(), rows * categories, 1);
  for (std::size_t i = 0; i < total; ++i)
    races[i] = static_cast<T>(static_cast<Sum<T>>(weights[i]) / static_cast<Sum<T>>(races[i]));

  std::vector<std::int64_t> order(static_cast<std::size_t>(categories));
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* race = races.data() + row * categories;
    const auto before = [race](std::int64_t a, std::int64_t b) {
      const Sum<T> x = race[a], y = race[b];
      return x != y ? x > y : a < b;
    };
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::partial_sort(order.begin(), order.begin() + num_samples, order.end(), before);
    std::copy_n(order.begin(), num_samples, out + row * num_samples);
  }
}

}  // namespace

template <class T>
void multinomial(GeneratorImpl& gen, std::int64_t* out, const T* weights, std::int64_t rows, std::int64_t categories,
                 std::int64_t num_samples, bool replacement) {
  if (rows == 0 || num_samples == 0) return;
  if (replacement && num_samples > 1) {
    sample_with_replacement(gen, out, weights, rows, categories, num_samples);
  } else {
    sample_largest(gen, out, weights, rows, categories, num_samples);
  }
}

#define FL_INSTANTIATE(T)                                                                                  \
  template FL_API void multinomial<T>(GeneratorImpl&, std::int64_t*, const T*, std::int64_t, std::int64_t, \
                                      std::int64_t, bool);
FL_FOR_FLOATS(FL_INSTANTIATE)

}  // namespace flambeau::random
