#pragma once
#include <initializer_list>

#include "flambeau/core/tensor.h"

namespace flambeau::nn {

/// The dtype of the parameters of a normalisation: the input's, or f32 beside 16-bit inputs. Throws RuntimeError for
/// other mixtures.
DType parameter_dtype(const char* op, const Tensor& input, std::initializer_list<const Tensor*> parameters);

}  // namespace flambeau::nn
