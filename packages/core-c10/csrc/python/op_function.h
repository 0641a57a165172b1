#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "flambeau/python/parser.h"

namespace flambeau::python {

struct OpFunction {
  PyObject_HEAD vectorcallfunc vectorcall;
  const char* name;                         // owned
  std::vector<const Operator*>* overloads;  // owned; tried in order
  const Signature* first;
  PyObject* module;
  PyObject* dict;
  PyObject* weakrefs;
  bool is_method;
};

FL_API PyObject* make_op_function(const std::string& name, std::vector<const Operator*> overloads, bool is_method,
                                  const char* module);
/// (schema text, arguments, facts, doc, decomposition) of an overload. An argument is (name, type, is a list, may be
/// None, items may be None, fixed length, keyword only, a number may stand for it, default or `...`).
PyObject* describe_overload(const Operator& op);
/// Calls one overload with positional arguments.
FL_API PyObject* call_operator(const Operator& op, PyObject* const* args, Py_ssize_t nargs);
/// As above; false when the arguments do not fit. `func` is what __torch_function__ is told was called.
bool try_call_operator(const Operator& op, PyObject* func, PyObject* const* args, Py_ssize_t nargs, PyObject** result);

}  // namespace flambeau::python
