#include "garbage.h"

namespace flambeau::autograd {

bool Reach::is_last(const void* item, uint32_t count) { return count == 1 || ++met_[item] == count; }

void Reach::tensor(TensorImpl& t) {
  if (is_last(&t, t.refs.count())) tensors_.push_back(&t);
}

void Reach::node(Node* n) {
  if (n && is_last(n, n->refs.count())) nodes_.push_back(n);
}

void Reach::behind(TensorImpl& t) {
  if (t.base) tensor(*t.base);
  auto* m = static_cast<Meta*>(t.autograd);
  if (!m) return;
  object(m->hooks);
  object(m->post_hooks);
  tensor(m->grad);
  node(m->grad_fn.get());
}

int Reach::finish() {
  for (int left = kLimit; status_ == 0 && left > 0 && !(nodes_.empty() && tensors_.empty()); --left) {
    if (!tensors_.empty()) {
      TensorImpl* t = tensors_.back();
      tensors_.pop_back();
      if (t->owns_pyobj) object(t->pyobj);
      behind(*t);
      continue;
    }
    Node* n = nodes_.back();
    nodes_.pop_back();
    for (size_t i = 0; i < n->next.size(); ++i) node(n->next[i].node.get());
    object(n->python_context());
    n->reach(*this);
    if (!n->extras) continue;
    for (TensorHooks& h : n->extras->tensor_hooks) object(h.dict.get());
    for (python::Owned NodeExtras::* slot :
         {&NodeExtras::pre_hooks, &NodeExtras::post_hooks, &NodeExtras::metadata, &NodeExtras::creation})
      object((n->extras->*slot).get());
  }
  return status_;
}

int traverse_tensor(TensorImpl& t, visitproc visit, void* arg) {
  Reach reach(visit, arg);
  reach.behind(t);
  return reach.finish();
}

void clear_tensor(TensorImpl& t) {
  t.keys &= ~key_bit(Key::Autograd);
  const Tensor base = Tensor::steal(std::exchange(t.base, nullptr));
  delete std::exchange(t.autograd, nullptr);
}

}  // namespace flambeau::autograd
