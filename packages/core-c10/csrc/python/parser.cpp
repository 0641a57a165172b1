#include "flambeau/python/parser.h"

#include <cstring>

namespace flambeau::python {

// --- Frame
// --------------------------------------------------------------------------------------------------------------

Frame::~Frame() { delete arena_; }

int64_t* Frame::new_ints(size_t n) {
  if (FL_LIKELY(used_ints_ + n <= std::size(small_ints_))) {
    int64_t* p = small_ints_ + used_ints_;
    used_ints_ += n;
    return p;
  }
  return arena().ints.emplace_back(n).data();
}

void Frame::keep(Tensor t) {
  if (num_kept_ < 4)
    kept_[num_kept_++] = std::move(t);
  else
    arena().tensors.emplace_back().push_back(std::move(t));
}

void Frame::reset() {
  used_ints_ = 0;
  while (num_kept_) kept_[--num_kept_] = Tensor();
  delete arena_;
  arena_ = nullptr;
  num_overloaded = 0;
  num_numbers = 0;
  out = nullptr;
  requires_grad = false;
}

// --- Signature
// ----------------------------------------------------------------------------------------------------------

const Signature& signature_of(const Operator& op) {
  if (FL_LIKELY(op.binding != nullptr)) return *static_cast<const Signature*>(op.binding);
  const Schema& schema = op.schema();
  FL_CHECK(schema.args.size() <= kMaxArgs, "[", op.qualified_name(), "] an operator has at most ", kMaxArgs,
           " arguments");
  auto* s = new Signature{};
  s->op = &op;
  s->schema = &schema;
  s->num_args = static_cast<uint8_t>(schema.args.size());
  bool leading = true, dtype = false, device = false, tensor = false;
  for (size_t i = 0; i < schema.args.size(); ++i) {
    const SchemaArg& a = schema.args[i];
    s->names[i] = PyUnicode_InternFromString(a.name.c_str());
    s->defaults[i] = a.default_value;
    if (!a.kwarg_only) s->num_positional = static_cast<uint8_t>(i + 1);
    leading = leading && a.kind == ArgKind::Tensor && !a.list && !a.kwarg_only;
    if (leading) s->leading_tensors = static_cast<uint8_t>(i + 1);
    if (!a.has_default) s->required = static_cast<uint8_t>(i + 1);
    dtype |= a.kind == ArgKind::DType;
    device |= a.kind == ArgKind::Device;
    tensor |= a.kind == ArgKind::Tensor;
  }
  s->takes_requires_grad = (dtype && device) && (!tensor || op.name.ends_with("_like") || op.name.starts_with("new_"));
  op.binding = s;
  return *s;
}

// --- conversions
// --------------------------------------------------------------------------------------------------------

namespace {

bool is_numpy_scalar(PyObject* o) {
  return std::strncmp(Py_TYPE(o)->tp_name, "numpy.", 6) == 0 && Py_TYPE(o)->tp_as_number &&
                 Py_TYPE(o)->tp_as_number->nb_float && !PyObject_HasAttrString(o, "__array_finalize__")
             ? true
             : std::strncmp(Py_TYPE(o)->tp_name, "numpy.", 6) == 0 &&
                   std::strcmp(Py_TYPE(o)->tp_name, "numpy.ndarray") != 0 && Py_TYPE(o)->tp_as_number &&
                   Py_TYPE(o)->tp_as_number->nb_float;
}

bool is_int(PyObject* o) {
  if (PyLong_Check(o)) return !PyBool_Check(o);
  if (is_tensor(o)) return impl_of(o)->numel == 1 && impl_of(o)->ndim == 0 && is_integral(impl_of(o)->dtype);
  return PyIndex_Check(o) && !PyBool_Check(o) && std::strcmp(Py_TYPE(o)->tp_name, "numpy.ndarray") != 0;
}

int64_t to_int(PyObject* o) {
  if (FL_LIKELY(PyLong_CheckExact(o))) {
    const long long v = PyLong_AsLongLong(o);
    if (FL_UNLIKELY(v == -1 && PyErr_Occurred())) {
      PyErr_Clear();
      FL_CHECK(false, "Overflow when unpacking long: ", PyUnicode_AsUTF8(Owned(PyObject_Str(o)).get()),
               " does not fit 64 bits");
    }
    return v;
  }
  Owned index(PyNumber_Index(o));
  if (!index) throw PythonError();
  return to_int(index.get());
}

bool is_float(PyObject* o) {
  return PyFloat_Check(o) || PyLong_Check(o) || is_numpy_scalar(o) ||
         (is_tensor(o) && impl_of(o)->numel == 1 && impl_of(o)->ndim == 0);
}

double to_double(PyObject* o) {
  const double v = PyFloat_AsDouble(o);
  if (FL_UNLIKELY(v == -1.0 && PyErr_Occurred())) throw PythonError();
  return v;
}

bool is_sequence(PyObject* o) { return PyTuple_Check(o) || PyList_Check(o); }
PyObject** items_of(PyObject* o) { return PySequence_Fast_ITEMS(o); }
Py_ssize_t length_of(PyObject* o) { return PySequence_Fast_GET_SIZE(o); }

// An item's __index__ may change the list it stands in: the item is held, and the length looked at again.
void read_ints(PyObject* sequence, int64_t* out, Py_ssize_t n) {
  for (Py_ssize_t i = 0; i < n; ++i) {
    FL_CHECK_INDEX(i < length_of(sequence), "the list of ints shrank while it was read");
    PyObject* item = items_of(sequence)[i];
    out[i] = FL_LIKELY(PyLong_CheckExact(item)) ? to_int(item) : to_int(Owned::borrow(item).get());
  }
}

bool note_overload(PyObject* o, Frame& f) {
  if (!has_torch_function(o)) return false;
  for (int i = 0; i < f.num_overloaded; ++i)
    if (Py_TYPE(f.overloaded[i]) == Py_TYPE(o)) return true;
  FL_CHECK(f.num_overloaded < 8, "more than 8 classes with __torch_function__ in one call");
  f.overloaded[f.num_overloaded++] = o;
  return true;
}

void store_scalar_value(PyObject* o, Value& v, Frame& f) {
  const Scalar s = scalar_from(o);
  if (s.is_complex()) {
    auto& parts = f.arena().doubles.emplace_back(std::vector<double>{s.real(), s.imag()});
    v.complex = parts.data();
    v.tag = Tag::Complex;
  } else if (s.is_floating())
    v = Value(s.real());
  else if (s.is_bool())
    v = Value(s.to_bool());
  else
    v = Value(s.to_int());
}

bool tensor_argument(const Operator& op, const SchemaArg& a, PyObject* o, Value& v, Frame& f) {
  if (FL_LIKELY(is_exact_tensor(o))) {
    v = Value(tensor_of(o));
    return true;
  }
  if (is_tensor(o)) {
    note_overload(o, f);
    v = Value(tensor_of(o));
    return true;
  }
  if (op.number_args && (op.number_args >> (&a - op.schema().args.data()) & 1) && is_number(o)) {
    ++f.num_numbers;
    Tensor t = wrapped_number(scalar_from(o));
    v = Value(t);
    f.keep(std::move(t));
    return true;
  }
  if (note_overload(o, f)) {
    v = Value();
    return true;
  }
  return false;
}

bool tensor_list(const SchemaArg& a, PyObject* o, Value& v, Frame& f) {
  if (!is_sequence(o)) return false;
  const Py_ssize_t n = length_of(o);
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* x = items_of(o)[i];
    if (is_exact_tensor(x) || (x == Py_None && a.optional_items)) continue;
    if (note_overload(x, f) || is_tensor(x)) continue;
    return false;
  }
  auto& list = f.arena().tensors.emplace_back(static_cast<size_t>(n));
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* x = items_of(o)[i];
    if (is_tensor(x)) list[static_cast<size_t>(i)] = tensor_of(x);
  }
  v = Value(TensorList(list));
  return true;
}

bool int_list(const SchemaArg& a, PyObject* o, Value& v, Frame& f) {
  if (is_sequence(o)) {
    const Py_ssize_t n = length_of(o);
    for (Py_ssize_t i = 0; i < n; ++i)
      if (!is_int(items_of(o)[i])) return false;
    int64_t* p = f.new_ints(static_cast<size_t>(n));
    read_ints(o, p, n);
    v = Value(IntList(std::span<const int64_t>(p, static_cast<size_t>(n))));
    return true;
  }
  if (a.fixed_length == 0 || !is_int(o)) return false;
  int64_t* p = f.new_ints(static_cast<size_t>(a.fixed_length));
  std::fill(p, p + a.fixed_length, to_int(o));
  v = Value(IntList(std::span<const int64_t>(p, static_cast<size_t>(a.fixed_length))));
  return true;
}

bool float_list(PyObject* o, Value& v, Frame& f) {
  if (!is_sequence(o)) return false;
  auto& list = f.arena().doubles.emplace_back();
  for (Py_ssize_t i = 0; i < length_of(o); ++i) {
    if (!is_float(items_of(o)[i])) return false;
    list.push_back(to_double(Owned::borrow(items_of(o)[i]).get()));
  }
  v = Value(std::span<const double>(list));
  return true;
}

bool bool_list(const SchemaArg& a, PyObject* o, Value& v, Frame& f) {
  auto& list = f.arena().bytes.emplace_back();
  if (PyBool_Check(o) && a.fixed_length)
    list.assign(static_cast<size_t>(a.fixed_length), o == Py_True);
  else if (!is_sequence(o))
    return false;
  else
    for (Py_ssize_t i = 0; i < length_of(o); ++i) {
      if (!PyBool_Check(items_of(o)[i])) return false;
      list.push_back(items_of(o)[i] == Py_True);
    }
  v.bools = reinterpret_cast<const bool*>(list.data());
  v.size = static_cast<uint32_t>(list.size());
  v.tag = Tag::BoolList;
  return true;
}

bool scalar_list(PyObject* o, Value& v, Frame& f) {
  if (!is_sequence(o)) return false;
  auto& list = f.arena().values.emplace_back(static_cast<size_t>(length_of(o)));
  for (Py_ssize_t i = 0; i < length_of(o); ++i) {
    if (!is_number(items_of(o)[i])) return false;
    store_scalar_value(items_of(o)[i], list[static_cast<size_t>(i)], f);
  }
  v.values = list.data();
  v.size = static_cast<uint32_t>(list.size());
  v.tag = Tag::ScalarList;
  return true;
}

bool list_argument(const SchemaArg& a, PyObject* o, Value& v, Frame& f) {
  switch (a.kind) {
    case ArgKind::Tensor: return tensor_list(a, o, v, f);
    case ArgKind::Int: return int_list(a, o, v, f);
    case ArgKind::Float: return float_list(o, v, f);
    case ArgKind::Bool: return bool_list(a, o, v, f);
    case ArgKind::Scalar: return scalar_list(o, v, f);
    default: return false;
  }
}

// True when `o` fits the argument; fills `v`.
bool convert(const Operator& op, const SchemaArg& a, PyObject* o, Value& v, Frame& f) {
  if (o == Py_None && a.optional) {
    v = Value();
    return true;
  }
  if (a.list) return list_argument(a, o, v, f);
  switch (a.kind) {
    case ArgKind::Tensor: return tensor_argument(op, a, o, v, f);
    case ArgKind::Int:
      if (!is_int(o)) return false;
      v = Value(to_int(o));
      return true;
    case ArgKind::Float:
      if (!is_float(o)) return false;
      v = Value(to_double(o));
      return true;
    case ArgKind::Bool:
      if (PyBool_Check(o))
        v = Value(o == Py_True);
      else if (std::strncmp(Py_TYPE(o)->tp_name, "numpy.bool", 10) == 0)
        v = Value(PyObject_IsTrue(o) == 1);
      else
        return false;
      return true;
    case ArgKind::Scalar:
      if (is_tensor(o) ? (impl_of(o)->ndim != 0 || tensor_of(o).requires_grad()) : !is_number(o)) return false;
      store_scalar_value(o, v, f);
      return true;
    case ArgKind::String: {
      if (!PyUnicode_Check(o)) return false;
      Py_ssize_t n = 0;
      const char* s = PyUnicode_AsUTF8AndSize(o, &n);
      if (!s) throw PythonError();
      v = Value(std::string_view(s, static_cast<size_t>(n)));
      return true;
    }
    case ArgKind::DType:
      if (!is_dtype(o)) return false;
      v = Value(dtype_from(o));
      return true;
    case ArgKind::Layout:
      if (Py_TYPE(o) != LayoutType) return false;
      for (int i = 0; i < 8; ++i) {
        Owned l(wrap_layout(static_cast<Layout>(i)));
        if (l.get() == o) v = Value(static_cast<Layout>(i));
      }
      return true;
    case ArgKind::MemoryFormat:
      if (Py_TYPE(o) != MemoryFormatType) return false;
      for (int i = 0; i < 4; ++i) {
        Owned m(wrap_memory_format(static_cast<MemoryFormat>(i)));
        if (m.get() == o) v = Value(static_cast<MemoryFormat>(i));
      }
      return true;
    case ArgKind::Device:
      if (Py_TYPE(o) != DeviceType_ && !PyUnicode_Check(o) && !PyLong_Check(o)) return false;
      v = Value(device_from(o));
      return true;
    case ArgKind::Generator:
      if (!PyObject_TypeCheck(o, GeneratorType)) return false;
      v = Value(generator_from(o));
      return true;
    case ArgKind::Storage:
    case ArgKind::Stream:
    case ArgKind::Object:
    case ArgKind::Dimname:
      v = Value();
      v.object = o;
      v.tag = Tag::Object;
      return true;
  }
  return false;
}

// --- names
// --------------------------------------------------------------------------------------------------------------

struct Alias {
  const char* python;
  const char* schema;
  bool first_only;  // names of the first argument alone
};
constexpr Alias kAliases[] = {{"input", "self", false}, {"axis", "dim", false}, {"keepdims", "keepdim", false},
                              {"x", "self", true},      {"x1", "self", true},   {"x2", "other", false},
                              {"a", "self", true},      {"dims", "dim", false}};

int find_name(const Signature& sig, PyObject* name) {
  for (int i = 0; i < sig.num_args; ++i)
    if (sig.names[i] == name) return i;
  const char* text = PyUnicode_AsUTF8(name);
  if (!text) throw PythonError();
  for (int i = 0; i < sig.num_args; ++i)
    if (sig.schema->args[static_cast<size_t>(i)].name == text) return i;
  for (const Alias& al : kAliases)
    if (std::strcmp(al.python, text) == 0)
      for (int i = 0; i < sig.num_args; ++i)
        if (sig.schema->args[static_cast<size_t>(i)].name == al.schema && (!al.first_only || i == 0)) return i;
  return -1;
}

bool refuse(std::string* why, std::string text) {
  if (why) *why = std::move(text);
  return false;
}

std::string wrong_type(const Signature& sig, int i, PyObject* o, Py_ssize_t position) {
  const SchemaArg& a = sig.schema->args[static_cast<size_t>(i)];
  const std::string where = position >= 0 ? concat(" (position ", position + 1, ")") : std::string();
  return concat("argument '", i == 0 && a.name == "self" ? "input" : a.name, "'", where, " must be ", a.type_text,
                ", not ", Py_TYPE(o)->tp_name);
}

// Whether positions from `i` on may be gathered into one list of ints: x.view(2, 3).
bool gathers(const Signature& sig, int i, bool is_method, PyObject* const* args, Py_ssize_t nargs) {
  const SchemaArg& a = sig.schema->args[static_cast<size_t>(i)];
  if (!a.list || a.kind != ArgKind::Int || i != (is_method ? 1 : 0) || sig.num_positional != i + 1) return false;
  if (is_sequence(args[i]) || args[i] == Py_None) return false;
  for (Py_ssize_t k = i; k < nargs; ++k)
    if (!is_int(args[k])) return false;
  return true;
}

}  // namespace

bool parse_call(const Signature& sig, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames, Frame& f,
                bool is_method, std::string* why) {
  const Operator& op = *sig.op;
  const auto& schema_args = sig.schema->args;
  uint32_t given = 0;
  Py_ssize_t taken = 0;
  for (; taken < nargs; ++taken) {
    const int i = static_cast<int>(taken);
    if (i >= sig.num_positional)
      return refuse(why, concat(op.name, "() takes ", static_cast<int>(sig.num_positional),
                                " positional arguments but ", nargs, " were given"));
    if (gathers(sig, i, is_method, args, nargs)) {
      const size_t n = static_cast<size_t>(nargs - i);
      int64_t* p = f.new_ints(n);
      for (size_t k = 0; k < n; ++k) p[k] = to_int(args[i + static_cast<Py_ssize_t>(k)]);
      f.values[i] = Value(IntList(std::span<const int64_t>(p, n)));
      given |= 1u << i;
      break;
    }
    if (!convert(op, schema_args[static_cast<size_t>(i)], args[i], f.values[i], f))
      return refuse(why, wrong_type(sig, i, args[i], i));
    given |= 1u << i;
  }
  const Py_ssize_t nkw = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
  for (Py_ssize_t k = 0; k < nkw; ++k) {
    PyObject* name = PyTuple_GET_ITEM(kwnames, k);
    PyObject* value = args[nargs + k];
    const int i = find_name(sig, name);
    if (i < 0) {
      const char* text = PyUnicode_AsUTF8(name);
      if (std::strcmp(text, "out") == 0 && op.out && !is_method) {
        f.out = value == Py_None ? nullptr : value;
        continue;
      }
      if (sig.takes_requires_grad && std::strcmp(text, "requires_grad") == 0) {
        f.requires_grad = PyObject_IsTrue(value) == 1;
        continue;
      }
      return refuse(why, concat(op.name, "() got an unexpected keyword argument '", text, "'"));
    }
    if (given & (1u << i))
      return refuse(why, concat(op.name, "() got multiple values for argument '", PyUnicode_AsUTF8(name), "'"));
    if (!convert(op, schema_args[static_cast<size_t>(i)], value, f.values[i], f))
      return refuse(why, wrong_type(sig, i, value, -1));
    given |= 1u << i;
  }
  for (int i = 0; i < sig.num_args; ++i) {
    if (given & (1u << i)) continue;
    const SchemaArg& a = schema_args[static_cast<size_t>(i)];
    if (!a.has_default)
      return refuse(why, concat(op.name, "() missing required argument '", a.name, "' (position ", i + 1, ")"));
    f.values[i] = sig.defaults[i];
  }
  if (FL_UNLIKELY(f.num_numbers > 1) && !(op.flags & kNumberArgs)) {
    int tensors = 0;
    for (const SchemaArg& a : schema_args) tensors += a.kind == ArgKind::Tensor && !a.list;
    if (tensors == f.num_numbers) return refuse(why, concat(op.name, "(): one of the arguments must be a Tensor"));
  }
  return true;
}

// --- numbers
// ------------------------------------------------------------------------------------------------------------

bool is_number(PyObject* o) { return PyFloat_Check(o) || PyLong_Check(o) || PyComplex_Check(o) || is_numpy_scalar(o); }

Scalar scalar_from(PyObject* o) {
  if (PyBool_Check(o)) return Scalar(o == Py_True);
  if (PyLong_Check(o)) {
    int overflow = 0;
    const long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow == 0) {
      if (v == -1 && PyErr_Occurred()) throw PythonError();
      return Scalar(static_cast<int64_t>(v));
    }
    FL_CHECK(false, "Overflow when unpacking long: ", PyUnicode_AsUTF8(Owned(PyObject_Str(o)).get()),
             " does not fit 64 bits");
  }
  if (PyFloat_Check(o)) return Scalar(PyFloat_AS_DOUBLE(o));
  if (PyComplex_Check(o)) return Scalar(PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o));
  if (is_tensor(o)) return item(tensor_of(o));
  if (std::strncmp(Py_TYPE(o)->tp_name, "numpy.bool", 10) == 0) return Scalar(PyObject_IsTrue(o) == 1);
  if (PyIndex_Check(o)) return Scalar(to_int(o));
  if (std::strncmp(Py_TYPE(o)->tp_name, "numpy.complex", 13) == 0) {
    Owned c(PyObject_CallOneArg(reinterpret_cast<PyObject*>(&PyComplex_Type), o));
    if (!c) throw PythonError();
    return Scalar(PyComplex_RealAsDouble(c.get()), PyComplex_ImagAsDouble(c.get()));
  }
  const double d = PyFloat_AsDouble(o);
  if (d == -1.0 && PyErr_Occurred()) throw PythonError();
  return Scalar(d);
}

std::vector<int64_t> ints_from(PyObject* sequence) {
  FL_CHECK_TYPE(is_sequence(sequence), "expected a list or tuple of ints, got ", Py_TYPE(sequence)->tp_name);
  std::vector<int64_t> out;
  for (Py_ssize_t i = 0; i < length_of(sequence); ++i) {
    const Owned item = Owned::borrow(items_of(sequence)[i]);
    FL_CHECK_TYPE(is_int(item.get()), "expected ints, got ", Py_TYPE(item.get())->tp_name, " at position ", i);
    out.push_back(to_int(item.get()));
  }
  return out;
}

}  // namespace flambeau::python
