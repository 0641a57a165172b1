// Derivatives of linear algebra, written from operators so that they can be differentiated again.
#include "flambeau/ops/transpose.h"
#include "formula_functions.h"

namespace flambeau::autograd {

Tensor adjoint(const Tensor& t) { return conj(ops::transpose(t, -2, -1)); }

}  // namespace flambeau::autograd
