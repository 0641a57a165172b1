#include "iterator/inplace_kernel.h"

namespace flambeau {

void check_writable(const Operator& op, const Tensor& self) {
  self.check_may_write();
  FL_CHECK(!has_internal_overlap(self), "[", op.name,
           "] unsupported operation: more than one element of the written-to tensor refers to a "
           "single memory location. Please clone() the tensor before performing the operation.");
}

DisjointFrame::DisjointFrame(const Operator& op, const Value* args, const Tensor& self) {
  FL_CHECK(op.num_args <= kMax, "[", op.name, "] too many arguments");
  values_[0] = args[0];
  for (int i = 1; i < op.num_args; ++i) {
    values_[i] = args[i];
    if (args[i].tag == Tag::Tensor && memory_overlap(self, args[i].as_tensor()) != Overlap::None) {
      copies_[i] = clone_values(args[i].as_tensor());
      values_[i] = Value(copies_[i]);
    } else if (args[i].tag == Tag::TensorList) {
      std::vector<Tensor> list(args[i].tensors, args[i].tensors + args[i].size);
      for (Tensor& t : list)
        if (t.defined() && memory_overlap(self, t) != Overlap::None) t = clone_values(t);
      values_[i] = Value(TensorList(lists_.emplace_back(std::move(list))));
    }
  }
}

Tensor copy_of_self(const Tensor& self, bool row_major) {
  if (!row_major || self.is_contiguous()) return clone_values(self);
  return contiguous(self);
}

void like_self_meta(const Operator&, KeySet, const Value* args, Value* results) {
  set_result(results, empty_like(args[0].as_tensor()));
}
void self_meta(const Operator&, KeySet, const Value* args, Value* results) {
  set_result(results, Tensor(args[0].as_tensor()));
}

}  // namespace flambeau
