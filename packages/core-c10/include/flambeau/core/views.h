#pragma once
/// Operators that only change geometry. Results share storage with `self` and serve every backend.
#include "flambeau/core/tensor.h"

namespace flambeau {

FL_API Tensor as_strided(const Tensor& self, IntList size, IntList stride, std::optional<int64_t> storage_offset);
FL_API Tensor view(const Tensor& self, IntList size);
FL_API Tensor view_dtype(const Tensor& self, DType dtype);
FL_API Tensor alias(const Tensor& self);
FL_API Tensor detach(const Tensor& self);
FL_API Tensor permute(const Tensor& self, IntList dims);
FL_API Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1);
FL_API Tensor expand(const Tensor& self, IntList size, bool implicit = false);
FL_API Tensor select(const Tensor& self, int64_t dim, int64_t index);
FL_API Tensor slice(const Tensor& self, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
                    int64_t step);
FL_API Tensor squeeze(const Tensor& self);
FL_API Tensor squeeze_dim(const Tensor& self, int64_t dim);
FL_API Tensor squeeze_dims(const Tensor& self, IntList dims);
FL_API Tensor unsqueeze(const Tensor& self, int64_t dim);
FL_API Tensor diagonal(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2);
FL_API Tensor unfold(const Tensor& self, int64_t dimension, int64_t size, int64_t step);
FL_API Tensor view_as_real(const Tensor& self);
FL_API Tensor view_as_complex(const Tensor& self);
FL_API std::vector<Tensor> unbind(const Tensor& self, int64_t dim);
FL_API std::vector<Tensor> split(const Tensor& self, int64_t split_size, int64_t dim);
FL_API std::vector<Tensor> split_with_sizes(const Tensor& self, IntList split_sizes, int64_t dim);

/// Replaces one -1 by the size that makes the product `numel`; throws RuntimeError when it cannot.
FL_API std::vector<int64_t> infer_size(IntList size, int64_t numel);
/// Strides with which a tensor of (sizes, strides) can be seen as `new_sizes` without a copy, if there are any.
FL_API std::optional<std::vector<int64_t>> view_strides(IntList sizes, IntList strides, IntList new_sizes);

}  // namespace flambeau
