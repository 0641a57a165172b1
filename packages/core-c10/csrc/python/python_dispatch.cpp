// The keys Python and PythonMode: what their kernels do, the stacks of modes, and tensors without memory of their own.
#include "python_dispatch.h"

#include <algorithm>

#include "flambeau/python/parser.h"
#include "python_kernel.h"
#include "tensor_type.h"

namespace flambeau::python {

namespace {

PyObject* g_name;      // "__torch_dispatch__"
PyObject* g_disabled;  // flambeau._C._disabled_torch_dispatch_impl

PyObject* disabled_impl(PyObject*, PyObject* args, PyObject*) {
  PyObject *func, *types, *call_args = nullptr, *kwargs = nullptr;
  if (!PyArg_UnpackTuple(args, "_disabled_torch_dispatch_impl", 2, 5, &func, &types, &call_args, &kwargs))
    return nullptr;
  const ExcludeKeys off(key_bit(Key::Python) | key_bit(Key::PythonMode));
  const Owned none(PyTuple_New(0));
  return PyObject_Call(func, call_args ? call_args : none.get(), kwargs == Py_None ? nullptr : kwargs);
}
PyMethodDef disabled_def = {"_disabled_torch_dispatch_impl",
                            reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(disabled_impl)),
                            METH_VARARGS | METH_KEYWORDS, "A __torch_dispatch__ that takes nothing over."};

// --- what a handler is given

bool is_default(const Value& v, const Value& d) {
  if (v.tag != d.tag) return false;
  switch (v.tag) {
    case Tag::None: return true;
    case Tag::Tensor:
    case Tag::TensorList:
    case Tag::TensorVector:
    case Tag::Object:
    case Tag::Generator: return false;
    case Tag::Double: return v.d == d.d;
    case Tag::Bool: return v.b == d.b;
    case Tag::String: return std::string_view(v.chars, v.size) == std::string_view(d.chars, d.size);
    case Tag::IntList: return std::equal(v.ints, v.ints + v.size, d.ints, d.ints + d.size);
    case Tag::DoubleList: return std::equal(v.doubles, v.doubles + v.size, d.doubles, d.doubles + d.size);
    case Tag::BoolList: return std::equal(v.bools, v.bools + v.size, d.bools, d.bools + d.size);
    case Tag::Complex: return v.complex[0] == d.complex[0] && v.complex[1] == d.complex[1];
    case Tag::ScalarList: return v.size == 0 && d.size == 0;
    case Tag::Device: return v.device == d.device;
    default: return v.i == d.i;
  }
}

bool omittable(const Signature& s, int i, const Value* args) {
  const SchemaArg& a = s.schema->args[static_cast<size_t>(i)];
  return a.has_default && !a.out && is_default(args[i], s.defaults[i]);
}

// A number that was made into a tensor for the call is shown as the number, where the operator takes one again.
PyObject* shown(const Operator& op, int i, const Value& v) {
  if (v.tag == Tag::Tensor && v.tensor->wrapped_number && (op.number_args >> i & 1)) {
    return wrap_scalar(read_scalar(v.as_tensor()));
  }
  return wrap_argument(v);
}

struct PythonCall {
  Owned args, kwargs;
};

// Positional arguments up to the last that is not at its default, keyword-only ones that are not.
PythonCall python_call(const Operator& op, const Value* args) {
  const Signature& s = signature_of(op);
  int n = s.num_positional;
  while (n > 0 && omittable(s, n - 1, args)) --n;
  PythonCall call{Owned(checked(PyTuple_New(n))), Owned(checked(PyDict_New()))};
  for (int i = 0; i < n; ++i) PyTuple_SET_ITEM(call.args.get(), i, checked(shown(op, i, args[i])));
  for (int i = s.num_positional; i < s.num_args; ++i) {
    if (omittable(s, i, args)) continue;
    const Owned value(checked(shown(op, i, args[i])));
    checked(PyDict_SetItem(call.kwargs.get(), s.names[i], value.get()));
  }
  return call;
}

// Arguments whose class takes calls over: one a class, a subclass before its class, else in order.
std::vector<PyObject*> handlers_among(const Operator& op, const Value* args, std::vector<Owned>& held) {
  std::vector<PyObject*> order;
  const auto see = [&](const Tensor& t) {
    if (!t.defined() || !(t.keys() & key_bit(Key::Python))) return;
    held.emplace_back(wrap(t));
    PyObject* o = held.back().get();
    for (PyObject* known : order)
      if (Py_TYPE(known) == Py_TYPE(o)) return;
    const auto at =
        std::find_if(order.begin(), order.end(), [&](PyObject* x) { return PyType_IsSubtype(Py_TYPE(o), Py_TYPE(x)); });
    order.insert(at, o);
  };
  for (int i = 0; i < op.num_args; ++i) {
    if (args[i].tag == Tag::Tensor) see(args[i].as_tensor());
    if (args[i].tag == Tag::TensorList)
      for (uint32_t k = 0; k < args[i].size; ++k) see(args[i].tensors[k]);
  }
  return order;
}

Owned call_handler(PyObject* owner, const Operator& op, PyObject* types, const PythonCall& call) {
  const Owned method(checked(PyObject_GetAttr(owner, g_name)));
  return Owned(checked(PyObject_CallFunctionObjArgs(method.get(), overload_object(op), types, call.args.get(),
                                                    call.kwargs.get(), nullptr)));
}

void hand_to_python(const Operator& op, const Value* args, Value* results, bool through_mode) {
  std::vector<Owned> held;
  const std::vector<PyObject*> order = handlers_among(op, args, held);
  const Owned types(checked(PyTuple_New(static_cast<Py_ssize_t>(order.size()))));
  for (size_t i = 0; i < order.size(); ++i)
    PyTuple_SET_ITEM(types.get(), static_cast<Py_ssize_t>(i),
                     Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(order[i]))));
  const PythonCall call = python_call(op, args);
  if (through_mode) {
    const WithoutInnermost inside(dispatch_modes());
    const Owned result = call_handler(inside.mode(), op, types.get(), call);
    if (result.get() != Py_NotImplemented) return store_results(op, result.get(), results);
  }
  for (PyObject* o : order) {
    const Owned result = call_handler(reinterpret_cast<PyObject*>(Py_TYPE(o)), op, types.get(), call);
    if (result.get() != Py_NotImplemented) return store_results(op, result.get(), results);
  }
  std::string classes;
  for (PyObject* o : order) classes += concat(classes.empty() ? "" : ", ", Py_TYPE(o)->tp_name);
  FL_CHECK_TYPE(false, "Multiple dispatch failed for '", op.qualified_name(),
                "'; all __torch_dispatch__ handlers returned NotImplemented (tried ", through_mode ? "a mode" : "",
                through_mode && !classes.empty() ? ", " : "", classes, ")");
}

void python_key_kernel(const Operator& op, KeySet keys, const Value* args, Value* results) {
  const AcquireGil gil;
  hand_to_python(op, args, results, (keys & key_bit(Key::PythonMode)) && !dispatch_modes().empty());
}

// --- the stacks from Python

PyObject* push_mode(ModeStack& stack, PyObject* mode) {
  stack.push(mode);
  note_modes();
  Py_RETURN_NONE;
}
PyObject* pop_mode(ModeStack& stack) {
  if (stack.empty()) {
    PyErr_SetString(PyExc_RuntimeError, "no mode is active on this thread");
    return nullptr;
  }
  PyObject* mode = stack.pop();
  note_modes();
  return mode;
}
PyObject* modes_of(ModeStack& stack) {
  PyObject* list = PyList_New(static_cast<Py_ssize_t>(stack.size()));
  for (size_t i = 0; list && i < stack.size(); ++i)
    PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), Py_NewRef(stack.at(i)));
  return list;
}
PyObject* set_dispatch_disabled(PyObject*, PyObject* flag) {
  constexpr KeySet keys = key_bit(Key::Python) | key_bit(Key::PythonMode);
  DispatchState& s = dispatch_state();
  const bool old = (s.exclude & keys) == keys;
  s.exclude = PyObject_IsTrue(flag) == 1 ? s.exclude | keys : s.exclude & ~keys;
  return PyBool_FromLong(old);
}

PyMethodDef functions[] = {
    {"_push_dispatch_mode", [](PyObject*, PyObject* mode) { return push_mode(dispatch_modes(), mode); }, METH_O,
     "Makes a mode the innermost one of this thread."},
    {"_pop_dispatch_mode", [](PyObject*, PyObject*) { return pop_mode(dispatch_modes()); }, METH_NOARGS,
     "Takes the innermost mode off and returns it."},
    {"_dispatch_modes", [](PyObject*, PyObject*) { return modes_of(dispatch_modes()); }, METH_NOARGS,
     "This thread's modes, innermost last."},
    {"_push_function_mode", [](PyObject*, PyObject* mode) { return push_mode(function_modes(), mode); }, METH_O,
     "As _push_dispatch_mode, for __torch_function__."},
    {"_pop_function_mode", [](PyObject*, PyObject*) { return pop_mode(function_modes()); }, METH_NOARGS, nullptr},
    {"_function_modes", [](PyObject*, PyObject*) { return modes_of(function_modes()); }, METH_NOARGS, nullptr},
    {"_set_torch_dispatch_disabled", set_dispatch_disabled, METH_O,
     "Sets this thread's switch for __torch_dispatch__; returns the old value."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool has_torch_dispatch(PyTypeObject* type) {
  if (type == TensorType) return false;
  PyObject* attr = _PyType_Lookup(type, g_name);
  return attr && attr != g_disabled && attr != Py_None;
}

PyObject* overload_object(const Operator& op) {
  const Signature& s = signature_of(op);
  if (FL_LIKELY(s.overload_object != nullptr)) return s.overload_object;
  const Owned module(checked(PyImport_ImportModule("flambeau._ops")));
  const_cast<Signature&>(s).overload_object =
      checked(PyObject_CallMethod(module.get(), "find", "sss", op.ns.c_str(), op.name.c_str(),
                                  op.overload.empty() ? "default" : op.overload.c_str()));
  return s.overload_object;
}

ModeStack& dispatch_modes() {
  static thread_local ModeStack stack;
  return stack;
}
ModeStack& function_modes() {
  static thread_local ModeStack stack;
  return stack;
}

void note_modes() {
  DispatchState& s = dispatch_state();
  s.include = dispatch_modes().empty() ? s.include & ~key_bit(Key::PythonMode) : s.include | key_bit(Key::PythonMode);
  s.has_function_mode = !function_modes().empty();
}

void init_python_dispatch(PyObject* module) {
  g_name = checked(PyUnicode_InternFromString("__torch_dispatch__"));
  g_disabled = checked(PyCFunction_New(&disabled_def, nullptr));
  checked(PyModule_AddObjectRef(module, "_disabled_torch_dispatch_impl", g_disabled));
  checked(PyDict_SetItem(TensorType->tp_dict, g_name, g_disabled));
  checked(PyModule_AddFunctions(module, functions));
  flambeau::python_key_kernel = &python_key_kernel;
}

}  // namespace flambeau::python
