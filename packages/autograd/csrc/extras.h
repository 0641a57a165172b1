#pragma once
#include <Python.h>

#include "flambeau/python/object.h"
#include "node.h"

namespace flambeau::autograd {

/// One tensor hook: applies to the gradient of one output. `retain` stores the gradient in that tensor's .grad.
struct TensorHooks {
  uint32_t output;
  python::Owned dict;  ///< {id: callable}
};

struct NodeExtras {
  std::vector<TensorHooks> tensor_hooks;
  std::vector<std::pair<uint32_t, Meta*>> retain;  ///< weak, kept right by Meta: outputs whose .grad is kept
  python::Owned pre_hooks;                         ///< {id: callable(grad_outputs)}
  python::Owned post_hooks;                        ///< {id: callable(grad_inputs, grad_outputs)}
  python::Owned metadata;                          ///< dict, user visible
  python::Owned creation;                          ///< formatted stack of the forward call, in anomaly mode
  PyObject* pyobj = nullptr;                       ///< weak: the Python Node

  NodeExtras() { ++python::python_objects_in_graphs; }
  ~NodeExtras() { --python::python_objects_in_graphs; }
  NodeExtras(const NodeExtras&) = delete;
};

inline NodeExtras& extras_of(Node& n) {
  if (!n.extras) n.extras = new NodeExtras;
  return *n.extras;
}

}  // namespace flambeau::autograd
