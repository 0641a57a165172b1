// flambeau.library and flambeau.ops, the native half: define, implement, find and call operators from Python.
#include "op_function.h"
#include "python_kernel.h"
#include "tensor_type.h"

namespace flambeau::python {

namespace {

std::vector<const Operator*> callable_overloads(std::string_view ns, std::string_view name) {
  std::vector<const Operator*> list;
  for (Operator* o : overloads(ns, name))
    if (o->variant != Variant::Out || !o->functional) list.push_back(o);
  return list;
}

PyObject* names_list(const std::vector<std::string>& names) {
  Owned list(checked(PyList_New(0)));
  for (const auto& n : names) {
    Owned s(PyUnicode_FromString(n.c_str()));
    checked(PyList_Append(list.get(), s.get()));
  }
  return list.release();
}

PyObject* op_names(PyObject*, PyObject* args) {
  const char* ns;
  if (!PyArg_ParseTuple(args, "s", &ns)) return nullptr;
  return guarded([&] { return names_list(operator_names(ns)); });
}

PyObject* op_overloads(PyObject*, PyObject* args) {
  const char *ns, *name;
  if (!PyArg_ParseTuple(args, "ss", &ns, &name)) return nullptr;
  return guarded([&] {
    std::vector<std::string> names;
    for (Operator* o : overloads(ns, name)) names.push_back(o->overload);
    return names_list(names);
  });
}

// (ns, name, overload or None, is_method) -> callable, or None when there is no such operator
PyObject* op_function(PyObject*, PyObject* args) {
  const char *ns, *name, *overload;
  int is_method = 0;
  if (!PyArg_ParseTuple(args, "ssz|p", &ns, &name, &overload, &is_method)) return nullptr;
  return guarded([&]() -> PyObject* {
    std::vector<const Operator*> list;
    if (!overload)
      list = callable_overloads(ns, name);
    else if (Operator* o = find_operator(ns, *overload ? concat(name, ".", overload) : std::string(name)))
      list.push_back(o);
    if (list.empty()) Py_RETURN_NONE;
    return make_op_function(name, std::move(list), is_method, nullptr);
  });
}

uint16_t merged_flags(std::string_view ns, std::string_view name) {
  uint16_t f = 0;
  for (const Operator* o : callable_overloads(ns, name)) f |= o->flags;
  return f;
}

// name -> function for the names with a flag; used to fill the module, Tensor and _nn lazily
PyObject* op_flags(PyObject*, PyObject* args) {
  const char *ns, *name;
  if (!PyArg_ParseTuple(args, "ss", &ns, &name)) return nullptr;
  return guarded([&] { return PyLong_FromLong(merged_flags(ns, name)); });
}

// Adds methods for every operator that has become known since the last call.
PyObject* install_methods(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    const std::vector<std::string> names = operator_names("aten");
    PyObject* dict = TensorType->tp_dict;
    for (size_t i = 0; i < names.size(); ++i) {
      if (!(merged_flags("aten", names[i]) & kMethod)) continue;
      std::vector<const Operator*> list;
      for (const Operator* o : callable_overloads("aten", names[i]))
        if (o->flags & kMethod) list.push_back(o);
      Owned key(PyUnicode_InternFromString(names[i].c_str()));
      if (PyObject* old = PyDict_GetItem(dict, key.get());
          old && Py_TYPE(old)->tp_name != std::string_view("flambeau._C._OpMethod"))
        continue;
      Owned f(make_op_function(names[i], std::move(list), true, "flambeau"));
      checked(PyDict_SetItem(dict, key.get(), f.get()));
    }
    PyType_Modified(TensorType);
    Py_RETURN_NONE;
  });
}

Key key_from(const char* name) {
  struct {
    const char* name;
    Key key;
  } keys[] = {{"CPU", Key::CPU},
              {"CUDA", Key::CUDA},
              {"Meta", Key::Meta},
              {"PrivateUse1", Key::PrivateUse1},
              {"XPU", Key::XPU},
              {"MPS", Key::MPS},
              {"Autograd", Key::Autograd},
              {"AutogradCPU", Key::Autograd},
              {"Autocast", Key::Autocast},
              {"AutocastCPU", Key::Autocast},
              {"FuncTorch", Key::Functorch},
              {"Python", Key::Python},
              {"PythonDispatcher", Key::PythonMode}};
  for (auto& k : keys)
    if (std::string_view(name) == k.name) return k.key;
  FL_CHECK(false, "could not parse dispatch key: ", name,
           "; keys are CPU, CUDA, Meta, PrivateUse1, XPU, MPS, Autograd, AutogradCPU, Autocast, FuncTorch, Python, "
           "CompositeImplicitAutograd, CompositeExplicitAutograd");
}

PyObject* library_define(PyObject*, PyObject* args) {
  const char *ns, *schema;
  if (!PyArg_ParseTuple(args, "ss", &ns, &schema)) return nullptr;
  return guarded([&] {
    Operator& op = define_operator(ns, std::string_view(schema));
    return PyUnicode_FromString(op.qualified_name().c_str());
  });
}

// What a kernel's capsule holds. Operators live as long as the process, removed ones too, so the pointer stays good.
struct Registration {
  Operator* op;
  uint64_t number;
};

constexpr const char* kRegistration = "flambeau.library registration";

void undo_registration(PyObject* capsule) {
  auto* r = static_cast<Registration*>(PyCapsule_GetPointer(capsule, kRegistration));
  Py_XDECREF(static_cast<PyObject*>(r->op->remove_kernel(r->number)));
  delete r;
}

// (ns, name, key, callable, whether an earlier Python kernel may stand there) -> an object; the kernel goes with it
PyObject* library_impl(PyObject*, PyObject* args) {
  const char *ns, *name, *key;
  PyObject* fn;
  int over = 0;
  if (!PyArg_ParseTuple(args, "sssO|p", &ns, &name, &key, &fn, &over)) return nullptr;
  return guarded([&]() -> PyObject* {
    Operator& op = get_operator(ns, name);
    const std::string_view k = key;
    std::optional<Key> at;
    if (k != "CompositeImplicitAutograd" && k != "CompositeExplicitAutograd") at = key_from(key);
    FL_CHECK(!at || over || !op.has_added_kernel(*at), "[impl] ", op.qualified_name(),
             " already has a Python kernel for ", key, "; pass allow_override=True to put another over it");
    auto r = std::make_unique<Registration>(Registration{&op, 0});
    Owned capsule(checked(PyCapsule_New(r.get(), kRegistration, undo_registration)));
    r.release()->number = op.add_kernel(at, k == "CompositeImplicitAutograd", registered_python_kernel, Py_NewRef(fn));
    return capsule.release();
  });
}

PyObject* library_remove(PyObject*, PyObject* args) {
  const char *ns, *name;
  if (!PyArg_ParseTuple(args, "ss", &ns, &name)) return nullptr;
  return guarded([&]() -> PyObject* {
    if (Operator* op = find_operator(ns, name)) remove_operator(*op);
    Py_RETURN_NONE;
  });
}

PyMethodDef functions[] = {
    {"_op_names", op_names, METH_VARARGS, "Names of a namespace's operators."},
    {"_op_namespaces", [](PyObject*, PyObject*) { return guarded([&] { return names_list(operator_namespaces()); }); },
     METH_NOARGS, nullptr},
    {"_op_overloads", op_overloads, METH_VARARGS, "Overload names of an operator."},
    {"_op_function", op_function, METH_VARARGS,
     "_op_function(ns, name, overload=None, is_method=False): a callable, or None."},
    {"_op_flags", op_flags, METH_VARARGS, "Where an operator's name appears."},
    {"_install_methods", install_methods, METH_NOARGS, "Gives Tensor a method for every operator that is one."},
    {"_library_define", library_define, METH_VARARGS, nullptr},
    {"_library_impl", library_impl, METH_VARARGS, nullptr},
    {"_library_remove", library_remove, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_library(PyObject* module) { checked(PyModule_AddFunctions(module, functions)); }

}  // namespace flambeau::python
