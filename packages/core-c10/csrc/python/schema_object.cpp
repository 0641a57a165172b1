// An operator's schema as plain Python data; flambeau._schema makes objects of it.
#include "flambeau/python/parser.h"
#include "tensor_type.h"

namespace flambeau::python {

namespace {

PyObject* alias_text(char set, bool present) {
  if (!present) Py_RETURN_NONE;
  return PyUnicode_FromStringAndSize(&set, set ? 1 : 0);
}

// (name, type, keyword-only, alias set or None, written to, default or ...)
PyObject* argument(const SchemaArg& a) {
  Owned value(a.has_default ? wrap_argument(a.default_value) : Py_NewRef(Py_Ellipsis));
  checked(value.get());
  return checked(Py_BuildValue("(ssOOOO)", a.name.c_str(), a.type_text.c_str(), a.kwarg_only ? Py_True : Py_False,
                               Owned(alias_text(a.alias_set, a.aliased || a.mutated)).get(),
                               a.mutated ? Py_True : Py_False, value.get()));
}

PyObject* result(const SchemaReturn& r) {
  return checked(Py_BuildValue("(ssOO)", r.name.c_str(), r.type_text.c_str(),
                               Owned(alias_text(r.alias_set, r.aliased || r.mutated)).get(),
                               r.mutated ? Py_True : Py_False));
}

template <class List, class F> PyObject* list_of(const List& items, F make) {
  Owned list(checked(PyList_New(0)));
  for (const auto& item : items) checked(PyList_Append(list.get(), Owned(make(item)).get()));
  return list.release();
}

PyObject* op_schema(PyObject*, PyObject* args) {
  const char *ns, *name, *overload;
  if (!PyArg_ParseTuple(args, "sss", &ns, &name, &overload)) return nullptr;
  return guarded([&] {
    const Operator& op = get_operator(ns, *overload ? concat(name, ".", overload) : std::string(name));
    const Schema& s = op.schema();
    const Owned arguments(list_of(s.args, argument)), returns(list_of(s.returns, result));
    return Py_BuildValue("(sOO)", op.schema_text.c_str(), arguments.get(), returns.get());
  });
}

PyObject* storage_address(PyObject*, PyObject* o) {
  return guarded([&] {
    FL_CHECK_TYPE(is_tensor(o), "expected a Tensor, got ", Py_TYPE(o)->tp_name);
    return PyLong_FromVoidPtr(impl_of(o)->storage);
  });
}

PyMethodDef functions[] = {
    {"_op_schema", op_schema, METH_VARARGS, "_op_schema(ns, name, overload): text, arguments, returns."},
    {"_storage_address", storage_address, METH_O, "A number that tells storages apart."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_schema_object(PyObject* module) { checked(PyModule_AddFunctions(module, functions)); }

}  // namespace flambeau::python
