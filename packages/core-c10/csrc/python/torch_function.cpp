// The __torch_function__ protocol (NumPy's NEP 18, as torch applies it).
#include <algorithm>

#include "flambeau/python/parser.h"
#include "python_dispatch.h"
#include "tensor_type.h"

namespace flambeau::python {

namespace {

PyObject* g_name;      // "__torch_function__"
PyObject* g_disabled;  // flambeau._C._disabled_torch_function_impl

PyObject* name() {
  if (!g_name) g_name = PyUnicode_InternFromString("__torch_function__");
  return g_name;
}

PyObject* disabled_impl(PyObject*, PyObject* args, PyObject*) {
  PyObject *func, *types, *call_args = nullptr, *kwargs = nullptr;
  if (!PyArg_UnpackTuple(args, "_disabled_torch_function_impl", 2, 5, &func, &types, &call_args, &kwargs))
    return nullptr;
  DispatchState& s = dispatch_state();
  const bool saved = std::exchange(s.torch_function_disabled, true);
  Owned empty_args(PyTuple_New(0));
  PyObject* result =
      PyObject_Call(func, call_args ? call_args : empty_args.get(), kwargs == Py_None ? nullptr : kwargs);
  s.torch_function_disabled = saved;
  return result;
}
PyMethodDef disabled_def = {"_disabled_torch_function_impl",
                            reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(disabled_impl)),
                            METH_VARARGS | METH_KEYWORDS, "A __torch_function__ that takes nothing over."};

}  // namespace

bool has_torch_function(PyObject* o) {
  PyTypeObject* type = Py_TYPE(o);
  if (FL_LIKELY(type == TensorType)) return false;
  if (type == &PyFloat_Type || type == &PyLong_Type || type == &PyList_Type || type == &PyTuple_Type ||
      type == &PyUnicode_Type || type == &PyBool_Type || o == Py_None)
    return false;
  if (dispatch_state().torch_function_disabled) return false;
  PyObject* attr = _PyType_Lookup(type, name());
  return attr && attr != g_disabled && attr != Py_None;
}

PyObject* call_torch_function(PyObject* func, PyObject* const* overloaded, int n, PyObject* const* args,
                              Py_ssize_t nargs, PyObject* kwnames) {
  std::vector<PyObject*> order;  // a subclass before its class, else the order of the arguments
  for (int i = 0; i < n; ++i) {
    auto at = std::find_if(order.begin(), order.end(),
                           [&](PyObject* x) { return PyType_IsSubtype(Py_TYPE(overloaded[i]), Py_TYPE(x)); });
    order.insert(at, overloaded[i]);
  }
  const bool in_mode = dispatch_state().has_function_mode;
  Owned types(checked(PyTuple_New(n)));
  for (int i = 0; i < n; ++i)
    PyTuple_SET_ITEM(types.get(), i, Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(order[static_cast<size_t>(i)]))));
  Owned tuple(checked(PyTuple_New(nargs)));
  for (Py_ssize_t i = 0; i < nargs; ++i) PyTuple_SET_ITEM(tuple.get(), i, Py_NewRef(args[i]));
  Owned kwargs(checked(PyDict_New()));
  for (Py_ssize_t i = 0; kwnames && i < PyTuple_GET_SIZE(kwnames); ++i)
    checked(PyDict_SetItem(kwargs.get(), PyTuple_GET_ITEM(kwnames, i), args[nargs + i]));
  if (in_mode) {
    const WithoutInnermost inside(function_modes());
    Owned method(checked(PyObject_GetAttr(inside.mode(), name())));
    PyObject* result =
        checked(PyObject_CallFunctionObjArgs(method.get(), func, types.get(), tuple.get(), kwargs.get(), nullptr));
    if (result != Py_NotImplemented) return result;
    Py_DECREF(result);
  }
  for (PyObject* o : order) {
    Owned method(checked(PyObject_GetAttr(o, name())));
    PyObject* result =
        checked(PyObject_CallFunctionObjArgs(method.get(), func, types.get(), tuple.get(), kwargs.get(), nullptr));
    if (result != Py_NotImplemented) return result;
    Py_DECREF(result);
  }
  Owned f_name(PyObject_GetAttrString(func, "__name__"));
  FL_CHECK_TYPE(false, "no implementation found for '", f_name ? PyUnicode_AsUTF8(f_name.get()) : "function",
                "' on types that implement __torch_function__");
  return nullptr;
}

namespace {

PyObject* has_any(PyObject*, PyObject* sequence) {
  Owned fast(PySequence_Fast(sequence, "has_torch_function takes a sequence of arguments"));
  if (!fast) return nullptr;
  if (dispatch_state().has_function_mode) Py_RETURN_TRUE;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.get()); ++i)
    if (has_torch_function(PySequence_Fast_GET_ITEM(fast.get(), i))) Py_RETURN_TRUE;
  Py_RETURN_FALSE;
}
PyObject* set_disabled(PyObject*, PyObject* flag) {
  const bool old = std::exchange(dispatch_state().torch_function_disabled, PyObject_IsTrue(flag) == 1);
  return PyBool_FromLong(old);
}
PyMethodDef functions[] = {
    {"_has_torch_function", has_any, METH_O, "Whether any argument's class has its own __torch_function__."},
    {"_has_torch_function_unary",
     [](PyObject*, PyObject* o) {
       return PyBool_FromLong(dispatch_state().has_function_mode || has_torch_function(o));
     },
     METH_O, nullptr},
    {"_set_torch_function_disabled", set_disabled, METH_O, "Sets this thread's switch; returns the old value."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_torch_function(PyObject* module) {
  g_disabled = checked(PyCFunction_New(&disabled_def, nullptr));
  checked(PyModule_AddObjectRef(module, "_disabled_torch_function_impl", g_disabled));
  checked(PyModule_AddFunctions(module, functions));
}

}  // namespace flambeau::python
