// DLPack: memory shared with other libraries through capsules, both the versioned form and the old one.
#include <cstring>

#include "creation.h"
#include "tensor_type.h"

namespace flambeau::python {

namespace {

// The ABI of the DLPack standard.
struct DLDevice {
  int32_t type;
  int32_t id;
};
struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor tensor;
  void* context;
  void (*deleter)(DLManagedTensor* self);
};
struct DLManagedTensorVersioned {
  struct {
    uint32_t major, minor;
  } version;
  void* context;
  void (*deleter)(DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor tensor;
};
constexpr uint64_t kReadOnly = 1;
constexpr int32_t kCpu = 1;

struct NamedType {
  DType dtype;
  uint8_t code, bits;
};
constexpr NamedType kTypes[] = {
    {DType::Int8, 0, 8},
    {DType::Int16, 0, 16},
    {DType::Int32, 0, 32},
    {DType::Int64, 0, 64},
    {DType::UInt8, 1, 8},
    {DType::UInt16, 1, 16},
    {DType::UInt32, 1, 32},
    {DType::UInt64, 1, 64},
    {DType::Float16, 2, 16},
    {DType::Float32, 2, 32},
    {DType::Float64, 2, 64},
    {DType::BFloat16, 4, 16},
    {DType::Complex32, 5, 32},
    {DType::Complex64, 5, 64},
    {DType::Complex128, 5, 128},
    {DType::Bool, 6, 8},
    {DType::Float8_e4m3fn, 10, 8},
    {DType::Float8_e4m3fnuz, 11, 8},
    {DType::Float8_e5m2, 12, 8},
    {DType::Float8_e5m2fnuz, 13, 8},
    {DType::Float8_e8m0fnu, 14, 8},
};

DLDataType dl_type(DType t) {
  for (const NamedType& n : kTypes)
    if (n.dtype == t) return {n.code, n.bits, 1};
  FL_CHECK(false, "[to_dlpack] DLPack has no type for ", dtype_name(t));
  __builtin_unreachable();
}

DType from_dl_type(DLDataType t) {
  FL_CHECK(t.lanes == 1, "[from_dlpack] elements of several lanes are not supported, got ", t.lanes);
  for (const NamedType& n : kTypes)
    if (n.code == t.code && n.bits == t.bits) return n.dtype;
  FL_CHECK(false, "[from_dlpack] unsupported element type: code ", int(t.code), ", ", int(t.bits), " bits");
  __builtin_unreachable();
}

// What a capsule owns: the tensor and the geometry that the standard's struct points at.
template <class Managed> struct Export {
  Managed managed;
  Tensor tensor;
  std::vector<int64_t> shape, strides;
};

template <class Managed> Managed* export_tensor(const Tensor& t) {
  check_storage(t, "dlpack");
  auto* e = new Export<Managed>{};
  e->tensor = alias_without_history(t);  // holds the memory, whatever `t` is given later
  e->shape = t.sizes().vec();
  e->strides = t.strides().vec();
  for (size_t i = 0; i < e->shape.size(); ++i)
    if (e->shape[i] < 2) e->strides[i] = 1;  // consumers may take odd strides of such dims for a transposition
  t.storage().resizable = false;             // the consumer keeps the address
  DLTensor& d = e->managed.tensor;
  d.data = t.numel() ? t.data() : nullptr;
  d.device = {kCpu, 0};
  d.ndim = static_cast<int32_t>(t.dim());
  d.dtype = dl_type(t.dtype());
  d.shape = e->shape.data();
  d.strides = e->strides.data();
  d.byte_offset = 0;
  e->managed.context = e;
  e->managed.deleter = [](Managed* m) { delete static_cast<Export<Managed>*>(m->context); };
  return &e->managed;
}

// An unconsumed capsule still owns its tensor.
template <class Managed> void drop_capsule(PyObject* capsule) {
  for (const char* name : {"dltensor", "dltensor_versioned"})
    if (PyCapsule_IsValid(capsule, name)) {
      auto* m = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
      if (m && m->deleter) m->deleter(m);
    }
}

PyObject* f_to_dlpack(PyObject*, PyObject* args) {
  PyObject* tensor;
  int versioned = 0;
  if (!PyArg_ParseTuple(args, "O|p:_to_dlpack", &tensor, &versioned)) return nullptr;
  return guarded([&]() -> PyObject* {
    FL_CHECK_TYPE(is_tensor(tensor), "to_dlpack needs a Tensor, got ", Py_TYPE(tensor)->tp_name);
    const Tensor& t = tensor_of(tensor);
    FL_CHECK(t.is_cpu(), "[to_dlpack] only CPU tensors can be exported, got one on ", to_string(t.device()));
    dl_type(t.dtype());
    if (!versioned) return PyCapsule_New(export_tensor<DLManagedTensor>(t), "dltensor", drop_capsule<DLManagedTensor>);
    auto* m = export_tensor<DLManagedTensorVersioned>(t);
    m->version = {1, 1};
    m->flags = t.storage().read_only ? kReadOnly : 0;
    return PyCapsule_New(m, "dltensor_versioned", drop_capsule<DLManagedTensorVersioned>);
  });
}

template <class Managed> Tensor import_tensor(Managed* m, bool read_only) {
  struct Guard {
    Managed* m;
    ~Guard() {
      if (m && m->deleter) m->deleter(m);
    }
  } guard{m};
  const DLTensor& d = m->tensor;
  FL_CHECK(d.device.type == kCpu, "[from_dlpack] only CPU memory can be imported, got DLPack device type ",
           d.device.type);
  FL_CHECK(d.ndim >= 0 && d.ndim <= 255, "[from_dlpack] ", d.ndim, " dimensions are out of range");
  const DType dtype = from_dl_type(d.dtype);
  const std::vector<int64_t> sizes(d.shape, d.shape + d.ndim);
  std::vector<int64_t> strides =
      d.strides ? std::vector<int64_t>(d.strides, d.strides + d.ndim) : contiguous_strides(sizes);
  const int64_t numel = checked_numel(sizes, "from_dlpack");
  int64_t last = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] <= 1 && strides[i] < 0) strides[i] = 1;
    FL_CHECK(strides[i] >= 0, "[from_dlpack] negative strides are not supported, got ", strides);
    int64_t step = 0;
    FL_CHECK(numel == 0 || (!__builtin_mul_overflow(sizes[i] - 1, strides[i], &step) &&
                            !__builtin_add_overflow(last, step, &last)),
             "[from_dlpack] strides ", strides, " overflow");
  }
  const int64_t bytes = numel == 0 ? 0 : (last + 1) * item_size(dtype);
  guard.m = nullptr;
  Storage s = borrow_storage(static_cast<char*>(d.data) + d.byte_offset, bytes, m, [](void* context) {
    auto* managed = static_cast<Managed*>(context);
    if (managed->deleter && Py_IsInitialized()) {
      AcquireGil gil;  // producers may touch Python objects
      managed->deleter(managed);
    }
  });
  s->read_only = read_only;
  return tensor_on_storage(std::move(s), dtype, sizes, strides, 0);
}

PyObject* f_from_dlpack(PyObject*, PyObject* capsule) {
  return guarded([&]() -> PyObject* {
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
      auto* m = static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
      FL_CHECK(m->version.major == 1, "[from_dlpack] DLPack version ", m->version.major, ".", m->version.minor,
               " is not supported; allowed: 1.x");
      checked(PyCapsule_SetName(capsule, "used_dltensor_versioned"));
      return wrap(import_tensor(m, m->flags & kReadOnly));
    }
    FL_CHECK(PyCapsule_IsValid(capsule, "dltensor"),
             "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so you "
             "might have already constructed a "
             "tensor from it once.");
    auto* m = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor"));
    checked(PyCapsule_SetName(capsule, "used_dltensor"));
    return wrap(import_tensor(m, false));
  });
}

PyMethodDef functions[] = {
    {"_to_dlpack", f_to_dlpack, METH_VARARGS, "A capsule that shares the tensor's memory."},
    {"_from_dlpack", f_from_dlpack, METH_O, "A tensor over the memory of a capsule, which is used up."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_dlpack(PyObject* module) { checked(PyModule_AddFunctions(module, functions)); }

}  // namespace flambeau::python
