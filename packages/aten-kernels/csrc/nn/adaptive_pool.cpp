// Adaptive pooling: `output_size` windows that cover a dimension, the o-th from floor(o in / out) to ceil((o + 1) in /
// out).
#include <limits>

#include "flambeau/ops/_adaptive_avg_pool2d.h"
#include "flambeau/ops/_adaptive_avg_pool3d.h"
#include "flambeau/ops/adaptive_avg_pool2d.h"
#include "flambeau/ops/adaptive_max_pool2d.h"
#include "flambeau/ops/squeeze.h"
#include "flambeau/ops/unsqueeze.h"
#include "nn/pool_plan.h"

namespace flambeau {

using namespace nn;

namespace {

struct AdaptivePlan {
  int64_t in[3], out[3];
  std::vector<int64_t> sizes;
  int64_t in_plane() const { return in[0] * in[1] * in[2]; }
  int64_t out_plane() const { return out[0] * out[1] * out[2]; }
  Reach window(int d, int64_t o) const {
    // Without products that could overflow.
    const int64_t q = in[d] / out[d], r = in[d] % out[d];
    return {o * q + o * r / out[d], (o + 1) * q + ((o + 1) * r + out[d] - 1) / out[d]};
  }
};

AdaptivePlan plan_adaptive(const char* op, int64_t spatial, const Tensor& self, IntList output_size) {
  FL_CHECK(static_cast<int64_t>(output_size.size()) == spatial, op, ": output_size must be ", spatial, " numbers, got ",
           output_size);
  FL_CHECK_SHAPE(self.dim() == spatial + 1 || self.dim() == spatial + 2, op, ": Expected ", spatial + 1, "D or ",
                 spatial + 2, "D tensor, but got ", self.sizes());
  for (const int64_t s : output_size)
    FL_CHECK(s >= 0, op, ": elements of output_size must be greater than or equal to 0 but received ", output_size);
  for (int64_t d = self.dim() - spatial; d < self.dim(); ++d)
    FL_CHECK_SHAPE(self.sizes()[d] > 0, op,
                   ": Expected input to have non-zero size for non-batch dimensions, but input has sizes ",
                   self.sizes(), " with dimension ", d, " being empty");
  AdaptivePlan p;
  p.sizes = self.sizes().vec();
  for (int64_t d = 0; d < 3; ++d) {
    const bool real = d >= 3 - spatial;
    p.in[d] = real ? self.sizes()[self.dim() - 3 + d] : 1;
    p.out[d] = real ? output_size[static_cast<size_t>(d - (3 - spatial))] : 1;
    if (real) p.sizes[static_cast<size_t>(self.dim() - 3 + d)] = p.out[d];
  }
  checked_numel(p.sizes, op);
  return p;
}

// f(a, b, c, output position) for the windows of output rows [begin, end) of one block.
template <class F> void each_window(const AdaptivePlan& p, int64_t row, F&& f) {
  const Reach a = p.window(0, row / p.out[1]), b = p.window(1, row % p.out[1]);
  for (int64_t w = 0; w < p.out[2]; ++w) f(a, b, p.window(2, w), row * p.out[2] + w);
}

template <class T> void avg_forward(const AdaptivePlan& p, const Planes& planes, const T* x, T* y) {
  const int64_t inner = planes.inner, rows = p.out[0] * p.out[1];
  for_rows(planes.batches * rows, p.in_plane() / std::max<int64_t>(rows, 1) * inner, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const T* from = x + r / rows * p.in_plane() * inner;
      T* to = y + r / rows * p.out_plane() * inner;
      each_window(p, r % rows, [&](const Reach& a, const Reach& b, const Reach& c, int64_t o) {
        const T count = static_cast<T>((a.end - a.begin) * (b.end - b.begin) * (c.end - c.begin));
        T* out = to + o * inner;
        std::fill_n(out, inner, T(0));
        for (int64_t u = a.begin; u < a.end; ++u)
          for (int64_t v = b.begin; v < b.end; ++v)
            for (int64_t w = c.begin; w < c.end; ++w) {
              const T* pixel = from + ((u * p.in[1] + v) * p.in[2] + w) * inner;
              for (int64_t i = 0; i < inner; ++i) out[i] += pixel[i];
            }
        for (int64_t i = 0; i < inner; ++i) out[i] = out[i] / count;
      });
    }
  });
}

template <class T> void avg_backward(const AdaptivePlan& p, const Planes& planes, const T* gy, T* gx) {
  const int64_t inner = planes.inner, rows = p.out[0] * p.out[1];
  for_rows(planes.batches, (p.in_plane() + p.out_plane()) * inner * 2, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      T* to = gx + n * p.in_plane() * inner;
      const T* from = gy + n * p.out_plane() * inner;
      std::fill_n(to, p.in_plane() * inner, T(0));
      for (int64_t r = 0; r < rows; ++r)
        each_window(p, r, [&](const Reach& a, const Reach& b, const Reach& c, int64_t o) {
          const T count = static_cast<T>((a.end - a.begin) * (b.end - b.begin) * (c.end - c.begin));
          for (int64_t u = a.begin; u < a.end; ++u)
            for (int64_t v = b.begin; v < b.end; ++v)
              for (int64_t w = c.begin; w < c.end; ++w) {
                T* pixel = to + ((u * p.in[1] + v) * p.in[2] + w) * inner;
                for (int64_t i = 0; i < inner; ++i) pixel[i] += from[o * inner + i] / count;
              }
        });
    }
  });
}

template <class T> void max_forward(const AdaptivePlan& p, const Planes& planes, const T* x, T* y, int64_t* at) {
  const int64_t inner = planes.inner, rows = p.out[0] * p.out[1];
  for_rows(planes.batches * rows, p.in_plane() / std::max<int64_t>(rows, 1) * inner, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const T* from = x + r / rows * p.in_plane() * inner;
      each_window(p, r % rows, [&](const Reach& a, const Reach& b, const Reach& c, int64_t o) {
        const int64_t k = (r / rows * p.out_plane() + o) * inner;
        for (int64_t i = 0; i < inner; ++i) {
          y[k + i] = -std::numeric_limits<T>::infinity();
          at[k + i] = (a.begin * p.in[1] + b.begin) * p.in[2] + c.begin;
        }
        for (int64_t u = a.begin; u < a.end; ++u)
          for (int64_t v = b.begin; v < b.end; ++v)
            for (int64_t w = c.begin; w < c.end; ++w) {
              const int64_t position = (u * p.in[1] + v) * p.in[2] + w;
              for (int64_t i = 0; i < inner; ++i) {
                const T value = from[position * inner + i];
                if (value > y[k + i] || value != value) y[k + i] = value, at[k + i] = position;
              }
            }
      });
    }
  });
}

TensorSpec avg_spec(const char* op, int64_t spatial, const Tensor& self, IntList output_size) {
  AdaptivePlan p = plan_adaptive(op, spatial, self, output_size);
  compute_dtype(op, self.dtype());
  std::vector<int64_t> strides = spec_strides(p.sizes, format_of(self));
  return {std::move(p.sizes), self.dtype(), std::move(strides)};
}

void run_avg(const char* op, int64_t spatial, const Tensor& self, IntList output_size, const Tensor& out) {
  if (out.numel() == 0) return;
  const AdaptivePlan p = plan_adaptive(op, spatial, self, output_size);
  const MemoryFormat format = format_of(self);
  const DType d = compute_dtype(op, self.dtype());
  const Tensor x = prepared_in(self, d, format);
  const Output y(out, d, format);
  by_compute(d, [&](auto zero) {
    using T = decltype(zero);
    avg_forward(p, planes_of(self.sizes(), spatial, format), x.data_as<T>(), y.data<T>());
  });
  y.finish();
}

IntList spatial_sizes(const Tensor& t, int64_t spatial) {
  return t.sizes().subspan(static_cast<size_t>(std::max<int64_t>(t.dim() - spatial, 0)));
}

AdaptivePlan plan_backward(const char* op, int64_t spatial, const Tensor& grad, const Tensor& self,
                           const Tensor& indices) {
  FL_CHECK_SHAPE(grad.dim() == self.dim(), "[", op, "] grad_output has sizes ", grad.sizes(), ", self has ",
                 self.sizes(), "; the ranks must be equal");
  AdaptivePlan p = plan_adaptive(op, spatial, self, spatial_sizes(grad, spatial));
  check_pool_gradient(op, grad, self, indices, p.sizes);
  compute_dtype(op, self.dtype());
  return p;
}

TensorSpec backward_spec(const char* op, int64_t spatial, const Tensor& grad, const Tensor& self,
                         const Tensor& indices) {
  plan_backward(op, spatial, grad, self, indices);
  return {self.sizes().vec(), self.dtype(), spec_strides(self.sizes(), format_of(self))};
}

void run_avg_backward(const char* op, int64_t spatial, const Tensor& grad, const Tensor& self, const Tensor& out) {
  if (out.numel() == 0) return;
  const AdaptivePlan p = plan_backward(op, spatial, grad, self, {});
  const MemoryFormat format = format_of(out);
  const DType d = compute_dtype(op, self.dtype());
  const Tensor gy = prepared_in(grad, d, format);
  const Output gx(out, d, format);
  by_compute(d, [&](auto zero) {
    using T = decltype(zero);
    avg_backward(p, planes_of(out.sizes(), spatial, format), gy.data_as<T>(), gx.data<T>());
  });
  gx.finish();
}

std::tuple<TensorSpec, TensorSpec> max_specs(const char* op, int64_t spatial, const Tensor& self, IntList output_size) {
  const TensorSpec s = avg_spec(op, spatial, self, output_size);
  return {s, TensorSpec{s.sizes, DType::Int64, s.strides}};
}

void run_max(const char* op, int64_t spatial, const Tensor& self, IntList output_size, const Tensor& out,
             const Tensor& indices) {
  if (out.numel() == 0) return;
  const AdaptivePlan p = plan_adaptive(op, spatial, self, output_size);
  const MemoryFormat format = format_of(self);
  const DType d = compute_dtype(op, self.dtype());
  const Tensor x = prepared_in(self, d, format);
  const Output y(out, d, format), at(indices, DType::Int64, format);
  by_compute(d, [&](auto zero) {
    using T = decltype(zero);
    max_forward(p, planes_of(self.sizes(), spatial, format), x.data_as<T>(), y.data<T>(), at.data<int64_t>());
  });
  y.finish();
  at.finish();
}

}  // namespace

#define FL_ADAPTIVE(N)                                                                                               \
  TensorSpec adaptive_avg_pool##N##d_shape(const Tensor& self, IntList output_size) {                                \
    return avg_spec("adaptive_avg_pool" #N "d", N, self, output_size);                                               \
  }                                                                                                                  \
  void adaptive_avg_pool##N##d_cpu(const Tensor& self, IntList output_size, const Tensor& out) {                     \
    run_avg("adaptive_avg_pool" #N "d", N, self, output_size, out);                                                  \
  }                                                                                                                  \
  TensorSpec adaptive_avg_pool##N##d_backward_shape(const Tensor& grad, const Tensor& self) {                        \
    return backward_spec("adaptive_avg_pool" #N "d_backward", N, grad, self, {});                                    \
  }                                                                                                                  \
  void adaptive_avg_pool##N##d_backward_cpu(const Tensor& grad, const Tensor& self, const Tensor& out) {             \
    run_avg_backward("adaptive_avg_pool" #N "d_backward", N, grad, self, out);                                       \
  }                                                                                                                  \
  Tensor adaptive_avg_pool##N##d_op(const Tensor& self, IntList output_size) {                                       \
    return ops::_adaptive_avg_pool##N##d(self, output_size);                                                         \
  }                                                                                                                  \
  std::tuple<TensorSpec, TensorSpec> adaptive_max_pool##N##d_shape(const Tensor& self, IntList output_size) {        \
    return max_specs("adaptive_max_pool" #N "d", N, self, output_size);                                              \
  }                                                                                                                  \
  void adaptive_max_pool##N##d_cpu(const Tensor& self, IntList output_size, const Tensor& out,                       \
                                   const Tensor& indices) {                                                          \
    run_max("adaptive_max_pool" #N "d", N, self, output_size, out, indices);                                         \
  }                                                                                                                  \
  TensorSpec adaptive_max_pool##N##d_backward_shape(const Tensor& grad, const Tensor& self, const Tensor& indices) { \
    return backward_spec("adaptive_max_pool" #N "d_backward", N, grad, self, indices);                               \
  }                                                                                                                  \
  void adaptive_max_pool##N##d_backward_cpu(const Tensor& grad, const Tensor&, const Tensor& indices,                \
                                            const Tensor& out) {                                                     \
    scatter_to_positions("adaptive_max_pool" #N "d_backward", N, grad, indices, out);                                \
  }

FL_ADAPTIVE(2)
FL_ADAPTIVE(3)

namespace {

std::vector<int64_t> one_row(const char* op, const Tensor& self, IntList output_size) {
  FL_CHECK(output_size.size() == 1, op, "() argument 'output_size' should contain one int (got ", output_size.size(),
           ")");
  FL_CHECK_SHAPE(self.dim() == 2 || self.dim() == 3, op, ": Expected 2D or 3D tensor, but got ", self.sizes());
  return {1, output_size[0]};
}

}  // namespace

Tensor adaptive_avg_pool1d_op(const Tensor& self, IntList output_size) {
  const auto size = one_row("adaptive_avg_pool1d", self, output_size);
  return ops::squeeze(ops::adaptive_avg_pool2d(ops::unsqueeze(self, -2), size), -2);
}

std::tuple<Tensor, Tensor> adaptive_max_pool1d_op(const Tensor& self, IntList output_size) {
  const auto size = one_row("adaptive_max_pool1d", self, output_size);
  auto [values, indices] = ops::adaptive_max_pool2d(ops::unsqueeze(self, -2), size);
  return {ops::squeeze(values, -2), ops::squeeze(indices, -2)};
}

}  // namespace flambeau
