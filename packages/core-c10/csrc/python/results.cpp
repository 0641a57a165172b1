// Values into Python objects and back: what operators return, and what Python kernels are given and give.
#include <algorithm>
#include <cstring>
#include <memory>

#include "flambeau/python/parser.h"
#include "python_kernel.h"
#include "tensor_type.h"

namespace flambeau::python {

PyObject* wrap_scalar(const Scalar& s) {
  switch (s.kind()) {
    case Scalar::Kind::Bool: return PyBool_FromLong(s.to_bool());
    case Scalar::Kind::Int: return PyLong_FromLongLong(s.to_int());
    case Scalar::Kind::Double: return PyFloat_FromDouble(s.real());
    default: return PyComplex_FromDoubles(s.real(), s.imag());
  }
}

PyObject* wrap_element(const Scalar& s, DType dtype) {
  return dtype == DType::UInt64 ? PyLong_FromUnsignedLongLong(static_cast<uint64_t>(s.to_int())) : wrap_scalar(s);
}

namespace {

template <class F> PyObject* make_list(size_t n, F item) {
  Owned list(checked(PyList_New(static_cast<Py_ssize_t>(n))));
  for (size_t i = 0; i < n; ++i) PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), checked(item(i)));
  return list.release();
}

}  // namespace

PyObject* wrap_argument(const Value& v, bool) {
  switch (v.tag) {
    case Tag::None: Py_RETURN_NONE;
    case Tag::Tensor: return wrap(v.as_tensor());
    case Tag::Int: return PyLong_FromLongLong(v.i);
    case Tag::Double: return PyFloat_FromDouble(v.d);
    case Tag::Bool: return PyBool_FromLong(v.b);
    case Tag::Complex: return PyComplex_FromDoubles(v.complex[0], v.complex[1]);
    case Tag::IntList: return make_list(v.size, [&](size_t i) { return PyLong_FromLongLong(v.ints[i]); });
    case Tag::DoubleList: return make_list(v.size, [&](size_t i) { return PyFloat_FromDouble(v.doubles[i]); });
    case Tag::BoolList: return make_list(v.size, [&](size_t i) { return PyBool_FromLong(v.bools[i]); });
    case Tag::ScalarList: return make_list(v.size, [&](size_t i) { return wrap_argument(v.values[i]); });
    case Tag::TensorList: return make_list(v.size, [&](size_t i) { return wrap(v.tensors[i]); });
    case Tag::String: return PyUnicode_FromStringAndSize(v.chars, v.size);
    case Tag::DType: return wrap_dtype(static_cast<DType>(v.i));
    case Tag::Layout: return wrap_layout(static_cast<Layout>(v.i));
    case Tag::MemoryFormat: return wrap_memory_format(static_cast<MemoryFormat>(v.i));
    case Tag::Device: return wrap_device(v.device);
    case Tag::Generator: return wrap_generator(v.generator);
    case Tag::Object: return Py_NewRef(static_cast<PyObject*>(v.object));
    case Tag::TensorVector:
      return make_list(v.tensor_vector->size(), [&](size_t i) { return wrap((*v.tensor_vector)[i]); });
  }
  Py_RETURN_NONE;
}

PyObject* wrap_result(Value&& v) {
  if (FL_LIKELY(v.tag == Tag::Tensor)) {
    v.tag = Tag::None;
    return wrap(Tensor::steal(v.tensor));
  }
  if (v.tag == Tag::TensorVector) {  // lists of tensors are tuples in Python, as torch's splits are
    std::unique_ptr<std::vector<Tensor>> list(v.tensor_vector);
    v.tag = Tag::None;
    Owned tuple(checked(PyTuple_New(static_cast<Py_ssize_t>(list->size()))));
    for (size_t i = 0; i < list->size(); ++i)
      PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), wrap(std::move((*list)[i])));
    return tuple.release();
  }
  PyObject* o = wrap_argument(v);
  release_result(v);
  return o;
}

// --- results of Python kernels
// ------------------------------------------------------------------------------------------

namespace {

// Only gradients that were not asked for may be missing; elsewhere callers rely on a tensor.
bool may_omit_results(const Operator& op) {
  const auto& args = op.schema().args;
  return std::any_of(args.begin(), args.end(), [](const SchemaArg& a) { return a.name == "output_mask"; });
}

void store_result(const Operator& op, const SchemaReturn& r, PyObject* o, Value* out) {
  if (r.kind == ArgKind::Tensor && !r.list) {
    if (o == Py_None && (r.type_text.ends_with('?') || may_omit_results(op))) {
      *out = Value();
      return;
    }
    FL_CHECK_TYPE(is_tensor(o), "[", op.qualified_name(), "] the Python kernel must return ", r.type_text,
                  ", it returned ", Py_TYPE(o)->tp_name);
    set_result(out, Tensor(tensor_of(o)));
  } else if (r.kind == ArgKind::Tensor) {
    FL_CHECK_TYPE(PyList_Check(o) || PyTuple_Check(o), "[", op.qualified_name(),
                  "] the Python kernel must return a list of tensors, it returned ", Py_TYPE(o)->tp_name);
    std::vector<Tensor> list;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i) {
      PyObject* x = PySequence_Fast_GET_ITEM(o, i);
      FL_CHECK_TYPE(is_tensor(x), "[", op.qualified_name(), "] the Python kernel must return a list of tensors; item ",
                    i, " is ", Py_TYPE(x)->tp_name);
      list.push_back(tensor_of(x));
    }
    set_result(out, std::move(list));
  } else if (r.kind == ArgKind::DType) {
    *out = Value(dtype_from(o));
  } else if (r.kind == ArgKind::Bool) {
    const int truth = PyObject_IsTrue(o);
    checked(truth);
    *out = Value(truth == 1);
  } else if (r.kind == ArgKind::Int) {
    const Owned index(checked(PyNumber_Index(o)));
    set_result(out, scalar_from(index.get()));
  } else if (r.kind == ArgKind::Float) {
    const double v = PyFloat_AsDouble(o);
    if (v == -1.0 && PyErr_Occurred()) throw PythonError();
    *out = Value(v);
  } else {
    FL_CHECK_TYPE(is_number(o) || is_tensor(o), "[", op.qualified_name(), "] the Python kernel must return ",
                  r.type_text, ", it returned ", Py_TYPE(o)->tp_name);
    set_result(out, scalar_from(o));
  }
}

}  // namespace

void store_results(const Operator& op, PyObject* o, Value* results) {
  const auto& returns = op.schema().returns;
  if (returns.empty()) return;
  if (returns.size() == 1) return store_result(op, returns[0], o, results);
  FL_CHECK_TYPE(
      (PyTuple_Check(o) || PyList_Check(o)) && static_cast<size_t>(PySequence_Fast_GET_SIZE(o)) == returns.size(), "[",
      op.qualified_name(), "] the Python kernel must return ", returns.size(), " results, it returned ",
      Py_TYPE(o)->tp_name);
  const Owned items(checked(PySequence_Tuple(o)));  // reading one may run code that changes the list
  for (size_t i = 0; i < returns.size(); ++i)
    store_result(op, returns[i], PyTuple_GET_ITEM(items.get(), static_cast<Py_ssize_t>(i)), results + i);
}

namespace {

PyObject* keyword_names(const Signature& s) {
  if (s.keyword_names) return s.keyword_names;
  Owned names(checked(PyTuple_New(s.num_args - s.num_positional)));
  for (int i = s.num_positional; i < s.num_args; ++i)
    PyTuple_SET_ITEM(names.get(), i - s.num_positional, Py_NewRef(s.names[i]));
  const_cast<Signature&>(s).keyword_names = names.release();
  return s.keyword_names;
}

}  // namespace

void call_python_kernel(const Operator& op, PyObject* callable, const Value* args, Value* results) {
  const Signature& s = signature_of(op);
  PyObject* objects[kMaxArgs + 1];
  int n = 0;
  struct Drop {
    PyObject** o;
    int& n;
    ~Drop() {
      for (int i = 0; i < n; ++i) Py_DECREF(o[i]);
    }
  } drop{objects, n};
  for (; n < s.num_args; ++n) objects[n] = checked(wrap_argument(args[n]));
  PyObject* names = s.num_args > s.num_positional ? keyword_names(s) : nullptr;
  Owned result(checked(PyObject_Vectorcall(callable, objects, s.num_positional, names)));
  store_results(op, result.get(), results);
}

PyObject* resolve_python(const Operator& op) {
  const Signature& s = signature_of(op);
  if (FL_LIKELY(s.python_callable != nullptr)) return s.python_callable;
  const size_t colon = op.python.find(':');
  Owned module(checked(PyImport_ImportModule(op.python.substr(0, colon).c_str())));
  const_cast<Signature&>(s).python_callable =
      checked(PyObject_GetAttrString(module.get(), op.python.c_str() + colon + 1));
  return s.python_callable;
}

namespace {

void composite_kernel(const Operator& op, KeySet, const Value* args, Value* results) {
  if (FL_LIKELY(PyGILState_Check())) return call_python_kernel(op, resolve_python(op), args, results);
  AcquireGil gil;
  call_python_kernel(op, resolve_python(op), args, results);
}

}  // namespace

void registered_python_kernel(const Operator& op, KeySet keys, const Value* args, Value* results) {
  AcquireGil gil;
  const int index = 31 - __builtin_clz(keys & op.active_keys());
  // held for the call: the kernel may be removed while it runs
  const Owned callable(Py_XNewRef(static_cast<PyObject*>(op.kernel_context(static_cast<Key>(index)))));
  FL_CHECK(callable, "[", op.qualified_name(), "] its Python kernel for ", key_name(static_cast<Key>(index)),
           " was removed");
  // A kernel for Autograd goes on below itself by turning recording off, as torch's do; above it, by calling again.
  ExcludeKeys below(index > static_cast<int>(Key::Autograd) ? ~keys_below(static_cast<Key>(index)) : 0);
  call_python_kernel(op, callable.get(), args, results);
}

void install_python_kernels() { python_composite_kernel = &composite_kernel; }

}  // namespace flambeau::python
