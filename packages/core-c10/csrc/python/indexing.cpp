// x[...] and x[...] = v. Basic indices become views through the dispatcher; tensors, lists and masks become one
// `index`.
#include "creation.h"
#include "flambeau/python/parser.h"
#include "tensor_type.h"

namespace flambeau::python {

namespace {

const Operator& op_named(const char* name) { return get_operator("aten", name); }

struct Ops {
  const Operator& select = op_named("select.int");
  const Operator& slice = op_named("slice.Tensor");
  const Operator& unsqueeze = op_named("unsqueeze");
  const Operator& alias = op_named("alias");
};
const Ops& ops() {
  static const Ops o;
  return o;
}

const Operator& needs_kernels(const char* name) {
  const Operator* op = find_operator("aten", name);
  FL_CHECK(
      op,
      "indexing with tensors, lists or masks and assignment need flambeau-aten-kernels, which is not installed: pip install flambeau-aten-kernels");
  return *op;
}

bool is_index_sequence(PyObject* o) { return PyList_Check(o) || (PyTuple_Check(o)); }

// A list stands for a tuple of indices when it holds slices, Ellipsis, None, sequences or tensors (NumPy's old rule,
// which torch keeps for short lists); otherwise it is an integer array.
bool stands_for_tuple(PyObject* index) {
  if (PyTuple_Check(index)) return true;
  if (!PyList_Check(index) || PyList_GET_SIZE(index) >= 32) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(index); ++i) {
    PyObject* o = PyList_GET_ITEM(index, i);
    if (is_tensor(o) || PySequence_Check(o) || PySlice_Check(o) || o == Py_Ellipsis || o == Py_None) return true;
  }
  return false;
}
std::vector<PyObject*> unpack(PyObject* index) {
  if (stands_for_tuple(index))
    return {PySequence_Fast_ITEMS(index), PySequence_Fast_ITEMS(index) + PySequence_Fast_GET_SIZE(index)};
  return {index};
}

// Dimensions an index takes from the tensor.
int64_t consumed(PyObject* o) {
  if (o == Py_None || o == Py_Ellipsis || PyBool_Check(o)) return 0;
  if (is_tensor(o)) {
    const DType t = impl_of(o)->dtype;
    return t == DType::Bool || t == DType::UInt8 ? impl_of(o)->ndim : 1;
  }
  return 1;
}

std::optional<int64_t> slice_bound(PyObject* o) {
  if (o == Py_None) return std::nullopt;
  Owned index(PyNumber_Index(o));
  if (!index) throw PythonError();
  int overflow = 0;
  const long long v = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  return overflow > 0 ? INT64_MAX : overflow < 0 ? INT64_MIN / 2 : static_cast<int64_t>(v);
}

bool is_plain_int(PyObject* o) {
  if (PyLong_Check(o)) return !PyBool_Check(o);
  return PyIndex_Check(o) && !is_tensor(o) && !PyBool_Check(o) && !PyObject_CheckBuffer(o);
}

int64_t to_index(PyObject* o) {
  Owned i(PyNumber_Index(o));
  if (!i) throw PythonError();
  const long long v = PyLong_AsLongLong(i.get());
  if (v == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    FL_CHECK_INDEX(false, "index does not fit 64 bits");
  }
  return v;
}

struct Parsed {
  Tensor view;                  // after every basic index
  std::vector<Tensor> indices;  // undefined where the whole dimension is taken
  bool advanced = false;
};

Tensor bool_index(bool v) { return scalar_tensor(Scalar(v), {DType::Bool, {}}); }

Tensor index_tensor(PyObject* o) {
  if (is_tensor(o)) return tensor_of(o);
  Tensor t = tensor_from_data(o, std::nullopt, {DeviceType::CPU, -1}, true);
  if (t.numel() == 0 && is_floating(t.dtype())) return empty(t.sizes(), {DType::Int64, {}});
  return t;
}

void put(Parsed& p, int64_t dim, Tensor t) {
  if (static_cast<int64_t>(p.indices.size()) <= dim) p.indices.resize(static_cast<size_t>(dim) + 1);
  p.indices[static_cast<size_t>(dim)] = std::move(t);
  p.advanced = true;
}

Parsed parse_index(const Tensor& self, PyObject* index) {
  Parsed p;
  p.view = self;
  const std::vector<PyObject*> items = unpack(index);
  int64_t used = 0;
  for (PyObject* o : items) used += consumed(o);
  FL_CHECK_INDEX(used <= self.dim(), "too many indices for tensor of dimension ", self.dim());
  int64_t dim = 0;
  for (PyObject* o : items) {
    // a second ellipsis skips as many dims as the first: torch takes one where nothing follows it
    FL_CHECK_INDEX(dim < p.view.dim() || (dim == p.view.dim() && consumed(o) == 0) || o == Py_Ellipsis,
                   "too many indices for tensor of dimension ", self.dim());
    if (is_plain_int(o)) {
      const int64_t i = to_index(o), n = p.view.sizes()[dim];
      FL_CHECK_INDEX(i >= -n && i < n, "index ", i, " is out of bounds for dimension ", dim, " with size ", n);
      p.view = call<Tensor>(ops().select, p.view, dim, i);
    } else if (PySlice_Check(o)) {
      auto* s = reinterpret_cast<PySliceObject*>(o);
      const auto start = slice_bound(s->start), stop = slice_bound(s->stop), step = slice_bound(s->step);
      FL_CHECK_VALUE(step.value_or(1) > 0, "step must be greater than zero");
      if (start.value_or(0) != 0 || stop || step.value_or(1) != 1)
        p.view = call<Tensor>(ops().slice, p.view, dim, start, stop, step.value_or(1));
      ++dim;
    } else if (o == Py_Ellipsis) {
      dim = std::min(dim + self.dim() - used, p.view.dim());
    } else if (o == Py_None) {
      p.view = call<Tensor>(ops().unsqueeze, p.view, dim++);
    } else if (PyBool_Check(o)) {
      p.view = call<Tensor>(ops().unsqueeze, p.view, dim);
      put(p, dim++, bool_index(o == Py_True));
    } else {
      FL_CHECK_INDEX(
          is_tensor(o) || is_index_sequence(o) || PyObject_CheckBuffer(o) || PyRange_Check(o) || PySequence_Check(o),
          "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got ",
          Py_TYPE(o)->tp_name, ")");
      FL_CHECK_INDEX(
          !PyUnicode_Check(o),
          "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got str)");
      Tensor t = index_tensor(o);
      if (t.dim() == 0 && is_integral(t.dtype(), false) && t.dtype() != DType::UInt8 && t.is_cpu()) {
        const int64_t i = item(t).to_int(), n = p.view.sizes()[dim];
        FL_CHECK_INDEX(i >= -n && i < n, "index ", i, " is out of bounds for dimension ", dim, " with size ", n);
        p.view = call<Tensor>(ops().select, p.view, dim, i);
        continue;
      }
      if (t.dim() == 0 && t.dtype() == DType::Bool) {  // a 0-d mask adds a dimension, as True and False do
        p.view = call<Tensor>(ops().unsqueeze, p.view, dim);
        put(p, dim++, t);
        continue;
      }
      const int64_t n = t.dtype() == DType::Bool || t.dtype() == DType::UInt8 ? std::max<int64_t>(t.dim(), 1) : 1;
      put(p, dim, std::move(t));
      dim += n;
      if (static_cast<int64_t>(p.indices.size()) < dim && n > 1) p.indices.resize(p.indices.size());
    }
  }
  return p;
}

// A mask stands for as many index tensors as it has dimensions; `index` expands it, so the list shrinks by the others.
std::vector<Tensor> compact(const Parsed& p) {
  std::vector<Tensor> out;
  for (size_t i = 0; i < p.indices.size(); ++i) {
    out.push_back(p.indices[i]);
    const Tensor& t = p.indices[i];
    if (t.defined() && (t.dtype() == DType::Bool || t.dtype() == DType::UInt8) && t.dim() > 1)
      i += static_cast<size_t>(t.dim() - 1);
  }
  return out;
}

PyObject* override_call(PyObject* self, const char* method, PyObject* a, PyObject* b) {
  Owned func(checked(PyObject_GetAttrString(reinterpret_cast<PyObject*>(TensorType), method)));
  PyObject* overloaded[1] = {self};
  PyObject* const args[3] = {self, a, b};
  return call_torch_function(func.get(), overloaded, 1, args, b ? 3 : 2, nullptr);
}

// Leading dims of size 1 that the target does not have are dropped, as torch does for assignment.
Tensor fit_value(const Tensor& value, IntList target) {
  int64_t drop = 0;
  while (value.dim() - drop > static_cast<int64_t>(target.size()) && value.sizes()[drop] == 1) ++drop;
  if (drop == 0) return value;
  return call<Tensor>(
      op_named("view"),
      value.is_contiguous() ? value : call<Tensor>(op_named("contiguous"), value, MemoryFormat::Contiguous),
      value.sizes().subspan(static_cast<size_t>(drop)));
}

}  // namespace

PyObject* tensor_getitem(PyObject* self, PyObject* index) {
  return guarded([&]() -> PyObject* {
    if (FL_UNLIKELY(has_torch_function(self))) return override_call(self, "__getitem__", index, nullptr);
    const Tensor& t = tensor_of(self);
    if (FL_LIKELY(PyLong_CheckExact(index))) {  // the common case, without a list
      FL_CHECK_INDEX(
          t.dim() > 0,
          "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a number");
      const int64_t i = to_index(index), n = t.sizes()[0];
      FL_CHECK_INDEX(i >= -n && i < n, "index ", i, " is out of bounds for dimension 0 with size ", n);
      return wrap(call<Tensor>(ops().select, t, int64_t{0}, i));
    }
    Parsed p = parse_index(t, index);
    if (!p.advanced) return wrap(p.view.is_same(t) ? call<Tensor>(ops().alias, t) : std::move(p.view));
    const std::vector<Tensor> indices = compact(p);
    return wrap(call<Tensor>(needs_kernels("index.Tensor"), p.view, TensorList(indices)));
  });
}

int tensor_setitem(PyObject* self, PyObject* index, PyObject* value) {
  return guarded_int([&] {
    FL_CHECK_TYPE(value, "Tensor does not support deleting items");
    if (FL_UNLIKELY(has_torch_function(self))) {
      Owned r(override_call(self, "__setitem__", index, value));
      checked(r.get());
      return 0;
    }
    const Tensor& t = tensor_of(self);
    Parsed p = parse_index(t, index);
    const bool number = !is_tensor(value) && is_number(value);
    if (!p.advanced) {
      if (number) {
        const ScalarValue s(scalar_from(value));
        const Value args[2] = {Value(p.view), s.value};
        Value r;
        dispatch(needs_kernels("fill_.Scalar"), args, &r);
        release_result(r);
        return 0;
      }
      const Tensor v =
          is_tensor(value) ? tensor_of(value) : tensor_from_data(value, t.dtype(), {DeviceType::CPU, -1}, true);
      call<Tensor>(needs_kernels("copy_"), p.view, fit_value(v, p.view.sizes()), false);
      return 0;
    }
    Tensor v = number             ? scalar_tensor(scalar_from(value), {t.dtype(), t.device()})
               : is_tensor(value) ? tensor_of(value)
                                  : tensor_from_data(value, t.dtype(), {DeviceType::CPU, -1}, true);
    const std::vector<Tensor> indices = compact(p);
    call<Tensor>(needs_kernels("index_put_"), p.view, TensorList(indices), v, false);
    return 0;
  });
}

}  // namespace flambeau::python
