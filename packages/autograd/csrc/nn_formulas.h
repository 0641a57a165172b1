#pragma once
/// Derivative formulas of the neural operators.
#include <optional>
#include <tuple>

#include "flambeau/core/operator.h"

namespace flambeau::autograd {

/// Three switches as the frame's list of booleans; keep it alive for the length of the call.
struct Mask {
  bool wanted[3];
  Value value;
  Mask(bool a, bool b, bool c = false, uint32_t size = 3) : wanted{a, b, c} {
    value.bools = wanted;
    value.tag = Tag::BoolList;
    value.size = size;
  }
  Mask(const Mask&) = delete;
};

std::tuple<Tensor, Tensor, Tensor> convolution_gradients(const Tensor& grad, const Tensor& input, const Tensor& weight,
                                                         IntList stride, IntList padding, IntList dilation,
                                                         bool transposed, IntList output_padding, int64_t groups,
                                                         bool needs_input, bool needs_weight, bool needs_bias);
/// Gradients of convolution_backward with respect to grad_output, input and weight.
std::tuple<Tensor, Tensor, Tensor> convolution_double_backward(const Tensor* grads, const Tensor& grad_output,
                                                               const Tensor& input, const Tensor& weight,
                                                               IntList stride, IntList padding, IntList dilation,
                                                               bool transposed, IntList output_padding, int64_t groups,
                                                               bool needs_grad_output, bool needs_input,
                                                               bool needs_weight);

Tensor linear_input_gradient(const Tensor& grad, const Tensor& weight);
Tensor linear_weight_gradient(const Tensor& grad, const Tensor& input, int64_t weight_dim);

std::tuple<Tensor, Tensor, Tensor> batch_norm_gradients(const Tensor& grad, const Tensor& input, const Tensor& weight,
                                                        const Tensor& mean, const Tensor& invstd, bool training,
                                                        double eps, bool needs_input, bool needs_weight,
                                                        bool needs_bias);

std::tuple<Tensor, Tensor, Tensor> layer_norm_gradients(const Tensor& grad, const Tensor& input,
                                                        IntList normalized_shape, const Tensor& mean,
                                                        const Tensor& rstd, const Tensor& weight, const Tensor& bias,
                                                        double eps, bool needs_input, bool needs_weight,
                                                        bool needs_bias);
std::tuple<Tensor, Tensor> rms_norm_gradients(const Tensor& grad, const Tensor& input, IntList normalized_shape,
                                              const Tensor& rstd, const Tensor& weight, std::optional<double> eps,
                                              bool needs_input, bool needs_weight);
std::tuple<Tensor, Tensor, Tensor> group_norm_gradients(const Tensor* grads, const Tensor& grad, const Tensor& input,
                                                        const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                                                        int64_t N, int64_t C, int64_t HxW, int64_t group, double eps,
                                                        bool needs_input, bool needs_weight, bool needs_bias);

/// Rows of `grad` at indices, zeros for the padding row: the adjoint of embedding's gradient.
Tensor embedding_adjoint(const Tensor& grad, const Tensor& indices, int64_t padding_idx, bool scale_grad_by_freq);

/// For arguments that have no gradient in torch: throws RuntimeError naming them.
[[noreturn]] Tensor not_differentiable(const char* function, const char* argument);
[[noreturn]] Tensor not_implemented(const char* function, const char* argument);

/// t cut to [-limit, limit].
Tensor clamped(const Tensor& t, double limit);

/// The last `n` sizes.
inline IntList last_sizes(IntList sizes, size_t n) { return sizes.subspan(sizes.size() - n); }

/// Elements of the last `spatial` dimensions of `t` at the positions that an index of flattened planes gives.
Tensor gather_planes(const Tensor& t, const Tensor& indices, int64_t spatial);

/// Gradient of softmax's gradient with respect to softmax's result.
Tensor softmax_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& output, int64_t dim);
/// sum of grad * exp(output) along dim, broadcast: what log_softmax's gradient takes off every element.
Tensor log_softmax_sum(const Tensor& grad, const Tensor& output, int64_t dim);
Tensor log_softmax_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& output, int64_t dim);

}  // namespace flambeau::autograd
