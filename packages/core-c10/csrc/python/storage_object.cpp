// UntypedStorage: the bytes of tensors, with the buffer protocol.

#include <utility>

#include "tensor_type.h"

namespace flambeau::python {

PyTypeObject* StorageType;

namespace {

struct PyStorage {
  PyObject_HEAD StorageImpl* impl;
  PyObject* weakrefs;
  Py_ssize_t exports;     // buffers that others hold; the address must not change while there are any
  bool resizable_before;  // what to go back to after the last one
};
StorageImpl& S(PyObject* o) { return *reinterpret_cast<PyStorage*>(o)->impl; }

PyObject* storage_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"size", "device", nullptr};
  PyObject* arg = nullptr;
  PyObject* device = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:UntypedStorage", const_cast<char**>(names), &arg, &device))
    return nullptr;
  return guarded([&]() -> PyObject* {
    const Device d = device && device != Py_None ? device_from(device) : Device{};
    if (!arg) return wrap_storage(new_storage(0));
    if (PyLong_Check(arg)) {
      const long long n = PyLong_AsLongLong(arg);
      if (n == -1 && PyErr_Occurred()) throw PythonError();
      return wrap_storage(d.type == DeviceType::Meta ? new_meta_storage(n) : new_storage(n));
    }
    Owned list(PySequence_List(arg));
    if (!list) throw PythonError();
    Storage s = new_storage(PyList_GET_SIZE(list.get()));
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list.get()); ++i) {
      const long v = PyLong_AsLong(PyList_GET_ITEM(list.get(), i));
      if (v == -1 && PyErr_Occurred()) throw PythonError();
      s->data[i] = static_cast<char>(v);
    }
    return wrap_storage(std::move(s));
  });
}
void storage_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  auto* o = reinterpret_cast<PyStorage*>(self);
  if (o->weakrefs) PyObject_ClearWeakRefs(self);
  if (o->impl) {
    o->impl->pyobj = nullptr;
    Storage::steal(o->impl);
  }
  type->tp_free(self);
  Py_DECREF(type);
}
int storage_buffer(PyObject* self, Py_buffer* view, int flags) {
  StorageImpl& s = S(self);
  if (!s.data && s.nbytes) {
    PyErr_SetString(PyExc_BufferError, "a meta storage has no memory");
    return -1;
  }
  if (PyBuffer_FillInfo(view, self, s.data, static_cast<Py_ssize_t>(s.nbytes), s.read_only, flags) < 0) return -1;
  auto* o = reinterpret_cast<PyStorage*>(self);
  if (o->exports++ == 0) o->resizable_before = std::exchange(s.resizable, false);
  return 0;
}
void storage_release_buffer(PyObject* self, Py_buffer*) {
  auto* o = reinterpret_cast<PyStorage*>(self);
  if (--o->exports == 0) o->impl->resizable = o->resizable_before;
}
// Calls a function of flambeau._utils: copies and pickles are not hot.
PyObject* call_utils(const char* function, PyObject* self, PyObject* arg) {
  Owned m(PyImport_ImportModule("flambeau._utils"));
  return m ? PyObject_CallMethod(m.get(), function, "OO", self, arg) : nullptr;
}
Py_ssize_t storage_len(PyObject* self) { return static_cast<Py_ssize_t>(S(self).nbytes); }
PyObject* storage_item(PyObject* self, Py_ssize_t i) {
  if (i < 0 || static_cast<size_t>(i) >= S(self).nbytes || !S(self).data) {
    PyErr_Format(PyExc_IndexError, "storage index %zd is out of range for %zu bytes", i, S(self).nbytes);
    return nullptr;
  }
  return PyLong_FromLong(static_cast<unsigned char>(S(self).data[i]));
}
PyObject* storage_resize(PyObject* self, PyObject* n) {
  return guarded([&] {
    const long long v = PyLong_AsLongLong(n);
    if (v == -1 && PyErr_Occurred()) throw PythonError();
    resize_storage(S(self), v);
    return Py_NewRef(self);
  });
}
PyObject* storage_compare(PyObject* a, PyObject* b, int op) {
  if ((op != Py_EQ && op != Py_NE) || Py_TYPE(b) != StorageType) Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((&S(a) == &S(b)) == (op == Py_EQ));
}
Py_hash_t storage_hash(PyObject* self) { return static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(&S(self)) >> 4); }
PyMethodDef storage_methods[] = {
    {"nbytes", [](PyObject* s, PyObject*) { return PyLong_FromSize_t(S(s).nbytes); }, METH_NOARGS,
     "nbytes($self, /)\n--\n\nSize in bytes."},
    {"size", [](PyObject* s, PyObject*) { return PyLong_FromSize_t(S(s).nbytes); }, METH_NOARGS,
     "size($self, /)\n--\n\nSize in bytes."},
    {"element_size", [](PyObject*, PyObject*) { return PyLong_FromLong(1); }, METH_NOARGS,
     "element_size($self, /)\n--\n\nBytes an element takes: 1."},
    {"data_ptr", [](PyObject* s, PyObject*) { return PyLong_FromVoidPtr(S(s).data); }, METH_NOARGS,
     "data_ptr($self, /)\n--\n\nAddress of the first byte."},
    {"resize_", storage_resize, METH_O,
     "resize_($self, nbytes, /)\n--\n\nGrows or shrinks to a number of bytes; returns self. Raises RuntimeError while a buffer of it is held."},
    {"_share_memory_",
     [](PyObject* s, PyObject*) {
       return guarded([&] {
         share_storage(S(s));
         return Py_NewRef(s);
       });
     },
     METH_NOARGS, "Moves the bytes to memory that forked processes share."},
    {"is_shared", [](PyObject* s, PyObject*) { return PyBool_FromLong(S(s).shared_memory); }, METH_NOARGS,
     "is_shared($self, /)\n--\n\nWhether forked processes share the memory."},
    {"resizable", [](PyObject* s, PyObject*) { return PyBool_FromLong(S(s).resizable); }, METH_NOARGS,
     "resizable($self, /)\n--\n\nWhether resize_ may change the size."},
    {"_set_read_only",
     [](PyObject* s, PyObject* v) -> PyObject* {
       S(s).read_only = PyObject_IsTrue(v) == 1;
       Py_RETURN_NONE;
     },
     METH_O, nullptr},
    {"cpu", [](PyObject* s, PyObject*) { return Py_NewRef(s); }, METH_NOARGS,
     "cpu($self, /)\n--\n\nItself: it is on the CPU."},
    {"untyped", [](PyObject* s, PyObject*) { return Py_NewRef(s); }, METH_NOARGS,
     "untyped($self, /)\n--\n\nItself: it has no dtype."},
    {"_cdata", [](PyObject* s, PyObject*) { return PyLong_FromVoidPtr(&S(s)); }, METH_NOARGS, nullptr},
    {"__reduce_ex__", [](PyObject* s, PyObject* protocol) { return call_utils("storage_reduce_ex", s, protocol); },
     METH_O, nullptr},
    {"__deepcopy__", [](PyObject* s, PyObject* memo) { return call_utils("storage_deepcopy", s, memo); }, METH_O,
     nullptr},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef storage_properties[] = {
    {"device", [](PyObject* s, void*) { return guarded([&] { return wrap_device(S(s).device); }); }, nullptr,
     "Where the bytes are.", nullptr},
    {"is_cuda", [](PyObject*, void*) -> PyObject* { Py_RETURN_FALSE; }, nullptr,
     "False: no storage is on a CUDA device here.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMemberDef storage_members[] = {{"__weaklistoffset__", T_PYSSIZET, offsetof(PyStorage, weakrefs), READONLY, nullptr},
                                 {nullptr, 0, 0, 0, nullptr}};

}  // namespace

PyObject* wrap_storage(Storage s) {
  if (s->pyobj) return Py_NewRef(static_cast<PyObject*>(s->pyobj));
  auto* o = reinterpret_cast<PyStorage*>(checked(StorageType->tp_alloc(StorageType, 0)));
  s->pyobj = o;
  o->impl = s.release();
  return reinterpret_cast<PyObject*>(o);
}

Storage storage_from(PyObject* o) {
  if (PyObject_HasAttrString(o, "_untyped_storage")) {
    Owned inner(checked(PyObject_GetAttrString(o, "_untyped_storage")));
    return storage_from(inner.get());
  }
  FL_CHECK_TYPE(Py_TYPE(o) == StorageType, "expected an UntypedStorage, got ", Py_TYPE(o)->tp_name);
  return Storage::borrow(&S(o));
}

void init_storage(PyObject* module) {
  static const char doc[] =
      "UntypedStorage(size=0, *, device=None)\n--\n\n"
      "The bytes that tensors share: `size` of them or, from a sequence, bytes of these values. Has the buffer protocol.";
  PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>(doc)},
                         {Py_tp_new, reinterpret_cast<void*>(storage_new)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(storage_dealloc)},
                         {Py_tp_methods, storage_methods},
                         {Py_tp_getset, storage_properties},
                         {Py_tp_members, storage_members},
                         {Py_tp_richcompare, reinterpret_cast<void*>(storage_compare)},
                         {Py_tp_hash, reinterpret_cast<void*>(storage_hash)},
                         {Py_sq_length, reinterpret_cast<void*>(storage_len)},
                         {Py_sq_item, reinterpret_cast<void*>(storage_item)},
                         {Py_bf_getbuffer, reinterpret_cast<void*>(storage_buffer)},
                         {Py_bf_releasebuffer, reinterpret_cast<void*>(storage_release_buffer)},
                         {0, nullptr}};
  PyType_Spec spec{"flambeau.UntypedStorage", sizeof(PyStorage), 0, Py_TPFLAGS_DEFAULT, slots};
  StorageType = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  checked(PyModule_AddObjectRef(module, "UntypedStorage", reinterpret_cast<PyObject*>(StorageType)));
}

}  // namespace flambeau::python
