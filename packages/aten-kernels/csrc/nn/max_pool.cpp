// Max pooling with the positions of the maxima, and its gradient.
#include <cmath>
#include <limits>

#include "flambeau/ops/max_pool1d_with_indices.h"
#include "flambeau/ops/max_pool2d_with_indices.h"
#include "flambeau/ops/max_pool3d_with_indices.h"
#include "flambeau/ops/squeeze.h"
#include "flambeau/ops/unsqueeze.h"
#include "nn/pool_plan.h"

namespace flambeau {

using namespace nn;

namespace {

template <class T>
constexpr T lowest() {
  if constexpr (std::is_floating_point_v<T>)
    return -std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::min();
}

// A later NaN wins over everything, as in torch.
template <class T>
bool beats(T v, T best) {
  return v > best || v != v;
}

// Largest of one window for `inner` neighbouring channels.
template <class T>
void window_max(const PoolPlan& p, const T* x, int64_t inner, const Reach& a, const Reach& b, const Reach& c, T* y,
                int64_t* at) {
  const int64_t first = (a.begin * p.in[1] + b.begin) * p.in[2] + c.begin;
  for (int64_t i = 0; i < inner; ++i) y[i] = lowest<T>(), at[i] = first;
  for (int64_t u = a.begin; u < a.end; u += p.dil[0])
    for (int64_t v = b.begin; v < b.end; v += p.dil[1])
      for (int64_t w = c.begin; w < c.end; w += p.dil[2]) {
        const int64_t position = (u * p.in[1] + v) * p.in[2] + w;
        const T* from = x + position * inner;
        for (int64_t i = 0; i < inner; ++i) {
          const bool take = beats(from[i], y[i]);
          y[i] = take ? from[i] : y[i];
          at[i] = take ? position : at[i];
        }
      }
}

// inner == 1 with the running maximum in registers.
template <class T>
void window_max_one(const PoolPlan& p, const T* x, const Reach& a, const Reach& b, const Reach& c, T* y, int64_t* at) {
  T best = lowest<T>();
  int64_t where = (a.begin * p.in[1] + b.begin) * p.in[2] + c.begin;
  for (int64_t u = a.begin; u < a.end; u += p.dil[0])
    for (int64_t v = b.begin; v < b.end; v += p.dil[1]) {
      const int64_t row = (u * p.in[1] + v) * p.in[2];
      for (int64_t w = c.begin; w < c.end; w += p.dil[2]) {
        const T value = x[row + w];
        const bool take = beats(value, best);
        best = take ? value : best;
        where = take ? row + w : where;
      }
    }
  *y = best;
  *at = where;
}

template <class T>
void max_forward(const PoolPlan& p, const Planes& planes, const T* x, T* y, int64_t* at) {
  const int64_t inner = planes.inner, rows = p.out[0] * p.out[1], row = p.out[2] * inner;
  for_rows(planes.batches * rows, row * p.window() * 2, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t n = r / rows, u = r % rows / p.out[1], v = r % p.out[1];
      const T* from = x + n * p.in_plane() * inner;
      const Reach a = reach(p, 0, u), b = reach(p, 1, v);
      for (int64_t w = 0; w < p.out[2]; ++w) {
        const int64_t o = r * row + w * inner;
        if (inner == 1)
          window_max_one(p, from, a, b, reach(p, 2, w), y + o, at + o);
        else
          window_max(p, from, inner, a, b, reach(p, 2, w), y + o, at + o);
      }
    }
  });
}

// Which types carry the comparison: floats in their compute dtype, integers in int64.
DType max_dtype(const char* op, DType t) {
  if (is_integral(t) && t != DType::UInt64) return DType::Int64;
  return compute_dtype(op, t);
}

void run_max(const char* op, int64_t spatial, const Tensor& self, IntList kernel, IntList stride, IntList padding,
             IntList dilation, bool ceil_mode, const Tensor& values, const Tensor& indices) {
  const PoolPlan p = plan_pool(op, spatial, self, kernel, stride, padding, dilation, ceil_mode);
  if (values.numel() == 0) return;
  const MemoryFormat format = format_of(self);
  const DType d = max_dtype(op, self.dtype());
  const Tensor x = prepared_in(self, d, format);
  const Output y(values, d, format), at(indices, DType::Int64, format);
  const Planes planes = planes_of(self.sizes(), spatial, format);
  if (d == DType::Int64)
    max_forward(p, planes, x.data_as<int64_t>(), y.data<int64_t>(), at.data<int64_t>());
  else
    by_compute(d, [&](auto zero) {
      using T = decltype(zero);
      max_forward(p, planes, x.data_as<T>(), y.data<T>(), at.data<int64_t>());
    });
  y.finish();
  at.finish();
}

std::tuple<TensorSpec, TensorSpec> max_specs(const char* op, int64_t spatial, const Tensor& self, IntList kernel,
                                             IntList stride, IntList padding, IntList dilation, bool ceil_mode) {
  const PoolPlan p = plan_pool(op, spatial, self, kernel, stride, padding, dilation, ceil_mode);
  max_dtype(op, self.dtype());
  const std::vector<int64_t> strides = spec_strides(p.sizes, format_of(self));
  return {TensorSpec{p.sizes, self.dtype(), strides}, TensorSpec{p.sizes, DType::Int64, strides}};
}

template <class T>
void scatter_planes(const Planes& planes, int64_t in_plane, int64_t out_plane, const T* gy, const int64_t* at, T* gx) {
  const int64_t inner = planes.inner;
  for_rows(planes.batches, (in_plane + 2 * out_plane) * inner, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      T* to = gx + n * in_plane * inner;
      std::fill_n(to, in_plane * inner, T(0));
      for (int64_t o = 0; o < out_plane; ++o)
        for (int64_t i = 0; i < inner; ++i) {
          const int64_t k = (n * out_plane + o) * inner + i;
          to[at[k] * inner + i] += gy[k];
        }
    }
  });
}

void check_positions(const char* op, const int64_t* at, int64_t count, int64_t plane) {
  for (int64_t i = 0; i < count; ++i)
    FL_CHECK(at[i] >= 0 && at[i] < plane, "[", op, "] index ", at[i], " is out of range for an input plane of ", plane,
             " elements");
}

}  // namespace

namespace nn {

void scatter_to_positions(const char* op, int64_t spatial, const Tensor& grad, const Tensor& indices,
                          const Tensor& out) {
  if (out.numel() == 0) return;
  const MemoryFormat format = format_of(out);
  const DType d = compute_dtype(op, grad.dtype());
  const Tensor gy = prepared_in(grad, d, format), at = prepared_in(indices, DType::Int64, format);
  const Output gx(out, d, format);
  const Planes planes = planes_of(out.sizes(), spatial, format);
  const int64_t in_plane = out.numel() / (planes.batches * planes.inner),
                out_plane = grad.numel() / (planes.batches * planes.inner);
  check_positions(op, at.data_as<int64_t>(), at.numel(), in_plane);
  by_compute(d, [&](auto zero) {
    using T = decltype(zero);
    scatter_planes(planes, in_plane, out_plane, gy.data_as<T>(), at.data_as<int64_t>(), gx.data<T>());
  });
  gx.finish();
}

void check_pool_gradient(const char* op, const Tensor& grad, const Tensor& self, const Tensor& indices, IntList sizes) {
  check_same_dtype(op, grad, "grad_output", self, "self");
  check_sizes(op, "grad_output", grad, sizes);
  if (!indices.defined()) return;
  FL_CHECK_DTYPE(indices.dtype() == DType::Int64, "[", op, "] indices must be int64, got ",
                 dtype_name(indices.dtype()));
  check_sizes(op, "indices", indices, sizes);
}

}  // namespace nn

#define FL_MAX_POOL(N)                                                                                                 \
  std::tuple<TensorSpec, TensorSpec> max_pool##N##d_shape(const Tensor& self, IntList kernel, IntList stride,          \
                                                          IntList padding, IntList dilation, bool ceil_mode) {         \
    return max_specs("max_pool" #N "d", N, self, kernel, stride, padding, dilation, ceil_mode);                        \
  }                                                                                                                    \
  void max_pool##N##d_cpu(const Tensor& self, IntList kernel, IntList stride, IntList padding, IntList dilation,       \
                          bool ceil_mode, const Tensor& values, const Tensor& indices) {                               \
    run_max("max_pool" #N "d", N, self, kernel, stride, padding, dilation, ceil_mode, values, indices);                \
  }                                                                                                                    \
  TensorSpec max_pool##N##d_backward_shape(const Tensor& grad, const Tensor& self, IntList kernel, IntList stride,     \
                                           IntList padding, IntList dilation, bool ceil_mode, const Tensor& indices) { \
    const char* op = "max_pool" #N "d_with_indices_backward";                                                          \
    check_pool_gradient(op, grad, self, indices,                                                                       \
                        plan_pool(op, N, self, kernel, stride, padding, dilation, ceil_mode).sizes);                   \
    compute_dtype(op, self.dtype());                                                                                   \
    return {self.sizes().vec(), self.dtype(), spec_strides(self.sizes(), format_of(self))};                            \
  }                                                                                                                    \
  void max_pool##N##d_backward_cpu(const Tensor& grad, const Tensor&, IntList, IntList, IntList, IntList, bool,        \
                                   const Tensor& indices, const Tensor& out) {                                         \
    scatter_to_positions("max_pool" #N "d_with_indices_backward", N, grad, indices, out);                              \
  }                                                                                                                    \
  Tensor max_pool##N##d_op(const Tensor& self, IntList kernel, IntList stride, IntList padding, IntList dilation,      \
                           bool ceil_mode) {                                                                           \
    return std::get<0>(ops::max_pool##N##d_with_indices(self, kernel, stride, padding, dilation, ceil_mode));          \
  }

FL_MAX_POOL(2)
FL_MAX_POOL(3)

namespace {

std::vector<int64_t> after_one(const char* op, const char* name, IntList values) {
  return {1, spread(op, name, values, 1)[0]};
}

}  // namespace

// One spatial dimension is two of which the first has size 1.
std::tuple<Tensor, Tensor> max_pool1d_with_indices_op(const Tensor& self, IntList kernel, IntList stride,
                                                      IntList padding, IntList dilation, bool ceil_mode) {
  const char* op = "max_pool1d";
  check_pool_input(op, self, 1);
  const std::vector<int64_t> k = after_one(op, "kernel_size", kernel),
                             st = stride.empty() ? k : after_one(op, "stride", stride),
                             dil = after_one(op, "dilation", dilation), pad{0, spread(op, "padding", padding, 1)[0]};
  auto [values, indices] = ops::max_pool2d_with_indices(ops::unsqueeze(self, -2), k, st, pad, dil, ceil_mode);
  return {ops::squeeze(values, -2), ops::squeeze(indices, -2)};
}

Tensor max_pool1d_op(const Tensor& self, IntList kernel, IntList stride, IntList padding, IntList dilation,
                     bool ceil_mode) {
  return std::get<0>(ops::max_pool1d_with_indices(self, kernel, stride, padding, dilation, ceil_mode));
}

}  // namespace flambeau
