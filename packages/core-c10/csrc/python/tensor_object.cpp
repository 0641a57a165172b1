// The Python object of a tensor: identity, life and death.
//
// Note [Two-way identity]
// wrap() of one TensorImpl always gives the same object while anything can tell the difference. The object owns a
// reference to the TensorImpl. If the object's last reference goes while C++ still holds the tensor (a graph, a list)
// and the object carries state (a __dict__, weak references, or a subclass), ownership flips: the TensorImpl keeps the
// object alive
// (`owns_pyobj`) and the object merely borrows. wrap() flips it back. Plain objects are simply dropped and made again.
#include "flambeau/core/python_hook.h"
#include "flambeau/python/object.h"
#include "tensor_type.h"

namespace flambeau::python {

PyTypeObject* TensorType = nullptr;

namespace {

constexpr int kFreeListCapacity = 256;
PyTensor* g_free[kFreeListCapacity];
int g_num_free = 0;

PyTensor* allocate(PyTypeObject* type) {
  if (FL_LIKELY(type == TensorType && g_num_free > 0)) {
    PyTensor* o = g_free[--g_num_free];
    _Py_NewReference(reinterpret_cast<PyObject*>(o));
    Py_INCREF(type);
    return o;
  }
  auto* o = reinterpret_cast<PyTensor*>(type->tp_alloc(type, 0));
  if (!o) throw PythonError();
  PyObject_GC_UnTrack(o);
  return o;
}

void bind(PyTensor* o, Tensor&& t) {
  o->impl = t.release();
  o->dict = nullptr;
  o->weakrefs = nullptr;
  o->impl->pyobj = o;
  PyObject_GC_Track(o);
}

}  // namespace

PyObject* wrap(Tensor&& t) {
  if (FL_UNLIKELY(!t.defined())) Py_RETURN_NONE;
  TensorImpl* impl = t.impl();
  if (FL_UNLIKELY(impl->pyobj != nullptr)) {
    auto* o = static_cast<PyTensor*>(impl->pyobj);
    if (impl->owns_pyobj) {  // flip back: the object owns the tensor again, and we own the object
      impl->owns_pyobj = false;
      t.release();
      return reinterpret_cast<PyObject*>(o);
    }
    Py_INCREF(o);
    return reinterpret_cast<PyObject*>(o);
  }
  PyTensor* o = allocate(TensorType);
  bind(o, std::move(t));
  return reinterpret_cast<PyObject*>(o);
}

PyObject* wrap_as(Tensor&& t, PyTypeObject* type) {
  FL_CHECK(t.impl()->pyobj == nullptr, "a tensor that already has a Python object cannot be given another");
  PyTensor* o = allocate(type);
  bind(o, std::move(t));
  return reinterpret_cast<PyObject*>(o);
}

int tensor_traverse(PyObject* self, visitproc visit, void* arg) {
  auto* o = reinterpret_cast<PyTensor*>(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(o->dict);
  // What the graph holds is only reachable through this object when nothing else owns the tensor.
  if (o->impl && o->impl->refs.count() == 1 && traverse_autograd) return traverse_autograd(*o->impl, visit, arg);
  return 0;
}

int tensor_clear(PyObject* self) {
  auto* o = reinterpret_cast<PyTensor*>(self);
  Py_CLEAR(o->dict);
  if (o->impl && o->impl->refs.count() == 1 && o->impl->autograd) {
    delete o->impl->autograd;
    o->impl->autograd = nullptr;
  }
  return 0;
}

void tensor_dealloc(PyObject* self) {
  auto* o = reinterpret_cast<PyTensor*>(self);
  PyTypeObject* type = Py_TYPE(self);
  TensorImpl* impl = o->impl;
  const bool plain = type == TensorType && !o->dict && !o->weakrefs;
  if (FL_UNLIKELY(impl && impl->refs.count() > 1 && !plain)) {
    // resurrect: somebody in C++ still holds the tensor
    Py_SET_REFCNT(self, 1);
#ifdef Py_REF_DEBUG
    _Py_RefTotal++;
#endif
    impl->owns_pyobj = true;
    if (impl->refs.dec()) destroy(impl);  // the other owner let go meanwhile
    return;
  }
  PyObject_GC_UnTrack(self);
  if (FL_UNLIKELY(o->weakrefs != nullptr)) PyObject_ClearWeakRefs(self);
  if (FL_UNLIKELY(o->dict != nullptr)) Py_CLEAR(o->dict);
  if (impl) {
    impl->pyobj = nullptr;
    o->impl = nullptr;
    Tensor::steal(impl);  // may run arbitrary destructors
  }
  if (FL_LIKELY(type == TensorType && g_num_free < kFreeListCapacity)) {
    g_free[g_num_free++] = o;
    Py_DECREF(type);
    return;
  }
  type->tp_free(self);
  Py_DECREF(type);
}

void release_python_object(void* object) {
  if (!Py_IsInitialized()) return;
  AcquireGil gil;
  auto* o = static_cast<PyTensor*>(object);
  o->impl = nullptr;  // the tensor is dying under it
  Py_DECREF(reinterpret_cast<PyObject*>(o));
}

TraverseAutograd traverse_autograd = nullptr;

}  // namespace flambeau::python
