// Process and thread settings: threads, memory, gradient mode, default dtype.
#include "flambeau/core/allocator.h"
#include "flambeau/core/parallel.h"
#include "flambeau/core/python_hook.h"
#include "tensor_type.h"

namespace flambeau::python {

namespace {

PyObject* f_set_num_threads(PyObject*, PyObject* n) {
  return guarded([&]() -> PyObject* {
    const long v = PyLong_AsLong(n);
    if (v == -1 && PyErr_Occurred()) throw PythonError();
    FL_CHECK(v > 0 && v <= INT32_MAX, "[set_num_threads] expected a positive number of threads, got ", v);
    set_num_threads(static_cast<int>(v));
    Py_RETURN_NONE;
  });
}

PyObject* f_memory_stats(PyObject*, PyObject*) {
  const MemoryStats m = memory_stats();
  return Py_BuildValue("{sKsKsKsKsKsKsKsKsK}", "allocated_bytes", m.allocated_bytes, "peak_allocated_bytes",
                       m.peak_allocated_bytes, "reserved_bytes", m.reserved_bytes, "peak_reserved_bytes",
                       m.peak_reserved_bytes, "cached_bytes", m.cached_bytes, "num_allocs", m.num_allocs, "num_frees",
                       m.num_frees, "num_system_allocs", m.num_system_allocs, "num_system_frees", m.num_system_frees);
}

PyObject* set_grad_enabled(PyObject*, PyObject* flag) {
  const int on = PyObject_IsTrue(flag);
  if (on < 0) return nullptr;
  DispatchState& s = dispatch_state();
  const bool old = grad_enabled();
  if (on && s.inference_mode) return PyBool_FromLong(old);  // what is made in inference mode has no history
  s.no_grad = !on;
  s.exclude = on ? s.exclude & ~key_bit(Key::Autograd) : s.exclude | key_bit(Key::Autograd);
  return PyBool_FromLong(old);
}
PyObject* set_inference(PyObject*, PyObject* flag) {
  const int on = PyObject_IsTrue(flag);
  if (on < 0) return nullptr;
  return PyBool_FromLong(std::exchange(dispatch_state().inference_mode, on == 1));
}
PyObject* f_set_default_dtype(PyObject*, PyObject* d) {
  return guarded([&]() -> PyObject* {
    FL_CHECK_TYPE(is_dtype(d),
                  "invalid dtype object: only floating-point types are supported as the default type, got ",
                  Py_TYPE(d)->tp_name);
    set_default_dtype(dtype_from(d));
    Py_RETURN_NONE;
  });
}
PyObject* f_set_default_device(PyObject*, PyObject* d) {
  return guarded([&]() -> PyObject* {
    set_default_device(device_from(d));
    Py_RETURN_NONE;
  });
}
PyObject* f_promote_types(PyObject*, PyObject* args) {
  PyObject *a, *b;
  if (!PyArg_ParseTuple(args, "OO:promote_types", &a, &b)) return nullptr;
  return guarded([&] { return wrap_dtype(promote_types(dtype_from(a), dtype_from(b))); });
}
PyObject* f_can_cast(PyObject*, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"from_", "to", nullptr};
  PyObject *a, *b;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO:can_cast", const_cast<char**>(names), &a, &b)) return nullptr;
  return guarded([&] { return PyBool_FromLong(can_cast(dtype_from(a), dtype_from(b))); });
}

PyMethodDef functions[] = {
    {"is_tensor", [](PyObject*, PyObject* o) { return PyBool_FromLong(is_tensor(o)); }, METH_O,
     "is_tensor(obj, /)\n--\n\nWhether the object is a Tensor."},
    {"get_num_threads", [](PyObject*, PyObject*) { return PyLong_FromLong(get_num_threads()); }, METH_NOARGS,
     "get_num_threads()\n--\n\nThreads that operators use."},
    {"set_num_threads", f_set_num_threads, METH_O,
     "set_num_threads(n, /)\n--\n\nSets how many threads operators use. Results do not change."},
    {"memory_stats", f_memory_stats, METH_NOARGS,
     "memory_stats()\n--\n\nCounters of the CPU allocator, in bytes and calls."},
    {"empty_cache",
     [](PyObject*, PyObject*) -> PyObject* {
       empty_cache();
       Py_RETURN_NONE;
     },
     METH_NOARGS, "empty_cache()\n--\n\nGives cached memory back to the system."},
    {"reset_peak_memory_stats",
     [](PyObject*, PyObject*) -> PyObject* {
       reset_peak_memory_stats();
       Py_RETURN_NONE;
     },
     METH_NOARGS, "reset_peak_memory_stats()\n--\n\nForgets the peaks seen so far."},
    {"is_grad_enabled", [](PyObject*, PyObject*) { return PyBool_FromLong(grad_enabled()); }, METH_NOARGS,
     "is_grad_enabled()\n--\n\nWhether this thread records gradients."},
    {"_set_grad_enabled", set_grad_enabled, METH_O, "Sets this thread's switch; returns the old value."},
    {"is_inference_mode_enabled", [](PyObject*, PyObject*) { return PyBool_FromLong(dispatch_state().inference_mode); },
     METH_NOARGS, "is_inference_mode_enabled()\n--\n\nWhether this thread is in inference mode."},
    {"_set_inference_mode", set_inference, METH_O, "Sets this thread's switch; returns the old value."},
    {"get_default_dtype", [](PyObject*, PyObject*) { return wrap_dtype(default_dtype()); }, METH_NOARGS,
     "get_default_dtype()\n--\n\nWhat Python floats become."},
    {"set_default_dtype", f_set_default_dtype, METH_O,
     "set_default_dtype(d, /)\n--\n\nSets what Python floats become; a floating dtype."},
    {"_set_default_device", f_set_default_device, METH_O, "Sets where this thread's factory functions put tensors."},
    {"promote_types", f_promote_types, METH_VARARGS,
     "promote_types(type1, type2, /)\n--\n\nSmallest dtype both convert to."},
    {"can_cast", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(f_can_cast)), METH_VARARGS | METH_KEYWORDS,
     "can_cast(from_, to)\n--\n\nWhether results of one dtype may be stored in another."},
    {nullptr, nullptr, 0, nullptr}};

void* suspend() { return PyGILState_Check() ? PyEval_SaveThread() : nullptr; }
void resume(void* state) { PyEval_RestoreThread(static_cast<PyThreadState*>(state)); }
void warn(const char* message) {
  AcquireGil gil;
  if (PyErr_WarnEx(PyExc_UserWarning, message, 1) < 0) throw PythonError();
}

}  // namespace

void init_settings(PyObject* module) {
  checked(PyModule_AddFunctions(module, functions));
  python_hooks.release_object = release_python_object;
  python_hooks.warn = warn;
  python_hooks.suspend = suspend;
  python_hooks.resume = resume;
}

}  // namespace flambeau::python
