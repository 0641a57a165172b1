#pragma once
/// Runs a PointwiseKernel on the frame of an operator: promotion, broadcasting, conversion, allocation, overlap.
#include "flambeau/core/operator.h"

namespace flambeau {

/// Kernels of functional, in-place and out forms; the operator's payload is its PointwiseKernel.
void run_pointwise(const Operator& op, KeySet keys, const Value* args, Value* results);
void run_pointwise_inplace(const Operator& op, KeySet keys, const Value* args, Value* results);
void run_pointwise_out(const Operator& op, KeySet keys, const Value* args, Value* results);
void run_pointwise_meta(const Operator& op, KeySet keys, const Value* args, Value* results);

/// Gives a pointwise operator its in-place, out and meta kernels.
void install_pointwise_variants(Operator& op);

}  // namespace flambeau
