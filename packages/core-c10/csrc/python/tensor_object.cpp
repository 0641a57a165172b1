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
#include "python_dispatch.h"
#include "tensor_type.h"

namespace flambeau::python {

PyTypeObject* TensorType = nullptr;
GarbageHooks garbage_hooks;
std::atomic<int64_t> python_objects_in_graphs{0};

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
      --python_objects_in_graphs;
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
  if (has_torch_dispatch(type)) t.impl()->keys |= key_bit(Key::Python);
  PyTensor* o = allocate(type);
  bind(o, std::move(t));
  return reinterpret_cast<PyObject*>(o);
}

namespace {

// Of a tensor that has something beside it. Not the other way round: then the object hangs off the tensor.
bool is_sole_owner(const PyTensor* o) {
  return o->impl && (o->impl->autograd || o->impl->base) && !o->impl->owns_pyobj && o->impl->refs.count() == 1;
}

}  // namespace

int tensor_traverse(PyObject* self, visitproc visit, void* arg) {
  auto* o = reinterpret_cast<PyTensor*>(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(o->dict);
  if (is_sole_owner(o) && garbage_hooks.traverse && python_objects_in_graphs.load(std::memory_order_relaxed) != 0)
    return garbage_hooks.traverse(*o->impl, visit, arg);
  return 0;
}

int tensor_clear(PyObject* self) {
  auto* o = reinterpret_cast<PyTensor*>(self);
  Py_CLEAR(o->dict);
  if (is_sole_owner(o) && garbage_hooks.clear) garbage_hooks.clear(*o->impl);
  return 0;
}

namespace {
void free_tensor(PyTensor* o);
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
    ++python_objects_in_graphs;
    if (impl->refs.dec()) destroy(impl);  // the other owner let go meanwhile
    return;
  }
  PyObject_GC_UnTrack(self);
  if (FL_LIKELY(!o->dict)) return free_tensor(o);
  // Chains of tensors through attributes need no stack.
  Py_TRASHCAN_BEGIN(self, tensor_dealloc) free_tensor(o);
  Py_TRASHCAN_END
}

namespace {

void free_tensor(PyTensor* o) {
  auto* self = reinterpret_cast<PyObject*>(o);
  PyTypeObject* type = Py_TYPE(self);
  TensorImpl* impl = o->impl;
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

}  // namespace

void release_python_object(void* object) {
  if (!Py_IsInitialized()) return;
  AcquireGil gil;
  --python_objects_in_graphs;
  Py_DECREF(static_cast<PyObject*>(object));
}

}  // namespace flambeau::python
