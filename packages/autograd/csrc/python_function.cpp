// The node of a custom Function: backward is a Python method of its context.
#include "garbage.h"
#include "hooks.h"
#include "python_node.h"
#include "record.h"

namespace flambeau::autograd {

using namespace python;

namespace {

struct FunctionNode final : Node {
  PyObject* ctx;  // owned
  std::string label;
  bool materialize = true;
  std::vector<bool> is_tensor_input;
  // The node owns its context; the context finds the node through this, which is null once the node is gone.
  std::shared_ptr<Node*> self = std::make_shared<Node*>(this);
  explicit FunctionNode(PyObject* c, std::string n) : ctx(Py_NewRef(c)), label(std::move(n)) {
    ++python_objects_in_graphs;
  }
  ~FunctionNode() override {
    *self = nullptr;
    --python_objects_in_graphs;
    if (!Py_IsInitialized()) return;
    AcquireGil gil;
    Py_DECREF(ctx);
  }
  const char* name() const override { return label.c_str(); }
  bool wants_undefined() const override { return true; }
  void* python_context() const override { return ctx; }
  void release_saved() override {
    AcquireGil gil;
    Owned r(PyObject_CallMethod(ctx, "_release", nullptr));
    if (!r) throw PythonError();
  }
  void apply(const Tensor* grads, Tensor* out) override {
    AcquireGil gil;
    const size_t n = outputs.size();
    Owned args(checked(PyTuple_New(static_cast<Py_ssize_t>(n))));
    for (size_t i = 0; i < n; ++i) {
      const bool zero =
          materialize && !grads[i].defined() && outputs[i].defined() && differentiable_type(outputs[i].dtype());
      PyTuple_SET_ITEM(args.get(), static_cast<Py_ssize_t>(i),
                       wrap(zero ? gradient_or_zeros(*this, grads, i) : grads[i]));
    }
    Owned method(checked(PyObject_GetAttrString(ctx, "_apply_backward")));
    Owned result(checked(PyObject_CallOneArg(method.get(), args.get())));
    FL_INTERNAL_CHECK(PyTuple_Check(result.get()));
    FL_CHECK(static_cast<size_t>(PyTuple_GET_SIZE(result.get())) == next.size(), "function ", label,
             " returned an incorrect number of gradients (expected ", next.size(), ", got ",
             PyTuple_GET_SIZE(result.get()), ")");
    for (size_t i = 0; i < next.size(); ++i) {
      PyObject* x = PyTuple_GET_ITEM(result.get(), static_cast<Py_ssize_t>(i));
      if (x == Py_None) continue;
      FL_CHECK(is_tensor(x), "function ", label, ": expected Variable or None (got ", Py_TYPE(x)->tp_name, ")");
      FL_CHECK(is_tensor_input[i], "function ", label, " returned a gradient different than None at position ", i + 1,
               ", but the corresponding forward input was not a Variable");
      out[i] = tensor_of(x);
    }
  }
};

// _make_function_node(ctx, name, inputs) -> (node object, weak reference): one edge an input tensor
PyObject* make_function_node(PyObject*, PyObject* args) {
  PyObject *ctx, *inputs;
  const char* name;
  if (!PyArg_ParseTuple(args, "OsO!", &ctx, &name, &PyTuple_Type, &inputs)) return nullptr;
  return guarded([&] {
    NodeRef node = make_node<FunctionNode>(ctx, name);
    if (dispatch_state().anomaly_mode) note_creation(*node);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(inputs); ++i) {
      PyObject* x = PyTuple_GET_ITEM(inputs, i);
      node->next.push_back(is_tensor(x) ? edge_of(tensor_of(x)) : Edge{});
      static_cast<FunctionNode&>(*node).is_tensor_input.push_back(is_tensor(x));
    }
    auto* weak = new std::shared_ptr<Node*>(static_cast<FunctionNode&>(*node).self);
    Owned capsule(PyCapsule_New(weak, "flambeau.node", [](PyObject* c) {
      delete static_cast<std::shared_ptr<Node*>*>(PyCapsule_GetPointer(c, "flambeau.node"));
    }));
    Owned object(wrap_node(node));
    return Py_BuildValue("(OO)", object.get(), capsule.get());
  });
}

// _set_outputs(node, outputs, differentiable flags, the input that each output overwrote or -1, materialize)
PyObject* set_outputs(PyObject*, PyObject* args) {
  PyObject *node, *outputs, *flags, *dirty;
  int materialize;
  if (!PyArg_ParseTuple(args, "OO!O!O!p", &node, &PyTuple_Type, &outputs, &PyTuple_Type, &flags, &PyTuple_Type, &dirty,
                        &materialize))
    return nullptr;
  return guarded([&]() -> PyObject* {
    NodeRef n = NodeRef::borrow(&node_of(node));
    static_cast<FunctionNode&>(*n).materialize = materialize;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(outputs); ++i) {
      PyObject* x = PyTuple_GET_ITEM(outputs, i);
      if (!is_tensor(x)) {
        n->outputs.push_back(Shape());
        continue;
      }
      const Tensor& t = tensor_of(x);
      if (PyTuple_GET_ITEM(flags, i) != Py_True || !differentiable_type(t.dtype()))
        n->outputs.push_back(Shape(t));
      else if (const Py_ssize_t input = PyLong_AsSsize_t(PyTuple_GET_ITEM(dirty, i)); input >= 0)
        rebase_history(t, n, static_cast<size_t>(input));
      else
        set_history(t, n);
    }
    Py_RETURN_NONE;
  });
}

// --- what a context saves
// ------------------------------------------------------------------------------------------------

struct SavedTensors {
  PyObject_HEAD std::vector<Saved>* list;
};
PyTypeObject* SavedTensorsType;
std::vector<Saved>& list_of_saved(PyObject* o) { return *reinterpret_cast<SavedTensors*>(o)->list; }

// _save_tensors(tensors or None, whether each is an output) -> SavedTensors
PyObject* save_tensors(PyObject*, PyObject* args) {
  PyObject *tensors, *are_outputs;
  if (!PyArg_ParseTuple(args, "O!O!", &PyTuple_Type, &tensors, &PyTuple_Type, &are_outputs)) return nullptr;
  return guarded([&] {
    Owned o(checked(SavedTensorsType->tp_alloc(SavedTensorsType, 0)));
    reinterpret_cast<SavedTensors*>(o.get())->list = new std::vector<Saved>;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tensors); ++i) {
      PyObject* t = PyTuple_GET_ITEM(tensors, i);
      FL_CHECK_TYPE(t == Py_None || is_tensor(t), "save_for_backward can only save variables, but argument ", i,
                    " is of type ", Py_TYPE(t)->tp_name);
      list_of_saved(o.get()).emplace_back(t == Py_None ? Tensor() : tensor_of(t),
                                          PyTuple_GET_ITEM(are_outputs, i) == Py_True);
    }
    return o.release();
  });
}

// unpack(weak reference to the node) -> tuple. Works without the node: outputs then come back without their history.
PyObject* saved_unpack(PyObject* self, PyObject* weak) {
  return guarded([&] {
    auto* node = static_cast<std::shared_ptr<Node*>*>(PyCapsule_GetPointer(weak, "flambeau.node"));
    checked(node ? 0 : -1);
    const std::vector<Saved>& list = list_of_saved(self);
    Owned tuple(checked(PyTuple_New(static_cast<Py_ssize_t>(list.size()))));
    for (size_t i = 0; i < list.size(); ++i)
      PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), wrap(list[i].unpack(**node)));
    return tuple.release();
  });
}

int saved_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!reinterpret_cast<SavedTensors*>(self)->list) return 0;
  Reach reach(visit, arg);
  for (const Saved& s : list_of_saved(self)) s.reach(reach);
  return reach.finish();
}
int saved_clear(PyObject* self) {
  if (reinterpret_cast<SavedTensors*>(self)->list) std::exchange(list_of_saved(self), {});
  return 0;
}
void saved_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  delete reinterpret_cast<SavedTensors*>(self)->list;
  type->tp_free(self);
  Py_DECREF(type);
}

void init_saved_tensors() {
  static PyMethodDef methods[] = {{"unpack", saved_unpack, METH_O, nullptr}, {nullptr, nullptr, 0, nullptr}};
  PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(saved_dealloc)},
                         {Py_tp_traverse, reinterpret_cast<void*>(saved_traverse)},
                         {Py_tp_clear, reinterpret_cast<void*>(saved_clear)},
                         {Py_tp_methods, methods},
                         {0, nullptr}};
  PyType_Spec spec{"flambeau.autograd._C.SavedTensors", sizeof(SavedTensors), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  SavedTensorsType = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
}

// _node_attribute(weak reference, name): an attribute of the node itself, not of its context
PyObject* node_attribute(PyObject*, PyObject* args) {
  PyObject *weak, *name;
  if (!PyArg_ParseTuple(args, "OU", &weak, &name)) return nullptr;
  return guarded([&]() -> PyObject* {
    auto* node = static_cast<std::shared_ptr<Node*>*>(PyCapsule_GetPointer(weak, "flambeau.node"));
    checked(node ? 0 : -1);
    FL_CHECK(**node, "the graph that the context belongs to is gone, and its node with it");
    Owned object(wrap_node(NodeRef::borrow(**node)));
    return PyObject_GenericGetAttr(object.get(), name);
  });
}

// _check_dirty(tensor, number of outputs, whether anything requires gradients)
PyObject* check_dirty(PyObject*, PyObject* args) {
  PyObject* tensor;
  Py_ssize_t count;
  int recorded;
  if (!PyArg_ParseTuple(args, "Onp", &tensor, &count, &recorded)) return nullptr;
  return guarded([&]() -> PyObject* {
    FL_CHECK_TYPE(is_tensor(tensor), "mark_dirty can only accept variables, but got ", Py_TYPE(tensor)->tp_name);
    const Tensor& t = tensor_of(tensor);
    t.bump_version();
    check_inplace("mark_dirty", t, recorded);
    FL_CHECK(!recorded || count == 1 || !t.impl()->base,
             "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return "
             "more than one Tensor, got ",
             count, ". Make a copy of the view first, or return one Tensor.");
    Py_RETURN_NONE;
  });
}

PyMethodDef functions[] = {{"_make_function_node", make_function_node, METH_VARARGS, nullptr},
                           {"_set_outputs", set_outputs, METH_VARARGS, nullptr},
                           {"_node_attribute", node_attribute, METH_VARARGS, nullptr},
                           {"_check_dirty", check_dirty, METH_VARARGS, nullptr},
                           {"_save_tensors", save_tensors, METH_VARARGS, nullptr},
                           {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_function(PyObject* module) {
  init_saved_tensors();
  checked(PyModule_AddFunctions(module, functions));
}

}  // namespace flambeau::autograd
