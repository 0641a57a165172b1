#pragma once
#include "flambeau/core/operator.h"

namespace flambeau {

/// prepare_out that gives a resized `out` these strides; empty: row-major.
FL_API void prepare_out(const char* op, const Tensor& out, IntList sizes, DType dtype, IntList strides);

}  // namespace flambeau
