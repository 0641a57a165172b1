#pragma once
/// Python hooks of nodes and tensors, run by the engine.
#include "node.h"

namespace flambeau::autograd {

void run_tensor_hooks(Node& n, Few<Tensor, 1>& grads);
void run_pre_hooks(Node& n, Tensor* grads, size_t count);
void run_post_hooks(Node& n, Tensor* results, const Tensor* grads, size_t count);
/// Prints the forward stack of a node that failed, in anomaly mode.
void report_anomaly(Node& n);
/// Whether anomaly mode of this thread looks for NaN; on unless switched off.
bool& anomaly_checks_nan();
/// Throws RuntimeError when a result has a NaN, in anomaly mode.
void check_for_nan(Node& n, const Tensor* results);
/// Sum of two gradients for one edge.
Tensor sum_of(const Tensor& a, const Tensor& b);
/// Remembers where the node was made, in anomaly mode.
void note_creation(Node& n);
void run_post_accumulate_hooks(const Tensor& leaf);

}  // namespace flambeau::autograd
