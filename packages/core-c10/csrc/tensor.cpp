#include "flambeau/core/tensor.h"

#include <cstring>
#include <new>

#include "flambeau/core/python_hook.h"

namespace flambeau {
namespace {

using TensorFreeList = FreeList<TensorImpl, sizeof(TensorImpl)>;

TensorImpl* raw_tensor() { return new (TensorFreeList::take()) TensorImpl; }

KeySet backend_key(Device d) {
  switch (d.type) {
    case DeviceType::CPU: return key_bit(Key::CPU);
    case DeviceType::CUDA: return key_bit(Key::CUDA);
    case DeviceType::Meta: return key_bit(Key::Meta);
    case DeviceType::XPU: return key_bit(Key::XPU);
    case DeviceType::MPS: return key_bit(Key::MPS);
    default: return key_bit(Key::PrivateUse1);
  }
}

// An operator whose name is not known here is named by its caller (op_function.cpp).
std::string prefix_of(const char* op) { return *op ? concat("[", op, "] ") : ""; }

int64_t storage_bytes(IntList sizes, IntList strides, DType dtype, int64_t offset, const char* op) {
  int64_t last = offset;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    int64_t step = 0;
    FL_CHECK(!__builtin_mul_overflow(sizes[i] - 1, strides[i], &step) && !__builtin_add_overflow(last, step, &last),
             prefix_of(op), "sizes ", sizes, " with strides ", strides, " overflow the address space");
  }
  int64_t bytes = 0;
  FL_CHECK(!__builtin_add_overflow(last, int64_t{1}, &last) && !__builtin_mul_overflow(last, item_size(dtype), &bytes),
           prefix_of(op), "sizes ", sizes, " of ", dtype_name(dtype), " overflow the address space");
  return bytes;
}

Storage make_storage(int64_t bytes, Device device) {
  if (device.type == DeviceType::CPU) return new_storage(bytes);
  if (device.type == DeviceType::Meta) return new_meta_storage(bytes, device);
  FL_CHECK_NOT_IMPLEMENTED(false, "[empty] no allocator is registered for device '", to_string(device),
                           "'; available: cpu, meta");
}

void check_rank(size_t n) { FL_CHECK(n <= 255, "a tensor has at most 255 dimensions, got ", n); }

bool row_major(IntList sizes, IntList strides) {
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 1) continue;
    if (strides[i] != expected) return false;
    expected *= sizes[i];
  }
  return true;
}

void allocate_geometry(TensorImpl& t, size_t n) {
  if (t.heap_geometry && n != t.ndim) {
    delete[] t.heap_geometry;
    t.heap_geometry = nullptr;
  }
  if (n > TensorImpl::kInlineDims && !t.heap_geometry) t.heap_geometry = new int64_t[2 * n];
  t.ndim = static_cast<uint8_t>(n);
}

}  // namespace

AutogradMeta::~AutogradMeta() = default;

static thread_local Device tls_default_device{DeviceType::CPU, -1};
Device default_device() { return tls_default_device; }
void set_default_device(Device d) { tls_default_device = d; }

void destroy(TensorImpl* t) {
  if (FL_UNLIKELY(t->owns_pyobj)) {  // the object becomes the owner, and its death that of the tensor
    t->refs.value.store(1, std::memory_order_relaxed);
    t->owns_pyobj = false;
    return python_hooks.release_object(t->pyobj);
  }
  if (t->autograd) delete t->autograd;
  if (t->storage && t->storage->refs.dec()) destroy(t->storage);
  if (FL_UNLIKELY(t->heap_geometry != nullptr)) delete[] t->heap_geometry;
  if (FL_UNLIKELY(t->counts_apart)) Ref<VersionCounter>::steal(t->own_version);
  TensorImpl* base = t->base;
  TensorFreeList::give(t);
  if (base && base->refs.dec()) destroy(base);
}

int64_t checked_numel(IntList sizes, const char* op) {
  int64_t n = 1;
  bool empty = false, overflow = false;
  for (int64_t s : sizes) {
    FL_CHECK(s >= 0, prefix_of(op), "Trying to create tensor with negative dimension ", s, ": ", sizes);
    if (s == 0)
      empty = true;
    else
      overflow |= __builtin_mul_overflow(n, s, &n);
  }
  if (empty) return 0;
  FL_CHECK(!overflow, prefix_of(op), "sizes ", sizes, " overflow a 64-bit element count");
  return n;
}

std::vector<int64_t> contiguous_strides(IntList sizes) {
  std::vector<int64_t> s(sizes.size());
  int64_t acc = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    s[i] = acc;
    acc *= sizes[i] > 1 ? sizes[i] : 1;
  }
  return s;
}

void set_geometry(TensorImpl& t, IntList sizes, IntList strides, int64_t offset) {
  check_rank(sizes.size());
  // the lists may be this tensor's own
  int64_t copy[2 * TensorImpl::kInlineDims];
  std::vector<int64_t> heap;
  int64_t* tmp = copy;
  const size_t n = sizes.size();
  if (n > TensorImpl::kInlineDims) {
    heap.resize(2 * n);
    tmp = heap.data();
  }
  std::copy(sizes.begin(), sizes.end(), tmp);
  std::copy(strides.begin(), strides.end(), tmp + n);
  allocate_geometry(t, n);
  std::copy(tmp, tmp + n, t.sizes());
  std::copy(tmp + n, tmp + 2 * n, t.strides());
  t.offset = offset;
  int64_t numel = 1;
  for (size_t i = 0; i < n; ++i) numel *= tmp[i];
  t.numel = numel;
  t.contiguous = numel == 0 || row_major({tmp, n}, {tmp + n, n});
}

namespace {

TensorImpl* tensor_shell(DType dtype, Device device) {
  TensorImpl* t = raw_tensor();
  t->dtype = dtype;
  t->device = device;
  t->keys = backend_key(device);
  t->inference = dispatch_state().inference_mode;
  return t;
}

}  // namespace

Tensor empty(IntList sizes, TensorOptions options) {
  check_rank(sizes.size());
  const int64_t numel = checked_numel(sizes, "empty");
  int64_t bytes = 0;
  FL_CHECK(!__builtin_mul_overflow(numel, item_size(options.dtype), &bytes), "[empty] ", sizes, " of ",
           dtype_name(options.dtype), " overflows a 64-bit byte count");
  Tensor t = Tensor::steal(tensor_shell(options.dtype, options.device));
  TensorImpl& impl = *t.impl();
  impl.storage = make_storage(bytes, options.device).release();
  allocate_geometry(impl, sizes.size());
  int64_t acc = 1;
  int64_t *sz = impl.sizes(), *st = impl.strides();
  for (size_t i = sizes.size(); i-- > 0;) {
    sz[i] = sizes[i];
    st[i] = acc;
    acc *= sizes[i] > 1 ? sizes[i] : 1;
  }
  impl.numel = numel;
  return t;
}

Tensor empty_strided(IntList sizes, IntList strides, TensorOptions options) {
  FL_CHECK(sizes.size() == strides.size(), "[empty_strided] sizes ", sizes, " and strides ", strides,
           " must have the same length");
  for (int64_t s : strides) FL_CHECK(s >= 0, "[empty_strided] strides must not be negative, got ", strides);
  checked_numel(sizes, "empty_strided");
  const int64_t bytes = storage_bytes(sizes, strides, options.dtype, 0, "empty_strided");
  Tensor t = Tensor::steal(tensor_shell(options.dtype, options.device));
  t.impl()->storage = make_storage(bytes, options.device).release();
  set_geometry(*t.impl(), sizes, strides, 0);
  return t;
}

Tensor empty_same_contiguous(const TensorImpl& like, DType dtype) {
  if (FL_UNLIKELY(like.heap_geometry != nullptr || like.device.type != DeviceType::CPU))
    return empty({like.sizes(), like.ndim}, {dtype, like.device});
  TensorImpl* t = raw_tensor();
  Tensor owner = Tensor::steal(t);
  t->dtype = dtype;
  t->device = like.device;
  t->ndim = like.ndim;
  t->numel = like.numel;
  t->inference = dispatch_state().inference_mode;
  t->storage = new_storage(like.numel * item_size(dtype)).release();
  int64_t acc = 1;
  for (int i = like.ndim; i-- > 0;) {
    const int64_t s = like.inline_geometry[i];
    t->inline_geometry[i] = s;
    t->inline_geometry[TensorImpl::kInlineDims + i] = acc;
    acc *= s > 1 ? s : 1;
  }
  return owner;
}

Tensor empty_like(const Tensor& like, DType dtype) {
  if (like.is_contiguous()) return empty_same_contiguous(*like.impl(), dtype);
  const TensorOptions options{dtype, like.device()};
  if (like.is_non_overlapping_and_dense()) return empty_strided(like.sizes(), like.strides(), options);
  // dense in the order of the strides of `like`, as preserve_format asks
  const size_t n = like.sizes().size();
  std::vector<size_t> order(n);
  for (size_t i = 0; i < n; ++i) order[i] = n - 1 - i;
  for (size_t i = 1; i < n;
       ++i) {  // insertion sort by stride, inner first; stable, dims of stride 0 stay where they are
    for (size_t j = i; j > 0; --j) {
      const int64_t a = like.strides()[order[j - 1]], b = like.strides()[order[j]];
      if (a == 0 || b == 0) continue;
      if (a > b || (a == b && like.sizes()[order[j - 1]] > like.sizes()[order[j]]))
        std::swap(order[j - 1], order[j]);
      else
        break;
    }
  }
  std::vector<int64_t> strides(n);
  int64_t acc = 1;
  for (size_t d : order) {
    strides[d] = acc;
    acc *= like.sizes()[d] > 1 ? like.sizes()[d] : 1;
  }
  return empty_strided(like.sizes(), strides, options);
}

Tensor scalar_tensor(const Scalar& value, TensorOptions options) {
  Tensor t = empty({}, options);
  if (t.storage().data) store_scalar(t.data(), options.dtype, value);
  return t;
}

Tensor wrapped_number(const Scalar& value) {
  TensorImpl* t = tensor_shell(value.dtype(), {DeviceType::CPU, -1});
  t->wrapped_number = true;
  t->storage = new_storage(item_size(t->dtype)).release();
  store_scalar(t->data(), t->dtype, value);
  return Tensor::steal(t);
}

Tensor tensor_on_storage(Storage storage, DType dtype, IntList sizes, IntList strides, int64_t offset) {
  FL_CHECK(sizes.size() == strides.size(), "sizes ", sizes, " and strides ", strides, " must have the same length");
  FL_CHECK(offset >= 0, "storage offset must not be negative, got ", offset);
  checked_numel(sizes, "");
  for (int64_t s : strides)
    FL_CHECK(s >= 0, "as_strided: Negative strides are not supported at the moment, got strides: ", strides);
  const int64_t need = storage_bytes(sizes, strides, dtype, offset, "");
  FL_CHECK(need <= static_cast<int64_t>(storage->nbytes), "setStorage: sizes ", sizes, ", strides ", strides,
           ", storage offset ", offset, ", and itemsize ", item_size(dtype), " requiring a storage size of ", need,
           " are out of bounds for storage of size ", storage->nbytes);
  Tensor t = Tensor::steal(tensor_shell(dtype, storage->device));
  t.impl()->storage = storage.release();
  set_geometry(*t.impl(), sizes, strides, offset);
  return t;
}

namespace {

void share_version(TensorImpl& t, const Tensor& self) {
  if (FL_LIKELY(!self.impl()->counts_apart)) return;
  t.counts_apart = true;
  t.own_version = Ref<VersionCounter>::borrow(self.impl()->own_version).release();
}

}  // namespace

Tensor tensor_without_memory(IntList sizes, IntList strides, int64_t offset, TensorOptions options) {
  FL_CHECK(sizes.size() == strides.size(), "[_make_wrapper_subclass] sizes ", sizes, " and strides ", strides,
           " must have the same length");
  FL_CHECK(offset >= 0, "[_make_wrapper_subclass] storage_offset must not be negative, got ", offset);
  for (const int64_t s : strides)
    FL_CHECK(s >= 0, "[_make_wrapper_subclass] strides must not be negative, got ", strides);
  checked_numel(sizes, "_make_wrapper_subclass");
  storage_bytes(sizes, strides, options.dtype, offset, "_make_wrapper_subclass");
  Tensor t = Tensor::steal(tensor_shell(options.dtype, options.device));
  t.impl()->storage = borrow_storage(nullptr, 0, nullptr, [](void*) {}, options.device).release();
  storage_has_shrunk.store(true, std::memory_order_relaxed);  // from now on kernels look before they read
  set_geometry(*t.impl(), sizes, strides, offset);
  return t;
}

Tensor make_view_dtype(const Tensor& self, DType dtype, IntList sizes, IntList strides, int64_t offset) {
  Tensor t = tensor_on_storage(Storage::borrow(self.impl()->storage), dtype, sizes, strides, offset);
  TensorImpl& impl = *t.impl();
  impl.keys = self.keys() & ~key_bit(Key::Python);
  impl.inference = self.impl()->inference;  // also outside the mode, and a view of a normal tensor is one inside it
  share_version(impl, self);
  if (!impl.inference) {
    impl.view_without_grad = dispatch_state().no_grad || self.impl()->view_without_grad;
    if (impl.view_without_grad) impl.version_at_view = self.version();
    // A write through another view may give this one a history later, so views of differentiable types always pass
    // autograd.
    if (is_floating(dtype) || is_complex(dtype)) impl.keys |= key_bit(Key::Autograd);
    TensorImpl* base = self.impl()->base ? self.impl()->base : self.impl();
    base->refs.inc();
    impl.base = base;
  }
  return t;
}

Tensor make_view(const Tensor& self, IntList sizes, IntList strides, int64_t offset) {
  return make_view_dtype(self, self.dtype(), sizes, strides, offset);
}

Tensor alias_without_history(const Tensor& self) {
  TensorImpl* t = tensor_shell(self.dtype(), self.device());
  self.impl()->storage->refs.inc();
  t->storage = self.impl()->storage;
  t->keys = self.keys() & kBackendKeys;
  t->inference = self.impl()->inference;
  share_version(*t, self);
  set_geometry(*t, self.sizes(), self.strides(), self.storage_offset());
  return Tensor::steal(t);
}

void count_apart(TensorImpl& self, uint32_t value) {
  auto* counter = new VersionCounter;
  counter->value.store(value, std::memory_order_relaxed);
  if (self.counts_apart) Ref<VersionCounter>::steal(self.own_version);
  self.own_version = counter;
  self.counts_apart = true;
}

Tensor alias_unnoticed(const Tensor& self) {
  Tensor t = alias_without_history(self);
  count_apart(*t.impl(), 0);
  return t;
}

void Tensor::refuse_inference_write() {
  FL_CHECK(false,
           "Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a "
           "normal tensor before doing inplace update.");
  __builtin_unreachable();
}

void resize_(const Tensor& self, IntList sizes) {
  const int64_t numel = checked_numel(sizes, "resize_");
  if (sizes == self.sizes()) return;
  const std::vector<int64_t> strides = contiguous_strides(sizes);
  if (numel > 0) {
    const int64_t need = storage_bytes(sizes, strides, self.dtype(), self.storage_offset(), "resize_");
    if (need > static_cast<int64_t>(self.storage().nbytes)) resize_storage(self.storage(), need);
  }
  set_geometry(*self.impl(), sizes, strides, self.storage_offset());
}

void check_storage(const Tensor& t, const char* op) {
  const int64_t need = storage_bytes(t.sizes(), t.strides(), t.dtype(), t.storage_offset(), op);
  FL_CHECK(need <= static_cast<int64_t>(t.storage().nbytes), "[", op, "] a tensor of sizes ", t.sizes(), ", strides ",
           t.strides(), " and storage offset ", t.storage_offset(), " needs ", need,
           " bytes, but its storage was resized to ", t.storage().nbytes, ": resize the storage back before using it");
}

int64_t Tensor::size(int64_t d) const { return sizes()[wrap_dim(d, dim())]; }
int64_t Tensor::stride(int64_t d) const { return strides()[wrap_dim(d, dim())]; }

}  // namespace flambeau
