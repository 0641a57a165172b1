#pragma once
/// Index tensors as checked memory offsets.
#include <vector>

#include "flambeau/core/tensor.h"

namespace flambeau {

/// Reads an integer tensor of any strides in row-major order. `allowed` names the dtypes that the operator takes
/// besides int64.
std::vector<int64_t> read_indices(const Tensor& index, const char* op, bool int32_allowed = true);
/// Every value moved into [0, size); throws IndexError naming value and size.
void wrap_indices(std::vector<int64_t>& indices, int64_t size, const char* op);
/// Values must be in [0, size): negative ones are refused too (scatter and gather).
void check_indices(const std::vector<int64_t>& indices, int64_t size, int64_t dim, const char* op);
/// int64 and row-major, converted where it is int32.
Tensor long_index(const Tensor& index, const char* op);
/// Indices of the elements that are not zero, as one row-major int64 tensor [count, ndim].
Tensor nonzero_op(const Tensor& self);

/// x[...] with index tensors, planned: which elements are met, in which order.
struct IndexPlan {
  std::vector<int64_t> result_sizes;
  std::vector<int64_t> result_strides;  ///< empty: row-major
  std::vector<int64_t> before;  ///< byte offsets of the dims in front of the indexed ones (one 0 where there are none)
  std::vector<int64_t> picked;  ///< byte offset of every index
  std::vector<int64_t> after;   ///< byte offsets of the dims behind
  bool after_is_block = false;  ///< `after` is one run of memory
};
/// Checks everything that can be wrong with the indices. Masks stand for the index tensors of their true elements.
IndexPlan plan_index(const Tensor& self, TensorList indices);

}  // namespace flambeau
