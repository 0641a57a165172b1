// fill_ and zero_.
#include "creation/formats.h"
#include "pointwise/convert.h"

namespace flambeau {

namespace {
void check_fillable(const Tensor& self, const char* op) {
  FL_CHECK(
      !has_internal_overlap(self), "[", op,
      "] unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
      "Please clone() the tensor before performing the operation.");
}
}  // namespace

const Tensor& fill_scalar_(const Tensor& self, const Scalar& value) {
  check_fillable(self, "fill_");
  fill_value(self, value);
  return self;
}

const Tensor& fill_tensor_(const Tensor& self, const Tensor& value) {
  FL_CHECK(value.dim() == 0, "fill_ only supports 0-dimension value tensor but got tensor with ", value.dim(),
           " dimensions.");
  check_fillable(self, "fill_");
  if (!self.storage().data || !value.storage().data) return self;
  copy_values(self, memory_overlap(self, value) == Overlap::None ? value : clone_values(value));
  return self;
}

const Tensor& zero_op_(const Tensor& self) {
  check_fillable(self, "zero_");
  fill_zero(self);
  return self;
}

}  // namespace flambeau
