#pragma once
/// Copies between dtypes and geometries.
#include "flambeau/core/tensor.h"

namespace flambeau {

/// Writes `src`, broadcast to the shape of `dst`, into `dst`, converting. They must not partially overlap.
void copy_values(const Tensor& dst, const Tensor& src);
/// A new tensor of another dtype with the layout of `t`.
Tensor converted(const Tensor& t, DType dtype);
/// A row-major copy or `t` itself.
Tensor contiguous(const Tensor& t);
/// A copy with the layout of `t` (preserve_format).
Tensor clone_values(const Tensor& t);
/// copy_ with checks: broadcast shape, overlap through a temporary.
const Tensor& copy_(const Tensor& self, const Tensor& src, bool non_blocking);

}  // namespace flambeau
