// Tensors from Python data: nested sequences, buffers, NumPy arrays.
#include "creation.h"

#include <cstring>
#include <memory>

#include "flambeau/core/python_hook.h"
#include "flambeau/python/parser.h"
#include "tensor_type.h"

namespace flambeau::python {

namespace {

bool is_plain_sequence(PyObject* o) {
  return PyList_Check(o) || PyTuple_Check(o) ||
         (PySequence_Check(o) && !PyUnicode_Check(o) && !PyBytes_Check(o) && !is_number(o) && !is_tensor(o));
}

struct Shape {
  std::vector<int64_t> sizes;
  DType dtype = DType::Undefined;
};

DType number_dtype(PyObject* o) {
  if (PyBool_Check(o)) return DType::Bool;
  if (PyLong_Check(o)) return DType::Int64;
  if (PyFloat_Check(o)) return default_dtype();
  if (PyComplex_Check(o)) return to_complex(default_dtype());
  if (is_tensor(o)) return impl_of(o)->dtype;
  FL_CHECK_TYPE(is_number(o), "not a sequence",
                PyUnicode_Check(o) ? ": new(): invalid data type 'str'"
                                   : concat(": could not infer dtype of ", Py_TYPE(o)->tp_name));
  // NumPy scalars carry their dtype
  Owned dtype(PyObject_GetAttrString(o, "dtype"));
  Owned name(dtype ? PyObject_GetAttrString(dtype.get(), "name") : nullptr);
  if (!name) {
    PyErr_Clear();
    return default_dtype();
  }
  const std::string_view text = PyUnicode_AsUTF8(name.get());
  for (int i = 0; i < kNumDTypes; ++i)
    if (text == dtype_name(static_cast<DType>(i))) return static_cast<DType>(i);
  return default_dtype();
}

DType widest(DType a, DType b) { return a == DType::Undefined ? b : promote_types(a, b); }

void infer_shape(PyObject* o, Shape& s, size_t depth) {
  FL_CHECK_VALUE(depth < 128, "too many dimensions '", Py_TYPE(o)->tp_name, "'");
  if (is_tensor(o)) {
    FL_CHECK_VALUE(impl_of(o)->ndim == 0 || impl_of(o)->numel == 1,
                   "only one element tensors can be converted to Python scalars");
    s.dtype = widest(s.dtype, impl_of(o)->dtype);
    return;
  }
  if (!is_plain_sequence(o)) {
    s.dtype = widest(s.dtype, number_dtype(o));
    return;
  }
  // items may run code that changes the list: its length is asked for again, and the item held
  const Owned fast(checked(PySequence_Fast(o, "not a sequence")));
  if (depth == s.sizes.size()) s.sizes.push_back(PySequence_Fast_GET_SIZE(fast.get()));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.get()); ++i)
    infer_shape(Owned::borrow(PySequence_Fast_GET_ITEM(fast.get(), i)).get(), s, depth + 1);
}

// The shape along the first elements; fill() checks the rest against it.
void measure(PyObject* o, std::vector<int64_t>& sizes) {
  Owned held;
  while (is_plain_sequence(o)) {
    const Py_ssize_t n = PySequence_Size(o);
    if (n < 0) throw PythonError();
    FL_CHECK_VALUE(sizes.size() < 128, "too many dimensions '", Py_TYPE(o)->tp_name, "'");
    sizes.push_back(n);
    if (n == 0) return;
    held = Owned(checked(PySequence_GetItem(o, 0)));
    o = held.get();
  }
}

// Integers past 63 bits, where the dtype has room for them. False where the number is not such a one.
bool store_wide(char* at, DType dtype, PyObject* o) {
  int overflow = 0;
  PyLong_AsLongLongAndOverflow(o, &overflow);
  if (overflow == 0) return false;
  if (dtype == DType::UInt64) {
    const uint64_t v = PyLong_AsUnsignedLongLong(o);
    if (PyErr_Occurred()) throw PythonError();
    std::memcpy(at, &v, 8);
  } else {
    const double v = PyLong_AsDouble(o);
    if (v == -1.0 && PyErr_Occurred()) throw PythonError();
    store_scalar(at, dtype, Scalar(v));
  }
  return true;
}

void store(char* at, DType dtype, PyObject* o) {
  if (dtype == DType::Float32 && PyFloat_CheckExact(o)) {
    const double d = PyFloat_AS_DOUBLE(o);
    const float f = static_cast<float>(d);
    std::memcpy(at, &f, 4);
    return;
  }
  if (dtype == DType::Int64 && PyLong_CheckExact(o)) {
    const long long v = PyLong_AsLongLong(o);
    if (!(v == -1 && PyErr_Occurred())) {
      std::memcpy(at, &v, 8);
      return;
    }
    PyErr_Clear();
  }
  if (PyLong_CheckExact(o) && (dtype == DType::UInt64 || is_floating(dtype)) && store_wide(at, dtype, o)) return;
  FL_CHECK_TYPE(is_number(o) || is_tensor(o), "new(): invalid data type '", Py_TYPE(o)->tp_name, "'");
  Scalar s = scalar_from(o);
  FL_CHECK_TYPE(!(s.is_complex() && !is_complex(dtype)), "can't convert complex to ", dtype_name(dtype));
  if (is_integral(dtype) && s.is_integral() && !is_unsigned(dtype)) {
    const int64_t v = s.to_int();
    const int bits = static_cast<int>(item_size(dtype)) * 8;
    FL_CHECK(bits == 64 || (v >= -(int64_t{1} << (bits - 1)) && v < (int64_t{1} << (bits - 1))),
             "value cannot be converted to type ", dtype_name(dtype), " without overflow: ", v);
  }
  if (is_floating(dtype) && !is_float8(dtype) &&
      dtype != DType::Float64) {  // Python floats round to infinity as casts do
    const double d = s.to_double();
    if (dtype == DType::Float32) {
      const float f = static_cast<float>(d);
      std::memcpy(at, &f, 4);
      return;
    }
  }
  store_scalar(at, dtype, s);
}

void fill(PyObject* o, const Tensor& t, int64_t dim, char* at) {
  if (dim == t.dim()) {
    FL_CHECK_VALUE(!is_plain_sequence(o), "expected a number at dim ", dim, ", got a sequence of length ",
                   PySequence_Size(o));
    return store(at, t.dtype(), o);
  }
  FL_CHECK_TYPE(is_plain_sequence(o), "expected a sequence of length ", t.sizes()[dim], " at dim ", dim, ", got ",
                Py_TYPE(o)->tp_name);
  Owned fast(checked(PySequence_Fast(o, "not a sequence")));
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(fast.get());
  FL_CHECK_VALUE(n == t.sizes()[dim], "expected sequence of length ", t.sizes()[dim], " at dim ", dim, " (got ", n,
                 ")");
  for (Py_ssize_t i = 0; i < n; ++i) {
    FL_CHECK_INDEX(i < PySequence_Fast_GET_SIZE(fast.get()), "the sequence at dim ", dim, " shrank while it was read");
    const Owned item = Owned::borrow(PySequence_Fast_GET_ITEM(fast.get(), i));
    fill(item.get(), t, dim + 1, at + i * t.strides()[dim] * t.itemsize());
  }
}

DType dtype_of_format(const char* format, Py_ssize_t itemsize, bool& swapped) {
  if (!format) format = "B";
  swapped = *format == '>' || *format == '!';
  if (*format == '@' || *format == '=' || *format == '<' || *format == '>' || *format == '!') ++format;
  const std::string_view f(format);
  const auto sized = [&](DType one, DType two, DType four, DType eight) {
    return itemsize == 1 ? one : itemsize == 2 ? two : itemsize == 4 ? four : eight;
  };
  if (f == "?") return DType::Bool;
  if (f == "e") return DType::Float16;
  if (f == "f") return DType::Float32;
  if (f == "d") return DType::Float64;
  if (f == "Zf") return DType::Complex64;
  if (f == "Zd") return DType::Complex128;
  if (f == "b" || f == "h" || f == "i" || f == "l" || f == "q" || f == "n")
    return sized(DType::Int8, DType::Int16, DType::Int32, DType::Int64);
  if (f == "B" || f == "c" || f == "H" || f == "I" || f == "L" || f == "Q" || f == "N")
    return sized(DType::UInt8, DType::UInt16, DType::UInt32, DType::UInt64);
  FL_CHECK_TYPE(false, "can't convert a buffer of format '", f,
                "'. The only supported types are: float64, float32, float16, complex64, complex128, int64, int32, "
                "int16, int8, uint64, uint32, uint16, uint8, and bool.");
}

void release_buffer(void* context) {
  auto* view = static_cast<Py_buffer*>(context);
  if (Py_IsInitialized()) {
    AcquireGil gil;
    PyBuffer_Release(view);
  }
  delete view;
}

}  // namespace

Tensor tensor_from_buffer(PyObject* o, bool) {
  auto view = std::make_unique<Py_buffer>();
  bool read_only = false;
  if (PyObject_GetBuffer(o, view.get(), PyBUF_STRIDED | PyBUF_FORMAT | PyBUF_WRITABLE) < 0) {
    PyErr_Clear();
    if (PyObject_GetBuffer(o, view.get(), PyBUF_STRIDED | PyBUF_FORMAT) < 0) throw PythonError();
    read_only = true;
  }
  struct Guard {
    Py_buffer* v;
    ~Guard() {
      if (v) PyBuffer_Release(v);
    }
  } guard{view.get()};
  bool swapped = false;
  const DType dtype = dtype_of_format(view->format, view->itemsize, swapped);
  FL_CHECK_VALUE(
      !swapped || view->itemsize == 1,
      "given numpy array has byte order different from the native byte order. Conversion between byte orders is currently not supported.");
  std::vector<int64_t> sizes(view->shape, view->shape + view->ndim), strides;
  int64_t span = 1;
  bool empty = false;
  for (int i = 0; i < view->ndim; ++i) {
    const int64_t s = view->strides[i];
    FL_CHECK_VALUE(
        s >= 0 || sizes[static_cast<size_t>(i)] <= 1,
        "At least one stride in the given numpy array is negative, and tensors with negative strides are not currently supported. "
        "(You can probably work around this by making a copy of your array with array.copy().) ");
    FL_CHECK_VALUE(
        s % view->itemsize == 0,
        "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate the memory.");
    strides.push_back(s < 0 ? 1 : s / view->itemsize);
    if (sizes[static_cast<size_t>(i)] == 0)
      empty = true;
    else
      span += (sizes[static_cast<size_t>(i)] - 1) * strides.back();
  }
  if (empty) span = 0;
  guard.v = nullptr;
  void* data = view->buf;
  Storage storage = borrow_storage(data, span * view->itemsize, view.get(), release_buffer);
  view.release();
  storage->read_only = read_only;
  return tensor_on_storage(std::move(storage), dtype, sizes, strides, 0);
}

namespace {

bool has_buffer(PyObject* o) {
  return PyObject_CheckBuffer(o) && !PyBytes_Check(o) && !PyByteArray_Check(o) && !is_tensor(o);
}

Tensor converted(const Tensor& t, std::optional<DType> dtype, Device device, bool share) {
  const DType want = dtype.value_or(t.dtype());
  if (share && want == t.dtype() && device == t.device()) return t;
  Tensor out = empty(t.sizes(), {want, device});
  if (device.type == DeviceType::Meta) return out;
  if (const Operator* copy = find_operator("aten", "copy_")) {
    GradMode no_grad(false);
    call<Tensor>(*copy, out, t, false);
    return out;
  }
  // core alone: element by element
  check_storage(t, "tensor");
  std::vector<int64_t> index(static_cast<size_t>(t.dim()));
  for (int64_t i = 0; i < t.numel(); ++i) {
    int64_t rest = i, at = 0;
    for (int64_t d = t.dim(); d-- > 0;) {
      at += rest % t.sizes()[d] * t.strides()[d];
      rest /= t.sizes()[d];
    }
    store_scalar(static_cast<char*>(out.data()) + i * out.itemsize(), want,
                 load_scalar(static_cast<char*>(t.data()) + at * t.itemsize(), t.dtype()));
  }
  return out;
}

}  // namespace

Tensor tensor_from_data(PyObject* data, std::optional<DType> dtype, Device device, bool share) {
  if (is_tensor(data))
    return converted(tensor_of(data), dtype,
                     device.type == DeviceType::CPU && share ? tensor_of(data).device() : device, share);
  if (has_buffer(data) && !is_number(data)) {
    // an array in the other byte order, of strings or of objects, is copied through NumPy or refused there
    return converted(tensor_from_buffer(data, false), dtype, device, share);
  }
  Shape shape;
  measure(data, shape.sizes);
  if (dtype)
    shape.dtype = *dtype;
  else {
    Shape inferred;
    infer_shape(data, inferred, 0);
    shape.dtype = inferred.dtype == DType::Undefined ? default_dtype() : inferred.dtype;
  }
  Tensor t = empty(shape.sizes, {shape.dtype, {DeviceType::CPU, -1}});
  if (t.numel() || shape.sizes.empty()) fill(data, t, 0, static_cast<char*>(t.data()));
  return device.type == DeviceType::CPU ? t : converted(t, dtype, device, false);
}

namespace {

struct DataArgs {
  std::optional<DType> dtype;
  Device device = default_device();
};

DataArgs data_args(PyObject* dtype, PyObject* device) {
  DataArgs a;
  if (dtype && dtype != Py_None) a.dtype = dtype_from(dtype);
  if (device && device != Py_None) a.device = device_from(device);
  return a;
}

PyObject* f_tensor(PyObject*, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"data", "dtype", "device", "requires_grad", "pin_memory", "names", nullptr};
  PyObject *data, *dtype = nullptr, *device = nullptr, *ignored = nullptr;
  int requires_grad = 0, pin = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$OOppO:tensor", const_cast<char**>(names), &data, &dtype, &device,
                                   &requires_grad, &pin, &ignored))
    return nullptr;
  return guarded([&] {
    const DataArgs a = data_args(dtype, device);
    Owned t(wrap(tensor_from_data(data, a.dtype, a.device, false)));
    if (requires_grad) checked(PyObject_SetAttrString(t.get(), "requires_grad", Py_True));
    return t.release();
  });
}

PyObject* f_as_tensor(PyObject*, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"data", "dtype", "device", nullptr};
  PyObject *data, *dtype = nullptr, *device = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OO:as_tensor", const_cast<char**>(names), &data, &dtype, &device))
    return nullptr;
  return guarded([&]() -> PyObject* {
    const DataArgs a = data_args(dtype, device);
    if (is_tensor(data)) {  // keeps autograd history: through the operator
      if ((!a.dtype || *a.dtype == impl_of(data)->dtype) &&
          (!device || device == Py_None || a.device == impl_of(data)->device))
        return Py_NewRef(data);
      Owned to(checked(PyObject_GetAttrString(data, "to")));
      Owned kw(checked(PyDict_New()));
      if (a.dtype) {
        Owned d(wrap_dtype(*a.dtype));
        PyDict_SetItemString(kw.get(), "dtype", d.get());
      }
      if (device && device != Py_None) PyDict_SetItemString(kw.get(), "device", device);
      Owned empty_args(PyTuple_New(0));
      return PyObject_Call(to.get(), empty_args.get(), kw.get());
    }
    return wrap(tensor_from_data(data, a.dtype, a.device, true));
  });
}

PyObject* f_from_numpy(PyObject*, PyObject* array) {
  return guarded([&] {
    FL_CHECK_TYPE(std::strcmp(Py_TYPE(array)->tp_name, "numpy.ndarray") == 0 ||
                      PyObject_HasAttrString(array, "__array_interface__"),
                  "expected np.ndarray (got ", Py_TYPE(array)->tp_name, ")");
    Tensor t = tensor_from_buffer(array, true);
    if (t.storage().read_only && python_hooks.warn)
      python_hooks.warn(
          "The given NumPy array is not writable; writing to the tensor made from it is undefined behaviour. Copy the array to protect its data or make it writable.");
    return wrap(std::move(t));
  });
}

PyObject* f_frombuffer(PyObject*, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"buffer", "dtype", "count", "offset", "requires_grad", nullptr};
  PyObject *buffer, *dtype;
  long long count = -1, offset = 0;
  int requires_grad = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$OLLp:frombuffer", const_cast<char**>(names), &buffer, &dtype,
                                   &count, &offset, &requires_grad))
    return nullptr;
  return guarded([&] {
    const DType t = dtype_from(dtype);
    const int64_t size = item_size(t);
    auto view = std::make_unique<Py_buffer>();
    bool read_only = false;
    if (PyObject_GetBuffer(buffer, view.get(), PyBUF_WRITABLE) < 0) {
      PyErr_Clear();
      if (PyObject_GetBuffer(buffer, view.get(), PyBUF_SIMPLE) < 0) {
        PyErr_Clear();
        FL_CHECK_VALUE(false, "object does not implement Python buffer protocol.");
      }
      read_only = true;
    }
    struct Guard {
      Py_buffer* v;
      ~Guard() {
        if (v) PyBuffer_Release(v);
      }
    } guard{view.get()};
    const int64_t len = view->len;
    FL_CHECK_VALUE(len > 0 && count != 0, "both buffer length (", len, ") and count (", count, ") must not be 0");
    FL_CHECK_VALUE(offset >= 0 && offset < len, "offset (", offset,
                   " bytes) must be non-negative and no greater than buffer length (", len, " bytes) minus 1");
    FL_CHECK_VALUE(count > 0 || (len - offset) % size == 0, "buffer length (", len - offset, " bytes) after offset (",
                   offset, " bytes) must be a multiple of element size (", size, ")");
    const int64_t n = count < 0 ? (len - offset) / size : count;
    FL_CHECK_VALUE(n <= (len - offset) / size, "requested buffer length (", n, " * ", size, " bytes) after offset (",
                   offset, " bytes) must not be greater than actual buffer length (", len, " bytes)");
    guard.v = nullptr;
    char* data = static_cast<char*>(view->buf) + offset;
    Storage s = borrow_storage(data, n * size, view.get(), release_buffer);
    view.release();
    s->read_only = read_only;
    const int64_t sizes[1] = {n}, strides[1] = {1};
    Owned o(wrap(tensor_on_storage(std::move(s), t, {sizes, 1}, {strides, 1}, 0)));
    if (requires_grad) checked(PyObject_SetAttrString(o.get(), "requires_grad", Py_True));
    return o.release();
  });
}

// Geometry in bytes for numpy(): NumPy itself makes the array over our buffer.
const char* format_of(DType t) {
  switch (t) {
    case DType::Bool: return "?";
    case DType::UInt8: return "B";
    case DType::Int8: return "b";
    case DType::Int16: return "h";
    case DType::UInt16: return "H";
    case DType::Int32: return "i";
    case DType::UInt32: return "I";
    case DType::Int64: return "q";
    case DType::UInt64: return "Q";
    case DType::Float16: return "e";
    case DType::Float32: return "f";
    case DType::Float64: return "d";
    case DType::Complex64: return "Zf";
    case DType::Complex128: return "Zd";
    default: return nullptr;
  }
}

PyMethodDef functions[] = {
    {"tensor", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(f_tensor)), METH_VARARGS | METH_KEYWORDS,
     "tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False)\n--\n\nA new tensor that copies `data`: numbers, nested sequences, arrays, tensors."},
    {"as_tensor", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(f_as_tensor)), METH_VARARGS | METH_KEYWORDS,
     "as_tensor(data, dtype=None, device=None)\n--\n\nLike tensor(), but shares memory and history where it can."},
    {"from_numpy", f_from_numpy, METH_O, "from_numpy(ndarray, /)\n--\n\nA tensor over the memory of a NumPy array."},
    {"frombuffer", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(f_frombuffer)), METH_VARARGS | METH_KEYWORDS,
     "frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False)\n--\n\nA 1-d tensor over the memory of an object with the buffer protocol."},
    {nullptr, nullptr, 0, nullptr}};

/// What an exported buffer keeps alive: the memory itself, since the tensor may be given another (`.data =`, set_).
struct Export {
  std::vector<Py_ssize_t> shape, strides;
  Storage storage;
};

}  // namespace

int tensor_getbuffer(PyObject* self, Py_buffer* view, int flags) {
  const Tensor& t = tensor_of(self);
  const char* format = format_of(t.dtype());
  if (!format || !t.is_cpu() || t.requires_grad()) {
    PyErr_Format(PyExc_BufferError, "a %s tensor on %s%s has no buffer", dtype_name(t.dtype()),
                 device_type_name(t.device().type), t.requires_grad() ? " that requires grad" : "");
    return -1;
  }
  if (!(flags & PyBUF_STRIDES) && !t.is_contiguous()) {
    PyErr_SetString(PyExc_BufferError, "the tensor is not contiguous");
    return -1;
  }
  if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE && t.storage().read_only) {
    PyErr_SetString(PyExc_BufferError, "the tensor's memory is read-only");
    return -1;
  }
  if (guarded_int([&] {
        check_storage(t, "buffer");
        return 0;
      }) < 0)
    return -1;
  auto* g = new Export{{t.sizes().begin(), t.sizes().end()}, {}, Storage::borrow(t.impl()->storage)};
  for (int64_t s : t.strides()) g->strides.push_back(s * t.itemsize());
  t.storage().resizable = false;
  view->obj = Py_NewRef(self);
  view->buf = t.data();
  view->len = t.numel() * t.itemsize();
  view->readonly = t.storage().read_only;
  view->itemsize = t.itemsize();
  view->format = flags & PyBUF_FORMAT ? const_cast<char*>(format) : nullptr;
  view->ndim = static_cast<int>(t.dim());
  view->shape = flags & PyBUF_ND ? g->shape.data() : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? g->strides.data() : nullptr;
  view->suboffsets = nullptr;
  view->internal = g;
  return 0;
}

void tensor_releasebuffer(PyObject*, Py_buffer* view) { delete static_cast<Export*>(view->internal); }

PyObject* tensor_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    Tensor t;
    const Py_ssize_t n = PyTuple_GET_SIZE(args);
    (void)kwargs;
    if (n == 0)
      t = empty({0}, {default_dtype(), {}});
    else if (PyLong_Check(PyTuple_GET_ITEM(args, 0)))
      t = empty(ints_from(args), {default_dtype(), {}});
    else if (Py_TYPE(PyTuple_GET_ITEM(args, 0)) == SizeType)
      t = empty(ints_from(PyTuple_GET_ITEM(args, 0)), {default_dtype(), {}});
    else if (is_tensor(PyTuple_GET_ITEM(args, 0)))
      t = alias_without_history(tensor_of(PyTuple_GET_ITEM(args, 0)));
    else {
      FL_CHECK_TYPE(is_plain_sequence(PyTuple_GET_ITEM(args, 0)) || PyObject_CheckBuffer(PyTuple_GET_ITEM(args, 0)),
                    "new(): data must be a sequence (got ", Py_TYPE(PyTuple_GET_ITEM(args, 0))->tp_name, ")");
      t = tensor_from_data(PyTuple_GET_ITEM(args, 0), default_dtype(), {}, false);
    }
    return wrap_as(std::move(t), type);
  });
}

void init_creation(PyObject* module) { checked(PyModule_AddFunctions(module, functions)); }

}  // namespace flambeau::python
