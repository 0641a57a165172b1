#pragma once
#include "extras.h"

namespace flambeau::autograd {

/// New reference to the Python object of a node.
PyObject* wrap_node(const NodeRef& n);
Node& node_of(PyObject* o);
bool is_node(PyObject* o);
void init_node_type(PyObject* module);
void init_function(PyObject* module);
PyObject* leaf_hooks(Node& n);

}  // namespace flambeau::autograd
