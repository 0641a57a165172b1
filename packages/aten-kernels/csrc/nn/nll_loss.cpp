// Negative log likelihood of classes, and cross entropy on top of it.
#include <cmath>

#include "flambeau/ops/_cross_entropy_dense.h"
#include "flambeau/ops/_log_softmax.h"
#include "flambeau/ops/nll_loss2d_forward.h"
#include "flambeau/ops/nll_loss_forward.h"
#include "flambeau/ops/nll_loss_nd.h"
#include "flambeau/ops/reshape.h"
#include "nn/compute.h"

namespace flambeau {

using namespace nn;

namespace {

enum Reduction : int64_t { kNone = 0, kMean = 1, kSum = 2 };

void check_reduction(const char* op, int64_t reduction) {
  FL_CHECK_VALUE(reduction >= 0 && reduction <= 2, "[", op, "] reduction must be 0 (none), 1 (mean) or 2 (sum), got ",
                 reduction);
}

// Scores [N, C, S] and classes [N, S].
struct Classes {
  int64_t N, C, S;
};

Classes check_classes(const char* op, const Tensor& self, const Tensor& target, const Tensor& weight) {
  FL_CHECK(target.dtype() == DType::Int64 || target.dtype() == DType::UInt8,
           "expected target dtype to be Long or Byte, but got ", dtype_name(target.dtype()));
  const IntList x = self.sizes(), t = target.sizes();
  const int64_t C = self.dim() == 1 ? x[0] : x[1];
  if (self.dim() <= 2) {
    FL_CHECK_SHAPE(target.dim() <= 1, "0D or 1D target tensor expected, multi-target not supported");
    FL_CHECK_SHAPE(self.dim() == 1 ? target.dim() == 0 || t[0] == 1 : target.dim() == 1 && t[0] == x[0],
                   "size mismatch (got input: ", x, ", target: ", t, ")");
  } else {
    bool fits = target.dim() == self.dim() - 1 && t[0] == x[0];
    for (int64_t d = 1; fits && d < target.dim(); ++d) fits = t[d] == x[d + 1];
    FL_CHECK_SHAPE(fits, "[", op, "] size mismatch (got input: ", x, " , target: ", t, ")");
  }
  FL_CHECK_SHAPE(
      !weight.defined() || (weight.dim() == 1 && weight.numel() == C),
      "weight tensor should be defined either for all ", C,
      " classes or no classes but got weight tensor of shape: ", weight.defined() ? weight.sizes() : IntList{});
  check_same_dtype(op, self, "input", weight, "weight");
  const int64_t N = self.dim() == 1 ? 1 : x[0];
  return {N, C,
          N * C > 0 ? self.numel() / (N * C) : (self.dim() > 2 ? checked_numel(t, op) / std::max<int64_t>(N, 1) : 1)};
}

void check_rank(const char* op, const Tensor& self, bool planes) {
  if (planes)
    FL_CHECK_SHAPE(self.dim() == 4, "[", op,
                   "] only batches of spatial inputs supported (4D tensors), but got input of size: ", self.sizes());
  else
    FL_CHECK_SHAPE(self.dim() == 1 || self.dim() == 2, "input tensor should be 1D or 2D, got ", self.sizes());
}

std::tuple<TensorSpec, TensorSpec> forward_specs(const char* op, const Tensor& self, const Tensor& target,
                                                 const Tensor& weight, int64_t reduction, bool planes) {
  check_rank(op, self, planes);
  check_classes(op, self, target, weight);
  check_reduction(op, reduction);
  compute_dtype(op, self.dtype());
  std::vector<int64_t> sizes;
  if (reduction == kNone && self.dim() > 1) sizes = target.sizes().vec();
  return {TensorSpec{sizes, self.dtype(), {}}, TensorSpec{{}, self.dtype(), {}}};
}

template <class T>
void forward(const Classes& c, const T* x, const int64_t* target, const T* weight, int64_t reduction, int64_t ignore,
             T* out, T* total_weight) {
  double sum = 0, total = 0;
  for (int64_t n = 0; n < c.N; ++n)
    for (int64_t s = 0; s < c.S; ++s) {
      const int64_t t = target[n * c.S + s];
      T loss = 0;
      if (t != ignore) {
        FL_CHECK_INDEX(t >= 0 && t < c.C, "Target ", t, " is out of bounds: there are ", c.C, " classes");
        const T w = weight ? weight[t] : T(1);
        loss = -x[(n * c.C + t) * c.S + s] * w;
        total += static_cast<double>(w);
        sum += static_cast<double>(loss);
      }
      if (reduction == kNone) out[n * c.S + s] = loss;
    }
  *total_weight = reduction == kNone ? T(0) : static_cast<T>(total);
  if (reduction != kNone) *out = static_cast<T>(reduction == kMean ? sum / total : sum);
}

void run_forward(const char* op, const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction,
                 int64_t ignore, const Tensor& out, const Tensor& total_weight) {
  const Classes c = check_classes(op, self, target, weight);
  const DType d = compute_dtype(op, self.dtype());
  const Tensor x = prepared(self, d), t = prepared(target, DType::Int64), w = prepared(weight, d);
  const Output y(out, d), total(total_weight, d);
  by_compute(d, [&](auto zero) {
    using T = decltype(zero);
    forward<T>(c, x.data_as<T>(), t.data_as<int64_t>(), w.defined() ? w.data_as<T>() : nullptr, reduction, ignore,
               y.data<T>(), total.data<T>());
  });
  y.finish();
  total.finish();
}

TensorSpec backward_spec(const char* op, const Tensor& grad, const Tensor& self, const Tensor& target,
                         const Tensor& weight, int64_t reduction, const Tensor& total_weight, bool planes) {
  check_rank(op, self, planes);
  check_classes(op, self, target, weight);
  check_reduction(op, reduction);
  check_same_dtype(op, grad, "grad_output", self, "self");
  compute_dtype(op, self.dtype());
  FL_CHECK_SHAPE(total_weight.defined() && total_weight.numel() == 1, "[", op,
                 "] total_weight must be a single element, got sizes ",
                 total_weight.defined() ? total_weight.sizes() : IntList{});
  if (reduction == kNone && self.dim() > 1)
    check_sizes(op, "grad_output", grad, target.sizes());
  else
    FL_CHECK_SHAPE(grad.dim() <= 1 && grad.numel() == 1,
                   "Expected a single element grad_output tensor, but got: ", grad.sizes());
  return {self.sizes().vec(), self.dtype(), {}};
}

void run_backward(const char* op, const Tensor& grad, const Tensor& self, const Tensor& target, const Tensor& weight,
                  int64_t reduction, int64_t ignore, const Tensor& total_weight, const Tensor& out) {
  if (out.numel() == 0) return;
  const Classes c = check_classes(op, self, target, weight);
  const DType d = compute_dtype(op, self.dtype());
  const Tensor g = prepared(grad, d), t = prepared(target, DType::Int64), w = prepared(weight, d),
               total = prepared(total_weight, d);
  const Output gx(out, d);
  by_compute(d, [&](auto zero) {
    using T = decltype(zero);
    T* to = gx.data<T>();
    std::fill_n(to, out.numel(), T(0));
    const T* from = g.data_as<T>();
    const T scale = reduction == kMean ? T(1) / *total.data_as<T>() : T(1);
    for (int64_t n = 0; n < c.N; ++n)
      for (int64_t s = 0; s < c.S; ++s) {
        const int64_t k = t.data_as<int64_t>()[n * c.S + s];
        if (k == ignore) continue;
        FL_CHECK_INDEX(k >= 0 && k < c.C, "Target ", k, " is out of bounds: there are ", c.C, " classes");
        const T each = reduction == kNone ? from[n * c.S + s] : *from * scale;
        to[(n * c.C + k) * c.S + s] = -each * (w.defined() ? w.data_as<T>()[k] : T(1));
      }
  });
  gx.finish();
}

}  // namespace

#define FL_NLL(NAME, PLANES)                                                                                           \
  std::tuple<TensorSpec, TensorSpec> NAME##_shape(const Tensor& self, const Tensor& target, const Tensor& weight,      \
                                                  int64_t reduction, int64_t) {                                        \
    return forward_specs(#NAME, self, target, weight, reduction, PLANES);                                              \
  }                                                                                                                    \
  void NAME##_cpu(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction, int64_t ignore,   \
                  const Tensor& out, const Tensor& total) {                                                            \
    run_forward(#NAME, self, target, weight, reduction, ignore, out, total);                                           \
  }                                                                                                                    \
  TensorSpec NAME##_backward_shape(const Tensor& grad, const Tensor& self, const Tensor& target, const Tensor& weight, \
                                   int64_t reduction, int64_t, const Tensor& total) {                                  \
    return backward_spec(#NAME "_backward", grad, self, target, weight, reduction, total, PLANES);                     \
  }                                                                                                                    \
  void NAME##_backward_cpu(const Tensor& grad, const Tensor& self, const Tensor& target, const Tensor& weight,         \
                           int64_t reduction, int64_t ignore, const Tensor& total, const Tensor& out) {                \
    run_backward(#NAME "_backward", grad, self, target, weight, reduction, ignore, total, out);                        \
  }                                                                                                                    \
  Tensor NAME##_op(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction,                  \
                   int64_t ignore) {                                                                                   \
    return std::get<0>(ops::NAME##_forward(self, target, weight, reduction, ignore));                                  \
  }

FL_NLL(nll_loss, false)
FL_NLL(nll_loss2d, true)

// Any number of spatial dimensions: they are one to the kernels.
Tensor nll_loss_nd_op(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction,
                      int64_t ignore) {
  FL_CHECK_VALUE(self.dim() >= 1, "Expected 1 or more dimensions (got ", self.dim(), ")");
  if (self.dim() > 1)
    FL_CHECK_VALUE(target.dim() >= 1 && self.sizes()[0] == target.sizes()[0], "Expected input batch_size (",
                   self.sizes()[0], ") to match target batch_size (", target.dim() ? target.sizes()[0] : 0, ").");
  if (self.dim() <= 2) return std::get<0>(ops::nll_loss_forward(self, target, weight, reduction, ignore));
  if (self.dim() == 4) return std::get<0>(ops::nll_loss2d_forward(self, target, weight, reduction, ignore));
  const int64_t N = self.sizes()[0], C = self.sizes()[1];
  int64_t S = 1;
  for (int64_t d = 2; d < self.dim(); ++d) S *= self.sizes()[d];
  std::vector<int64_t> spatial(self.sizes().begin() + 2, self.sizes().end());
  spatial.insert(spatial.begin(), N);
  FL_CHECK_SHAPE(target.sizes() == IntList(spatial), "Expected target size ", spatial, ", got ", target.sizes());
  const Tensor out = std::get<0>(ops::nll_loss2d_forward(ops::reshape(self, {N, C, 1, S}),
                                                         ops::reshape(target, {N, 1, S}), weight, reduction, ignore));
  return reduction == kNone ? ops::reshape(out, spatial) : out;
}

Tensor cross_entropy_loss_op(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction,
                             int64_t ignore, double label_smoothing) {
  const bool dense = self.sizes() == target.sizes();
  if (dense)
    FL_CHECK(is_floating(target.dtype()), "Expected floating point type for target with class probabilities, got ",
             dtype_name(target.dtype()));
  FL_CHECK(label_smoothing >= 0 && label_smoothing <= 1,
           "label_smoothing must be between 0.0 and 1.0. Got: ", label_smoothing);
  if (dense) FL_CHECK(ignore < 0, "ignore_index is not supported for floating point target");
  if (dense || label_smoothing > 0)
    return ops::_cross_entropy_dense(self, target, weight, reduction, ignore, label_smoothing);
  FL_CHECK_SHAPE(self.dim() >= 1, "[cross_entropy] input needs a dimension of classes, got a 0-d tensor");
  return ops::nll_loss_nd(ops::_log_softmax(self, self.dim() == 1 ? 0 : 1, false), target, weight, reduction, ignore);
}

}  // namespace flambeau
