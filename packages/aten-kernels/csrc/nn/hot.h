#pragma once
/// Inner loops of the neural kernels that exist once per instruction set (hot_isa.cpp). T is float or double; sums over
/// long runs are kept in 16 lanes of T and added up in double, in an order that depends on the length alone.
#include <cstdint>
#include <type_traits>

namespace flambeau::nn {

template <class T> struct HotKernels {
  /// Softmax or its logarithm of each of `rows` rows of n.
  void (*softmax_rows)(bool log, const T* x, T* y, int64_t rows, int64_t n);
  /// The same down columns of [n, stride]: `width` neighbouring ones.
  void (*softmax_columns)(bool log, const T* x, T* y, int64_t n, int64_t width, int64_t stride);
  void (*softmax_grad_rows)(bool log, const T* g, const T* y, T* gx, int64_t rows, int64_t n);
  void (*softmax_grad_columns)(bool log, const T* g, const T* y, T* gx, int64_t n, int64_t width, int64_t stride);

  /// Mean and sum of squared distances from it, over `rows` runs of n that lie `stride` apart.
  void (*moments)(const T* x, int64_t rows, int64_t n, int64_t stride, double* mean, double* squares);
  /// Likewise for each of `width` neighbouring columns of [rows, stride].
  void (*column_moments)(const T* x, int64_t rows, int64_t width, int64_t stride, double* mean, double* squares);
  double (*sum_squares)(const T* x, int64_t n);
  /// Sums of g and of g * (x - mean).
  void (*gradient_sums)(const T* g, const T* x, T mean, int64_t rows, int64_t n, int64_t stride, double* sum,
                        double* product);
  void (*column_gradient_sums)(const T* g, const T* x, const T* mean, int64_t rows, int64_t width, int64_t stride,
                               double* sum, double* product);

  /// y = x * a + b
  void (*scale_shift)(const T* x, T a, T b, T* y, int64_t n);
  void (*scale_shift_each)(const T* x, const T* a, const T* b, T* y, int64_t n);
  /// gx = g * a + x * b + c
  void (*combine)(const T* g, const T* x, T a, T b, T c, T* gx, int64_t n);
  void (*combine_each)(const T* g, const T* x, const T* a, const T* b, const T* c, T* gx, int64_t n);
  /// y = (x - mean) * rstd * w + b; w and b may be null.
  void (*normalise)(const T* x, T mean, T rstd, const T* w, const T* b, T* y, int64_t n);
  /// With gw = g * w (w may be null) and z = (x - mean) * rstd: sums of gw and of gw * z.
  void (*weighted_sums)(const T* g, const T* x, const T* w, T mean, T rstd, int64_t n, double* sum, double* product);
  /// gx = (gw - a - z * b) * rstd
  void (*normalise_grad)(const T* g, const T* x, const T* w, T mean, T rstd, T a, T b, T* gx, int64_t n);
  /// gw += g * z, gb += g
  void (*add_parameter_grads)(const T* g, const T* x, T mean, T rstd, T* gw, T* gb, int64_t n);

  /// y[i] = exp(x[i] * scale - shift); returns their sum.
  T (*exp_shifted)(const T* x, T scale, T shift, T* y, int64_t n);
  T (*largest)(const T* x, int64_t n);

  /// An element's place in its plane, as wide as T so that choices between places vectorise with those between values.
  using Position = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  /// best, at = x, place where x is larger than best or NaN.
  void (*max_each)(const T* x, Position place, T* best, Position* at, int64_t n);
  /// Largest elements of windows that lie inside a plane: the taps of window i are first[i] + taps[...].
  void (*max_windows)(const T* x, const Position* first, int64_t windows, const Position* taps, int64_t num_taps,
                      T* best, int64_t* at);
};

template <class T> const HotKernels<T>& hot();

}  // namespace flambeau::nn
