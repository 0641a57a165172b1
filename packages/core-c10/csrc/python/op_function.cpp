// A Python callable over the overloads of an operator: flambeau.add, Tensor.add, flambeau.ops.aten.add.Tensor.
//
// One type serves functions and methods: it is a method descriptor with a vectorcall, so `x.add(y)` binds nothing.
#include <cctype>
#include <cstring>
#include <new>

#include "flambeau/python/parser.h"
#include "op_function.h"
#include "tensor_type.h"

namespace flambeau::python {

PyTypeObject* OpFunctionType;
static PyTypeObject* OpMethodType;

namespace {

OpFunction& fn(PyObject* o) { return *reinterpret_cast<OpFunction*>(o); }

// --- named results
// ------------------------------------------------------------------------------------------------------

PyTypeObject* result_type(const Operator& op) {
  static auto* types = new std::unordered_map<std::string, PyTypeObject*>;
  const auto& returns = op.schema().returns;
  std::string key = op.ns + "::" + op.name;  // overloads share a type where they name the same results
  for (const auto& r : returns) key += " " + r.name;
  auto it = types->find(key);
  if (it != types->end()) return it->second;
  auto* fields = new std::vector<PyStructSequence_Field>;
  for (const auto& r : returns) fields->push_back({strdup(r.name.c_str()), nullptr});
  fields->push_back({nullptr, nullptr});
  PyStructSequence_Desc desc{strdup(("torch.return_types." + op.name).c_str()), "Named results of an operator.",
                             fields->data(), static_cast<int>(returns.size())};
  PyTypeObject* type = PyStructSequence_NewType(&desc);
  checked(reinterpret_cast<PyObject*>(type));
  (*types)[key] = type;
  return type;
}

PyObject* wrap_results(const Operator& op, Value* results) {
  const int n = op.num_results;
  if (FL_LIKELY(n == 1)) return wrap_result(std::move(results[0]));
  if (n == 0) Py_RETURN_NONE;
  const auto& returns = op.variant == Variant::Out ? op.functional->schema().returns : op.schema().returns;
  Owned tuple(returns[0].name.empty()
                  ? PyTuple_New(n)
                  : PyStructSequence_New(result_type(op.variant == Variant::Out ? *op.functional : op)));
  checked(tuple.get());
  for (int i = 0; i < n; ++i) PyTuple_SET_ITEM(tuple.get(), i, wrap_result(std::move(results[i])));
  return tuple.release();
}

/// Results of a call; only as many as the operator has are initialised.
struct ResultSlots {
  union {
    Value values[kMaxResults];
  };
  int count;
  explicit ResultSlots(int n) : count(n) {
    for (int i = 0; i < n; ++i) values[i] = Value();
  }
  ~ResultSlots() {
    for (int i = 0; i < count; ++i)
      if (FL_UNLIKELY(values[i].tag != Tag::None)) release_result(values[i]);
  }
};

// --- calling
// ------------------------------------------------------------------------------------------------------------

bool is_part_of_word(std::string_view text, size_t at) {
  return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_');
}

bool has_word(std::string_view text, std::string_view word) {
  for (size_t at = 0; (at = text.find(word, at)) != text.npos; ++at)
    if (!is_part_of_word(text, at + word.size()) && (at == 0 || !is_part_of_word(text, at - 1))) return true;
  return false;
}

// Kernels check values that several operators share, so not every text says whose they were.
[[noreturn]] void rethrow_with_name(const Operator& op) {
  try {
    throw;
  } catch (const PythonError&) {
    throw;
  } catch (Error& e) {
    const std::string_view name = op.name;
    const std::string_view stem = name.substr(0, name.size() - (name.size() > 1 && name.ends_with('_')));
    if (!e.message.starts_with('[') && !has_word(e.message, name) && !has_word(e.message, stem))
      e.message = concat("[", name, "] ", e.message);
    throw;
  } catch (const std::bad_alloc&) {
    throw OutOfMemoryError(concat("[", op.name, "] out of memory"));
  }
}

void dispatch_named(const Operator& op, const Value* args, Value* results) {
  try {
    dispatch(op, args, results);
  } catch (...) {
    rethrow_with_name(op);
  }
}

void fill_out_list(const Operator& op, Frame& frame) {
  PyObject* out = frame.out;
  FL_CHECK_TYPE(PyTuple_Check(out) || PyList_Check(out), op.name, "(): argument 'out' must be tuple of Tensors, not ",
                Py_TYPE(out)->tp_name);
  auto& list = frame.arena().tensors.emplace_back();
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(out); ++i) {
    PyObject* x = PySequence_Fast_GET_ITEM(out, i);
    FL_CHECK_TYPE(is_tensor(x), op.name, "(): argument 'out' must be tuple of Tensors, not of ", Py_TYPE(x)->tp_name);
    list.push_back(tensor_of(x));
  }
  frame.values[op.num_args] = Value(TensorList(list));
}

PyObject* call_out(const Operator& op, Frame& frame) {
  const Operator& o = *op.out;
  const int n = op.num_results;
  if (o.num_results == 0) {
    fill_out_list(op, frame);
  } else if (n == 1) {
    PyObject* out = frame.out;
    if (PyTuple_Check(out) && PyTuple_GET_SIZE(out) == 1) out = PyTuple_GET_ITEM(out, 0);
    FL_CHECK_TYPE(is_tensor(out), op.name, "(): argument 'out' must be Tensor, not ", Py_TYPE(out)->tp_name);
    frame.values[op.num_args] = Value(tensor_of(out));
  } else {
    FL_CHECK_TYPE((PyTuple_Check(frame.out) || PyList_Check(frame.out)) && PySequence_Fast_GET_SIZE(frame.out) == n,
                  op.name, "(): argument 'out' must be a tuple of ", n, " Tensors");
    for (int i = 0; i < n; ++i) {
      PyObject* x = PySequence_Fast_GET_ITEM(frame.out, i);
      FL_CHECK_TYPE(is_tensor(x), op.name, "(): argument 'out' must be a tuple of ", n, " Tensors");
      frame.values[op.num_args + i] = Value(tensor_of(x));
    }
  }
  ResultSlots results(o.num_results);
  dispatch_named(o, frame.values, results.values);
  return wrap_results(o, results.values);
}

PyObject* run(const Operator& op, Frame& frame) {
  if (FL_UNLIKELY(frame.out != nullptr)) return call_out(op, frame);
  ResultSlots results(op.num_results);
  dispatch_named(op, frame.values, results.values);
  PyObject* o = wrap_results(op, results.values);
  if (FL_UNLIKELY(frame.requires_grad)) {
    Owned owner(o);
    checked(PyObject_SetAttrString(o, "requires_grad", Py_True));
    return owner.release();
  }
  return o;
}

std::string describe(const OpFunction& f, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  std::string text = concat(f.name, "() received an invalid combination of arguments - got (");
  const Py_ssize_t nkw = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
  for (Py_ssize_t i = f.is_method ? 1 : 0; i < nargs + nkw; ++i) {
    if (text.back() != '(') text += ", ";
    if (i >= nargs) text += concat(PyUnicode_AsUTF8(PyTuple_GET_ITEM(kwnames, i - nargs)), "=");
    text += Py_TYPE(args[i])->tp_name;
  }
  text += "), but expected one of:\n";
  for (const Operator* op : *f.overloads) text += concat(" * ", op->schema_text, "\n");
  return text;
}

[[noreturn]] void no_match(const OpFunction& f, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  if (f.overloads->size() == 1) {
    Frame frame;
    std::string why;
    parse_call(signature_of(*f.overloads->front()), args, nargs, kwnames, frame, f.is_method, &why);
    if (why.find("argument '") == 0) why = concat(f.name, "(): ", why);
    FL_CHECK_TYPE(false, why);
  }
  FL_CHECK_TYPE(false, describe(f, args, nargs, kwnames));
  __builtin_unreachable();
}

// The call most programs make most: positional plain tensors, everything else at its default.
inline bool fast_frame(const Signature& s, PyObject* const* args, Py_ssize_t nargs, Frame& frame) {
  if (nargs > s.leading_tensors || nargs < s.required) return false;
  for (Py_ssize_t i = 0; i < nargs; ++i) {
    if (!is_exact_tensor(args[i])) return false;
    Value& v = frame.values[i];
    v.tensor = impl_of(args[i]);
    v.tag = Tag::Tensor;
  }
  for (int i = static_cast<int>(nargs); i < s.num_args; ++i) frame.values[i] = s.defaults[i];
  return true;
}

PyObject* call_op(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) noexcept {
  const OpFunction& f = fn(self);
  const Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
  return guarded([&]() -> PyObject* {
    Frame frame;
    const bool in_mode = dispatch_state().has_function_mode;
    if (FL_LIKELY(!kwnames && !in_mode) && f.first && fast_frame(*f.first, args, nargs, frame))
      return run(*f.first->op, frame);
    FL_CHECK_TYPE(!f.is_method || (nargs > 0 && (is_tensor(args[0]) || has_torch_function(args[0]))), "descriptor '",
                  f.name, "' for 'torch.Tensor' objects doesn't apply to a '",
                  nargs > 0 ? Py_TYPE(args[0])->tp_name : "missing", "' object");
    for (const Operator* op : *f.overloads) {
      const Signature& s = signature_of(*op);
      frame.reset();
      if (!parse_call(s, args, nargs, kwnames, frame, f.is_method, nullptr)) {
        if (PyErr_Occurred()) throw PythonError();
        continue;
      }
      if (FL_UNLIKELY(frame.out && has_torch_function(frame.out))) frame.overloaded[frame.num_overloaded++] = frame.out;
      if (FL_UNLIKELY(frame.num_overloaded > 0 || in_mode))
        return call_torch_function(self, frame.overloaded, frame.num_overloaded, args, nargs, kwnames);
      return run(*op, frame);
    }
    no_match(f, args, nargs, kwnames);
  });
}

// --- the type
// -----------------------------------------------------------------------------------------------------------

void op_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  OpFunction& f = fn(self);
  delete f.overloads;
  Py_XDECREF(f.dict);
  Py_XDECREF(f.module);
  if (f.weakrefs) PyObject_ClearWeakRefs(self);
  free(const_cast<char*>(f.name));
  type->tp_free(self);
  Py_DECREF(type);
}
int op_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(fn(self).dict);
  return 0;
}
PyObject* op_get(PyObject* self, PyObject* obj, PyObject*) {
  if (!obj || !fn(self).is_method) return Py_NewRef(self);
  return PyMethod_New(self, obj);
}
PyObject* op_repr(PyObject* self) {
  return PyUnicode_FromFormat(fn(self).is_method ? "<method '%s' of 'Tensor' objects>" : "<built-in function %s>",
                              fn(self).name);
}
PyObject* describe_with(PyObject* self, const char* function) {
  Owned module(PyImport_ImportModule("flambeau._signatures"));
  Owned f(module ? PyObject_GetAttrString(module.get(), function) : nullptr);
  return f ? PyObject_CallOneArg(f.get(), self) : nullptr;
}
PyObject* op_reduce(PyObject* self, PyObject*) {
  Owned module(PyImport_ImportModule("flambeau._signatures"));
  Owned f(module ? PyObject_GetAttrString(module.get(), "find") : nullptr);
  return f ? Py_BuildValue("(N(sO))", f.release(), fn(self).name, fn(self).is_method ? Py_True : Py_False) : nullptr;
}
PyMethodDef op_methods[] = {{"__reduce__", op_reduce, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
PyGetSetDef op_properties[] = {
    {"__name__", [](PyObject* s, void*) { return PyUnicode_FromString(fn(s).name); }, nullptr, nullptr, nullptr},
    {"__qualname__",
     [](PyObject* s, void*) { return PyUnicode_FromFormat(fn(s).is_method ? "Tensor.%s" : "%s", fn(s).name); }, nullptr,
     nullptr, nullptr},
    {"__module__",
     [](PyObject* s, void*) { return fn(s).module ? Py_NewRef(fn(s).module) : PyUnicode_FromString("flambeau"); },
     nullptr, nullptr, nullptr},
    {"__doc__", [](PyObject* s, void*) { return describe_with(s, "docstring"); }, nullptr, nullptr, nullptr},
    {"__signature__", [](PyObject* s, void*) { return describe_with(s, "signature"); }, nullptr, nullptr, nullptr},
    {"__text_signature__", [](PyObject*, void*) -> PyObject* { Py_RETURN_NONE; }, nullptr, nullptr, nullptr},
    {"_schemas",
     [](PyObject* s, void*) -> PyObject* {
       Owned list(PyList_New(0));
       for (const Operator* op : *fn(s).overloads) {
         Owned text(PyUnicode_FromString((op->ns + "::" + op->schema_text).c_str()));
         if (!text || PyList_Append(list.get(), text.get()) < 0) return nullptr;
       }
       return list.release();
     },
     nullptr, "Schemas of the overloads, in the order they are tried.", nullptr},
    {"_overloads",
     [](PyObject* s, void*) {
       return guarded([&] {
         Owned list(checked(PyList_New(0)));
         for (const Operator* op : *fn(s).overloads) {
           Owned overload(describe_overload(*op));
           checked(PyList_Append(list.get(), overload.get()));
         }
         return list.release();
       });
     },
     nullptr, "The overloads' schemas, arguments, facts, docs and decompositions (flambeau._signatures).", nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMemberDef op_members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(OpFunction, vectorcall), READONLY, nullptr},
                            {"__dictoffset__", T_PYSSIZET, offsetof(OpFunction, dict), READONLY, nullptr},
                            {"__weaklistoffset__", T_PYSSIZET, offsetof(OpFunction, weakrefs), READONLY, nullptr},
                            {nullptr, 0, 0, 0, nullptr}};

}  // namespace

PyObject* make_op_function(const std::string& name, std::vector<const Operator*> overloads, bool is_method,
                           const char* module) {
  PyTypeObject* type = is_method ? OpMethodType : OpFunctionType;
  auto* f = reinterpret_cast<OpFunction*>(checked(type->tp_alloc(type, 0)));
  f->vectorcall = reinterpret_cast<vectorcallfunc>(call_op);
  f->name = strdup(name.c_str());
  f->overloads = new std::vector<const Operator*>(std::move(overloads));
  f->is_method = is_method;
  f->module = module ? PyUnicode_FromString(module) : nullptr;
  f->first = &signature_of(*f->overloads->front());
  return reinterpret_cast<PyObject*>(f);
}

PyObject* call_operator(const Operator& op, PyObject* const* args, Py_ssize_t nargs) {
  Frame frame;
  const Signature& s = signature_of(op);
  if (FL_LIKELY(fast_frame(s, args, nargs, frame))) return run(op, frame);
  std::string why;
  if (!parse_call(s, args, nargs, nullptr, frame, false, &why)) FL_CHECK_TYPE(false, op.name, "(): ", why);
  return run(op, frame);
}

bool try_call_operator(const Operator& op, PyObject* func, PyObject* const* args, Py_ssize_t nargs, PyObject** result) {
  Frame frame;
  const Signature& s = signature_of(op);
  const bool in_mode = dispatch_state().has_function_mode;
  if (FL_LIKELY(!in_mode && fast_frame(s, args, nargs, frame))) {
    *result = run(op, frame);
    return true;
  }
  if (!parse_call(s, args, nargs, nullptr, frame, false, nullptr)) return false;
  if (frame.num_overloaded || in_mode)
    *result = call_torch_function(func, frame.overloaded, frame.num_overloaded, args, nargs, nullptr);
  else
    *result = run(op, frame);
  return true;
}

void init_op_function(PyObject* module) {
  // Only methods bind to their instance; a function kept as a class attribute must not, as builtins do not.
  const auto make = [](const char* name, bool binds) {
    PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(op_dealloc)},
                           {Py_tp_traverse, reinterpret_cast<void*>(op_traverse)},
                           {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                           {Py_tp_repr, reinterpret_cast<void*>(op_repr)},
                           {Py_tp_getset, op_properties},
                           {Py_tp_members, op_members},
                           {Py_tp_methods, op_methods},
                           {binds ? Py_tp_descr_get : 0, binds ? reinterpret_cast<void*>(op_get) : nullptr},
                           {0, nullptr}};
    PyType_Spec spec{name, sizeof(OpFunction), 0,
                     static_cast<unsigned>(Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                                           (binds ? Py_TPFLAGS_METHOD_DESCRIPTOR : 0)),
                     slots};
    return reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  };
  OpFunctionType = make("flambeau._C._OpFunction", false);
  OpMethodType = make("flambeau._C._OpMethod", true);
  checked(PyModule_AddObjectRef(module, "_OpMethod", reinterpret_cast<PyObject*>(OpMethodType)));
  checked(PyModule_AddObjectRef(module, "_OpFunction", reinterpret_cast<PyObject*>(OpFunctionType)));
}

}  // namespace flambeau::python
