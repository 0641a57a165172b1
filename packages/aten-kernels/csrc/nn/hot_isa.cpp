// One copy per instruction set; see hot.h.
#include "nn/hot.h"

#include <limits>

#include "math/vm.h"

namespace flambeau::nn {
namespace FL_ISA {

namespace {

constexpr int kLanes = 16;
constexpr int kWide = 64;
constexpr int64_t kColumns = 64;  // columns that are summed side by side

template <class T> T low() { return -std::numeric_limits<T>::infinity(); }

template <class T> double total(const T (&lanes)[kLanes]) {
  double sum = 0;
  for (const T v : lanes) sum += static_cast<double>(v);
  return sum;
}

// Wide lanes are folded in T first, then added up like the others.
template <class T> double total(T (&lanes)[kWide]) {
  for (int width = kWide / 2; width >= 8; width /= 2)
    for (int j = 0; j < width; ++j) lanes[j] += lanes[j + width];
  double sum = 0;
  for (int j = 0; j < 8; ++j) sum += static_cast<double>(lanes[j]);
  return sum;
}

template <class T> T largest(const T* x, int64_t n) {
  T lanes[kLanes];
  for (T& v : lanes) v = low<T>();
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int j = 0; j < kLanes; ++j) lanes[j] = x[i + j] > lanes[j] ? x[i + j] : lanes[j];
  T best = low<T>();
  for (; i < n; ++i) best = x[i] > best ? x[i] : best;
  for (const T v : lanes) best = v > best ? v : best;
  return best;
}

// e^x for x <= 0 or NaN; results below the normal range become zero. Terms of sums do not need more.
FL_VM float exp_term(float x) {
  constexpr float kLow = -87.3f;
  const float c = x < kLow ? kLow : x;
  const auto e = vm::detail::exp_reduce(c);
  const float y =
      vm::fma_(vm::detail::expm1_poly(e.r), vm::detail::pow2_bits(e.shifted), vm::detail::pow2_bits(e.shifted));
  return x < kLow ? 0.0f : y;
}
FL_VM double exp_term(double x) { return vm::exp(x); }

template <class T> T exp_shifted(const T* x, T scale, T shift, T* y, int64_t n) {
  T lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int j = 0; j < kLanes; ++j) {
      const T e = exp_term(x[i + j] * scale - shift);
      y[i + j] = e;
      lanes[j] += e;
    }
  for (int j = 0; i < n; ++i, ++j) {
    const T e = exp_term(x[i] * scale - shift);
    y[i] = e;
    lanes[j] += e;
  }
  return static_cast<T>(total(lanes));
}

// Sum of exp(x - shift) without keeping the terms.
template <class T> T exp_sum(const T* x, T shift, int64_t n) {
  T lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int j = 0; j < kLanes; ++j) lanes[j] += exp_term(x[i + j] - shift);
  for (int j = 0; i < n; ++i, ++j) lanes[j] += exp_term(x[i] - shift);
  return static_cast<T>(total(lanes));
}

template <class T> void softmax_rows(bool log, const T* x, T* y, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const T top = largest(x, n);
    if (log) {
      const T shift = vm::log(exp_sum(x, top, n));
      for (int64_t i = 0; i < n; ++i) y[i] = x[i] - top - shift;
    } else {
      const T sum = exp_shifted(x, T(1), top, y, n);
      const T share = 1 / sum;
      for (int64_t i = 0; i < n; ++i) y[i] = y[i] * share;
    }
  }
}

template <class T> void softmax_columns(bool log, const T* x, T* y, int64_t n, int64_t width, int64_t stride) {
  T top[kColumns], sum[kColumns];
  for (int64_t at = 0; at < width; at += kColumns) {
    const int64_t w = width - at < kColumns ? width - at : kColumns;
    const T* from = x + at;
    T* to = y + at;
    for (int64_t j = 0; j < w; ++j) top[j] = low<T>(), sum[j] = 0;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < w; ++j) top[j] = from[i * stride + j] > top[j] ? from[i * stride + j] : top[j];
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < w; ++j) {
        const T e = exp_term(from[i * stride + j] - top[j]);
        if (!log) to[i * stride + j] = e;
        sum[j] += e;
      }
    if (log) {
      for (int64_t j = 0; j < w; ++j) sum[j] = vm::log(sum[j]);
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < w; ++j) to[i * stride + j] = from[i * stride + j] - top[j] - sum[j];
    } else {
      for (int64_t j = 0; j < w; ++j) sum[j] = 1 / sum[j];
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < w; ++j) to[i * stride + j] = to[i * stride + j] * sum[j];
    }
  }
}

template <class T> void softmax_grad_rows(bool log, const T* g, const T* y, T* gx, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r, g += n, y += n, gx += n) {
    T lanes[kLanes] = {};
    int64_t i = 0;
    if (log) {
      for (; i + kLanes <= n; i += kLanes)
        for (int j = 0; j < kLanes; ++j) lanes[j] += g[i + j];
      for (int j = 0; i < n; ++i, ++j) lanes[j] += g[i];
      const T sum = static_cast<T>(total(lanes));
      for (i = 0; i < n; ++i) gx[i] = g[i] - vm::exp(y[i]) * sum;
    } else {
      for (; i + kLanes <= n; i += kLanes)
        for (int j = 0; j < kLanes; ++j) lanes[j] += g[i + j] * y[i + j];
      for (int j = 0; i < n; ++i, ++j) lanes[j] += g[i] * y[i];
      const T sum = static_cast<T>(total(lanes));
      for (i = 0; i < n; ++i) gx[i] = (g[i] - sum) * y[i];
    }
  }
}

template <class T>
void softmax_grad_columns(bool log, const T* g, const T* y, T* gx, int64_t n, int64_t width, int64_t stride) {
  T sum[kColumns];
  for (int64_t at = 0; at < width; at += kColumns) {
    const int64_t w = width - at < kColumns ? width - at : kColumns;
    for (int64_t j = 0; j < w; ++j) sum[j] = 0;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t k = i * stride + at;
      for (int64_t j = 0; j < w; ++j) sum[j] += log ? g[k + j] : g[k + j] * y[k + j];
    }
    for (int64_t i = 0; i < n; ++i) {
      const int64_t k = i * stride + at;
      if (log)
        for (int64_t j = 0; j < w; ++j) gx[k + j] = g[k + j] - vm::exp(y[k + j]) * sum[j];
      else
        for (int64_t j = 0; j < w; ++j) gx[k + j] = (g[k + j] - sum[j]) * y[k + j];
    }
  }
}

// Sum of f(k) over k in [0, n) into kWide lanes: enough of them that additions do not wait for each other.
#define FL_LANES(lanes, n, expression)     \
  do {                                     \
    int64_t i = 0;                         \
    for (; i + kWide <= (n); i += kWide)   \
      for (int j = 0; j < kWide; ++j) {    \
        const int64_t k = i + j;           \
        (lanes)[j] += (expression);        \
      }                                    \
    for (; i + kLanes <= (n); i += kLanes) \
      for (int j = 0; j < kLanes; ++j) {   \
        const int64_t k = i + j;           \
        (lanes)[j] += (expression);        \
      }                                    \
    for (int j = 0; i < (n); ++i, ++j) {   \
      const int64_t k = i;                 \
      (lanes)[j] += (expression);          \
    }                                      \
  } while (false)

template <class T> void moments(const T* x, int64_t rows, int64_t n, int64_t stride, double* mean, double* squares) {
  const double count = static_cast<double>(rows) * static_cast<double>(n);
  double sum = 0;
  for (int64_t r = 0; r < rows; ++r) {
    const T* row = x + r * stride;
    T lanes[kWide] = {};
    FL_LANES(lanes, n, row[k]);
    sum += total(lanes);
  }
  *mean = sum / count;
  const T centre = static_cast<T>(*mean);
  double distance = 0, drift = 0;
  for (int64_t r = 0; r < rows; ++r) {
    const T* row = x + r * stride;
    T lanes[kWide] = {};
    FL_LANES(lanes, n, (row[k] - centre) * (row[k] - centre));
    distance += total(lanes);
  }
  drift = *mean - static_cast<double>(centre);  // what rounding the mean to T moved every term by
  *squares = distance - drift * drift * count;
  if (*squares < 0) *squares = 0;
}

template <class T>
void column_moments(const T* x, int64_t rows, int64_t width, int64_t stride, double* mean, double* squares) {
  T centre[kColumns];
  for (int64_t at = 0; at < width; at += kColumns) {
    const int64_t w = width - at < kColumns ? width - at : kColumns;
    for (int64_t j = 0; j < w; ++j) mean[at + j] = 0, squares[at + j] = 0;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t j = 0; j < w; ++j) mean[at + j] += static_cast<double>(x[r * stride + at + j]);
    for (int64_t j = 0; j < w; ++j) mean[at + j] /= static_cast<double>(rows), centre[j] = static_cast<T>(mean[at + j]);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t j = 0; j < w; ++j) {
        const T d = x[r * stride + at + j] - centre[j];
        squares[at + j] += static_cast<double>(d * d);
      }
  }
}

template <class T> double sum_squares(const T* x, int64_t n) {
  T lanes[kWide] = {};
  FL_LANES(lanes, n, x[k] * x[k]);
  return total(lanes);
}

template <class T>
void gradient_sums(const T* g, const T* x, T mean, int64_t rows, int64_t n, int64_t stride, double* sum,
                   double* product) {
  *sum = 0, *product = 0;
  for (int64_t r = 0; r < rows; ++r, g += stride, x += stride) {
    T a[kWide] = {}, b[kWide] = {};
    FL_LANES(a, n, g[k]);
    FL_LANES(b, n, g[k] * (x[k] - mean));
    *sum += total(a);
    *product += total(b);
  }
}

template <class T>
void column_gradient_sums(const T* g, const T* x, const T* mean, int64_t rows, int64_t width, int64_t stride,
                          double* sum, double* product) {
  for (int64_t j = 0; j < width; ++j) sum[j] = 0, product[j] = 0;
  for (int64_t r = 0; r < rows; ++r, g += stride, x += stride)
    for (int64_t j = 0; j < width; ++j) {
      sum[j] += static_cast<double>(g[j]);
      product[j] += static_cast<double>(g[j] * (x[j] - mean[j]));
    }
}

template <class T> void scale_shift(const T* x, T a, T b, T* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = vm::fma_(x[i], a, b);
}
template <class T> void scale_shift_each(const T* x, const T* a, const T* b, T* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = vm::fma_(x[i], a[i], b[i]);
}
template <class T> void combine(const T* g, const T* x, T a, T b, T c, T* gx, int64_t n) {
  for (int64_t i = 0; i < n; ++i) gx[i] = vm::fma_(g[i], a, vm::fma_(x[i], b, c));
}
template <class T> void combine_each(const T* g, const T* x, const T* a, const T* b, const T* c, T* gx, int64_t n) {
  for (int64_t i = 0; i < n; ++i) gx[i] = vm::fma_(g[i], a[i], vm::fma_(x[i], b[i], c[i]));
}

template <class T> void normalise(const T* x, T mean, T rstd, const T* w, const T* b, T* y, int64_t n) {
  if (w && b)
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * rstd * w[i] + b[i];
  else if (w)
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * rstd * w[i];
  else if (b)
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * rstd + b[i];
  else
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * rstd;
}

template <class T>
void weighted_sums(const T* g, const T* x, const T* w, T mean, T rstd, int64_t n, double* sum, double* product) {
  T a[kWide] = {}, b[kWide] = {};
  if (w) {
    FL_LANES(a, n, g[k] * w[k]);
    FL_LANES(b, n, g[k] * w[k] * ((x[k] - mean) * rstd));
  } else {
    FL_LANES(a, n, g[k]);
    FL_LANES(b, n, g[k] * ((x[k] - mean) * rstd));
  }
  *sum = total(a);
  *product = total(b);
}

template <class T> void normalise_grad(const T* g, const T* x, const T* w, T mean, T rstd, T a, T b, T* gx, int64_t n) {
  if (w)
    for (int64_t i = 0; i < n; ++i) gx[i] = (g[i] * w[i] - a - (x[i] - mean) * rstd * b) * rstd;
  else
    for (int64_t i = 0; i < n; ++i) gx[i] = (g[i] - a - (x[i] - mean) * rstd * b) * rstd;
}

template <class T> void add_parameter_grads(const T* g, const T* x, T mean, T rstd, T* gw, T* gb, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    gw[i] += g[i] * ((x[i] - mean) * rstd);
    gb[i] += g[i];
  }
}

// Bits of a number and of positions, chosen without branches.
template <class T> using Position = typename HotKernels<T>::Position;

template <class T> FL_VM void keep_larger(T value, Position<T> place, T& best, Position<T>& at) {
  const bool take = (value > best) | (value != value);  // a NaN wins over everything
  best = take ? value : best;
  at = take ? place : at;
}

template <class T>
void max_each(const T* __restrict x, Position<T> place, T* __restrict best, Position<T>* __restrict at, int64_t n) {
  for (int64_t i = 0; i < n; ++i) keep_larger(x[i], place, best[i], at[i]);
}

template <class T>
void max_windows(const T* __restrict x, const Position<T>* __restrict first, int64_t windows,
                 const Position<T>* __restrict taps, int64_t num_taps, T* __restrict best, int64_t* __restrict at) {
  constexpr int64_t kBlock = 32;
  T top[kBlock];
  Position<T> where[kBlock];
  for (int64_t b = 0; b < windows; b += kBlock) {
    const int64_t n = windows - b < kBlock ? windows - b : kBlock;
    for (int64_t i = 0; i < n; ++i) top[i] = low<T>(), where[i] = first[b + i] + taps[0];
    for (int64_t t = 0; t < num_taps; ++t)
      for (int64_t i = 0; i < n; ++i) {
        const Position<T> place = first[b + i] + taps[t];
        keep_larger(x[place], place, top[i], where[i]);
      }
    for (int64_t i = 0; i < n; ++i) best[b + i] = top[i], at[b + i] = where[i];
  }
}

template <class T> constexpr HotKernels<T> table() {
  return {softmax_rows<T>,
          softmax_columns<T>,
          softmax_grad_rows<T>,
          softmax_grad_columns<T>,
          moments<T>,
          column_moments<T>,
          sum_squares<T>,
          gradient_sums<T>,
          column_gradient_sums<T>,
          scale_shift<T>,
          scale_shift_each<T>,
          combine<T>,
          combine_each<T>,
          normalise<T>,
          weighted_sums<T>,
          normalise_grad<T>,
          add_parameter_grads<T>,
          exp_shifted<T>,
          largest<T>,
          max_each<T>,
          max_windows<T>};
}

}  // namespace

extern const HotKernels<float> hot_f32;
extern const HotKernels<double> hot_f64;
const HotKernels<float> hot_f32 = table<float>();
const HotKernels<double> hot_f64 = table<double>();

}  // namespace FL_ISA
}  // namespace flambeau::nn
