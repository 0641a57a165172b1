#include "nn/norm_common.h"

#include "nn/compute.h"

namespace flambeau::nn {

DType parameter_dtype(const char* op, const Tensor& input, std::initializer_list<const Tensor*> parameters) {
  DType dtype = DType::Undefined;
  for (const Tensor* p : parameters) {
    if (!p->defined()) continue;
    FL_CHECK_DTYPE(dtype == DType::Undefined || p->dtype() == dtype, "[", op,
                   "] mixed dtype (CPU): all inputs must share same datatype, parameters are ", dtype_name(dtype),
                   " and ", dtype_name(p->dtype()));
    dtype = p->dtype();
  }
  if (dtype == DType::Undefined) return input.dtype();
  FL_CHECK_DTYPE(dtype == input.dtype() || (is_half_kind(input.dtype()) && dtype == DType::Float32), "[", op,
                 "] mixed dtype (CPU): all inputs must share same datatype; input is ", dtype_name(input.dtype()),
                 ", parameters are ", dtype_name(dtype), " (float32 parameters go with 16-bit inputs)");
  return dtype;
}

}  // namespace flambeau::nn
