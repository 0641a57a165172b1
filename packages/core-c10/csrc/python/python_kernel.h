#pragma once
/// Kernels written in Python.
#include "flambeau/python/object.h"

namespace flambeau::python {

/// Calls `callable` with the frame's arguments, keyword-only ones by name, and stores what it returns.
void call_python_kernel(const Operator& op, PyObject* callable, const Value* args, Value* results);
/// Stores what a Python kernel returned. Throws TypeError where that is not what the schema says.
void store_results(const Operator& op, PyObject* returned, Value* results);
/// The function named in the operator's record, imported once (borrowed).
PyObject* resolve_python(const Operator& op);
/// Kernel of functions registered through flambeau.library; the callable is the key's context.
void registered_python_kernel(const Operator& op, KeySet keys, const Value* args, Value* results);
void install_python_kernels();

}  // namespace flambeau::python
