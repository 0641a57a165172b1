#pragma once
/// Short words for what the formulas of linear algebra share.
#include "formula_functions.h"

namespace flambeau::autograd {

Tensor mm(const Tensor& a, const Tensor& b);
Tensor part(const Tensor& t, int64_t dim, int64_t begin, int64_t end);
Tensor diagonal_of(const Tensor& t);
Tensor diagonal_matrix(const Tensor& t);
/// The upper right block of exp([[A, B], [0, A]]): the derivative of exp at A in direction B.
Tensor exp_of_blocks(const Tensor& A, const Tensor& B);

}  // namespace flambeau::autograd
