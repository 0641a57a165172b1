#pragma once
#include "flambeau/core/tensor.h"

namespace flambeau {

/// Copies between tensors of one dtype whose innermost dimensions differ, tile by tile, so that both sides touch whole
/// cache lines. False when the pair is not of that kind: nothing is copied then.
bool copy_transposed(const Tensor& dst, const Tensor& src);

}  // namespace flambeau
