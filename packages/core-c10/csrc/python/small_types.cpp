// dtype, layout, memory_format, device, Size and Generator as Python sees them. Reprs are torch's.
#include "flambeau/core/generator.h"
#include "tensor_type.h"

namespace flambeau::python {

PyTypeObject *DTypeType, *DeviceType_, *SizeType, *LayoutType, *MemoryFormatType, *GeneratorType;

namespace {

// --- enumerations: one immortal object a member
// ------------------------------------------------------------------------

struct PyMember {
  PyObject_HEAD int value;
  const char* name;
};

PyObject* g_dtypes[kNumDTypes];
PyObject* g_layouts[8];
PyObject* g_formats[4];

PyObject* member_repr(PyObject* self) {
  return PyUnicode_FromFormat("torch.%s", reinterpret_cast<PyMember*>(self)->name);
}
PyObject* member_reduce(PyObject* self, PyObject*) {
  return PyUnicode_FromString(reinterpret_cast<PyMember*>(self)->name);
}
PyObject* member_same(PyObject* self, PyObject*) { return Py_NewRef(self); }
DType dt(PyObject* self) { return static_cast<DType>(reinterpret_cast<PyMember*>(self)->value); }

PyMethodDef member_methods[] = {{"__reduce__", member_reduce, METH_NOARGS, nullptr},
                                {"__copy__", member_same, METH_NOARGS, nullptr},
                                {"__deepcopy__", member_same, METH_O, nullptr},
                                {nullptr, nullptr, 0, nullptr}};

PyMethodDef dtype_methods[] = {{"__reduce__", member_reduce, METH_NOARGS, nullptr},
                               {"__copy__", member_same, METH_NOARGS, nullptr},
                               {"__deepcopy__", member_same, METH_O, nullptr},
                               {"to_real", [](PyObject* s, PyObject*) { return wrap_dtype(to_real(dt(s))); },
                                METH_NOARGS, "to_real($self, /)\n--\n\nThe dtype of the real part."},
                               {"to_complex", [](PyObject* s, PyObject*) { return wrap_dtype(to_complex(dt(s))); },
                                METH_NOARGS, "to_complex($self, /)\n--\n\nThe complex dtype of the same precision."},
                               {nullptr, nullptr, 0, nullptr}};
PyGetSetDef dtype_properties[] = {
    {"is_floating_point", [](PyObject* s, void*) { return PyBool_FromLong(is_floating(dt(s))); }, nullptr,
     "Whether it is a floating dtype.", nullptr},
    {"is_complex", [](PyObject* s, void*) { return PyBool_FromLong(is_complex(dt(s))); }, nullptr,
     "Whether it is a complex dtype.", nullptr},
    {"is_signed", [](PyObject* s, void*) { return PyBool_FromLong(is_signed(dt(s))); }, nullptr,
     "Whether it has negative numbers.", nullptr},
    {"itemsize", [](PyObject* s, void*) { return PyLong_FromLongLong(item_size(dt(s))); }, nullptr,
     "Bytes an element takes.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyTypeObject* make_type(const char* name, size_t size, std::initializer_list<PyType_Slot> slots, unsigned flags = 0) {
  std::vector<PyType_Slot> v(slots);
  v.push_back({0, nullptr});
  PyType_Spec spec{name, static_cast<int>(size), 0, static_cast<unsigned>(Py_TPFLAGS_DEFAULT | flags), v.data()};
  return reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
}

PyTypeObject* member_type(const char* name, const char* doc, PyMethodDef* methods, PyGetSetDef* properties) {
  return make_type(name, sizeof(PyMember),
                   {{Py_tp_doc, const_cast<char*>(doc)},
                    {Py_tp_repr, reinterpret_cast<void*>(member_repr)},
                    {Py_tp_methods, methods},
                    {Py_tp_getset, properties}},
                   Py_TPFLAGS_DISALLOW_INSTANTIATION);
}

PyObject* make_member(PyTypeObject* type, int value, const char* name) {
  auto* m = PyObject_New(PyMember, type);
  checked(reinterpret_cast<PyObject*>(m));
  m->value = value;
  m->name = name;
  return reinterpret_cast<PyObject*>(m);
}

// --- device
// -------------------------------------------------------------------------------------------------------------

struct PyDevice {
  PyObject_HEAD Device device;
};
Device dev(PyObject* o) { return reinterpret_cast<PyDevice*>(o)->device; }

PyObject* device_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"type", "index", nullptr};
  PyObject *type = nullptr, *index = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:device", const_cast<char**>(names), &type, &index))
    return nullptr;
  return guarded([&] {
    Device d = device_from(type);
    if (index && index != Py_None) {
      FL_CHECK(d.index < 0,
               "type (string) must not include an index because index was passed explicitly: ", to_string(d));
      const long i = PyLong_AsLong(index);
      if (i == -1 && PyErr_Occurred()) throw PythonError();
      FL_CHECK(i >= 0 && i < 128, "Device index must be between 0 and 127, got ", i);
      d.index = static_cast<int8_t>(i);
    }
    return wrap_device(d);
  });
}
PyObject* device_repr(PyObject* self) {
  const Device d = dev(self);
  return d.index < 0 ? PyUnicode_FromFormat("device(type='%s')", device_type_name(d.type))
                     : PyUnicode_FromFormat("device(type='%s', index=%d)", device_type_name(d.type), d.index);
}
PyObject* device_str(PyObject* self) { return PyUnicode_FromString(to_string(dev(self)).c_str()); }
Py_hash_t device_hash(PyObject* self) { return (static_cast<int>(dev(self).type) << 8) + dev(self).index + 3; }
PyObject* device_compare(PyObject* a, PyObject* b, int op) {
  if ((op != Py_EQ && op != Py_NE) || !PyObject_TypeCheck(b, DeviceType_)) Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((dev(a) == dev(b)) == (op == Py_EQ));
}
PyObject* device_reduce(PyObject* self, PyObject*) {
  const Device d = dev(self);
  if (d.index < 0) return Py_BuildValue("(O(s))", DeviceType_, device_type_name(d.type));
  return Py_BuildValue("(O(si))", DeviceType_, device_type_name(d.type), d.index);
}
PyObject* device_mode(PyObject* self, PyObject* args, const char* name) {
  Owned module(PyImport_ImportModule("flambeau._device_context"));
  if (!module) return nullptr;
  Owned f(PyObject_GetAttrString(module.get(), name));
  return f ? PyObject_CallFunctionObjArgs(f.get(), self, args, nullptr) : nullptr;
}
constexpr const char* kDeviceDoc =
    "device(type, index=None)\n--\n\n"
    "Where a tensor's memory is: 'cpu' or 'meta' (sizes and no memory), with an index in the string or beside it.\n\n"
    "As a context manager it is where factory functions put new tensors. Raises RuntimeError for an unknown type or "
    "an index below 0 or above 127.";
PyMethodDef device_methods[] = {
    {"__reduce__", device_reduce, METH_NOARGS, nullptr},
    {"__enter__", [](PyObject* s, PyObject*) { return device_mode(s, Py_None, "enter"); }, METH_NOARGS,
     "__enter__($self, /)\n--\n\nNew tensors go to this device inside the block."},
    {"__exit__", [](PyObject* s, PyObject* a) { return device_mode(s, a, "leave"); }, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef device_properties[] = {
    {"type", [](PyObject* s, void*) { return PyUnicode_FromString(device_type_name(dev(s).type)); }, nullptr,
     "Kind of device, such as 'cpu'.", nullptr},
    {"index",
     [](PyObject* s, void*) -> PyObject* {
       if (dev(s).index < 0) Py_RETURN_NONE;
       return PyLong_FromLong(dev(s).index);
     },
     nullptr, "Its number among those of its kind, or None.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

// --- Size: a tuple of ints
// ----------------------------------------------------------------------------------------------

PyObject* size_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  Owned self(PyTuple_Type.tp_new(type, args, kwargs));
  if (!self) return nullptr;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self.get()); ++i) {
    PyObject* item = PyTuple_GET_ITEM(self.get(), i);
    if (PyLong_CheckExact(item)) continue;
    PyObject* index = PyNumber_Index(item);
    if (!index) {
      PyErr_Format(PyExc_TypeError, "torch.Size() takes an iterable of 'int' (item %zd is '%s')", i,
                   Py_TYPE(item)->tp_name);
      return nullptr;
    }
    PyTuple_SET_ITEM(self.get(), i, index);
    Py_DECREF(item);
  }
  return self.release();
}
PyObject* size_repr(PyObject* self) {
  Owned list(PySequence_List(self));
  return list ? PyUnicode_FromFormat("torch.Size(%R)", list.get()) : nullptr;
}
PyObject* as_size(PyObject* tuple) {
  if (!tuple || !PyTuple_CheckExact(tuple)) return tuple;
  Owned t(tuple);
  return PyObject_CallOneArg(reinterpret_cast<PyObject*>(SizeType), tuple);
}
PyObject* size_concat(PyObject* a, PyObject* b) {
  if (!PyTuple_Check(b)) {
    PyErr_Format(PyExc_TypeError, "can only concatenate tuple (not \"%s\") to torch.Size", Py_TYPE(b)->tp_name);
    return nullptr;
  }
  return as_size(PyTuple_Type.tp_as_sequence->sq_concat(a, b));
}
PyObject* size_repeat(PyObject* a, Py_ssize_t n) { return as_size(PyTuple_Type.tp_as_sequence->sq_repeat(a, n)); }
PyObject* size_subscript(PyObject* a, PyObject* key) {
  return as_size(PyTuple_Type.tp_as_mapping->mp_subscript(a, key));
}
PyObject* size_numel(PyObject* self, PyObject*) {
  long long n = 1;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); ++i) n *= PyLong_AsLongLong(PyTuple_GET_ITEM(self, i));
  return PyErr_Occurred() ? nullptr : PyLong_FromLongLong(n);
}
PyObject* size_reduce(PyObject* self, PyObject*) {
  Owned t(PySequence_Tuple(self));
  Owned plain(PyTuple_GetSlice(self, 0, PyTuple_GET_SIZE(self)));
  Owned list(PySequence_List(self));
  Owned as_tuple(list ? PyList_AsTuple(list.get()) : nullptr);
  return as_tuple ? Py_BuildValue("(O(O))", SizeType, as_tuple.get()) : nullptr;
}
PyMethodDef size_methods[] = {
    {"numel", size_numel, METH_NOARGS, "numel($self, /)\n--\n\nNumber of elements a tensor of this size has."},
    {"__reduce__", size_reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

// --- Generator
// ----------------------------------------------------------------------------------------------------------

struct PyGenerator {
  PyObject_HEAD GeneratorImpl* impl;
};
GeneratorImpl& gen(PyObject* o) { return *reinterpret_cast<PyGenerator*>(o)->impl; }

PyObject* generator_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"device", nullptr};
  PyObject* device = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:Generator", const_cast<char**>(names), &device)) return nullptr;
  return guarded([&]() -> PyObject* {
    if (device && device != Py_None) {
      const Device d = device_from(device);
      FL_CHECK(d.type == DeviceType::CPU, "[Generator] no generator for device '", to_string(d), "'; available: cpu");
    }
    auto* self = reinterpret_cast<PyGenerator*>(checked(type->tp_alloc(type, 0)));
    self->impl = new GeneratorImpl();
    return reinterpret_cast<PyObject*>(self);
  });
}
void generator_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  if (auto* g = reinterpret_cast<PyGenerator*>(self)->impl) g->release();
  type->tp_free(self);
  Py_DECREF(type);
}
uint64_t seed_from(PyObject* o) {
  Owned index(PyNumber_Index(o));
  if (!index) throw PythonError();
  int overflow = 0;
  const long long v = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  if (overflow == 0) return static_cast<uint64_t>(v);
  const unsigned long long u = PyLong_AsUnsignedLongLong(index.get());
  if (PyErr_Occurred()) {
    PyErr_Clear();
    FL_CHECK_VALUE(false, "Overflow when unpacking long: a seed fits 64 bits");
  }
  return u;
}
PyObject* generator_manual_seed(PyObject* self, PyObject* seed) {
  return guarded([&] {
    const uint64_t s = seed_from(seed);
    gen(self).manual_seed(s);
    return Py_NewRef(self);
  });
}
PyObject* generator_get_state(PyObject* self, PyObject*) {
  return guarded([&] {
    const int64_t n = GeneratorImpl::kStateBytes;
    Tensor t = empty({n}, {DType::UInt8, {}});
    gen(self).get_state(t.data_as<uint8_t>());
    return wrap(std::move(t));
  });
}
PyObject* generator_set_state(PyObject* self, PyObject* state) {
  return guarded([&] {
    FL_CHECK_TYPE(is_tensor(state) && impl_of(state)->dtype == DType::UInt8, "expected a torch.ByteTensor, but got ",
                  Py_TYPE(state)->tp_name);
    const Tensor& t = tensor_of(state);
    FL_CHECK(t.is_contiguous() && t.is_cpu(), "[set_state] the state must be a contiguous CPU tensor");
    check_storage(t, "set_state");
    gen(self).set_state(t.data_as<uint8_t>(), static_cast<size_t>(t.numel()));
    return Py_NewRef(self);
  });
}
constexpr const char* kGeneratorDoc =
    "Generator(device='cpu')\n--\n\n"
    "A stream of random numbers, PyTorch's for the same seed. Raises RuntimeError for devices other than the CPU.";
PyMethodDef generator_methods[] = {
    {"manual_seed", generator_manual_seed, METH_O,
     "manual_seed($self, seed, /)\n--\n\nRestarts the stream at a 64-bit seed; returns self."},
    {"initial_seed", [](PyObject* s, PyObject*) { return PyLong_FromUnsignedLongLong(gen(s).initial_seed()); },
     METH_NOARGS, "initial_seed($self, /)\n--\n\nThe seed the stream started from."},
    {"seed", [](PyObject* s, PyObject*) { return PyLong_FromUnsignedLongLong(gen(s).seed()); }, METH_NOARGS,
     "seed($self, /)\n--\n\nRestarts from the system's entropy; returns the seed."},
    {"get_state", generator_get_state, METH_NOARGS,
     "get_state($self, /)\n--\n\nThe state as a uint8 tensor of 5056 bytes, interchangeable with torch's."},
    {"set_state", generator_set_state, METH_O,
     "set_state($self, state, /)\n--\n\nRestores a state that get_state gave. Raises TypeError for what is no uint8 tensor,\n"
     "RuntimeError for one that holds no state."},
    {"clone_state",
     [](PyObject* s, PyObject*) {
       GeneratorImpl* c = gen(s).clone();
       PyObject* o = wrap_generator(c);
       c->release();
       return o;
     },
     METH_NOARGS, "clone_state($self, /)\n--\n\nA new generator in the same state."},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef generator_properties[] = {{"device", [](PyObject*, void*) { return wrap_device({DeviceType::CPU, -1}); },
                                       nullptr, "Where it draws numbers: the CPU.", nullptr},
                                      {nullptr, nullptr, nullptr, nullptr, nullptr}};

void add(PyObject* module, const char* name, PyTypeObject* type) {
  checked(PyModule_AddObjectRef(module, name, reinterpret_cast<PyObject*>(type)));
}

void init_members(PyObject* module) {
  DTypeType = member_type("flambeau.dtype", "The type of a tensor's elements: flambeau.float32, flambeau.int64...",
                          dtype_methods, dtype_properties);
  LayoutType = member_type("flambeau.layout",
                           "How a tensor's elements are kept; flambeau.strided is the one that operators take.",
                           member_methods, nullptr);
  MemoryFormatType = member_type("flambeau.memory_format",
                                 "The order of elements in memory: contiguous_format (row-major), channels_last, "
                                 "channels_last_3d, preserve_format.",
                                 member_methods, nullptr);
  for (int i = 0; i < kNumDTypes; ++i) {
    g_dtypes[i] = make_member(DTypeType, i, dtype_name(static_cast<DType>(i)));
    checked(PyModule_AddObjectRef(module, dtype_name(static_cast<DType>(i)), g_dtypes[i]));
  }
  constexpr std::pair<const char*, DType> aliases[] = {
      {"half", DType::Float16},    {"float", DType::Float32},    {"double", DType::Float64},
      {"short", DType::Int16},     {"int", DType::Int32},        {"long", DType::Int64},
      {"chalf", DType::Complex32}, {"cfloat", DType::Complex64}, {"cdouble", DType::Complex128}};
  for (auto [name, t] : aliases) checked(PyModule_AddObjectRef(module, name, g_dtypes[static_cast<int>(t)]));
  for (int i = 0; i < 8; ++i) {
    g_layouts[i] = make_member(LayoutType, i, layout_name(static_cast<Layout>(i)));
    checked(PyModule_AddObjectRef(module, layout_name(static_cast<Layout>(i)), g_layouts[i]));
  }
  for (int i = 0; i < 4; ++i) {
    g_formats[i] = make_member(MemoryFormatType, i, memory_format_name(static_cast<MemoryFormat>(i)));
    checked(PyModule_AddObjectRef(module, memory_format_name(static_cast<MemoryFormat>(i)), g_formats[i]));
  }
  checked(
      PyModule_AddObjectRef(module, "legacy_contiguous_format", g_formats[static_cast<int>(MemoryFormat::Contiguous)]));
  add(module, "dtype", DTypeType);
  add(module, "layout", LayoutType);
  add(module, "memory_format", MemoryFormatType);
}

}  // namespace

void init_types(PyObject* module) {
  init_members(module);
  DeviceType_ = make_type("flambeau.device", sizeof(PyDevice),
                          {{Py_tp_doc, const_cast<char*>(kDeviceDoc)},
                           {Py_tp_new, reinterpret_cast<void*>(device_new)},
                           {Py_tp_repr, reinterpret_cast<void*>(device_repr)},
                           {Py_tp_str, reinterpret_cast<void*>(device_str)},
                           {Py_tp_hash, reinterpret_cast<void*>(device_hash)},
                           {Py_tp_richcompare, reinterpret_cast<void*>(device_compare)},
                           {Py_tp_methods, device_methods},
                           {Py_tp_getset, device_properties}});
  add(module, "device", DeviceType_);
  {
    PyType_Slot slots[] = {
        {Py_tp_base, &PyTuple_Type},
        {Py_tp_doc, const_cast<char*>("Size(iterable=(), /)\n--\n\nThe sizes of a tensor: a tuple of integers.")},
        {Py_tp_new, reinterpret_cast<void*>(size_new)},
        {Py_tp_repr, reinterpret_cast<void*>(size_repr)},
        {Py_sq_concat, reinterpret_cast<void*>(size_concat)},
        {Py_sq_repeat, reinterpret_cast<void*>(size_repeat)},
        {Py_mp_subscript, reinterpret_cast<void*>(size_subscript)},
        {Py_tp_methods, size_methods},
        {0, nullptr}};
    PyType_Spec spec{"flambeau.Size", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    SizeType = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
    add(module, "Size", SizeType);
  }
  GeneratorType = make_type("flambeau.Generator", sizeof(PyGenerator),
                            {{Py_tp_doc, const_cast<char*>(kGeneratorDoc)},
                             {Py_tp_new, reinterpret_cast<void*>(generator_new)},
                             {Py_tp_dealloc, reinterpret_cast<void*>(generator_dealloc)},
                             {Py_tp_methods, generator_methods},
                             {Py_tp_getset, generator_properties}},
                            Py_TPFLAGS_BASETYPE);
  add(module, "Generator", GeneratorType);
  Owned default_gen(wrap_generator(&default_generator()));
  checked(PyModule_AddObjectRef(module, "default_generator", default_gen.get()));
}

PyObject* wrap_dtype(DType t) { return Py_NewRef(g_dtypes[static_cast<int>(t)]); }
PyObject* wrap_layout(Layout l) { return Py_NewRef(g_layouts[static_cast<int>(l)]); }
PyObject* wrap_memory_format(MemoryFormat m) { return Py_NewRef(g_formats[static_cast<int>(m)]); }
PyObject* wrap_device(Device d) {
  auto* o = PyObject_New(PyDevice, DeviceType_);
  checked(reinterpret_cast<PyObject*>(o));
  o->device = d;
  return reinterpret_cast<PyObject*>(o);
}
PyObject* wrap_size(IntList sizes) {
  Owned o(checked(SizeType->tp_alloc(SizeType, static_cast<Py_ssize_t>(sizes.size()))));
  for (size_t i = 0; i < sizes.size(); ++i) PyTuple_SET_ITEM(o.get(), i, checked(PyLong_FromLongLong(sizes[i])));
  return o.release();
}
PyObject* wrap_generator(GeneratorImpl* g) {
  auto* o = reinterpret_cast<PyGenerator*>(checked(GeneratorType->tp_alloc(GeneratorType, 0)));
  g->retain();
  o->impl = g;
  return reinterpret_cast<PyObject*>(o);
}

bool is_dtype(PyObject* o) {
  return Py_TYPE(o) == DTypeType || o == reinterpret_cast<PyObject*>(&PyFloat_Type) ||
         o == reinterpret_cast<PyObject*>(&PyLong_Type) || o == reinterpret_cast<PyObject*>(&PyBool_Type) ||
         o == reinterpret_cast<PyObject*>(&PyComplex_Type);
}
DType dtype_from(PyObject* o) {
  if (FL_LIKELY(Py_TYPE(o) == DTypeType)) return dt(o);
  if (o == reinterpret_cast<PyObject*>(&PyFloat_Type)) return DType::Float64;
  if (o == reinterpret_cast<PyObject*>(&PyLong_Type)) return DType::Int64;
  if (o == reinterpret_cast<PyObject*>(&PyBool_Type)) return DType::Bool;
  if (o == reinterpret_cast<PyObject*>(&PyComplex_Type)) return DType::Complex128;
  FL_CHECK_TYPE(false, "expected a dtype (torch.float32, ...), got ", Py_TYPE(o)->tp_name);
}
Device device_from(PyObject* o) {
  if (FL_LIKELY(Py_TYPE(o) == DeviceType_)) return dev(o);
  if (PyUnicode_Check(o)) {
    Py_ssize_t n = 0;
    const char* s = PyUnicode_AsUTF8AndSize(o, &n);
    if (!s) throw PythonError();
    return parse_device({s, static_cast<size_t>(n)});
  }
  FL_CHECK_TYPE(
      !PyLong_Check(o),
      "a device is a string such as 'cpu' or a torch.device; an index alone needs an accelerator, and this build has none");
  FL_CHECK_TYPE(false, "expected a device (a string such as 'cpu' or a torch.device), got ", Py_TYPE(o)->tp_name);
}
GeneratorImpl* generator_from(PyObject* o) {
  if (o == Py_None) return nullptr;
  FL_CHECK_TYPE(PyObject_TypeCheck(o, GeneratorType), "expected a torch.Generator, got ", Py_TYPE(o)->tp_name);
  return &gen(o);
}

}  // namespace flambeau::python
