// Average pooling and its gradient.
#include "flambeau/ops/avg_pool2d.h"
#include "flambeau/ops/squeeze.h"
#include "flambeau/ops/unsqueeze.h"
#include "nn/pool_plan.h"

namespace flambeau {

using namespace nn;

namespace {

struct Averaging {
  PoolPlan p;
  bool count_pad;
  std::optional<int64_t> divisor;

  // Elements a window counts: those inside the input, or inside the padded input, or a given number.
  int64_t divide_by(const int64_t (&o)[3]) const {
    if (divisor) return *divisor;
    int64_t count = 1;
    for (int d = 0; d < 3; ++d) {
      const int64_t begin = o[d] * p.stride[d] - p.pad[d], end = std::min(begin + p.k[d], p.in[d] + p.pad[d]);
      count *= count_pad ? end - begin : std::min(end, p.in[d]) - std::max<int64_t>(begin, 0);
    }
    return count;
  }
};

Averaging plan_avg(const char* op, int64_t spatial, const Tensor& self, IntList kernel, IntList stride, IntList padding,
                   bool ceil_mode, bool count_pad, std::optional<int64_t> divisor) {
  FL_CHECK(!divisor || *divisor != 0, "divisor must be not zero");
  return {plan_pool(op, spatial, self, kernel, stride, padding, {1}, ceil_mode), count_pad, divisor};
}

// f(input offset, output offset, divisor) for every pair of one block, offsets in units of `inner`.
template <class F> void each_window(const Averaging& a, int64_t u, int64_t v, F&& f) {
  const PoolPlan& p = a.p;
  const Reach x = reach(p, 0, u), y = reach(p, 1, v);
  for (int64_t w = 0; w < p.out[2]; ++w)
    f(x, y, reach(p, 2, w), (u * p.out[1] + v) * p.out[2] + w, a.divide_by({u, v, w}));
}

template <class T> void forward(const Averaging& a, const Planes& planes, const T* x, T* y) {
  const PoolPlan& p = a.p;
  const int64_t inner = planes.inner, rows = p.out[0] * p.out[1];
  for_rows(planes.batches * rows, p.out[2] * inner * p.window(), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t n = r / rows;
      const T* from = x + n * p.in_plane() * inner;
      T* to = y + n * p.out_plane() * inner;
      each_window(a, r % rows / p.out[1], r % p.out[1],
                  [&](const Reach& i, const Reach& j, const Reach& k, int64_t o, int64_t divisor) {
                    T* out = to + o * inner;
                    if (inner == 1) {
                      T sum = 0;
                      for (int64_t u = i.begin; u < i.end; ++u)
                        for (int64_t v = j.begin; v < j.end; ++v)
                          for (int64_t w = k.begin; w < k.end; ++w) sum += from[(u * p.in[1] + v) * p.in[2] + w];
                      *out = sum / static_cast<T>(divisor);
                      return;
                    }
                    std::fill_n(out, inner, T(0));
                    for (int64_t u = i.begin; u < i.end; ++u)
                      for (int64_t v = j.begin; v < j.end; ++v)
                        for (int64_t w = k.begin; w < k.end; ++w) {
                          const T* pixel = from + ((u * p.in[1] + v) * p.in[2] + w) * inner;
                          for (int64_t c = 0; c < inner; ++c) out[c] += pixel[c];
                        }
                    for (int64_t c = 0; c < inner; ++c) out[c] = out[c] / static_cast<T>(divisor);
                  });
    }
  });
}

template <class T> void backward(const Averaging& a, const Planes& planes, const T* gy, T* gx) {
  const PoolPlan& p = a.p;
  const int64_t inner = planes.inner;
  for_rows(planes.batches, (p.in_plane() + p.out_plane() * p.window()) * inner, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      T* to = gx + n * p.in_plane() * inner;
      std::fill_n(to, p.in_plane() * inner, T(0));
      const T* from = gy + n * p.out_plane() * inner;
      for (int64_t row = 0; row < p.out[0] * p.out[1]; ++row)
        each_window(a, row / p.out[1], row % p.out[1],
                    [&](const Reach& i, const Reach& j, const Reach& k, int64_t o, int64_t divisor) {
                      for (int64_t u = i.begin; u < i.end; ++u)
                        for (int64_t v = j.begin; v < j.end; ++v)
                          for (int64_t w = k.begin; w < k.end; ++w) {
                            T* pixel = to + ((u * p.in[1] + v) * p.in[2] + w) * inner;
                            for (int64_t c = 0; c < inner; ++c)
                              pixel[c] += from[o * inner + c] / static_cast<T>(divisor);
                          }
                    });
    }
  });
}

// int64 averages exist in torch too: the quotient is cut.
DType avg_dtype(const char* op, DType t) { return t == DType::Int64 ? t : compute_dtype(op, t); }

TensorSpec avg_spec(const char* op, int64_t spatial, const Tensor& self, IntList kernel, IntList stride,
                    IntList padding, bool ceil_mode, bool count_pad, std::optional<int64_t> divisor) {
  Averaging a = plan_avg(op, spatial, self, kernel, stride, padding, ceil_mode, count_pad, divisor);
  avg_dtype(op, self.dtype());
  std::vector<int64_t> strides = spec_strides(a.p.sizes, format_of(self));
  return {std::move(a.p.sizes), self.dtype(), std::move(strides)};
}

void run_avg(const char* op, int64_t spatial, const Tensor& self, IntList kernel, IntList stride, IntList padding,
             bool ceil_mode, bool count_pad, std::optional<int64_t> divisor, const Tensor& out) {
  if (out.numel() == 0) return;
  const Averaging a = plan_avg(op, spatial, self, kernel, stride, padding, ceil_mode, count_pad, divisor);
  const MemoryFormat format = format_of(self);
  const DType d = avg_dtype(op, self.dtype());
  const Tensor x = prepared_in(self, d, format);
  const Output y(out, d, format);
  const Planes planes = planes_of(self.sizes(), spatial, format);
  if (d == DType::Int64)
    forward(a, planes, x.data_as<int64_t>(), y.data<int64_t>());
  else
    by_compute(d, [&](auto zero) {
      using T = decltype(zero);
      forward(a, planes, x.data_as<T>(), y.data<T>());
    });
  y.finish();
}

TensorSpec avg_backward_spec(const char* op, int64_t spatial, const Tensor& grad, const Tensor& self, IntList kernel,
                             IntList stride, IntList padding, bool ceil_mode, bool count_pad,
                             std::optional<int64_t> divisor) {
  check_pool_gradient(op, grad, self, {},
                      plan_avg(op, spatial, self, kernel, stride, padding, ceil_mode, count_pad, divisor).p.sizes);
  compute_dtype(op, self.dtype());
  return {self.sizes().vec(), self.dtype(), spec_strides(self.sizes(), format_of(self))};
}

void run_avg_backward(const char* op, int64_t spatial, const Tensor& grad, const Tensor& self, IntList kernel,
                      IntList stride, IntList padding, bool ceil_mode, bool count_pad, std::optional<int64_t> divisor,
                      const Tensor& out) {
  if (out.numel() == 0) return;
  const Averaging a = plan_avg(op, spatial, self, kernel, stride, padding, ceil_mode, count_pad, divisor);
  const MemoryFormat format = format_of(out);
  const DType d = compute_dtype(op, self.dtype());
  const Tensor gy = prepared_in(grad, d, format);
  const Output gx(out, d, format);
  by_compute(d, [&](auto zero) {
    using T = decltype(zero);
    backward(a, planes_of(out.sizes(), spatial, format), gy.data_as<T>(), gx.data<T>());
  });
  gx.finish();
}

}  // namespace

#define FL_AVG_POOL(N)                                                                                                 \
  TensorSpec avg_pool##N##d_shape(const Tensor& self, IntList kernel, IntList stride, IntList padding, bool ceil_mode, \
                                  bool count_pad, std::optional<int64_t> divisor) {                                    \
    return avg_spec("avg_pool" #N "d", N, self, kernel, stride, padding, ceil_mode, count_pad, divisor);               \
  }                                                                                                                    \
  void avg_pool##N##d_cpu(const Tensor& self, IntList kernel, IntList stride, IntList padding, bool ceil_mode,         \
                          bool count_pad, std::optional<int64_t> divisor, const Tensor& out) {                         \
    run_avg("avg_pool" #N "d", N, self, kernel, stride, padding, ceil_mode, count_pad, divisor, out);                  \
  }                                                                                                                    \
  TensorSpec avg_pool##N##d_backward_shape(const Tensor& grad, const Tensor& self, IntList kernel, IntList stride,     \
                                           IntList padding, bool ceil_mode, bool count_pad,                            \
                                           std::optional<int64_t> divisor) {                                           \
    return avg_backward_spec("avg_pool" #N "d_backward", N, grad, self, kernel, stride, padding, ceil_mode, count_pad, \
                             divisor);                                                                                 \
  }                                                                                                                    \
  void avg_pool##N##d_backward_cpu(const Tensor& grad, const Tensor& self, IntList kernel, IntList stride,             \
                                   IntList padding, bool ceil_mode, bool count_pad, std::optional<int64_t> divisor,    \
                                   const Tensor& out) {                                                                \
    run_avg_backward("avg_pool" #N "d_backward", N, grad, self, kernel, stride, padding, ceil_mode, count_pad,         \
                     divisor, out);                                                                                    \
  }

FL_AVG_POOL(2)
FL_AVG_POOL(3)

// One spatial dimension is two of which the first has size 1.
Tensor avg_pool1d_op(const Tensor& self, IntList kernel, IntList stride, IntList padding, bool ceil_mode,
                     bool count_pad) {
  check_pool_input("avg_pool1d", self, 1);
  const auto one = [](const char* name, IntList values) { return spread("avg_pool1d", name, values, 1)[0]; };
  const std::vector<int64_t> k{1, one("kernel_size", kernel)},
      st = stride.empty() ? k : std::vector<int64_t>{1, one("stride", stride)}, pad{0, one("padding", padding)};
  return ops::squeeze(ops::avg_pool2d(ops::unsqueeze(self, -2), k, st, pad, ceil_mode, count_pad, std::nullopt), -2);
}

}  // namespace flambeau
