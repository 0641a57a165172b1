// result_type and broadcast_shapes: the rules that pointwise operators follow, asked without computing anything.
#include "flambeau/core/promotion.h"

#include "flambeau/python/object.h"

namespace flambeau::python {

namespace {

void add_operand(PromotionState& state, PyObject* o) {
  if (is_tensor(o)) return state.add(tensor_of(o));
  FL_CHECK_TYPE(is_number(o), "[result_type] a tensor or a number is needed, got ", Py_TYPE(o)->tp_name);
  const Scalar s = scalar_from(o);
  const DType t = s.kind() == Scalar::Kind::Bool     ? DType::Bool
                  : s.kind() == Scalar::Kind::Int    ? DType::Int64
                  : s.kind() == Scalar::Kind::Double ? DType::Float64
                                                     : DType::Complex128;
  state.add(t, false, true);
}

PyObject* f_result_type(PyObject*, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"tensor", "other", nullptr};
  PyObject *a, *b;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO:result_type", const_cast<char**>(names), &a, &b)) return nullptr;
  return guarded([&] {
    PromotionState state;
    add_operand(state, a);
    add_operand(state, b);
    return wrap_dtype(state.result());
  });
}

std::vector<int64_t> shape_from(PyObject* o) {
  if (!PyLong_Check(o)) return ints_from(o);
  const long long n = PyLong_AsLongLong(o);
  if (n == -1 && PyErr_Occurred()) throw PythonError();
  return {n};
}

PyObject* f_broadcast_shapes(PyObject*, PyObject* shapes) {
  return guarded([&] {
    std::vector<int64_t> out;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(shapes); ++i) {
      const std::vector<int64_t> shape = shape_from(PyTuple_GET_ITEM(shapes, i));
      for (int64_t size : shape)
        FL_CHECK_VALUE(size >= 0, "[broadcast_shapes] sizes are 0 or more, got ", size, " in shape ", IntList(shape));
      out = broadcast_shapes(out, shape, "broadcast_shapes");
    }
    return wrap_size(out);
  });
}

PyMethodDef functions[] = {
    {"result_type", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(f_result_type)), METH_VARARGS | METH_KEYWORDS,
     "result_type(tensor, other)\n--\n\n"
     "The dtype of arithmetic between two tensors or numbers. Raises TypeError for anything else."},
    {"broadcast_shapes", f_broadcast_shapes, METH_VARARGS,
     "broadcast_shapes(*shapes)\n--\n\n"
     "The shape that tensors of these shapes (each a tuple of sizes or one size) broadcast to.\n\n"
     "Raises RuntimeError where they do not fit each other, ValueError for a negative size."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_promotion(PyObject* module) { checked(PyModule_AddFunctions(module, functions)); }

}  // namespace flambeau::python
