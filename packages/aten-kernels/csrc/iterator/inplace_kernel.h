#pragma once
/// Operators whose kernel writes to `self`: the in-place form runs it on self, the functional one on a copy.
#include <vector>

#include "flambeau/core/kernel.h"
#include "pointwise/convert.h"

namespace flambeau {

/// A frame like `args` in which no tensor shares memory with `self`: those that do are copied.
class DisjointFrame {
 public:
  DisjointFrame(const Operator& op, const Value* args, const Tensor& self);
  const Value* values() const { return values_; }

 private:
  static constexpr int kMax = 16;
  Value values_[kMax];
  Tensor copies_[kMax];
  std::vector<std::vector<Tensor>> lists_;
};

void check_writable(const Operator& op, const Tensor& self);

/// `expanded`: self may have elements that share memory, as the kernel's writes agree or come in order.
template <auto Fn, bool expanded>
inline constexpr Kernel run_on_self = [](const Operator& op, KeySet keys, const Value* args, Value* results) {
  const Tensor& self = args[0].as_tensor();
  if constexpr (!expanded) check_writable(op, self);
  const DisjointFrame frame(op, args, self);
  TypedKernel<Fn>::frame(op, keys, frame.values(), results);
  self.bump_version();
};

/// A copy of self: in its own layout, or row-major where torch's operator makes its result from the sizes alone.
Tensor copy_of_self(const Tensor& self, bool row_major);

template <auto Fn, bool row_major>
inline constexpr Kernel run_on_copy = [](const Operator& op, KeySet keys, const Value* args, Value* results) {
  FL_CHECK(op.num_args <= 16, "[", op.name, "] too many arguments");
  const Tensor copy = copy_of_self(args[0].as_tensor(), row_major);
  Value frame[16];
  for (int i = 1; i < op.num_args; ++i) frame[i] = args[i];
  frame[0] = Value(copy);
  TypedKernel<Fn>::frame(op, keys, frame, results);
};

/// Meta tensors: the result looks like self.
void like_self_meta(const Operator& op, KeySet keys, const Value* args, Value* results);
void self_meta(const Operator& op, KeySet keys, const Value* args, Value* results);

template <auto Fn, bool expanded> void install_inplace(const char* name) {
  Operator& op = get_operator("aten", name);
  op.inplace->set_kernel(Key::CPU, run_on_self<Fn, expanded>);
  op.inplace->set_kernel(Key::Meta, &self_meta);
  op.set_kernel(Key::Meta, &like_self_meta);
}

}  // namespace flambeau
