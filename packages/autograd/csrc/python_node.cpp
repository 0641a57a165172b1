// flambeau.autograd.graph.Node as Python sees it.
#include "python_node.h"

#include <unordered_map>

#include "formula.h"
#include "garbage.h"

namespace flambeau::autograd {

using namespace python;

namespace {

PyTypeObject* NodeType;

struct PyNode {
  PyObject_HEAD Node* node;  // owned; null once the garbage collector cleared the object
};

Node& N(PyObject* o) {
  static Node* cleared = make_not_implemented("a node that was collected as garbage").release();
  Node* n = reinterpret_cast<PyNode*>(o)->node;
  return n ? *n : *cleared;
}

int node_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Node* n = reinterpret_cast<PyNode*>(self)->node;
  if (!n || n->refs.count() != 1) return 0;  // Note [Cycles through the graph]
  Reach reach(visit, arg);
  reach.node(n);
  return reach.finish();
}

int node_clear(PyObject* self) {
  Node* n = std::exchange(reinterpret_cast<PyNode*>(self)->node, nullptr);
  if (n && n->extras) n->extras->pyobj = nullptr;
  NodeRef::steal(n);
  return 0;
}

void node_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  node_clear(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* node_new(PyTypeObject* type, PyObject*, PyObject*) {
  return PyErr_Format(PyExc_TypeError, "cannot create '%s' instances: nodes are made by recorded operators",
                      type->tp_name);
}

// A custom function's node shows what its context has.
PyObject* node_getattr(PyObject* self, PyObject* name) {
  PyObject* found = PyObject_GenericGetAttr(self, name);
  if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
  auto* context = static_cast<PyObject*>(N(self).python_context());
  if (!context) return nullptr;
  PyErr_Clear();
  return PyObject_GetAttr(context, name);
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
    const auto expected = static_cast<Py_ssize_t>(std::max<size_t>(n.outputs.size(), 1));
    FL_CHECK_TYPE(count == expected, n.name(), ": expected ", expected, " arguments, got ", count, " instead");
    std::vector<Tensor> grads(static_cast<size_t>(count)), out(n.next.size() + 1);
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyObject* grad = PyTuple_GET_ITEM(args, i);
      FL_CHECK_TYPE(grad == Py_None || is_tensor(grad), "argument ", i, " is not a Variable but ",
                    Py_TYPE(grad)->tp_name);
      if (grad != Py_None) grads[static_cast<size_t>(i)] = tensor_of(grad);
    }
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
      {Py_tp_new, reinterpret_cast<void*>(node_new)},
      {Py_tp_dealloc, reinterpret_cast<void*>(node_dealloc)},
      {Py_tp_traverse, reinterpret_cast<void*>(node_traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(node_clear)},
      {Py_tp_getattro, reinterpret_cast<void*>(node_getattr)},
      {Py_tp_doc,
       const_cast<char*>("Node()\n--\n\nA step of the graph: what made a tensor, and where its gradient goes on.")},
      {Py_tp_methods, methods},
      {Py_tp_getset, properties},
      {Py_tp_call, reinterpret_cast<void*>(node_call)},
      {Py_tp_repr, reinterpret_cast<void*>(node_repr)},
      {Py_tp_hash, reinterpret_cast<void*>(node_hash)},
      {Py_tp_richcompare, reinterpret_cast<void*>(node_compare)},
      {0, nullptr}};
  PyType_Spec spec{"flambeau.autograd.graph.Node", sizeof(PyNode), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
  NodeType = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  checked(PyModule_AddObjectRef(module, "Node", reinterpret_cast<PyObject*>(NodeType)));
}

}  // namespace flambeau::autograd
