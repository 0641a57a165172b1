#pragma once
#include "node.h"

namespace flambeau::autograd {

struct BackwardOptions {
  bool keep_graph = false;
  bool create_graph = false;
};

/// Propagates `grads` from `roots`. With `captures`, only what leads to those edges runs and their gradients are
/// returned (undefined where nothing reached); without, leaves accumulate into .grad.
std::vector<Tensor> run_backward(const std::vector<Edge>& roots, const std::vector<Tensor>& grads,
                                 const std::vector<Edge>* captures, BackwardOptions options);

}  // namespace flambeau::autograd
