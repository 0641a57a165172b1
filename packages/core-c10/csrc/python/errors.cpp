// C++ errors into Python exceptions, and warnings.
#include "flambeau/core/python_hook.h"
#include "flambeau/python/object.h"

namespace flambeau::python {

namespace {

PyObject* exception_class(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::Value: return PyExc_ValueError;
    case ErrorKind::Type: return PyExc_TypeError;
    case ErrorKind::Index: return PyExc_IndexError;
    case ErrorKind::NotImplemented: return PyExc_NotImplementedError;
    case ErrorKind::OutOfMemory: return PyExc_MemoryError;
    default: return PyExc_RuntimeError;
  }
}

// The classes of flambeau._errors (ShapeError(RuntimeError), ...), which users can catch more narrowly.
const char* own_class(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::Shape: return "ShapeError";
    case ErrorKind::DType: return "DTypeError";
    case ErrorKind::Device: return "DeviceError";
    case ErrorKind::Format: return "FormatError";
    case ErrorKind::Internal: return "InternalError";
    case ErrorKind::OutOfMemory: return "OutOfMemoryError";
    default: return nullptr;
  }
}

void raise(const Error& e) {
  if (const char* name = own_class(e.kind)) {
    Owned module(PyImport_ImportModule("flambeau._errors"));
    Owned cls(module ? PyObject_GetAttrString(module.get(), name) : nullptr);
    if (cls) {
      PyErr_SetString(cls.get(), e.what());
      return;
    }
    PyErr_Clear();
  }
  PyErr_SetString(exception_class(e.kind), e.what());
}

}  // namespace

PyObject* set_python_error() noexcept {
  try {
    throw;
  } catch (const PythonError&) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "a Python error was reported but none is set");
  } catch (const Error& e) {
    raise(e);
  } catch (const std::bad_alloc&) {
    PyErr_SetString(PyExc_MemoryError, "out of memory");
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "unknown C++ exception");
  }
  return nullptr;
}

}  // namespace flambeau::python
