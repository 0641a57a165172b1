#pragma once
/// Python objects of tensors and of the small types around them. Needs the interpreter lock throughout.
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include "flambeau/core/operator.h"

namespace flambeau::python {

/// Owned reference to a Python object; null means that an exception is set.
class Owned {
 public:
  Owned() = default;
  explicit Owned(PyObject* p) : p_(p) {}
  static Owned borrow(PyObject* p) {
    Py_XINCREF(p);
    return Owned(p);
  }
  Owned(Owned&& o) noexcept : p_(o.release()) {}
  Owned& operator=(Owned&& o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Owned() { Py_XDECREF(p_); }
  PyObject* get() const { return p_; }
  PyObject* release() { return std::exchange(p_, nullptr); }
  explicit operator bool() const { return p_ != nullptr; }

 private:
  PyObject* p_ = nullptr;
};

/// Throws PythonError when `p` is null.
inline PyObject* checked(PyObject* p) {
  if (FL_UNLIKELY(!p)) throw PythonError();
  return p;
}
inline void checked(int status) {
  if (FL_UNLIKELY(status < 0)) throw PythonError();
}

struct PyTensor {
  PyObject_HEAD TensorImpl* impl;  // owned, or borrowed once the tensor owns this object (Note [Two-way identity])
  PyObject* dict;
  PyObject* weakrefs;
};

FL_API extern PyTypeObject* TensorType;
FL_API extern PyTypeObject* DTypeType;
FL_API extern PyTypeObject* DeviceType_;
FL_API extern PyTypeObject* SizeType;
FL_API extern PyTypeObject* LayoutType;
FL_API extern PyTypeObject* MemoryFormatType;
FL_API extern PyTypeObject* GeneratorType;
FL_API extern PyTypeObject* StorageType;
FL_API extern PyTypeObject* OpFunctionType;

inline bool is_exact_tensor(PyObject* o) { return Py_TYPE(o) == TensorType; }
inline bool is_tensor(PyObject* o) { return Py_TYPE(o) == TensorType || PyType_IsSubtype(Py_TYPE(o), TensorType); }
inline TensorImpl* impl_of(PyObject* o) { return reinterpret_cast<PyTensor*>(o)->impl; }
inline const Tensor& tensor_of(PyObject* o) {
  return reinterpret_cast<const Tensor&>(reinterpret_cast<PyTensor*>(o)->impl);
}

// Note [Cycles through the graph]
// A tensor owns its graph in C++, and the graph owns Python objects: hooks, contexts of custom functions. A hook that
// closes over its own tensor makes a cycle that only the garbage collector can find, and only if it sees through the
// C++ part. It may count an object as owned by a tensor when everything on the way is owned by that tensor alone;
// anything shared is left out, which at worst leaves a cycle alone, and never frees what is in use.

/// How the garbage collector sees through a tensor. Set by autograd; null without it.
struct GarbageHooks {
  /// Visits the Python objects that only `t` keeps alive. The caller is its sole owner.
  int (*traverse)(TensorImpl& t, visitproc visit, void* arg) = nullptr;
  /// Drops what autograd keeps beside `t`.
  void (*clear)(TensorImpl& t) = nullptr;
};
FL_API extern GarbageHooks garbage_hooks;
/// Python objects that tensors and graphs own. While it is zero there is nothing to see and nobody looks.
FL_API extern std::atomic<int64_t> python_objects_in_graphs;

/// New reference to the Python object of a tensor, made on first request; an undefined tensor gives None.
FL_API PyObject* wrap(Tensor&& t);
inline PyObject* wrap(const Tensor& t) { return wrap(Tensor(t)); }
/// A new object of a subclass around the tensor; `t` must have no object yet.
FL_API PyObject* wrap_as(Tensor&& t, PyTypeObject* type);

FL_API PyObject* wrap_dtype(DType t);  // new reference
FL_API PyObject* wrap_device(Device d);
FL_API PyObject* wrap_layout(Layout l);
FL_API PyObject* wrap_memory_format(MemoryFormat m);
FL_API PyObject* wrap_size(IntList sizes);
FL_API PyObject* wrap_generator(GeneratorImpl* g);  // counts a reference
FL_API PyObject* wrap_storage(Storage s);
FL_API PyObject* wrap_scalar(const Scalar& s);
/// An element of that dtype: uint64 keeps its values from 2^63 on, which a Scalar holds as negative ones.
FL_API PyObject* wrap_element(const Scalar& s, DType dtype);
/// Takes ownership of what the value owns.
FL_API PyObject* wrap_result(Value&& v);
/// An argument value as a Python object (borrowed values stay owned by their frame).
FL_API PyObject* wrap_argument(const Value& v, bool optional_items = false);

/// Fails with TypeError for anything that is not the type asked for.
FL_API DType dtype_from(PyObject* o);
FL_API Device device_from(PyObject* o);
FL_API bool is_dtype(PyObject* o);
FL_API Scalar scalar_from(PyObject* o);
FL_API bool is_number(PyObject* o);
FL_API Storage storage_from(PyObject* o);
FL_API GeneratorImpl* generator_from(PyObject* o);
FL_API std::vector<int64_t> ints_from(PyObject* sequence);

/// Turns the C++ exception in flight into a Python one. Call in a catch block; returns null.
FL_API PyObject* set_python_error() noexcept;

/// Runs a C++ body for the C API: exceptions become Python ones.
template <class F> PyObject* guarded(F&& f) noexcept {
  try {
    return f();
  } catch (...) {
    return set_python_error();
  }
}
template <class F> int guarded_int(F&& f) noexcept {
  try {
    return f();
  } catch (...) {
    set_python_error();
    return -1;
  }
}

/// Releases the interpreter lock for a scope.
class ReleaseGil {
 public:
  ReleaseGil() : state_(PyEval_SaveThread()) {}
  ~ReleaseGil() { PyEval_RestoreThread(state_); }
  ReleaseGil(const ReleaseGil&) = delete;

 private:
  PyThreadState* state_;
};
class AcquireGil {
 public:
  AcquireGil() : state_(PyGILState_Ensure()) {}
  ~AcquireGil() { PyGILState_Release(state_); }
  AcquireGil(const AcquireGil&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace flambeau::python
