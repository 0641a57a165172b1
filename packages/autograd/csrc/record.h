#pragma once
/// What generated recorders are written with.
#include "node.h"

namespace flambeau::autograd {

/// Runs the operator's kernel below autograd; nothing it calls is recorded.
inline void run_below(const Operator& op, KeySet keys, const Value* args, Value* results) {
  ExcludeKeys off(key_bit(Key::Autograd));
  redispatch(op, keys & keys_below(Key::Autograd), args, results);
}

/// The same for an operator none of whose arguments require gradients: in place it may still not write everywhere.
inline void run_unrecorded(const Operator& op, KeySet keys, const Value* args, Value* results) {
  if (op.variant == Variant::InPlace) check_inplace(op.name.c_str(), args[0].as_tensor(), false);
  run_below(op, keys, args, results);
}

void register_recorder(const char* name, Kernel kernel);
void note_new_node(Node& n);

template <class N> NodeRef begin_node() {
  NodeRef n = make_node<N>();
  if (FL_UNLIKELY(dispatch_state().anomaly_mode)) note_new_node(*n);
  return n;
}

bool any_differentiable(TensorList list);
void set_histories(const Value& result, const NodeRef& node);
void skip_result(const Value& result, const NodeRef& node);
/// The value an in-place operator's first argument had before the write, for formulas that need it.
Tensor before_write(const Tensor& t);
std::vector<Shape> shapes_of(TensorList list);

template <class V> V list_of(const Value& v) {
  if constexpr (std::is_same_v<V, std::vector<int64_t>>)
    return {v.ints, v.ints + v.size};
  else if constexpr (std::is_same_v<V, std::vector<double>>)
    return {v.doubles, v.doubles + v.size};
  else
    return {v.bools, v.bools + v.size};
}
template <class View, class V> std::optional<View> optional_view(const std::optional<V>& v) {
  return v ? std::optional<View>(View(*v)) : std::nullopt;
}

// --- inside a node's apply
// ------------------------------------------------------------------------------------------------

Tensor gradient_or_zeros(const Node& n, const Tensor* grads, size_t i);
std::vector<Tensor> unpack_all(const std::vector<Saved>& list, const Node& owner);
bool any_needed(const Node& n, size_t from, size_t count);
void place_all(std::vector<Tensor>&& grads, Tensor* out, size_t count);

}  // namespace flambeau::autograd
