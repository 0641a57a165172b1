#pragma once
/// Pieces of the Tensor type, one file each.
#include "flambeau/python/object.h"

namespace flambeau::python {

int tensor_traverse(PyObject* self, visitproc visit, void* arg);
int tensor_clear(PyObject* self);
void tensor_dealloc(PyObject* self);
void release_python_object(void* object);

extern PyGetSetDef tensor_properties[];
extern PyMethodDef tensor_methods[];
PyObject* tensor_new(PyTypeObject* type, PyObject* args, PyObject* kwargs);
PyObject* tensor_repr(PyObject* self);
PyObject* tensor_getitem(PyObject* self, PyObject* index);
int tensor_setitem(PyObject* self, PyObject* index, PyObject* value);
PyObject* tensor_richcompare(PyObject* a, PyObject* b, int op);
Py_hash_t tensor_hash(PyObject* self);
Py_ssize_t tensor_length(PyObject* self);
int tensor_bool(PyObject* self);
PyObject* tensor_int(PyObject* self);
PyObject* tensor_float(PyObject* self);
PyObject* tensor_index(PyObject* self);
PyObject* tensor_iter(PyObject* self);
int tensor_contains(PyObject* self, PyObject* value);
int tensor_getbuffer(PyObject* self, Py_buffer* view, int flags);
void tensor_releasebuffer(PyObject* self, Py_buffer* view);

void init_types(PyObject* module);
void init_tensor_type(PyObject* module);
void init_op_function(PyObject* module);
void init_storage(PyObject* module);

}  // namespace flambeau::python
