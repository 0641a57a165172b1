#pragma once
/// Tensor: geometry over a storage. `Tensor` is one word; copying it counts a reference.
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "flambeau/core/device.h"
#include "flambeau/core/dtype.h"
#include "flambeau/core/error.h"
#include "flambeau/core/intrusive.h"
#include "flambeau/core/key_set.h"
#include "flambeau/core/scalar.h"
#include "flambeau/core/storage.h"

namespace flambeau {

class Tensor;

/// Borrowed list of sizes, strides or dims.
class IntList : public std::span<const int64_t> {
 public:
  using std::span<const int64_t>::span;
  IntList(std::initializer_list<int64_t> l) : std::span<const int64_t>(l.begin(), l.size()) {}
  IntList(std::span<const int64_t> s) : std::span<const int64_t>(s) {}
  IntList(const std::vector<int64_t>& v) : std::span<const int64_t>(v.data(), v.size()) {}
  std::vector<int64_t> vec() const { return {begin(), end()}; }
  friend bool operator==(IntList a, IntList b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i)
      if (a[i] != b[i]) return false;
    return true;
  }
};

/// What autograd keeps beside a tensor. The autograd package derives from it; core only reads these fields.
struct FL_API AutogradMeta {
  virtual ~AutogradMeta();
  bool requires_grad = false;  ///< asked for on a leaf
  bool has_grad_fn = false;    ///< result of a recorded operator
  /// The tensor was given elements of another dtype or device through `.data`.
  virtual void type_changed() {}
};

struct TensorImpl {
  static constexpr int kInlineDims = 6;

  RefCount refs;
  DType dtype = DType::Float32;
  Device device{DeviceType::CPU, -1};
  uint8_t ndim = 0;
  bool contiguous = true;              ///< row-major without gaps (sizes of 1 and empty tensors included)
  bool wrapped_number = false;         ///< made from a Python number: takes part weakly in type promotion
  bool inference : 1 = false;          ///< made in inference mode: no autograd, no version checks
  bool owns_pyobj : 1 = false;         ///< the Python object is kept alive by this tensor (see Note [Two-way identity])
  bool view_without_grad : 1 = false;  ///< a view that was made while the program had recording off
  bool counts_apart : 1 = false;       ///< writes are counted by own_version, not by the storage
  KeySet keys = key_bit(Key::CPU);
  StorageImpl* storage = nullptr;  ///< owned reference
  int64_t offset = 0;              ///< in elements
  int64_t numel = 1;
  TensorImpl* base = nullptr;        ///< owned reference; the tensor this one is a view of
  AutogradMeta* autograd = nullptr;  ///< owned
  void* pyobj = nullptr;             ///< PyObject*, borrowed unless owns_pyobj
  int64_t* heap_geometry = nullptr;  ///< sizes then strides when ndim > kInlineDims
  int64_t inline_geometry[2 * kInlineDims];
  VersionCounter* own_version;  ///< owned; set only where counts_apart
  uint32_t version_at_view;     ///< of the base when the view was made; set only where view_without_grad

  int64_t* sizes() { return heap_geometry ? heap_geometry : inline_geometry; }
  const int64_t* sizes() const { return heap_geometry ? heap_geometry : inline_geometry; }
  int64_t* strides() { return heap_geometry ? heap_geometry + ndim : inline_geometry + kInlineDims; }
  const int64_t* strides() const { return heap_geometry ? heap_geometry + ndim : inline_geometry + kInlineDims; }
  char* data() const { return storage->data + offset * item_size(dtype); }
};

FL_API void destroy(TensorImpl* t);

/// Where this thread's factory functions put tensors when no device is said.
FL_API Device default_device();
FL_API void set_default_device(Device d);

/// Dtype, device and layout of a tensor to be made.
struct TensorOptions {
  DType dtype = DType::Float32;
  Device device{DeviceType::CPU, -1};
};

class Tensor {
 public:
  Tensor() = default;
  static Tensor steal(TensorImpl* p) {
    Tensor t;
    t.impl_ = Ref<TensorImpl>::steal(p);
    return t;
  }
  static Tensor borrow(TensorImpl* p) {
    Tensor t;
    t.impl_ = Ref<TensorImpl>::borrow(p);
    return t;
  }

  TensorImpl* impl() const { return impl_.get(); }
  TensorImpl* release() { return impl_.release(); }
  bool defined() const { return static_cast<bool>(impl_); }
  bool is_same(const Tensor& o) const { return impl() == o.impl(); }

  int64_t dim() const { return impl()->ndim; }
  IntList sizes() const { return {impl()->sizes(), static_cast<size_t>(impl()->ndim)}; }
  IntList strides() const { return {impl()->strides(), static_cast<size_t>(impl()->ndim)}; }
  /// Negative dims count from the end. Throws IndexError out of range.
  FL_API int64_t size(int64_t d) const;
  FL_API int64_t stride(int64_t d) const;
  int64_t numel() const { return impl()->numel; }
  int64_t storage_offset() const { return impl()->offset; }
  DType dtype() const { return impl()->dtype; }
  int64_t itemsize() const { return item_size(impl()->dtype); }
  Device device() const { return impl()->device; }
  TensorOptions options() const { return {dtype(), device()}; }
  KeySet keys() const { return impl()->keys; }
  bool is_contiguous() const { return impl()->contiguous; }
  FL_API bool is_contiguous(MemoryFormat f) const;
  /// Every element of the storage span is addressed exactly once, in some order of dims.
  FL_API bool is_non_overlapping_and_dense() const;
  bool is_cpu() const { return impl()->device.type == DeviceType::CPU; }
  bool is_meta() const { return impl()->device.type == DeviceType::Meta; }
  bool is_floating_point() const { return is_floating(dtype()); }
  bool is_complex() const { return flambeau::is_complex(dtype()); }
  bool is_wrapped_number() const { return impl()->wrapped_number; }
  bool requires_grad() const {
    auto* a = impl()->autograd;
    return a && (a->requires_grad || a->has_grad_fn);
  }

  /// How many writes there were so far; see Note [Version counters].
  uint32_t version() const { return counter().load(std::memory_order_relaxed); }
  /// Counts a write. Throws RuntimeError for an inference tensor outside inference mode.
  void bump_version() const {
    check_may_write();
    counter().fetch_add(1, std::memory_order_relaxed);
  }
  /// Throws as bump_version does. Kernels that write ask before they touch memory.
  void check_may_write() const {
    if (FL_UNLIKELY(impl()->inference && !dispatch_state().inference_mode)) refuse_inference_write();
  }

  StorageImpl& storage() const { return *impl()->storage; }
  /// Address of the first element. Null only for empty or meta tensors.
  void* data() const { return impl()->data(); }
  template <class T> T* data_as() const { return reinterpret_cast<T*>(impl()->data()); }

 private:
  std::atomic<uint32_t>& counter() const {
    return FL_UNLIKELY(impl()->counts_apart) ? impl()->own_version->value : impl()->storage->version;
  }
  [[noreturn]] FL_API static void refuse_inference_write();

  Ref<TensorImpl> impl_;
};
static_assert(sizeof(Tensor) == sizeof(void*));

using TensorList = std::span<const Tensor>;

// --- making tensors -------------------------------------------------------------------------------------------------

/// Uninitialised row-major tensor. Checks sizes: negative or overflowing ones throw RuntimeError.
FL_API Tensor empty(IntList sizes, TensorOptions options);
FL_API Tensor empty_strided(IntList sizes, IntList strides, TensorOptions options);
/// Row-major, or dense in the stride order of `like` when that is non-overlapping and dense.
FL_API Tensor empty_like(const Tensor& like, DType dtype);
inline Tensor empty_like(const Tensor& like) { return empty_like(like, like.dtype()); }
/// Same geometry rule as empty_like for a row-major `like`, without checks: the hot path of pointwise operators.
FL_API Tensor empty_same_contiguous(const TensorImpl& like, DType dtype);
/// 0-d tensor that holds `value` in `dtype`.
FL_API Tensor scalar_tensor(const Scalar& value, TensorOptions options);
/// 0-d CPU tensor that takes part in type promotion as a Python number does.
FL_API Tensor wrapped_number(const Scalar& value);
/// A tensor over an existing storage. All geometry is checked against the storage's size.
FL_API Tensor tensor_on_storage(Storage storage, DType dtype, IntList sizes, IntList strides, int64_t offset);
/// A view: shares storage and version counter with `self`, records its base. Geometry is checked against the storage.
FL_API Tensor make_view(const Tensor& self, IntList sizes, IntList strides, int64_t offset);
FL_API Tensor make_view_dtype(const Tensor& self, DType dtype, IntList sizes, IntList strides, int64_t offset);
/// A new tensor on the same storage and version counter that is no view and carries no autograd history (detach).
FL_API Tensor alias_without_history(const Tensor& self);
/// The same with a version counter of its own (.data).
FL_API Tensor alias_unnoticed(const Tensor& self);
/// Gives `self` a version counter of its own that starts at `value`.
FL_API void count_apart(TensorImpl& self, uint32_t value);
/// Geometry without memory, for classes that handle every operator themselves. Kernels refuse it.
FL_API Tensor tensor_without_memory(IntList sizes, IntList strides, int64_t offset, TensorOptions options);
/// Makes `self` a row-major tensor of `sizes`, growing its storage when it is too small (resize_).
FL_API void resize_(const Tensor& self, IntList sizes);
/// Throws where the elements do not all lie in the storage, as after the storage was shrunk by hand.
FL_API void check_storage(const Tensor& t, const char* op);
FL_API void set_geometry(TensorImpl& t, IntList sizes, IntList strides, int64_t offset);

// --- geometry -------------------------------------------------------------------------------------------------------

/// Maps dim in [-ndim, ndim) to [0, ndim); a 0-d tensor has dims -1 and 0. Throws IndexError as torch does.
FL_API int64_t wrap_dim(int64_t dim, int64_t ndim);
FL_API std::vector<int64_t> contiguous_strides(IntList sizes);
/// Product with overflow check; throws RuntimeError. `op` names the caller in the message.
FL_API int64_t checked_numel(IntList sizes, const char* op);
/// numpy's broadcasting rule; throws RuntimeError naming both shapes and the dim.
FL_API std::vector<int64_t> broadcast_shapes(IntList a, IntList b, const char* op);
/// Whether two elements of the tensor share memory (expanded dims).
FL_API bool has_internal_overlap(const Tensor& t);
enum class Overlap { None, Full, Partial };
/// How the memory of `a` meets that of `b`. Full: same geometry on the same storage.
FL_API Overlap memory_overlap(const Tensor& a, const Tensor& b);
/// Element of a 0-d or one-element tensor.
FL_API Scalar item(const Tensor& t);
/// item() straight from memory: the kernel of the operator that modes and subclasses see.
FL_API Scalar read_scalar(const Tensor& t);
/// Element at an address / writing one, converting between any dtypes as `.item()` and `fill_` do.
FL_API Scalar load_scalar(const void* address, DType dtype);
FL_API void store_scalar(void* address, DType dtype, const Scalar& value);
FL_API std::string shape_string(IntList sizes);  ///< "[2, 3]"

}  // namespace flambeau
