#pragma once
/// What derivative formulas and nodes call. Everything goes through the dispatcher, so gradients of gradients follow.
#include "node.h"

namespace flambeau::autograd {

/// Adds `grad` into leaf.grad and runs the leaf's post-accumulate hooks.
void accumulate_into_leaf(const Tensor& leaf, const Tensor& grad);

/// The leaf of an AccumulateGrad node.
const Tensor& accumulated_variable(const Node& n);

Tensor as_strided_backward(const Tensor& grad, const Geometry& base, const Geometry& view, TensorOptions options);
/// A copy of `grad` with the base's own geometry (row-major when that overlaps itself).
Tensor strided_clone(const Tensor& grad, const Geometry& base);
Tensor ops_clone(const Tensor& t);
void copy_in_graph(const Tensor& dst, const Tensor& src);
void zero_in_graph(const Tensor& t);

/// Sums and converts gradient `index` that `node` gave into the shape and dtype that `want` asks for; throws
/// RuntimeError naming both otherwise.
Tensor fit_gradient(const Tensor& grad, const Shape& want, const char* node, size_t index);

std::string tensor_type_name(const Tensor& t);  ///< "torch.FloatTensor"

}  // namespace flambeau::autograd
