// softmax and log_softmax along a dimension, and their gradients.
#include <cmath>

#include "flambeau/ops/_log_softmax.h"
#include "flambeau/ops/_softmax.h"
#include "flambeau/ops/_to_copy.h"
#include "nn/compute.h"
#include "nn/hot.h"

namespace flambeau {

using namespace nn;

namespace {

// A tensor as [outer, n, inner] around a dimension.
struct Around {
  int64_t outer = 1, n = 1, inner = 1;
  Around(IntList sizes, int64_t dim) {
    dim = wrap_dim(dim, static_cast<int64_t>(sizes.size()));
    for (int64_t d = 0; d < static_cast<int64_t>(sizes.size()); ++d)
      (d < dim ? outer : d == dim ? n : inner) *= sizes[d];
  }
};

constexpr int64_t kBlock = 64;  // columns a task takes

// Calls rows(first, count) where the dimension is the last one, columns(offset, width) else.
template <class Rows, class Columns> void along(const Around& a, int64_t cost, Rows&& rows, Columns&& columns) {
  if (a.inner == 1) return for_rows(a.outer, a.n * cost, [&](int64_t b, int64_t e) { rows(b, e - b); });
  const int64_t blocks = (a.inner + kBlock - 1) / kBlock;
  for_rows(a.outer * blocks, a.n * std::min(kBlock, a.inner) * cost, [&](int64_t b, int64_t e) {
    for (int64_t t = b; t < e; ++t) {
      const int64_t at = t % blocks * kBlock;
      columns(t / blocks * a.n * a.inner + at, std::min(kBlock, a.inner - at));
    }
  });
}

void run_softmax(bool log, const Tensor& self, int64_t dim, const Tensor& out) {
  if (out.numel() == 0) return;
  const DType d = compute_dtype(log ? "log_softmax" : "softmax", out.dtype());
  const Around a(self.sizes(), dim);
  const Tensor x = prepared(self, d);
  const Output y(out, d);
  by_compute(d, [&](auto zero) {
    using T = decltype(zero);
    const T* from = x.data_as<T>();
    T* to = y.data<T>();
    along(
        a, 8,
        [&](int64_t first, int64_t count) {
          hot<T>().softmax_rows(log, from + first * a.n, to + first * a.n, count, a.n);
        },
        [&](int64_t at, int64_t width) { hot<T>().softmax_columns(log, from + at, to + at, a.n, width, a.inner); });
  });
  y.finish();
}

TensorSpec softmax_spec(const char* op, const Tensor& self, int64_t dim, bool half_to_float) {
  wrap_dim(dim, self.dim());
  compute_dtype(op, self.dtype());
  FL_CHECK(!half_to_float, "[", op,
           "] half_to_float is not supported on the CPU; convert the input with dtype= instead");
  return {self.sizes().vec(), self.dtype(), {}};
}

void run_gradient(bool log, const Tensor& grad, const Tensor& output, int64_t dim, const Tensor& out) {
  if (out.numel() == 0) return;
  const DType d = compute_dtype(log ? "log_softmax_backward" : "softmax_backward", grad.dtype());
  const Around a(grad.sizes(), dim);
  const Tensor g = prepared(grad, d), y = prepared(output, d);
  const Output gx(out, d);
  by_compute(d, [&](auto zero) {
    using T = decltype(zero);
    const T *from = g.data_as<T>(), *result = y.data_as<T>();
    T* to = gx.data<T>();
    along(
        a, 4,
        [&](int64_t first, int64_t count) {
          const int64_t k = first * a.n;
          hot<T>().softmax_grad_rows(log, from + k, result + k, to + k, count, a.n);
        },
        [&](int64_t at, int64_t width) {
          hot<T>().softmax_grad_columns(log, from + at, result + at, to + at, a.n, width, a.inner);
        });
  });
  gx.finish();
}

TensorSpec gradient_spec(const char* op, const Tensor& grad, const Tensor& output, int64_t dim, DType input_dtype) {
  check_sizes(op, "grad_output", grad, output.sizes());
  check_same_dtype(op, grad, "grad_output", output, "output");
  wrap_dim(dim, grad.dim());
  compute_dtype(op, grad.dtype());
  compute_dtype(op, input_dtype);
  return {grad.sizes().vec(), input_dtype, {}};
}

Tensor in_dtype(const Tensor& self, std::optional<DType> dtype) {
  if (!dtype || *dtype == self.dtype()) return self;
  return ops::_to_copy(self, dtype, std::nullopt, std::nullopt, std::nullopt, false, std::nullopt);
}

}  // namespace

TensorSpec softmax_shape(const Tensor& self, int64_t dim, bool half_to_float) {
  return softmax_spec("softmax", self, dim, half_to_float);
}
TensorSpec log_softmax_shape(const Tensor& self, int64_t dim, bool half_to_float) {
  return softmax_spec("log_softmax", self, dim, half_to_float);
}
void softmax_cpu(const Tensor& self, int64_t dim, bool, const Tensor& out) { run_softmax(false, self, dim, out); }
void log_softmax_cpu(const Tensor& self, int64_t dim, bool, const Tensor& out) { run_softmax(true, self, dim, out); }

TensorSpec softmax_backward_shape(const Tensor& grad, const Tensor& output, int64_t dim, DType input_dtype) {
  return gradient_spec("_softmax_backward_data", grad, output, dim, input_dtype);
}
TensorSpec log_softmax_backward_shape(const Tensor& grad, const Tensor& output, int64_t dim, DType input_dtype) {
  return gradient_spec("_log_softmax_backward_data", grad, output, dim, input_dtype);
}
void softmax_backward_cpu(const Tensor& grad, const Tensor& output, int64_t dim, DType, const Tensor& out) {
  run_gradient(false, grad, output, dim, out);
}
void log_softmax_backward_cpu(const Tensor& grad, const Tensor& output, int64_t dim, DType, const Tensor& out) {
  run_gradient(true, grad, output, dim, out);
}

Tensor softmax_op(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
  return ops::_softmax(in_dtype(self, dtype), dim, false);
}
Tensor log_softmax_op(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
  return ops::_log_softmax(in_dtype(self, dtype), dim, false);
}

}  // namespace flambeau
