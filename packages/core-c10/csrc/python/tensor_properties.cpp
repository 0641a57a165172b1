// Attributes and small methods that only read a tensor.
#include <cstring>

#include "flambeau/core/views.h"
#include "op_function.h"
#include "python_dispatch.h"
#include "tensor_type.h"

namespace flambeau::python {

namespace {

const Tensor& T(PyObject* o) { return tensor_of(o); }

// Calls a function of a Python module of core with self: for what is not hot.
PyObject* call_python(const char* module, const char* function, PyObject* self, PyObject* arg = nullptr) {
  Owned m(PyImport_ImportModule(module));
  Owned f(m ? PyObject_GetAttrString(m.get(), function) : nullptr);
  return f ? PyObject_CallFunctionObjArgs(f.get(), self, arg, nullptr) : nullptr;
}

template <class F> PyObject* via_op(const char* name, PyObject* self) {
  return guarded([&] {
    PyObject* const args[1] = {self};
    return call_operator(get_operator("aten", name), args, 1);
  });
}

PyObject* transposed(PyObject* self, const char* what) {
  return guarded([&]() -> PyObject* {
    const Tensor& t = T(self);
    const Operator& permute_op = get_operator("aten", "permute");
    std::vector<int64_t> dims;
    if (what[0] == 'm') {
      FL_CHECK(t.dim() != 1, "tensor.", what, " is only supported on matrices or batches of matrices. Got ", t.dim(),
               "-D tensor.");
      for (int64_t i = 0; i < t.dim(); ++i) dims.push_back(i);
      if (t.dim()) std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
    } else {
      FL_CHECK(what[0] != 'H' || t.dim() == 2 || t.dim() == 0,
               "tensor.H is only supported on matrices (2-D tensors). Got ", t.dim(), "-D tensor.");
      for (int64_t i = t.dim(); i-- > 0;) dims.push_back(i);
    }
    Tensor r = call<Tensor>(permute_op, t, IntList(dims));
    if (what[std::strlen(what) - 1] == 'H' && t.is_complex()) r = call<Tensor>(get_operator("aten", "conj"), r);
    return wrap(std::move(r));
  });
}

PyObject* get_grad(PyObject*, void*) { Py_RETURN_NONE; }
int set_grad(PyObject*, PyObject* v, void*) {
  if (!v || v == Py_None) return 0;
  PyErr_SetString(PyExc_RuntimeError,
                  "[grad] gradients are in flambeau-autograd, which is not installed: pip install flambeau-autograd");
  return -1;
}
PyObject* get_requires_grad(PyObject* s, void*) { return PyBool_FromLong(T(s).requires_grad()); }
int set_requires_grad(PyObject*, PyObject* v, void*) {
  if (v && PyObject_IsTrue(v) == 0) return 0;
  PyErr_SetString(
      PyExc_RuntimeError,
      "[requires_grad] gradients are in flambeau-autograd, which is not installed: pip install flambeau-autograd");
  return -1;
}

PyObject* get_data(PyObject* s, void*) {
  return guarded([&] {
    if (FL_UNLIKELY(T(s).keys() & key_bit(Key::Python)))
      return wrap(call<Tensor>(get_operator("aten", "detach"), T(s)));
    return wrap(alias_unnoticed(T(s)));
  });
}
int set_data(PyObject* self, PyObject* value, void*) {
  return guarded_int([&] {
    FL_CHECK_TYPE(value && is_tensor(value), "Variable data has to be a tensor, but got ",
                  value ? Py_TYPE(value)->tp_name : "nothing");
    TensorImpl& t = *impl_of(self);
    const Tensor& v = T(value);
    FL_CHECK(!T(self).requires_grad() || is_floating(v.dtype()) || is_complex(v.dtype()),
             "data set to a tensor that requires gradients must be floating point or complex dtype, got ",
             dtype_name(v.dtype()));
    if (!t.counts_apart) count_apart(t, T(self).version());
    if (t.autograd && (t.dtype != v.dtype() || !(t.device == v.device()))) t.autograd->type_changed();
    Storage keep = Storage::borrow(v.impl()->storage);
    Storage old = Storage::steal(t.storage);
    t.storage = keep.release();
    t.dtype = v.dtype();
    t.device = v.device();
    t.inference = v.impl()->inference;
    t.keys = (t.keys & ~kBackendKeys) | (v.keys() & kBackendKeys);
    set_geometry(t, v.sizes(), v.strides(), v.storage_offset());
    return 0;
  });
}

#define FL_BOOL(name, expr, doc)   \
  {name,                           \
   [](PyObject* s, void*) {        \
     (void)s;                      \
     return PyBool_FromLong(expr); \
   },                              \
   nullptr, doc, nullptr}

}  // namespace

PyGetSetDef tensor_properties[] = {
    {"shape", [](PyObject* s, void*) { return guarded([&] { return wrap_size(T(s).sizes()); }); }, nullptr,
     "Sizes of the dimensions.", nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, "Attributes that were set on the object.", nullptr},
    {"dtype", [](PyObject* s, void*) { return wrap_dtype(T(s).dtype()); }, nullptr, "Type of the elements.", nullptr},
    {"device", [](PyObject* s, void*) { return guarded([&] { return wrap_device(T(s).device()); }); }, nullptr,
     "Where the elements live.", nullptr},
    {"layout", [](PyObject*, void*) { return wrap_layout(Layout::Strided); }, nullptr,
     "How the elements are kept: flambeau.strided.", nullptr},
    {"ndim", [](PyObject* s, void*) { return PyLong_FromLongLong(T(s).dim()); }, nullptr, "Number of dimensions.",
     nullptr},
    {"itemsize", [](PyObject* s, void*) { return PyLong_FromLongLong(T(s).itemsize()); }, nullptr,
     "Bytes an element takes.", nullptr},
    {"nbytes", [](PyObject* s, void*) { return PyLong_FromLongLong(T(s).numel() * T(s).itemsize()); }, nullptr,
     "Bytes all elements take.", nullptr},
    {"T", [](PyObject* s, void*) { return transposed(s, "T"); }, nullptr, "View with dimensions reversed.", nullptr},
    {"mT", [](PyObject* s, void*) { return transposed(s, "mT"); }, nullptr,
     "View with the last two dimensions swapped.", nullptr},
    {"H", [](PyObject* s, void*) { return transposed(s, "H"); }, nullptr, "Conjugate transpose of a matrix.", nullptr},
    {"mH", [](PyObject* s, void*) { return transposed(s, "mH"); }, nullptr,
     "Conjugate transpose of the last two dimensions.", nullptr},
    {"real", [](PyObject* s, void*) { return via_op<void>("real", s); },
     [](PyObject* s, PyObject* v, void*) -> int {
       Owned r(PyObject_GetAttrString(s, "real"));
       return r ? PyObject_SetItem(r.get(), Py_Ellipsis, v) : -1;
     },
     "The real parts: a view of a complex tensor, a real one itself.", nullptr},
    {"imag", [](PyObject* s, void*) { return via_op<void>("imag", s); },
     [](PyObject* s, PyObject* v, void*) -> int {
       Owned r(PyObject_GetAttrString(s, "imag"));
       return r ? PyObject_SetItem(r.get(), Py_Ellipsis, v) : -1;
     },
     "View of the imaginary parts. Raises RuntimeError for a real tensor.", nullptr},
    {"data", get_data, set_data, "The same elements without autograd history.", nullptr},
    {"grad", get_grad, set_grad, "The gradient that backward passes have added up, or None.", nullptr},
    {"requires_grad", get_requires_grad, set_requires_grad, "Whether operations on it are recorded.", nullptr},
    {"grad_fn", [](PyObject*, void*) -> PyObject* { Py_RETURN_NONE; }, nullptr,
     "The node of the graph that made it, or None.", nullptr},
    {"is_leaf", [](PyObject*, void*) -> PyObject* { Py_RETURN_TRUE; }, nullptr,
     "Whether it is not the result of a recorded operation.", nullptr},
    {"_version",
     [](PyObject* s, void*) {
       return guarded([&] {
         FL_CHECK(!impl_of(s)->inference, "Inference tensors do not track version counter.");
         return PyLong_FromUnsignedLong(T(s).version());
       });
     },
     nullptr, "How often the elements were written to, also through views and detached aliases.", nullptr},
    {"_base", [](PyObject* s, void*) { return guarded([&] { return wrap(Tensor::borrow(impl_of(s)->base)); }); },
     nullptr, "The tensor this is a view of, or None.", nullptr},
    {"names",
     [](PyObject* s, void*) {
       Owned t(PyTuple_New(T(s).dim()));
       for (int64_t i = 0; t && i < T(s).dim(); ++i) PyTuple_SET_ITEM(t.get(), i, Py_NewRef(Py_None));
       return t.release();
     },
     nullptr, "None for each dimension: dimensions have no names.", nullptr},
    FL_BOOL("is_sparse", false, "False: no tensor is of this kind here."),
    FL_BOOL("is_sparse_csr", false, "False: no tensor is of this kind here."),
    FL_BOOL("is_quantized", false, "False: no tensor is of this kind here."),
    FL_BOOL("is_mkldnn", false, "False: no tensor is of this kind here."),
    FL_BOOL("is_nested", false, "False: no tensor is of this kind here."),
    FL_BOOL("is_cuda", T(s).device().type == DeviceType::CUDA, "Whether it is on a CUDA device."),
    FL_BOOL("is_xpu", false, "False: no tensor is of this kind here."),
    FL_BOOL("is_mps", false, "False: no tensor is of this kind here."),
    FL_BOOL("is_ipu", false, "False: no tensor is of this kind here."),
    FL_BOOL("is_xla", false, "False: no tensor is of this kind here."),
    FL_BOOL("is_vulkan", false, "False: no tensor is of this kind here."),
    FL_BOOL("is_maia", false, "False: no tensor is of this kind here."),
    FL_BOOL("is_mtia", false, "False: no tensor is of this kind here."),
    FL_BOOL("is_hpu", false, "False: no tensor is of this kind here."),
    FL_BOOL("_is_wrapped_number", T(s).is_wrapped_number(), "Whether it stands for a Python number in type promotion."),
    FL_BOOL("is_cpu", T(s).is_cpu(), "Whether it is on the CPU."),
    FL_BOOL("is_meta", T(s).is_meta(), "Whether it has sizes and no memory."),
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

namespace {

PyObject* one_of(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames, IntList values,
                 const char* op) {
  return guarded([&]() -> PyObject* {
    PyObject* dim = nargs == 1 ? args[0] : kwnames && PyTuple_GET_SIZE(kwnames) == 1 && nargs == 0 ? args[0] : nullptr;
    FL_CHECK_TYPE(nargs + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0) <= 1, op, "() takes at most 1 argument (dim)");
    if (!dim || dim == Py_None)
      return op[1] == 'i' ? wrap_size(values) : [&] {
        Owned t(checked(PyTuple_New(static_cast<Py_ssize_t>(values.size()))));
        for (size_t i = 0; i < values.size(); ++i)
          PyTuple_SET_ITEM(t.get(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(values[i]));
        return t.release();
      }();
    const Py_ssize_t d = PyNumber_AsSsize_t(dim, PyExc_OverflowError);
    if (d == -1 && PyErr_Occurred()) throw PythonError();
    (void)self;
    return PyLong_FromLongLong(values[static_cast<size_t>(wrap_dim(d, static_cast<int64_t>(values.size())))]);
  });
}
PyObject* m_size(PyObject* s, PyObject* const* a, Py_ssize_t n, PyObject* k) {
  FL_CHECK_INDEX(true, "");
  return guarded([&] {
    FL_CHECK_INDEX(T(s).dim() > 0 || n == 0, "Dimension specified as 0 but tensor has no dimensions");
    return one_of(s, a, n, k, T(s).sizes(), "size");
  });
}
PyObject* m_stride(PyObject* s, PyObject* const* a, Py_ssize_t n, PyObject* k) {
  return one_of(s, a, n, k, T(s).strides(), "stride");
}

PyObject* m_item(PyObject* s, PyObject*) {
  return guarded([&] { return wrap_element(item(T(s)), T(s).dtype()); });
}

PyObject* nested(const Tensor& t, int64_t dim, const char* at) {
  if (dim == t.dim()) return wrap_element(load_scalar(at, t.dtype()), t.dtype());
  const int64_t n = t.sizes()[dim];
  Owned list(checked(PyList_New(n)));
  for (int64_t i = 0; i < n; ++i)
    PyList_SET_ITEM(list.get(), i, checked(nested(t, dim + 1, at + i * t.strides()[dim] * t.itemsize())));
  return list.release();
}
PyObject* m_tolist(PyObject* s, PyObject*) {
  return guarded([&] {
    const Tensor& t = T(s);
    FL_CHECK_NOT_IMPLEMENTED(t.storage().data || t.numel() == 0, "[tolist] a ", device_type_name(t.device().type),
                             " tensor has no data");
    check_storage(t, "tolist");
    return nested(t, 0, t.numel() ? t.impl()->data() : nullptr);
  });
}

PyObject* m_is_contiguous(PyObject* s, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"memory_format", nullptr};
  PyObject* format = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:is_contiguous", const_cast<char**>(names), &format))
    return nullptr;
  return guarded([&] {
    MemoryFormat f = MemoryFormat::Contiguous;
    for (int i = 0; format && i < 4; ++i) {
      Owned m(wrap_memory_format(static_cast<MemoryFormat>(i)));
      if (m.get() == format) f = static_cast<MemoryFormat>(i);
    }
    FL_CHECK(f != MemoryFormat::Preserve, "is_contiguous: preserve_format is not a format that a tensor can have");
    return PyBool_FromLong(T(s).is_contiguous(f));
  });
}

PyObject* make_subclass(PyObject*, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"cls",  "data", "require_grad", "dispatch_sizes_strides_policy", "dispatch_device",
                                nullptr};
  PyObject *cls, *data, *ignored = nullptr;
  int require_grad = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|pOO:_make_subclass", const_cast<char**>(names), &cls, &data,
                                   &require_grad, &ignored, &ignored))
    return nullptr;
  return guarded([&]() -> PyObject* {
    FL_CHECK_TYPE(PyType_Check(cls) && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(cls), TensorType),
                  "cls must be a subclass of Tensor");
    FL_CHECK_TYPE(is_tensor(data), "_make_subclass needs a Tensor, got ", Py_TYPE(data)->tp_name);
    Owned o(wrap_as(alias_without_history(T(data)), reinterpret_cast<PyTypeObject*>(cls)));
    if (require_grad) checked(PyObject_SetAttrString(o.get(), "requires_grad", Py_True));
    return o.release();
  });
}
// A tensor of given geometry whose memory is somebody else's business: its class handles every operator.
PyObject* make_wrapper_subclass(PyObject*, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"cls",
                                "size",
                                "strides",
                                "storage_offset",
                                "memory_format",
                                "dtype",
                                "layout",
                                "device",
                                "pin_memory",
                                "requires_grad",
                                "dispatch_sizes_strides_policy",
                                "dispatch_device",
                                "dispatch_layout",
                                "_extra_dispatch_keys",
                                "storage_size",
                                nullptr};
  PyObject *cls, *size, *strides = Py_None, *offset = Py_None, *ignored = nullptr, *dtype = Py_None, *device = Py_None;
  int requires_grad = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OOOOOOOpOOOOO:_make_wrapper_subclass", const_cast<char**>(names),
                                   &cls, &size, &strides, &offset, &ignored, &dtype, &ignored, &device, &ignored,
                                   &requires_grad, &ignored, &ignored, &ignored, &ignored, &ignored))
    return nullptr;
  return guarded([&]() -> PyObject* {
    FL_CHECK_TYPE(PyType_Check(cls) && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(cls), TensorType),
                  "cls must be a subclass of Tensor");
    auto* type = reinterpret_cast<PyTypeObject*>(cls);
    FL_CHECK(has_torch_dispatch(type), type->tp_name,
             " must define __torch_dispatch__: a wrapper subclass has no memory for kernels to work on");
    const std::vector<int64_t> sizes = ints_from(size);
    const std::vector<int64_t> steps = strides == Py_None ? contiguous_strides(sizes) : ints_from(strides);
    const TensorOptions options{dtype == Py_None ? default_dtype() : dtype_from(dtype),
                                device == Py_None ? default_device() : device_from(device)};
    Owned at(offset == Py_None ? PyLong_FromLong(0) : Py_NewRef(offset));
    const long long begin = PyLong_AsLongLong(at.get());
    if (begin == -1 && PyErr_Occurred()) throw PythonError();
    Owned o(wrap_as(tensor_without_memory(sizes, steps, begin, options), type));
    if (requires_grad) checked(PyObject_SetAttrString(o.get(), "requires_grad", Py_True));
    return o.release();
  });
}
PyObject* m_as_subclass(PyObject* s, PyObject* cls) {
  return guarded([&]() -> PyObject* {
    FL_CHECK_TYPE(PyType_Check(cls) && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(cls), TensorType),
                  "cls must be a subclass of Tensor");
    const Operator* op = find_operator("aten", "alias");
    Tensor t = op ? call<Tensor>(*op, T(s)) : alias(T(s));
    if (t.impl()->pyobj) {  // a class that handles operators made it
      Owned made(wrap(t));
      if (PyObject_TypeCheck(made.get(), reinterpret_cast<PyTypeObject*>(cls))) return made.release();
    }
    return wrap_as(std::move(t), reinterpret_cast<PyTypeObject*>(cls));
  });
}
PyObject* m_torch_function(PyObject* cls, PyObject* args) {
  return call_python("flambeau._tensor_methods", "default_torch_function", cls, args);
}

PyObject* m_resize(PyObject* s, PyObject* sizes) {
  return guarded([&] {
    const std::vector<int64_t> n = ints_from(sizes);
    FL_CHECK(!T(s).requires_grad(), "cannot resize variables that require grad");
    try {
      resize_(T(s), n);
    } catch (OutOfMemoryError& e) {
      throw OutOfMemoryError(concat("[resize_] ", e.message));
    }
    T(s).bump_version();
    return Py_NewRef(s);
  });
}
PyObject* m_set_storage(PyObject* s, PyObject* args) {
  PyObject *storage, *size, *stride;
  long long offset;
  if (!PyArg_ParseTuple(args, "OLOO:_set_storage", &storage, &offset, &size, &stride)) return nullptr;
  return guarded([&] {
    T(s).check_may_write();
    Tensor t = tensor_on_storage(storage_from(storage), T(s).dtype(), ints_from(size), ints_from(stride), offset);
    // A tensor that something else holds may be saved in a graph, which must notice.
    const bool held = impl_of(s)->refs.count() > 1;
    if (held && !impl_of(s)->counts_apart && &t.storage() != &T(s).storage()) count_apart(*impl_of(s), T(s).version());
    std::swap(impl_of(s)->storage, t.impl()->storage);
    if (held) T(s).bump_version();
    impl_of(s)->device = t.device();
    set_geometry(*impl_of(s), t.sizes(), t.strides(), offset);
    return Py_NewRef(s);
  });
}

#define FL_METHOD(name, body, flags, doc) \
  {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(body)), flags, doc}

}  // namespace

PyMethodDef tensor_methods[] = {
    FL_METHOD("size", m_size, METH_FASTCALL | METH_KEYWORDS,
              "size($self, dim=None)\n--\n\nAll sizes, or that of one dimension."),
    FL_METHOD("stride", m_stride, METH_FASTCALL | METH_KEYWORDS,
              "stride($self, dim=None)\n--\n\nAll strides in elements, or that of one dimension."),
    FL_METHOD(
        "is_contiguous", m_is_contiguous, METH_VARARGS | METH_KEYWORDS,
        "is_contiguous($self, memory_format=None)\n--\n\nWhether the elements lie in row-major order, or in that of `memory_format`."),
    FL_METHOD("_make_wrapper_subclass", make_wrapper_subclass, METH_VARARGS | METH_KEYWORDS | METH_STATIC,
              "_make_wrapper_subclass(cls, size, *, strides=None, dtype=None, device=None, requires_grad=False)"),
    FL_METHOD("_make_subclass", make_subclass, METH_VARARGS | METH_KEYWORDS | METH_STATIC,
              "_make_subclass(cls, data, require_grad=False)"),
    {"dim", [](PyObject* s, PyObject*) { return PyLong_FromLongLong(T(s).dim()); }, METH_NOARGS,
     "dim($self, /)\n--\n\nNumber of dimensions."},
    {"ndimension", [](PyObject* s, PyObject*) { return PyLong_FromLongLong(T(s).dim()); }, METH_NOARGS,
     "ndimension($self, /)\n--\n\nNumber of dimensions."},
    {"numel", [](PyObject* s, PyObject*) { return PyLong_FromLongLong(T(s).numel()); }, METH_NOARGS,
     "numel($self, /)\n--\n\nNumber of elements."},
    {"nelement", [](PyObject* s, PyObject*) { return PyLong_FromLongLong(T(s).numel()); }, METH_NOARGS,
     "nelement($self, /)\n--\n\nNumber of elements."},
    {"element_size", [](PyObject* s, PyObject*) { return PyLong_FromLongLong(T(s).itemsize()); }, METH_NOARGS,
     "element_size($self, /)\n--\n\nBytes an element takes."},
    {"storage_offset", [](PyObject* s, PyObject*) { return PyLong_FromLongLong(T(s).storage_offset()); }, METH_NOARGS,
     "storage_offset($self, /)\n--\n\nElements before the first one in the storage."},
    {"data_ptr", [](PyObject* s, PyObject*) { return PyLong_FromVoidPtr(T(s).numel() ? T(s).data() : nullptr); },
     METH_NOARGS, "data_ptr($self, /)\n--\n\nAddress of the first element."},
    {"is_floating_point", [](PyObject* s, PyObject*) { return PyBool_FromLong(T(s).is_floating_point()); }, METH_NOARGS,
     "is_floating_point($self, /)\n--\n\nWhether the dtype is floating."},
    {"is_complex", [](PyObject* s, PyObject*) { return PyBool_FromLong(T(s).is_complex()); }, METH_NOARGS,
     "is_complex($self, /)\n--\n\nWhether the dtype is complex."},
    {"is_signed", [](PyObject* s, PyObject*) { return PyBool_FromLong(is_signed(T(s).dtype())); }, METH_NOARGS,
     "is_signed($self, /)\n--\n\nWhether the dtype has negative numbers."},
    {"is_conj", [](PyObject*, PyObject*) -> PyObject* { Py_RETURN_FALSE; }, METH_NOARGS,
     "is_conj($self, /)\n--\n\nConjugation is never lazy here."},
    {"is_neg", [](PyObject*, PyObject*) -> PyObject* { Py_RETURN_FALSE; }, METH_NOARGS,
     "is_neg($self, /)\n--\n\nNegation is never lazy here."},
    {"is_inference", [](PyObject* s, PyObject*) { return PyBool_FromLong(impl_of(s)->inference); }, METH_NOARGS,
     "is_inference($self, /)\n--\n\nWhether the tensor was made in inference mode."},
    {"_is_view", [](PyObject* s, PyObject*) { return PyBool_FromLong(impl_of(s)->base != nullptr); }, METH_NOARGS,
     nullptr},
    {"is_set_to",
     [](PyObject* s, PyObject* o) {
       return guarded([&]() -> PyObject* {
         FL_CHECK_TYPE(is_tensor(o), "is_set_to(): argument 'tensor' must be Tensor, not ", Py_TYPE(o)->tp_name);
         return PyBool_FromLong(&T(s).storage() == &T(o).storage() && T(s).storage_offset() == T(o).storage_offset() &&
                                T(s).sizes() == T(o).sizes() && T(s).strides() == T(o).strides());
       });
     },
     METH_O, "is_set_to($self, tensor, /)\n--\n\nWhether both point at the same memory with the same geometry."},
    {"is_non_overlapping_and_dense",
     [](PyObject* s, PyObject*) { return PyBool_FromLong(T(s).is_non_overlapping_and_dense()); }, METH_NOARGS,
     "is_non_overlapping_and_dense($self, /)\n--\n\nWhether the elements fill their memory without gaps, in some order of dimensions."},
    {"item", m_item, METH_NOARGS, "item($self, /)\n--\n\nThe element of a one-element tensor as a Python number."},
    {"tolist", m_tolist, METH_NOARGS,
     "tolist($self, /)\n--\n\nThe elements as nested lists; a number for a 0-d tensor."},
    {"untyped_storage",
     [](PyObject* s, PyObject*) { return guarded([&] { return wrap_storage(Storage::borrow(impl_of(s)->storage)); }); },
     METH_NOARGS, "untyped_storage($self, /)\n--\n\nThe storage, as bytes."},
    {"as_subclass", m_as_subclass, METH_O, "as_subclass($self, cls, /)\n--\n\nAn alias whose class is `cls`."},
    {"_resize", m_resize, METH_O, nullptr},
    {"_set_storage", m_set_storage, METH_VARARGS, nullptr},
    {"__torch_function__", m_torch_function, METH_VARARGS | METH_CLASS,
     "Runs the function on plain tensors and gives results this class."},
    {"__reduce_ex__",
     [](PyObject* s, PyObject* protocol) { return call_python("flambeau._utils", "tensor_reduce_ex", s, protocol); },
     METH_O, nullptr},
    {"__deepcopy__",
     [](PyObject* s, PyObject* memo) { return call_python("flambeau._utils", "tensor_deepcopy", s, memo); }, METH_O,
     nullptr},
    {"_bump_version",
     [](PyObject* s, PyObject*) {
       return guarded([&]() -> PyObject* {
         T(s).bump_version();
         Py_RETURN_NONE;
       });
     },
     METH_NOARGS, "Marks the tensor as written to."},
    {nullptr, nullptr, 0, nullptr}};

PyObject* tensor_repr(PyObject* self) { return call_python("flambeau._tensor_str", "_str", self); }

PyObject* tensor_iter(PyObject* self) {
  return guarded([&]() -> PyObject* {
    FL_CHECK_TYPE(T(self).dim() > 0, "iteration over a 0-d tensor");
    PyObject* const args[1] = {self};
    Owned parts(call_operator(get_operator("aten", "unbind.int"), args, 1));
    return parts ? PyObject_GetIter(parts.get()) : nullptr;
  });
}

int tensor_contains(PyObject* self, PyObject* value) {
  Owned r(call_python("flambeau._tensor_methods", "contains", self, value));
  return r ? PyObject_IsTrue(r.get()) : -1;
}

}  // namespace flambeau::python
