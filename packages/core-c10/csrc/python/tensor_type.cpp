// The Tensor type: slots that call operators, truth, length, comparison.
#include "op_function.h"

#include "tensor_type.h"

namespace flambeau::python {

namespace {

// An operator looked up by name on first use: the layer that defines it may not be loaded yet, or not installed.
struct LazyOp {
  const char* name;
  const Operator* op = nullptr;
  PyObject* func = nullptr;  // what __torch_function__ is told was called

  const Operator& get() {
    if (FL_UNLIKELY(!op)) {
      op = find_operator("aten", name);
      FL_CHECK(op, "the operator '", name,
               "' is in flambeau-aten-kernels, which is not installed: pip install flambeau-aten-kernels");
      std::string base(name, std::string_view(name).find('.') == std::string_view::npos
                                 ? std::string_view(name).size()
                                 : std::string_view(name).find('.'));
      std::vector<const Operator*> list;
      for (Operator* o : overloads("aten", base))
        if (o->variant != Variant::Out) list.push_back(o);
      func = make_op_function(base, list, true, "flambeau");
    }
    return *op;
  }
};

template <int N> PyObject* call(LazyOp& op, PyObject* const (&args)[N]) {
  return guarded([&]() -> PyObject* {
    const Operator& o = op.get();
    PyObject* result = nullptr;
    if (try_call_operator(o, op.func, args, N, &result)) return result;
    if (PyErr_Occurred()) throw PythonError();
    Py_RETURN_NOTIMPLEMENTED;
  });
}

#define FL_BINARY(slot, opname)              \
  PyObject* slot(PyObject* a, PyObject* b) { \
    static LazyOp op{opname};                \
    PyObject* const args[2] = {a, b};        \
    return call(op, args);                   \
  }
#define FL_UNARY(slot, opname)     \
  PyObject* slot(PyObject* a) {    \
    static LazyOp op{opname};      \
    PyObject* const args[1] = {a}; \
    return call(op, args);         \
  }

FL_BINARY(nb_add, "add.Tensor")
FL_BINARY(nb_subtract, "sub.Tensor")
FL_BINARY(nb_multiply, "mul.Tensor")
FL_BINARY(nb_true_divide, "div.Tensor")
FL_BINARY(nb_floor_divide, "floor_divide")
FL_BINARY(nb_remainder, "remainder.Tensor")
FL_BINARY(nb_matmul, "matmul")
FL_BINARY(nb_and, "bitwise_and.Tensor")
FL_BINARY(nb_or, "bitwise_or.Tensor")
FL_BINARY(nb_xor, "bitwise_xor.Tensor")
FL_BINARY(nb_lshift, "bitwise_left_shift.Tensor")
FL_BINARY(nb_rshift, "bitwise_right_shift.Tensor")
FL_UNARY(nb_negative, "neg")
FL_UNARY(nb_absolute, "abs")
FL_UNARY(nb_invert, "bitwise_not")
FL_UNARY(nb_positive, "positive")
FL_BINARY(nb_inplace_add, "add_.Tensor")
FL_BINARY(nb_inplace_subtract, "sub_.Tensor")
FL_BINARY(nb_inplace_multiply, "mul_.Tensor")
FL_BINARY(nb_inplace_true_divide, "div_.Tensor")
FL_BINARY(nb_inplace_floor_divide, "floor_divide_")
FL_BINARY(nb_inplace_remainder, "remainder_.Tensor")
FL_BINARY(nb_inplace_and, "bitwise_and_.Tensor")
FL_BINARY(nb_inplace_or, "bitwise_or_.Tensor")
FL_BINARY(nb_inplace_xor, "bitwise_xor_.Tensor")
FL_BINARY(nb_inplace_lshift, "bitwise_left_shift_.Tensor")
FL_BINARY(nb_inplace_rshift, "bitwise_right_shift_.Tensor")

PyObject* nb_power(PyObject* a, PyObject* b, PyObject* mod) {
  static LazyOp op{"pow.Tensor_Tensor"};
  if (mod != Py_None) Py_RETURN_NOTIMPLEMENTED;
  PyObject* const args[2] = {a, b};
  return call(op, args);
}
PyObject* nb_inplace_power(PyObject* a, PyObject* b, PyObject*) {
  static LazyOp op{"pow_.Tensor_Tensor"};
  PyObject* const args[2] = {a, b};
  return call(op, args);
}

}  // namespace

PyObject* tensor_richcompare(PyObject* a, PyObject* b, int op) {
  static LazyOp ops[6] = {{"lt.Tensor"}, {"le.Tensor"}, {"eq.Tensor"},
                          {"ne.Tensor"}, {"gt.Tensor"}, {"ge.Tensor"}};  // Py_LT..Py_GE
  PyObject* const args[2] = {a, b};
  return call(ops[op], args);
}

Py_hash_t tensor_hash(PyObject* self) {
  return static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(impl_of(self)) >> 4);
}

Py_ssize_t tensor_length(PyObject* self) {
  const Tensor& t = tensor_of(self);
  if (t.dim() == 0) {
    PyErr_SetString(PyExc_TypeError, "len() of a 0-d tensor");
    return -1;
  }
  return t.sizes()[0];
}

int tensor_bool(PyObject* self) {
  return guarded_int([&] {
    const Tensor& t = tensor_of(self);
    FL_CHECK(t.numel() != 0, "Boolean value of Tensor with no values is ambiguous");
    FL_CHECK(t.numel() == 1, "Boolean value of Tensor with more than one value is ambiguous");
    return item(t).to_bool() ? 1 : 0;
  });
}

PyObject* tensor_int(PyObject* self) {
  return guarded([&]() -> PyObject* {
    const Scalar s = item(tensor_of(self));
    if (s.is_integral()) return wrap_element(Scalar(s.to_int()), tensor_of(self).dtype());
    return PyLong_FromDouble(s.to_double());
  });
}
PyObject* tensor_float(PyObject* self) {
  return guarded([&] {
    const Scalar s = item(tensor_of(self));
    const bool is_unsigned = tensor_of(self).dtype() == DType::UInt64;
    return PyFloat_FromDouble(is_unsigned ? static_cast<double>(static_cast<uint64_t>(s.to_int())) : s.to_double());
  });
}
PyObject* tensor_index(PyObject* self) {
  return guarded([&] {
    const Tensor& t = tensor_of(self);
    FL_CHECK_TYPE(is_integral(t.dtype(), true) && t.numel() == 1,
                  "only integer tensors of a single element can be converted to an index");
    return wrap_element(Scalar(item(t).to_int()), t.dtype());
  });
}

void init_tensor_type(PyObject* module) {
  static const char doc[] =
      "Tensor(*args)\n--\n\n"
      "An array of elements of one dtype on one device: sizes, strides and an offset over a storage that views share.\n\n"
      "Made by flambeau.tensor, zeros, rand and their like. The class itself, as older programs use it, takes sizes (and\n"
      "does not fill), a sequence of numbers, or a tensor to alias, and gives the default dtype.";
  PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>(doc)},
                         {Py_tp_new, reinterpret_cast<void*>(tensor_new)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(tensor_dealloc)},
                         {Py_tp_traverse, reinterpret_cast<void*>(tensor_traverse)},
                         {Py_tp_clear, reinterpret_cast<void*>(tensor_clear)},
                         {Py_tp_repr, reinterpret_cast<void*>(tensor_repr)},
                         {Py_tp_hash, reinterpret_cast<void*>(tensor_hash)},
                         {Py_tp_iter, reinterpret_cast<void*>(tensor_iter)},
                         {Py_tp_richcompare, reinterpret_cast<void*>(tensor_richcompare)},
                         {Py_tp_methods, tensor_methods},
                         {Py_tp_getset, tensor_properties},
                         {Py_mp_length, reinterpret_cast<void*>(tensor_length)},
                         {Py_mp_subscript, reinterpret_cast<void*>(tensor_getitem)},
                         {Py_mp_ass_subscript, reinterpret_cast<void*>(tensor_setitem)},
                         {Py_sq_length, reinterpret_cast<void*>(tensor_length)},
                         {Py_sq_contains, reinterpret_cast<void*>(tensor_contains)},
                         {Py_nb_bool, reinterpret_cast<void*>(tensor_bool)},
                         {Py_nb_int, reinterpret_cast<void*>(tensor_int)},
                         {Py_nb_float, reinterpret_cast<void*>(tensor_float)},
                         {Py_nb_index, reinterpret_cast<void*>(tensor_index)},
#define FL_SLOT(name) {Py_##name, reinterpret_cast<void*>(name)}
                         FL_SLOT(nb_add),
                         FL_SLOT(nb_subtract),
                         FL_SLOT(nb_multiply),
                         FL_SLOT(nb_true_divide),
                         FL_SLOT(nb_floor_divide),
                         FL_SLOT(nb_remainder),
                         FL_SLOT(nb_and),
                         FL_SLOT(nb_or),
                         FL_SLOT(nb_xor),
                         FL_SLOT(nb_lshift),
                         FL_SLOT(nb_rshift),
                         FL_SLOT(nb_power),
                         FL_SLOT(nb_negative),
                         FL_SLOT(nb_absolute),
                         FL_SLOT(nb_invert),
                         FL_SLOT(nb_positive),
                         FL_SLOT(nb_inplace_add),
                         FL_SLOT(nb_inplace_subtract),
                         FL_SLOT(nb_inplace_multiply),
                         FL_SLOT(nb_inplace_true_divide),
                         FL_SLOT(nb_inplace_floor_divide),
                         FL_SLOT(nb_inplace_remainder),
                         FL_SLOT(nb_inplace_power),
                         FL_SLOT(nb_inplace_and),
                         FL_SLOT(nb_inplace_or),
                         FL_SLOT(nb_inplace_xor),
                         FL_SLOT(nb_inplace_lshift),
                         FL_SLOT(nb_inplace_rshift),
                         {Py_nb_matrix_multiply, reinterpret_cast<void*>(nb_matmul)},
                         {Py_bf_getbuffer, reinterpret_cast<void*>(tensor_getbuffer)},
                         {Py_bf_releasebuffer, reinterpret_cast<void*>(tensor_releasebuffer)},
                         {Py_tp_members, nullptr},
                         {0, nullptr}};
  static PyMemberDef members[] = {{"__dictoffset__", T_PYSSIZET, offsetof(PyTensor, dict), READONLY, nullptr},
                                  {"__weaklistoffset__", T_PYSSIZET, offsetof(PyTensor, weakrefs), READONLY, nullptr},
                                  {nullptr, 0, 0, 0, nullptr}};
  for (auto& s : slots)
    if (s.slot == Py_tp_members) s.pfunc = members;
  PyType_Spec spec{"flambeau.Tensor", sizeof(PyTensor), 0,
                   static_cast<unsigned>(Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC), slots};
  TensorType = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  checked(PyModule_AddObjectRef(module, "Tensor", reinterpret_cast<PyObject*>(TensorType)));
}

}  // namespace flambeau::python
