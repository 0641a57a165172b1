#pragma once
/// What the garbage collector sees behind a tensor or a node. See Note [Cycles through the graph] in python/object.h.
#include <unordered_map>
#include <vector>

#include "extras.h"

namespace flambeau::autograd {

/// Walks what one owner alone keeps alive and visits the Python objects met. A tensor or node that others refer to as
/// well is entered once all its references were met on the way.
class Reach {
 public:
  Reach(visitproc visit, void* arg) : visit_(visit), arg_(arg) {}

  /// One reference each of the owner. What is undefined or null is nothing.
  void tensor(const Tensor& t) {
    if (t.defined()) tensor(*t.impl());
  }
  void tensor(TensorImpl& t);
  void node(Node* n);
  void object(void* o) {
    if (o && status_ == 0) status_ = visit_(static_cast<PyObject*>(o), arg_);
  }
  /// What the tensor keeps beside itself.
  void behind(TensorImpl& t);
  /// Goes on until nothing new is met. The status of the last visit: not 0 ends the walk.
  int finish();

 private:
  bool is_last(const void* item, uint32_t count);

  // A graph of many thousand nodes that Python is still building would be walked again by every collection.
  static constexpr int kLimit = 8192;

  visitproc visit_;
  void* arg_;
  int status_ = 0;
  std::vector<Node*> nodes_;
  std::vector<TensorImpl*> tensors_;
  std::unordered_map<const void*, uint32_t> met_;  // references so far, of what has several
};

int traverse_tensor(TensorImpl& t, visitproc visit, void* arg);
void clear_tensor(TensorImpl& t);

}  // namespace flambeau::autograd
