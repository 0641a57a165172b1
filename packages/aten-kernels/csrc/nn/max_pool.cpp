// Max pooling with the positions of the maxima, and its gradient.
#include <cmath>
#include <limits>

#include "flambeau/ops/max_pool1d_with_indices.h"
#include "flambeau/ops/max_pool2d_with_indices.h"
#include "flambeau/ops/max_pool3d_with_indices.h"
#include "flambeau/ops/squeeze.h"
#include "flambeau/ops/unsqueeze.h"
#include "nn/hot.h"
#include "nn/pool_plan.h"

namespace flambeau {

using namespace nn;

namespace {

template <class T> constexpr T lowest() {
  if constexpr (std::is_floating_point_v<T>)
    return -std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::min();
}

// A later NaN wins over everything, as in torch.
template <class T> bool beats(T v, T best) { return v > best || v != v; }

// One window, with the running maximum in registers.
template <class T>
void window_max(const PoolPlan& p, const T* x, const Reach& a, const Reach& b, const Reach& c, T* y, int64_t* at) {
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

template <class T> void max_planes_plainly(const PoolPlan& p, int64_t batches, const T* x, T* y, int64_t* at) {
  const int64_t rows = p.out[0] * p.out[1];
  for_rows(batches * rows, p.out[2] * p.window() * 2, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const T* from = x + r / rows * p.in_plane();
      const Reach a = reach(p, 0, r % rows / p.out[1]), b = reach(p, 1, r % p.out[1]);
      for (int64_t w = 0; w < p.out[2]; ++w)
        window_max(p, from, a, b, reach(p, 2, w), y + r * p.out[2] + w, at + r * p.out[2] + w);
    }
  });
}

// Windows of a row-major plane: those inside it go to a kernel in one call, those at its edges one by one.
template <class T> struct PlaneWindows {
  using Position = typename HotKernels<T>::Position;
  std::vector<Position> taps, first;  // of inner windows
  std::vector<int64_t> inner;         // where their results belong
  std::vector<int64_t> edge;

  explicit PlaneWindows(const PoolPlan& p) {
    bool fits = true;  // else no window is inside, however large its kernel
    for (int d = 0; d < 3; ++d) fits = fits && (p.k[d] - 1) * p.dil[d] < p.in[d];
    for (int64_t u = 0; u < p.k[0] && fits; ++u)
      for (int64_t v = 0; v < p.k[1]; ++v)
        for (int64_t w = 0; w < p.k[2]; ++w)
          taps.push_back(static_cast<Position>(((u * p.dil[0]) * p.in[1] + v * p.dil[1]) * p.in[2] + w * p.dil[2]));
    for (int64_t o = 0; o < p.out_plane(); ++o) {
      const int64_t at[3] = {o / (p.out[1] * p.out[2]), o / p.out[2] % p.out[1], o % p.out[2]};
      bool inside = true;
      int64_t start = 0;
      for (int d = 0; d < 3; ++d) {
        const int64_t begin = at[d] * p.stride[d] - p.pad[d];
        inside = inside && begin >= 0 && begin + (p.k[d] - 1) * p.dil[d] < p.in[d];
        start = start * p.in[d] + begin;
      }
      if (inside)
        inner.push_back(o), first.push_back(static_cast<Position>(start));
      else
        edge.push_back(o);
    }
  }
};

template <class T> void max_planes(const PoolPlan& p, int64_t batches, const T* x, T* y, int64_t* at) {
  const PlaneWindows<T> windows(p);
  const int64_t plane = p.out_plane(), count = static_cast<int64_t>(windows.inner.size());
  const bool all = windows.edge.empty();
  for_rows(batches, plane * p.window(), [&](int64_t begin, int64_t end) {
    std::vector<T> values(all ? 0 : windows.inner.size());
    std::vector<int64_t> places(values.size());
    for (int64_t n = begin; n < end; ++n) {
      const T* from = x + n * p.in_plane();
      T* to = y + n * plane;
      int64_t* where = at + n * plane;
      hot<T>().max_windows(from, windows.first.data(), count, windows.taps.data(),
                           static_cast<int64_t>(windows.taps.size()), all ? to : values.data(),
                           all ? where : places.data());
      if (all) continue;
      for (int64_t i = 0; i < count; ++i) {
        const int64_t o = windows.inner[static_cast<size_t>(i)];
        to[o] = values[static_cast<size_t>(i)], where[o] = places[static_cast<size_t>(i)];
      }
      for (const int64_t o : windows.edge) {
        const int64_t u = o / (p.out[1] * p.out[2]), v = o / p.out[2] % p.out[1], w = o % p.out[2];
        window_max(p, from, reach(p, 0, u), reach(p, 1, v), reach(p, 2, w), to + o, where + o);
      }
    }
  });
}

// Channels-last memory: neighbouring channels side by side.
template <class T> void max_pixels(const PoolPlan& p, const Planes& planes, const T* x, T* y, int64_t* at) {
  using Position = typename HotKernels<T>::Position;
  const int64_t inner = planes.inner, rows = p.out[0] * p.out[1];
  for_rows(planes.batches * rows, p.out[2] * inner * p.window(), [&](int64_t begin, int64_t end) {
    std::vector<Position> where(static_cast<size_t>(inner));
    for (int64_t r = begin; r < end; ++r) {
      const T* from = x + r / rows * p.in_plane() * inner;
      const Reach a = reach(p, 0, r % rows / p.out[1]), b = reach(p, 1, r % p.out[1]);
      for (int64_t o = 0; o < p.out[2]; ++o) {
        const Reach c = reach(p, 2, o);
        T* best = y + (r * p.out[2] + o) * inner;
        std::fill_n(best, inner, lowest<T>());
        std::fill(where.begin(), where.end(), static_cast<Position>((a.begin * p.in[1] + b.begin) * p.in[2] + c.begin));
        for (int64_t u = a.begin; u < a.end; u += p.dil[0])
          for (int64_t v = b.begin; v < b.end; v += p.dil[1])
            for (int64_t w = c.begin; w < c.end; w += p.dil[2]) {
              const int64_t place = (u * p.in[1] + v) * p.in[2] + w;
              hot<T>().max_each(from + place * inner, static_cast<Position>(place), best, where.data(), inner);
            }
        std::copy(where.begin(), where.end(), at + (r * p.out[2] + o) * inner);
      }
    }
  });
}

template <class T> void max_forward(const PoolPlan& p, const Planes& planes, const T* x, T* y, int64_t* at) {
  FL_CHECK(p.in_plane() < (int64_t{1} << 31), "[max_pool] planes of ", p.in_plane(), " elements are too large");
  planes.inner == 1 ? max_planes(p, planes.batches, x, y, at) : max_pixels(p, planes, x, y, at);
}

// Integers are compared as int64, row-major.
void max_forward(const PoolPlan& p, const Planes& planes, const int64_t* x, int64_t* y, int64_t* at) {
  max_planes_plainly(p, planes.batches, x, y, at);
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
  const DType d = max_dtype(op, self.dtype());
  const MemoryFormat format = d == DType::Int64 ? MemoryFormat::Contiguous : format_of(self);
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
void scatter_planes(const char* op, const Planes& planes, int64_t in_plane, int64_t out_plane, const T* gy,
                    const int64_t* at, T* gx) {
  const int64_t inner = planes.inner;
  for_rows(planes.batches, (in_plane + 2 * out_plane) * inner, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      T* to = gx + n * in_plane * inner;
      std::fill_n(to, in_plane * inner, T(0));
      const T* from = gy + n * out_plane * inner;
      const int64_t* place = at + n * out_plane * inner;
      for (int64_t k = 0; k < out_plane * inner; ++k)
        FL_CHECK(static_cast<uint64_t>(place[k]) < static_cast<uint64_t>(in_plane), "[", op, "] index ", place[k],
                 " is out of range for an input plane of ", in_plane, " elements");
      if (inner == 1)
        for (int64_t o = 0; o < out_plane; ++o) to[place[o]] += from[o];
      else
        for (int64_t o = 0; o < out_plane; ++o)
          for (int64_t i = 0; i < inner; ++i) to[place[o * inner + i] * inner + i] += from[o * inner + i];
    }
  });
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
  by_compute(d, [&](auto zero) {
    using T = decltype(zero);
    scatter_planes(op, planes, in_plane, out_plane, gy.data_as<T>(), at.data_as<int64_t>(), gx.data<T>());
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

namespace {

struct Gradient {
  Tensor grad, indices;
};

// A window that lies in the padding altogether has no maximum: its index names no element, its gradient goes nowhere.
Gradient without_empty_windows(const PoolPlan& p, const Tensor& grad, const Tensor& indices) {
  const auto is_empty = [&p](int d, int64_t o) {
    const Reach r = reach(p, d, o);
    return r.begin >= r.end;
  };
  bool any = false;
  for (int d = 0; d < 3; ++d)
    for (int64_t o = 0; o < p.out[d] && !any; ++o) any = is_empty(d, o);
  if (!any) return {grad, indices};
  Gradient g{empty(grad.sizes(), grad.options()), empty(indices.sizes(), indices.options())};
  copy_values(g.grad, grad);
  copy_values(g.indices, indices);
  const int64_t plane = p.out_plane(), item = grad.itemsize();
  for (int64_t i = 0; i < g.indices.numel(); ++i) {
    const int64_t o = i % plane;
    if (!is_empty(0, o / (p.out[1] * p.out[2])) && !is_empty(1, o / p.out[2] % p.out[1]) && !is_empty(2, o % p.out[2]))
      continue;
    g.indices.data_as<int64_t>()[i] = 0;
    std::fill_n(static_cast<char*>(g.grad.data()) + i * item, item, char{0});
  }
  return g;
}

}  // namespace

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
  void max_pool##N##d_backward_cpu(const Tensor& grad, const Tensor& self, IntList kernel, IntList stride,             \
                                   IntList padding, IntList dilation, bool ceil_mode, const Tensor& indices,           \
                                   const Tensor& out) {                                                                \
    const char* op = "max_pool" #N "d_with_indices_backward";                                                          \
    const PoolPlan p = plan_pool(op, N, self, kernel, stride, padding, dilation, ceil_mode);                           \
    const Gradient g = without_empty_windows(p, grad, indices);                                                        \
    scatter_to_positions(op, N, g.grad, g.indices, out);                                                               \
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
