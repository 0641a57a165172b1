#pragma once
/// The checked geometry of a convolution.
#include "conv/conv.h"
#include "flambeau/core/kernel.h"
#include "flambeau/core/tensor.h"

namespace flambeau::nn {

struct ConvParams {
  std::vector<int64_t> stride, padding, dilation, output_padding;
  bool transposed;
  int64_t groups;
};

ConvParams conv_params(IntList stride, IntList padding, IntList dilation, bool transposed, IntList output_padding,
                       int64_t groups);

/// Checks everything about (input, weight, bias) and gives the sizes of the result. Throws as torch does.
std::vector<int64_t> conv_output_sizes(const Tensor& input, const Tensor& weight, const Tensor& bias,
                                       const ConvParams& p);

/// Channels-last where the operands ask for it, else row-major.
MemoryFormat conv_format(const Tensor& input, const Tensor& weight);

/// In the terms of conv.h. For a transposed convolution x is the result and y the input of the operator.
conv::ConvShape conv_shape_of(IntList x, IntList weight, IntList y, const ConvParams& p);
conv::Strides conv_strides_of(const Tensor& t);

}  // namespace flambeau::nn
