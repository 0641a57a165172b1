#include "nn_formulas.h"

#include <algorithm>
#include <limits>

#include "flambeau/ops/_fused_rms_norm_backward.h"
#include "flambeau/ops/_norm_gradients.h"
#include "flambeau/ops/clamp.h"
#include "flambeau/ops/convolution.h"
#include "flambeau/ops/convolution_backward.h"
#include "flambeau/ops/detach.h"
#include "flambeau/ops/embedding.h"
#include "flambeau/ops/eq.h"
#include "flambeau/ops/exp.h"
#include "flambeau/ops/expand.h"
#include "flambeau/ops/linear.h"
#include "flambeau/ops/masked_fill.h"
#include "flambeau/ops/native_batch_norm_backward.h"
#include "flambeau/ops/native_group_norm_backward.h"
#include "flambeau/ops/native_layer_norm_backward.h"
#include "flambeau/ops/reshape.h"
#include "flambeau/ops/transpose.h"
#include "flambeau/ops/unsqueeze.h"
#include "formula_functions.h"

namespace flambeau::autograd {

namespace {

template <class... Args> Tensor by_name(const char* name, const Args&... args) {
  return call<Tensor>(get_operator("aten", name), args...);
}

Tensor sum_keep(const Tensor& t, int64_t dim) {
  return by_name("sum.dim_IntList", t, IntList{dim}, true, std::nullopt);
}
Tensor flat_rows(const Tensor& t) {
  if (t.dim() == 2) return t;
  int64_t rows = 1;
  for (size_t d = 0; d + 1 < t.sizes().size(); ++d) rows *= t.sizes()[d];
  return ops::reshape(t, {rows, t.sizes().back()});
}
Tensor plus(const Tensor& a, const Tensor& b) { return !a.defined() ? b : !b.defined() ? a : a + b; }

// Where gradients will be differentiated again, normalisations take a path of plain operators.
std::tuple<Tensor, Tensor> norm_gradients(const Tensor& grad, const Tensor& input, const std::vector<int64_t>& dims,
                                          const Tensor& weight, double eps, bool centred) {
  return ops::_norm_gradients(grad, input, dims, weight, eps, centred);
}

std::vector<int64_t> dims_but(int64_t ndim, int64_t kept) {
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < ndim; ++d)
    if (d != kept) dims.push_back(d);
  return dims;
}

Tensor per_channel(const Tensor& t, int64_t ndim) {
  if (!t.defined()) return t;
  std::vector<int64_t> shape(static_cast<size_t>(ndim), 1);
  shape[1] = -1;
  return ops::reshape(t, shape);
}

Tensor sum_channels(const Tensor& t) {
  return by_name("sum.dim_IntList", t, IntList(dims_but(t.dim(), 1)), false, std::nullopt);
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> convolution_gradients(const Tensor& grad, const Tensor& input, const Tensor& weight,
                                                         IntList stride, IntList padding, IntList dilation,
                                                         bool transposed, IntList output_padding, int64_t groups,
                                                         bool needs_input, bool needs_weight, bool needs_bias) {
  const Mask mask(needs_input, needs_weight, needs_bias);
  const int64_t channels[1] = {grad.sizes()[1]};
  return ops::convolution_backward(grad, input, weight,
                                   needs_bias ? std::optional<IntList>(IntList(channels)) : std::nullopt, stride,
                                   padding, dilation, transposed, output_padding, groups, mask.value);
}

std::tuple<Tensor, Tensor, Tensor> convolution_double_backward(const Tensor* grads, const Tensor& grad_output,
                                                               const Tensor& input, const Tensor& weight,
                                                               IntList stride, IntList padding, IntList dilation,
                                                               bool transposed, IntList output_padding, int64_t groups,
                                                               bool needs_grad_output, bool needs_input,
                                                               bool needs_weight) {
  const Tensor &ggi = grads[0], &ggw = grads[1], &ggb = grads[2];
  Tensor g, gi, gw;
  if (needs_grad_output) {
    if (ggi.defined())
      g = ops::convolution(ggi, weight, {}, stride, padding, dilation, transposed, output_padding, groups);
    if (ggw.defined())
      g = plus(g, ops::convolution(input, ggw, {}, stride, padding, dilation, transposed, output_padding, groups));
    if (ggb.defined()) {
      std::vector<int64_t> shape(static_cast<size_t>(grad_output.dim()), 1);
      shape[1] = -1;
      const Tensor b = ops::reshape(ggb, shape);
      g = g.defined() ? g + b : ops::expand(b, grad_output.sizes());
    }
  }
  if (needs_input && ggw.defined()) {
    const Mask mask(true, false);
    gi = std::get<0>(ops::convolution_backward(grad_output, input, ggw, std::nullopt, stride, padding, dilation,
                                               transposed, output_padding, groups, mask.value));
  }
  if (needs_weight && ggi.defined()) {
    const Mask mask(false, true);
    gw = std::get<1>(ops::convolution_backward(grad_output, ggi, weight, std::nullopt, stride, padding, dilation,
                                               transposed, output_padding, groups, mask.value));
  }
  return {g, gi, gw};
}

// linear(x, w) multiplies by the transposed weight, so the untransposed one is a linear of its transpose.
Tensor linear_input_gradient(const Tensor& grad, const Tensor& weight) {
  const Tensor w = conj(weight);
  if (weight.dim() == 1) return ops::unsqueeze(grad, -1) * w;
  return ops::linear(grad, ops::transpose(w, 0, 1), {});
}

Tensor linear_weight_gradient(const Tensor& grad, const Tensor& input, int64_t weight_dim) {
  const Tensor x = flat_rows(conj(input));
  const Tensor g = weight_dim == 1 ? ops::reshape(grad, {grad.numel(), 1}) : flat_rows(grad);
  const Tensor gw = ops::linear(ops::transpose(g, 0, 1), ops::transpose(x, 0, 1), {});
  return weight_dim == 1 ? ops::reshape(gw, {-1}) : gw;
}

std::tuple<Tensor, Tensor, Tensor> batch_norm_gradients(const Tensor& grad, const Tensor& input, const Tensor& weight,
                                                        const Tensor& mean, const Tensor& invstd, bool training,
                                                        double eps, bool needs_input, bool needs_weight,
                                                        bool needs_bias) {
  if (grad_enabled() && training) {
    auto [gx, gz] = norm_gradients(grad, input, dims_but(input.dim(), 1), per_channel(weight, input.dim()), eps, true);
    return {gx, needs_weight ? sum_channels(gz) : Tensor(), needs_bias ? sum_channels(grad) : Tensor()};
  }
  if (grad_enabled()) {
    const Tensor scale = ops::detach(per_channel(invstd, input.dim()));
    const Tensor g = weight.defined() ? grad * per_channel(weight, input.dim()) : grad;
    const Tensor gz = grad * (input - ops::detach(per_channel(mean, input.dim()))) * scale;
    return {g * scale, needs_weight ? sum_channels(gz) : Tensor(), needs_bias ? sum_channels(grad) : Tensor()};
  }
  const Mask mask(needs_input, needs_weight, needs_bias);
  return ops::native_batch_norm_backward(grad, input, weight, {}, {}, mean, invstd, training, eps, mask.value);
}

std::tuple<Tensor, Tensor, Tensor> layer_norm_gradients(const Tensor& grad, const Tensor& input,
                                                        IntList normalized_shape, const Tensor& mean,
                                                        const Tensor& rstd, const Tensor& weight, const Tensor& bias,
                                                        double eps, bool needs_input, bool needs_weight,
                                                        bool needs_bias) {
  if (grad_enabled()) {
    std::vector<int64_t> dims;
    for (size_t d = 0; d < normalized_shape.size(); ++d) dims.push_back(input.dim() - 1 - static_cast<int64_t>(d));
    auto [gx, gz] = norm_gradients(grad, input, dims, weight, eps, true);
    return {gx, needs_weight ? sum_to(gz, normalized_shape) : Tensor(),
            needs_bias ? sum_to(grad, normalized_shape) : Tensor()};
  }
  const Mask mask(needs_input, needs_weight, needs_bias);
  return ops::native_layer_norm_backward(grad, input, normalized_shape, mean, rstd, weight, bias, mask.value);
}

std::tuple<Tensor, Tensor> rms_norm_gradients(const Tensor& grad, const Tensor& input, IntList normalized_shape,
                                              const Tensor& rstd, const Tensor& weight, std::optional<double> eps,
                                              bool needs_input, bool needs_weight) {
  if (grad_enabled()) {
    std::vector<int64_t> dims;
    for (size_t d = 0; d < normalized_shape.size(); ++d) dims.push_back(input.dim() - 1 - static_cast<int64_t>(d));
    const double tiny = input.dtype() == DType::Float64 ? std::numeric_limits<double>::epsilon()
                                                        : static_cast<double>(std::numeric_limits<float>::epsilon());
    auto [gx, gz] = norm_gradients(grad, input, dims, weight, eps.value_or(tiny), false);
    return {gx, needs_weight ? sum_to(gz, normalized_shape) : Tensor()};
  }
  const Mask mask(needs_input, needs_weight, false, 2);
  return ops::_fused_rms_norm_backward(grad, input, normalized_shape, rstd, weight, mask.value);
}

// What reaches the input through the means and inverse deviations themselves, (N, groups) each.
static Tensor group_statistics_gradient(const Tensor& grad_mean, const Tensor& grad_rstd, const Tensor& input,
                                        const Tensor& mean, const Tensor& rstd) {
  if (!grad_mean.defined() && !grad_rstd.defined()) return {};
  const int64_t rows[3] = {mean.sizes()[0], mean.sizes()[1], mean.numel() ? input.numel() / mean.numel() : 0};
  const Tensor x = ops::reshape(input, IntList(rows));
  const Scalar share(1.0 / static_cast<double>(std::max<int64_t>(x.sizes()[2], 1)));
  Tensor g;
  if (grad_mean.defined()) g = ops::expand(ops::unsqueeze(grad_mean * share, -1), x.sizes());
  if (grad_rstd.defined()) {
    const Tensor slope = ops::unsqueeze(grad_rstd * rstd * rstd * rstd * share, -1);
    g = plus(g, -(slope * (x - ops::unsqueeze(mean, -1))));
  }
  return ops::reshape(g, input.sizes());
}

std::tuple<Tensor, Tensor, Tensor> group_norm_gradients(const Tensor* grads, const Tensor& grad, const Tensor& input,
                                                        const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                                                        int64_t N, int64_t C, int64_t HxW, int64_t group, double eps,
                                                        bool needs_input, bool needs_weight, bool needs_bias) {
  const Tensor through_stats =
      needs_input ? group_statistics_gradient(grads[1], grads[2], input, ops::detach(mean), ops::detach(rstd))
                  : Tensor();
  if (grad_enabled() && input.numel()) {
    const int64_t grouped_sizes[3] = {N, group, C / group * HxW};
    const IntList grouped(grouped_sizes);
    const Tensor w =
        weight.defined() ? ops::reshape(ops::expand(ops::reshape(weight, {1, C, 1}), {N, C, HxW}), grouped) : weight;
    auto [gx, gz] = norm_gradients(ops::reshape(grad, grouped), ops::reshape(input, grouped), {2}, w, eps, true);
    const auto channels = [&](const Tensor& t) { return sum_channels(ops::reshape(t, {N, C, HxW})); };
    return {plus(ops::reshape(gx, input.sizes()), through_stats), needs_weight ? channels(gz) : Tensor(),
            needs_bias ? channels(grad) : Tensor()};
  }
  const Mask mask(needs_input, needs_weight, needs_bias);
  auto all = ops::native_group_norm_backward(grad, input, mean, rstd, weight, N, C, HxW, group, mask.value);
  if (through_stats.defined()) std::get<0>(all) = plus(std::get<0>(all), through_stats);
  return all;
}

Tensor embedding_adjoint(const Tensor& grad, const Tensor& indices, int64_t padding_idx, bool scale_grad_by_freq) {
  FL_CHECK_NOT_IMPLEMENTED(!scale_grad_by_freq, "[embedding] double backward with scale_grad_by_freq is not supported");
  const Tensor rows = ops::embedding(grad, indices, padding_idx, false, false);
  if (padding_idx < 0) return rows;
  const Tensor hidden = ops::unsqueeze(ops::eq(indices, wrapped_number(Scalar(padding_idx))), -1);
  return ops::masked_fill(rows, hidden, Scalar(0.0));
}

Tensor not_differentiable(const char* function, const char* argument) {
  detail::fail<ErrorKind::Runtime>("The function '", function, "' is not differentiable with respect to argument '",
                                   argument, "'. This input cannot have requires_grad True.");
}

Tensor not_implemented(const char* function, const char* argument) {
  FL_CHECK_NOT_IMPLEMENTED(false, "the derivative for '", function, ": ", argument, "' is not implemented.");
  __builtin_unreachable();
}

Tensor clamped(const Tensor& t, double limit) { return ops::clamp(t, Scalar(-limit), Scalar(limit)); }

Tensor gather_planes(const Tensor& t, const Tensor& indices, int64_t spatial) {
  std::vector<int64_t> flat(t.sizes().begin(), t.sizes().end() - spatial), picked = flat;
  int64_t plane = 1, count = 1;
  for (int64_t d = 1; d <= spatial; ++d) plane *= t.size(-d), count *= indices.size(-d);
  flat.push_back(plane);
  picked.push_back(count);
  const Tensor values = by_name("gather", ops::reshape(t, flat), int64_t{-1}, ops::reshape(indices, picked), false);
  return ops::reshape(values, indices.sizes());
}

Tensor softmax_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& output, int64_t dim) {
  return grad * grad_output - grad * sum_keep(grad_output * output, dim) - grad_output * sum_keep(grad * output, dim);
}

Tensor log_softmax_sum(const Tensor& grad, const Tensor& output, int64_t dim) {
  return sum_keep(grad * ops::exp(output), dim);
}

Tensor log_softmax_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& output, int64_t dim) {
  return -(grad * ops::exp(output) * sum_keep(grad_output, dim));
}

}  // namespace flambeau::autograd
