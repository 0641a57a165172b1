#include "record.h"

#include "flambeau/ops/clone.h"
#include "formula_functions.h"
#include "hooks.h"

namespace flambeau::autograd {

void register_recorder(const char* name, Kernel kernel) {
  get_operator("aten", name).set_kernel(Key::Autograd, kernel);
}

void note_new_node(Node& n) { note_creation(n); }

bool any_differentiable(TensorList list) {
  bool any = false;
  for (const Tensor& t : list) any = differentiable(t) || any;
  return any;
}

void set_histories(const Value& result, const NodeRef& node) {
  if (result.tag == Tag::Tensor)
    set_history(result.as_tensor(), node);
  else if (result.tag == Tag::TensorVector)
    for (const Tensor& t : *result.tensor_vector) set_history(t, node);
  else
    node->outputs.push_back(Shape());
}

void skip_result(const Value& result, const NodeRef& node) {
  node->outputs.push_back(result.tag == Tag::Tensor ? Shape(result.as_tensor()) : Shape());
}

Tensor before_write(const Tensor& t) { return ops::clone(t, MemoryFormat::Preserve); }

std::vector<Shape> shapes_of(TensorList list) {
  std::vector<Shape> out;
  for (const Tensor& t : list) out.emplace_back(t);
  return out;
}

Tensor gradient_or_zeros(const Node& n, const Tensor* grads, size_t i) {
  return grads[i].defined() ? grads[i] : zeros_like_options(n.outputs[i].sizes(), n.outputs[i].options());
}

std::vector<Tensor> unpack_all(const std::vector<Saved>& list, const Node& owner) {
  std::vector<Tensor> out;
  for (const Saved& s : list) out.push_back(s.unpack(owner));
  return out;
}

bool any_needed(const Node& n, size_t from, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (n.needs(from + i)) return true;
  return false;
}

void place_all(std::vector<Tensor>&& grads, Tensor* out, size_t count) {
  FL_INTERNAL_CHECK(grads.size() == count);
  for (size_t i = 0; i < count; ++i) out[i] = std::move(grads[i]);
}

}  // namespace flambeau::autograd
