// flambeau.autograd._C: properties that autograd gives Tensor, and the engine's entry.
#include "engine.h"
#include "formula.h"
#include "formula_functions.h"
#include "garbage.h"
#include "hooks.h"
#include "nodes_list.h"
#include "python_node.h"
#include "record.h"
#include "saved_hooks.h"

namespace flambeau::autograd {

using namespace python;

#define FL_DECLARE(k) void register_nodes_##k();
FL_NODE_UNITS(FL_DECLARE)
#undef FL_DECLARE

void push_saved_hooks(PyObject* pack, PyObject* unpack);
void pop_saved_hooks();

PyObject* leaf_hooks(Node& n) {
  Meta* m = meta_of(accumulated_variable(n));
  return m ? static_cast<PyObject*>(m->hooks) : nullptr;
}

namespace {

const Tensor& T(PyObject* o) { return tensor_of(o); }

PyObject* get_requires_grad(PyObject* s, void*) {
  return guarded([&] { return PyBool_FromLong(differentiable(T(s))); });
}
int set_requires_grad_attr(PyObject* s, PyObject* v, void*) {
  return guarded_int([&] {
    FL_CHECK_TYPE(v, "cannot delete requires_grad");
    FL_CHECK(PyBool_Check(v) || PyLong_Check(v), "requires_grad must be a bool");
    set_requires_grad(T(s), PyObject_IsTrue(v) == 1);
    return 0;
  });
}
PyObject* get_grad(PyObject* s, void*) {
  return guarded([&]() -> PyObject* {
    Meta* m = meta_of(T(s));
    if (!m || !m->grad.defined()) {
      if (m && m->grad_fn && !m->retains_grad &&
          PyErr_WarnEx(
              PyExc_UserWarning,
              "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
              "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor.",
              1) < 0)
        throw PythonError();
      Py_RETURN_NONE;
    }
    return wrap(m->grad);
  });
}
int set_grad(PyObject* s, PyObject* v, void*) {
  return guarded_int([&] {
    const Tensor& t = T(s);
    if (!v || v == Py_None) {
      if (Meta* m = meta_of(t)) m->grad = Tensor();
      return 0;
    }
    FL_CHECK_TYPE(is_tensor(v), "assigned grad expected to be a Tensor or None but got grad of type ",
                  Py_TYPE(v)->tp_name);
    const Tensor& g = T(v);
    FL_CHECK(!g.is_same(t), "can't assign Variable as its own grad");
    FL_CHECK(g.sizes() == t.sizes(), "assigned grad has data of a different size: grad is ", g.sizes(),
             ", the tensor is ", t.sizes());
    FL_CHECK(g.dtype() == t.dtype(), "assigned grad has data of a different type: grad is ", dtype_name(g.dtype()),
             ", the tensor is ", dtype_name(t.dtype()));
    FL_CHECK(g.device().type == t.device().type, "assigned grad has data located on a different device");
    ensure_meta(t).grad = g;
    return 0;
  });
}
PyObject* get_grad_fn(PyObject* s, void*) {
  return guarded([&]() -> PyObject* {
    Node* n = grad_fn_of(T(s));
    if (!n) Py_RETURN_NONE;
    return wrap_node(NodeRef::borrow(n));
  });
}
PyObject* get_is_leaf(PyObject* s, void*) {
  return guarded([&] { return PyBool_FromLong(grad_fn_of(T(s)) == nullptr); });
}
PyObject* get_retains_grad(PyObject* s, void*) {
  Meta* m = meta_of(T(s));
  return PyBool_FromLong(m && m->retains_grad && m->grad_fn);
}
PyObject* get_output_nr(PyObject* s, void*) {
  Meta* m = meta_of(T(s));
  return PyLong_FromLong(m ? m->output : 0);
}

PyGetSetDef properties[] = {
    {"requires_grad", get_requires_grad, set_requires_grad_attr,
     "Whether operators on the tensor are recorded for gradients.", nullptr},
    {"grad", get_grad, set_grad, "The gradient that backward accumulated, or None.", nullptr},
    {"_grad", get_grad, set_grad, nullptr, nullptr},
    {"grad_fn", get_grad_fn, nullptr, "The node that made the tensor, or None.", nullptr},
    {"is_leaf", get_is_leaf, nullptr, "Whether no recorded operator made the tensor.", nullptr},
    {"retains_grad", get_retains_grad, nullptr, "Whether backward keeps its gradient although it is no leaf.", nullptr},
    {"output_nr", get_output_nr, nullptr, "Which result of its node it is.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyObject* m_requires_grad_(PyObject* s, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"requires_grad", nullptr};
  int value = 1;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|p:requires_grad_", const_cast<char**>(names), &value))
    return nullptr;
  return guarded([&] {
    set_requires_grad(T(s), value);
    return Py_NewRef(s);
  });
}
PyObject* m_detach_(PyObject* s, PyObject*) {
  return guarded([&] {
    const Tensor& t = T(s);
    FL_CHECK(
        !t.impl()->base || !grad_fn_of(t),
        "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set as True, "
        "gradients are views of DDP buckets, and hence detach_() cannot be called on these gradients.");
    if (Meta* m = meta_of(t)) {
      m->detach();
      t.impl()->keys &= ~key_bit(Key::Autograd);
    }
    return Py_NewRef(s);
  });
}
PyObject* m_retain_grad(PyObject* s, PyObject*) {
  return guarded([&]() -> PyObject* {
    const Tensor& t = T(s);
    FL_CHECK(differentiable(t), "can't retain_grad on Tensor that has requires_grad=False");
    ensure_meta(t).retain();
    Py_RETURN_NONE;
  });
}
PyObject* removable(PyObject* dict, PyObject* hook) {
  Owned module(checked(PyImport_ImportModule("flambeau.autograd._hooks")));
  Owned f(checked(PyObject_GetAttrString(module.get(), "register")));
  return PyObject_CallFunctionObjArgs(f.get(), dict, hook, nullptr);
}
PyObject* hook_dict(void*& slot) {
  if (!slot) {
    slot = checked(PyDict_New());
    ++python_objects_in_graphs;
  }
  return static_cast<PyObject*>(slot);
}
PyObject* m_register_hook(PyObject* s, PyObject* hook) {
  return guarded([&] {
    const Tensor& t = T(s);
    FL_CHECK(differentiable(t), "cannot register a hook on a tensor that doesn't require gradient");
    FL_CHECK_TYPE(PyCallable_Check(hook), "a hook must be callable, got ", Py_TYPE(hook)->tp_name);
    Meta& m = ensure_meta(t);
    if (Node* n = grad_fn_of(t)) {
      for (TensorHooks& h : extras_of(*n).tensor_hooks)
        if (h.output == m.output) return removable(h.dict.get(), hook);
      extras_of(*n).tensor_hooks.push_back({m.output, Owned(checked(PyDict_New()))});
      return removable(extras_of(*n).tensor_hooks.back().dict.get(), hook);
    }
    return removable(hook_dict(m.hooks), hook);
  });
}
PyObject* m_register_post_accumulate(PyObject* s, PyObject* hook) {
  return guarded([&] {
    const Tensor& t = T(s);
    FL_CHECK(differentiable(t), "cannot register a hook on a tensor that doesn't require gradient");
    FL_CHECK(!grad_fn_of(t), "post accumulate grad hooks cannot be registered on non-leaf tensors");
    Meta& m = ensure_meta(t);
    return removable(hook_dict(m.post_hooks), hook);
  });
}

PyMethodDef methods[] = {
    {"requires_grad_", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(m_requires_grad_)),
     METH_VARARGS | METH_KEYWORDS,
     "requires_grad_($self, requires_grad=True)\n--\n\nSets whether operators on the tensor are recorded; returns the tensor."},
    {"detach_", m_detach_, METH_NOARGS, "detach_($self, /)\n--\n\nTakes the tensor out of the graph, in place."},
    {"retain_grad", m_retain_grad, METH_NOARGS,
     "retain_grad($self, /)\n--\n\nKeeps the gradient of a result in .grad."},
    {"register_hook", m_register_hook, METH_O,
     "register_hook($self, hook, /)\n--\n\nCalls hook(grad) when the gradient is known; what it returns, if anything, replaces it. Returns a handle with remove()."},
    {"register_post_accumulate_grad_hook", m_register_post_accumulate, METH_O,
     "register_post_accumulate_grad_hook($self, hook, /)\n--\n\nCalls hook(param) when .grad of this leaf is complete. Returns a handle with remove()."},
    {nullptr, nullptr, 0, nullptr}};

// run_backward(tensors, grads, keep_graph, create_graph, inputs or None, allow_unused) -> tuple or None
PyObject* f_run_backward(PyObject*, PyObject* args) {
  PyObject *tensors, *grads, *inputs;
  int keep, create, accumulate;
  if (!PyArg_ParseTuple(args, "O!O!ppOp", &PyTuple_Type, &tensors, &PyTuple_Type, &grads, &keep, &create, &inputs,
                        &accumulate))
    return nullptr;
  return guarded([&]() -> PyObject* {
    std::vector<Edge> roots, captures;
    std::vector<Tensor> start;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tensors); ++i) {
      PyObject* o = PyTuple_GET_ITEM(tensors, i);
      FL_CHECK_TYPE(is_tensor(o), "element ", i, " of tensors is not a Tensor");
      Edge e = edge_of(T(o));
      FL_CHECK(e.node, "element ", i, " of tensors does not require grad and does not have a grad_fn");
      PyObject* g = PyTuple_GET_ITEM(grads, i);
      FL_CHECK_TYPE(is_tensor(g), "gradients can be either Tensors or Nones, but got ", Py_TYPE(g)->tp_name);
      roots.push_back(std::move(e));
      start.push_back(T(g));
    }
    const bool capture = inputs != Py_None;
    if (capture) {
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(inputs); ++i) {
        PyObject* o = PyTuple_GET_ITEM(inputs, i);
        FL_CHECK_TYPE(is_tensor(o), "inputs must be Tensors, got ", Py_TYPE(o)->tp_name);
        FL_CHECK(differentiable(T(o)), "One of the differentiated Tensors does not require grad");
        captures.push_back(edge_of(T(o)));
      }
    }
    std::vector<Tensor> results = run_backward(roots, start, capture ? &captures : nullptr, {keep != 0, create != 0});
    if (!capture) Py_RETURN_NONE;
    if (accumulate) {
      GradMode mode(create);
      for (size_t i = 0; i < results.size(); ++i)
        if (results[i].defined())
          accumulate_into_leaf(T(PyTuple_GET_ITEM(inputs, static_cast<Py_ssize_t>(i))), results[i]);
      Py_RETURN_NONE;
    }
    Owned tuple(checked(PyTuple_New(static_cast<Py_ssize_t>(results.size()))));
    for (size_t i = 0; i < results.size(); ++i)
      PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), wrap(results[i]));
    return tuple.release();
  });
}

// backward_one(tensor, gradient or None, keep_graph, create_graph) -> True, or False where the arguments need the
// checks and messages of the Python layer: the common call without its overhead.
PyObject* f_backward_one(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  return guarded([&]() -> PyObject* {
    if (nargs != 4 || !is_exact_tensor(args[0]) || (args[1] != Py_None && !is_exact_tensor(args[1]))) Py_RETURN_FALSE;
    const Tensor& t = T(args[0]);
    Tensor grad;
    if (args[1] == Py_None) {
      if (t.numel() != 1 || !t.is_floating_point() || !t.is_cpu()) Py_RETURN_FALSE;
      grad = empty(t.sizes(), t.options());
      store_scalar(grad.data(), t.dtype(), Scalar(1));
    } else {
      grad = T(args[1]);
      if (!(grad.sizes() == t.sizes()) || grad.is_complex() != t.is_complex()) Py_RETURN_FALSE;
    }
    std::vector<Edge> roots{edge_of(t)};
    if (!roots[0].node) Py_RETURN_FALSE;
    run_backward(roots, {grad}, nullptr, {args[2] == Py_True, args[3] == Py_True});
    Py_RETURN_TRUE;
  });
}

PyObject* f_push_hooks(PyObject*, PyObject* args) {
  PyObject *pack, *unpack;
  if (!PyArg_ParseTuple(args, "OO", &pack, &unpack)) return nullptr;
  push_saved_hooks(pack, unpack);
  Py_RETURN_NONE;
}
PyObject* f_anomaly(PyObject*, PyObject*) {
  return Py_BuildValue("NN", PyBool_FromLong(dispatch_state().anomaly_mode), PyBool_FromLong(anomaly_checks_nan()));
}

PyObject* f_set_anomaly(PyObject* self, PyObject* args) {
  int mode, check_nan;
  if (!PyArg_ParseTuple(args, "pp", &mode, &check_nan)) return nullptr;
  PyObject* before = f_anomaly(self, nullptr);
  dispatch_state().anomaly_mode = mode;
  anomaly_checks_nan() = check_nan;
  return before;
}

PyMethodDef functions[] = {
    {"run_backward", f_run_backward, METH_VARARGS, nullptr},
    {"backward_one", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(f_backward_one)), METH_FASTCALL, nullptr},
    {"_push_saved_tensors_hooks", f_push_hooks, METH_VARARGS, nullptr},
    {"_pop_saved_tensors_hooks",
     [](PyObject*, PyObject*) {
       return guarded([]() -> PyObject* {
         pop_saved_hooks();
         Py_RETURN_NONE;
       });
     },
     METH_NOARGS, nullptr},
    {"_anomaly_mode", f_anomaly, METH_NOARGS, "(detection is on, it looks for NaN) in this thread."},
    {"_set_anomaly_mode", f_set_anomaly, METH_VARARGS, "Sets both (mode, check_nan); returns what they were."},
    {nullptr, nullptr, 0, nullptr}};

void extend_tensor_type() {
  PyObject* dict = TensorType->tp_dict;
  for (PyGetSetDef* p = properties; p->name; ++p) {
    Owned d(checked(PyDescr_NewGetSet(TensorType, p)));
    checked(PyDict_SetItemString(dict, p->name, d.get()));
  }
  for (PyMethodDef* m = methods; m->ml_name; ++m) {
    Owned d(checked(PyDescr_NewMethod(TensorType, m)));
    checked(PyDict_SetItemString(dict, m->ml_name, d.get()));
  }
  PyType_Modified(TensorType);
}

// --- operators that have no derivative
// -----------------------------------------------------------------------------------

bool any_tensor_differentiable(const Operator& op, const Value* args) {
  for (int i = 0; i < op.num_args; ++i) {
    if (args[i].tag == Tag::Tensor && differentiable(args[i].as_tensor())) return true;
    if (args[i].tag == Tag::TensorList && any_differentiable({args[i].tensors, args[i].size})) return true;
  }
  return false;
}

void no_derivative(const Operator& op, KeySet keys, const Value* args, Value* results) {
  const bool record = any_tensor_differentiable(op, args);
  run_below(op, keys, args, results);
  if (!record) return;
  NodeRef node = make_not_implemented(op.name.c_str());
  for (int i = 0; i < op.num_args; ++i)
    if (args[i].tag == Tag::Tensor) node->next.push_back(edge_of(args[i].as_tensor()));
  for (int i = 0; i < op.num_results; ++i) set_histories(results[i], node);
}

/// What an operator left that overwrote a tensor with numbers that do not depend on it, such as `x.eq_(2)`.
struct Overwritten final : Node {
  std::vector<Shape> inputs;
  void apply(const Tensor*, Tensor* results) override {
    for (size_t i = 0; i < next.size(); ++i)
      if (needs(i)) results[i] = zeros_like_options(inputs[i].sizes(), inputs[i].options());
  }
  const char* name() const override { return "Overwritten"; }
};

// In-place forms that write by themselves and have no formula: a gradient of zeros where the record says that results
// carry none, otherwise a refusal when gradients arrive. Never the silence that would pass gradients through.
void no_inplace_derivative(const Operator& op, KeySet keys, const Value* args, Value* results) {
  if (args[0].tag != Tag::Tensor) return run_below(op, keys, args, results);
  if (!any_tensor_differentiable(op, args)) return run_unrecorded(op, keys, args, results);
  const Tensor& self = args[0].as_tensor();
  check_inplace(op.name.c_str(), self, true);
  const Operator& functional = op.functional ? *op.functional : op;
  const bool overwrites = functional.flags & kNotDifferentiable;
  NodeRef node = overwrites ? make_node<Overwritten>() : make_not_implemented(op.name.c_str());
  for (int i = 0; i < op.num_args; ++i) {
    if (args[i].tag != Tag::Tensor || (i && !overwrites)) continue;
    node->next.push_back(edge_of(args[i].as_tensor()));
    if (overwrites) static_cast<Overwritten&>(*node).inputs.emplace_back(args[i].as_tensor());
  }
  run_below(op, keys, args, results);
  rebase_history(self, node);
}

void out_refuses_gradients(const Operator& op, KeySet keys, const Value* args, Value* results) {
  FL_CHECK(
      !any_tensor_differentiable(op, args), op.name,
      "(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.");
  redispatch(op, keys & keys_below(Key::Autograd), args, results);
}

// Not one that goes through its functional form or through other operators, which are recorded themselves.
bool has_own_kernel(const Operator& op) {
  if (op.functional) return op.kernel_at(static_cast<int>(Key::CPU)) != &inplace_through_functional;
  return op.op_class != OpClass::Composite;
}

void follow(Operator& op) {
  if (op.ns != "aten" || op.has_kernel(Key::Autograd)) return;
  if (op.variant == Variant::Out)
    op.set_kernel(Key::Autograd, &out_refuses_gradients);
  else if (op.variant == Variant::Functional && op.op_class != OpClass::Composite && !(op.flags & kNotDifferentiable))
    op.set_kernel(Key::Autograd, &no_derivative);
  else if (op.variant == Variant::InPlace && has_own_kernel(op))
    op.set_kernel(Key::Autograd, &no_inplace_derivative);
}

}  // namespace

static int init(PyObject* module) {
  return guarded_int([&] {
#define FL_CALL(k) register_nodes_##k();
    FL_NODE_UNITS(FL_CALL)
#undef FL_CALL
    on_operator_defined(&follow);
    init_node_type(module);
    init_function(module);
    garbage_hooks = {&traverse_tensor, &clear_tensor};
    checked(PyModule_AddFunctions(module, functions));
    extend_tensor_type();
    return 0;
  });
}

}  // namespace flambeau::autograd

PyMODINIT_FUNC PyInit__C() {
  static PyModuleDef def = {PyModuleDef_HEAD_INIT,
                            "flambeau.autograd._C",
                            "Native half of flambeau.autograd.",
                            -1,
                            nullptr,
                            nullptr,
                            nullptr,
                            nullptr,
                            nullptr};
  PyObject* module = PyModule_Create(&def);
  if (module && flambeau::autograd::init(module) < 0) {
    Py_DECREF(module);
    return nullptr;
  }
  return module;
}
