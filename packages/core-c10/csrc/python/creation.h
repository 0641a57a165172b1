#pragma once
#include <optional>

#include "flambeau/python/object.h"

namespace flambeau::python {

/// A new tensor from nested sequences, numbers, tensors, NumPy arrays or anything with the buffer or array interface.
/// Always copies unless `share` and the data is a buffer or tensor that already fits.
Tensor tensor_from_data(PyObject* data, std::optional<DType> dtype, Device device, bool share);
/// Zero-copy tensor over an object with the buffer protocol (NumPy arrays among them).
Tensor tensor_from_buffer(PyObject* o, bool writable_only);
void init_creation(PyObject* module);
void init_dlpack(PyObject* module);

}  // namespace flambeau::python
