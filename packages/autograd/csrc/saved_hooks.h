#pragma once
/// torch.autograd.graph.saved_tensors_hooks: what is saved passes through Python functions.
#include <memory>

#include "flambeau/core/tensor.h"

namespace flambeau::autograd {

class Reach;

bool saved_hooks_active();
std::shared_ptr<void> pack_saved(const Tensor& t);
Tensor unpack_saved(void* packed);
/// Names what was packed, for the garbage collector.
void reach_packed(void* packed, Reach& r);

}  // namespace flambeau::autograd
