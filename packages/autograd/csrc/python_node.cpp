// flambeau.autograd.graph.Node as Python sees it.
#include "python_node.h"

#include <unordered_map>

#include "formula.h"

namespace flambeau::autograd {

using namespace python;

namespace {

PyTypeObject* NodeType;

struct PyNode {
  PyObject_HEAD Node* node;  // owned
};
Node& N(PyObject* o) { return *reinterpret_cast<PyNode*>(o)->node; }

void node_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Node* n = reinterpret_cast<PyNode*>(self)->node;
  if (n) {
    if (n->extras) n->extras->pyobj = nullptr;
    NodeRef::steal(n);
  }
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* next_functions(PyObject* self, void*) {
  return guarded([&] {
    Node& n = N(self);
    Owned tuple(checked(PyTuple_New(static_cast<Py_ssize_t>(n.next.size()))));
    for (size_t i = 0; i < n.next.size(); ++i) {
      Owned fn(n.next[i].node ? wrap_node(n.next[i].node) : Py_NewRef(Py_None));
      PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i),
                       checked(Py_BuildValue("(OI)", fn.get(), n.next[i].input)));
    }
    return tuple.release();
  });
}

PyObject* removable(PyObject* dict, PyObject* hook) {
  Owned module(checked(PyImport_ImportModule("flambeau.autograd._hooks")));
  Owned f(checked(PyObject_GetAttrString(module.get(), "register")));
  return PyObject_CallFunctionObjArgs(f.get(), dict, hook, nullptr);
}

PyObject* register_in(Owned NodeExtras::* slot, PyObject* self, PyObject* hook) {
  return guarded([&] {
    FL_CHECK_TYPE(PyCallable_Check(hook), "a hook must be callable, got ", Py_TYPE(hook)->tp_name);
    Owned& dict = extras_of(N(self)).*slot;
    if (!dict) dict = Owned(checked(PyDict_New()));
    return removable(dict.get(), hook);
  });
}

PyObject* node_call(PyObject* self, PyObject* args, PyObject*) {
  return guarded([&]() -> PyObject* {
    Node& n = N(self);
    const Py_ssize_t count = PyTuple_GET_SIZE(args);
    FL_CHECK_TYPE(static_cast<size_t>(count) == std::max<size_t>(n.outputs.size(), 1), n.name(), " takes ",
                  n.outputs.size(), " gradients, got ", count);
    std::vector<Tensor> grads(static_cast<size_t>(count)), out(n.next.size() + 1);
    for (Py_ssize_t i = 0; i < count; ++i)
      if (is_tensor(PyTuple_GET_ITEM(args, i))) grads[static_cast<size_t>(i)] = tensor_of(PyTuple_GET_ITEM(args, i));
    n.apply(grads.data(), out.data());
    if (n.next.size() == 1) return wrap(out[0]);
    Owned tuple(checked(PyTuple_New(static_cast<Py_ssize_t>(n.next.size()))));
    for (size_t i = 0; i < n.next.size(); ++i) PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), wrap(out[i]));
    return tuple.release();
  });
}

PyObject* get_variable(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    if (!N(self).is_accumulator()) {
      PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute 'variable'", N(self).name());
      return nullptr;
    }
    return wrap(accumulated_variable(N(self)));
  });
}

PyMethodDef methods[] = {
    {"name", [](PyObject* s, PyObject*) { return PyUnicode_FromString(N(s).name()); }, METH_NOARGS,
     "Name of the backward operator."},
    {"register_hook", [](PyObject* s, PyObject* h) { return register_in(&NodeExtras::post_hooks, s, h); }, METH_O,
     "register_hook(fn): fn(grad_inputs, grad_outputs) runs after the node."},
    {"register_prehook", [](PyObject* s, PyObject* h) { return register_in(&NodeExtras::pre_hooks, s, h); }, METH_O,
     "register_prehook(fn): fn(grad_outputs) runs before the node."},
    {"_sequence_nr", [](PyObject* s, PyObject*) { return PyLong_FromUnsignedLongLong(N(s).sequence); }, METH_NOARGS,
     nullptr},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef properties[] = {
    {"next_functions", next_functions, nullptr, "Pairs of node and which of its gradients, one an input.", nullptr},
    {"metadata",
     [](PyObject* s, void*) {
       return guarded([&] {
         Owned& m = extras_of(N(s)).metadata;
         if (!m) m = Owned(checked(PyDict_New()));
         return Py_NewRef(m.get());
       });
     },
     nullptr, "A dict of the user's.", nullptr},
    {"variable", get_variable, nullptr, "The leaf that an AccumulateGrad node adds into.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyObject* node_repr(PyObject* self) { return PyUnicode_FromFormat("<%s object at %p>", N(self).name(), &N(self)); }
Py_hash_t node_hash(PyObject* self) { return static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(&N(self)) >> 4); }
PyObject* node_compare(PyObject* a, PyObject* b, int op) {
  if ((op != Py_EQ && op != Py_NE) || !is_node(b)) Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((&N(a) == &N(b)) == (op == Py_EQ));
}

}  // namespace

bool is_node(PyObject* o) { return PyObject_TypeCheck(o, NodeType); }
Node& node_of(PyObject* o) { return N(o); }

// One Python class a node name, so that type(y.grad_fn).__name__ reads as in torch.
static PyTypeObject* class_named(const char* name) {
  static auto* classes = new std::unordered_map<std::string, PyTypeObject*>;
  auto it = classes->find(name);
  if (it != classes->end()) return it->second;
  Owned args(checked(Py_BuildValue("(s(O){})", name, NodeType)));
  PyObject* cls = checked(PyObject_Call(reinterpret_cast<PyObject*>(&PyType_Type), args.get(), nullptr));
  return (*classes)[name] = reinterpret_cast<PyTypeObject*>(cls);
}

PyObject* wrap_node(const NodeRef& n) {
  if (!n) Py_RETURN_NONE;
  NodeExtras& e = extras_of(*n);
  if (e.pyobj) return Py_NewRef(e.pyobj);
  PyTypeObject* type = class_named(n->name());
  PyObject* o = checked(type->tp_alloc(type, 0));
  reinterpret_cast<PyNode*>(o)->node = NodeRef(n).release();
  e.pyobj = o;
  return o;
}

void init_node_type(PyObject* module) {
  PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(node_dealloc)},
      {Py_tp_doc, const_cast<char*>("A step of the graph: what made a tensor, and where its gradient goes on.")},
      {Py_tp_methods, methods},
      {Py_tp_getset, properties},
      {Py_tp_call, reinterpret_cast<void*>(node_call)},
      {Py_tp_repr, reinterpret_cast<void*>(node_repr)},
      {Py_tp_hash, reinterpret_cast<void*>(node_hash)},
      {Py_tp_richcompare, reinterpret_cast<void*>(node_compare)},
      {0, nullptr}};
  PyType_Spec spec{"flambeau.autograd.graph.Node", sizeof(PyNode), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  NodeType = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  checked(PyModule_AddObjectRef(module, "Node", reinterpret_cast<PyObject*>(NodeType)));
}

}  // namespace flambeau::autograd
