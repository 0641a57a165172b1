// Dropout: a mask and one multiplication.
#include <tuple>

#include "flambeau/ops/mul.h"
#include "flambeau/ops/native_dropout.h"
#include "flambeau/ops/native_dropout_backward.h"
#include "random/draw.h"

namespace flambeau {

namespace {

// 1 / (1 - p) as a division of numbers of the tensor's dtype gives it.
double keep_scale(DType dtype, double p) {
  if (p == 1) return 0;
  if (dtype == DType::Float64) return 1.0 / (1.0 - p);
  const auto round = [&](float v) {
    return dtype == DType::Float16    ? static_cast<float>(Half(v))
           : dtype == DType::BFloat16 ? static_cast<float>(BFloat16(v))
                                      : v;
  };
  return static_cast<double>(round(1.0f / static_cast<float>(1.0 - p)));
}

}  // namespace

std::tuple<Tensor, Tensor> native_dropout_op(const Tensor& input, double p, std::optional<bool> train) {
  FL_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
  const Tensor mask = empty_like(input, DType::Bool);
  if (train.value_or(true))
    draw_bernoulli(mask, 1 - p, nullptr);
  else
    fill_value(mask, Scalar(true));
  const double scale = train.value_or(true) ? keep_scale(input.dtype(), p) : 1.0;
  GradMode no_grad(false);
  return {ops::native_dropout_backward(input, mask, scale), mask};
}

Tensor dropout_op(const Tensor& input, double p, bool train) {
  FL_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
  if (p == 0 || !train || input.numel() == 0) return input;
  if (p == 1) return ops::mul(input, scalar_tensor(Scalar(0), {input.dtype(), input.device()}));
  return std::get<0>(ops::native_dropout(input, p, true));
}

}  // namespace flambeau
