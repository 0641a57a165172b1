#pragma once
#include "flambeau/core/tensor.h"
#include "index/element_ops.h"

namespace flambeau {

/// The same memory with another geometry, without history. The caller vouches for the geometry.
Tensor with_geometry(const Tensor& t, IntList sizes, IntList strides, int64_t offset);
/// A 0-d tensor as a 1-d one.
Tensor at_least_1d(const Tensor& t);
/// For every element of `index`: loop(self at index along dim, source). index is int64 and checked; source has its
/// shape.
void scatter_with(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, CombineIndexedLoop loop);

}  // namespace flambeau
