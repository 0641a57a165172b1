#pragma once
/// Reductions of tensors by a ReduceKernel.
#include <array>

#include "flambeau/core/tensor.h"
#include "reduce/reduce_kernel.h"

namespace flambeau {

/// Dims of a reduction as flags, negatives resolved; an empty list means all. Throws on duplicates.
std::vector<uint8_t> reduced_flags(const Tensor& self, IntList dims);

/// `self` must have the dtype that the reduction computes in; a meta tensor gives meta results. The second result is
/// undefined for kernels with one.
std::array<Tensor, 2> reduce_tensor(const char* op, std::string_view kernel, const Tensor& self, IntList dims,
                                    bool keepdim, const Param* params = nullptr);

}  // namespace flambeau
