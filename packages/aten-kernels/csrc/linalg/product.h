#pragma once
/// Matrix products of tensors: strides become row-major operands with transpose flags, the dtype picks a gemm.
#include "flambeau/core/tensor.h"

namespace flambeau {

/// out = alpha * a @ b + beta * out for matrices; `out` is row-major, all of one dtype that check_product_dtype took.
void multiply_into(const Tensor& out, const Tensor& a, const Tensor& b, const Scalar& alpha, const Scalar& beta);
/// The same for every matrix of a batch; all three are 3-d.
void multiply_batch_into(const Tensor& out, const Tensor& a, const Tensor& b, const Scalar& alpha, const Scalar& beta);
/// Throws NotImplementedError for dtypes that have no product.
void check_product_dtype(const char* op, DType dtype);

}  // namespace flambeau
