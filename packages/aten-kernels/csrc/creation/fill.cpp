// fill_ and zero_.
#include "creation/formats.h"
#include "pointwise/convert.h"

namespace flambeau {

// One number everywhere: self may be expanded, so that elements share memory.

const Tensor& fill_scalar_(const Tensor& self, const Scalar& value) {
  fill_value(self, value);
  return self;
}

const Tensor& fill_tensor_(const Tensor& self, const Tensor& value) {
  FL_CHECK(value.dim() == 0, "fill_ only supports 0-dimension value tensor but got tensor with ", value.dim(),
           " dimensions.");
  if (!self.storage().data || !value.storage().data) return self;
  copy_values(self, memory_overlap(self, value) == Overlap::None ? value : clone_values(value));
  return self;
}

const Tensor& zero_op_(const Tensor& self) {
  fill_zero(self);
  return self;
}

}  // namespace flambeau
