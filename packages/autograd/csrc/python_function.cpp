// The node of a custom Function: backward is a Python method of its context.
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
  // The node owns its context; the context finds the node through this, which is null once the node is gone.
  std::shared_ptr<Node*> self = std::make_shared<Node*>(this);
  explicit FunctionNode(PyObject* c, std::string n) : ctx(Py_NewRef(c)), label(std::move(n)) {}
  ~FunctionNode() override {
    *self = nullptr;
    if (!Py_IsInitialized()) return;
    AcquireGil gil;
    Py_DECREF(ctx);
  }
  const char* name() const override { return label.c_str(); }
  bool wants_undefined() const override { return true; }
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
      FL_CHECK_TYPE(x == Py_None || is_tensor(x), "function ", label, " returned a gradient of type ",
                    Py_TYPE(x)->tp_name, "; expected Tensor or None");
      if (x != Py_None) out[i] = tensor_of(x);
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
    }
    auto* weak = new std::shared_ptr<Node*>(static_cast<FunctionNode&>(*node).self);
    Owned capsule(PyCapsule_New(weak, "flambeau.node", [](PyObject* c) {
      delete static_cast<std::shared_ptr<Node*>*>(PyCapsule_GetPointer(c, "flambeau.node"));
    }));
    Owned object(wrap_node(node));
    return Py_BuildValue("(OO)", object.get(), capsule.get());
  });
}

// _set_outputs(node, outputs, differentiable flags, dirty flags, materialize)
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
      else if (PyTuple_GET_ITEM(dirty, i) == Py_True && PyTuple_GET_SIZE(outputs) == 1)
        rebase_history(t, n);
      else
        set_history(t, n);
    }
    Py_RETURN_NONE;
  });
}

// _saved_check(tensor) -> version, for save_for_backward
PyObject* save_tensor(PyObject*, PyObject* args) {
  PyObject* tensor;
  int is_output;
  if (!PyArg_ParseTuple(args, "Op", &tensor, &is_output)) return nullptr;
  return guarded([&]() -> PyObject* {
    FL_CHECK_TYPE(is_tensor(tensor), "save_for_backward can only save variables, but got ", Py_TYPE(tensor)->tp_name);
    auto* saved = new Saved(tensor_of(tensor), is_output);
    return PyCapsule_New(saved, "flambeau.saved",
                         [](PyObject* c) { delete static_cast<Saved*>(PyCapsule_GetPointer(c, "flambeau.saved")); });
  });
}
PyObject* unpack_tensor(PyObject*, PyObject* args) {
  PyObject *capsule, *weak;
  if (!PyArg_ParseTuple(args, "OO", &capsule, &weak)) return nullptr;
  return guarded([&] {
    auto* saved = static_cast<Saved*>(PyCapsule_GetPointer(capsule, "flambeau.saved"));
    checked(saved ? 0 : -1);
    auto* node = static_cast<std::shared_ptr<Node*>*>(PyCapsule_GetPointer(weak, "flambeau.node"));
    checked(node ? 0 : -1);
    FL_CHECK(**node, "the saved tensors of a function were freed with its graph");
    return wrap(saved->unpack(***node));
  });
}

PyMethodDef functions[] = {{"_make_function_node", make_function_node, METH_VARARGS, nullptr},
                           {"_set_outputs", set_outputs, METH_VARARGS, nullptr},
                           {"_save_tensor", save_tensor, METH_VARARGS, nullptr},
                           {"_unpack_tensor", unpack_tensor, METH_VARARGS, nullptr},
                           {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_function(PyObject* module) { checked(PyModule_AddFunctions(module, functions)); }

}  // namespace flambeau::autograd
