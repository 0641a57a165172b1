#pragma once
/// A block of bytes that tensors share, and the counter of writes to it.
//
// Note [Version counters]
// Autograd saves a tensor with the number of writes to it so far, and refuses to use it after another write. The
// counter lives in the storage, so that every view and every detached alias of a storage sees every write, at no cost.
// Writes through `.data` are the exception that programs rely on: nobody is to notice them. So the alias that `.data`
// gives has a VersionCounter of its own, and what is made from the alias shares that one. Assigning to `.data` gives
// the tensor such a counter too: its count goes on although its storage is another one.
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "flambeau/core/device.h"
#include "flambeau/core/intrusive.h"

namespace flambeau {

/// A counter of writes beside the storage's own; see Note [Version counters].
struct VersionCounter {
  RefCount refs;
  std::atomic<uint32_t> value{0};
};
inline void destroy(VersionCounter* c) { delete c; }

struct StorageImpl {
  static constexpr size_t kInlineBytes = 64;  // tensors this small live in the storage object itself

  RefCount refs;
  Device device{DeviceType::CPU, -1};
  bool resizable = true;
  bool read_only = false;  ///< memory mapped without write permission, or lent by a read-only buffer
  bool shared_memory = false;
  std::atomic<uint32_t> version{0};  ///< read and written through Tensor
  size_t nbytes = 0;
  char* data = nullptr;                      ///< null for meta storages
  void* context = nullptr;                   ///< argument of `deleter`
  void (*deleter)(void* context) = nullptr;  ///< null: the inline buffer or the caching allocator owns `data`
  void* pyobj = nullptr;
  alignas(64) char inline_bytes[kInlineBytes];
};

FL_API void destroy(StorageImpl* s);
using Storage = Ref<StorageImpl>;

/// New uninitialised CPU storage; `nbytes` must not be negative. Throws OutOfMemoryError.
FL_API Storage new_storage(int64_t nbytes);
/// A storage with a size but no memory, for meta tensors.
FL_API Storage new_meta_storage(int64_t nbytes, Device device = {DeviceType::Meta, -1});
/// Memory owned by somebody else; `deleter(context)` runs when the last tensor goes.
FL_API Storage borrow_storage(void* data, int64_t nbytes, void* context, void (*deleter)(void*),
                              Device device = {DeviceType::CPU, -1});
/// Grows or shrinks, keeping the common prefix. Throws RuntimeError where the storage is not resizable.
FL_API void resize_storage(StorageImpl& s, int64_t nbytes);
/// Set for good when a storage first shrinks: from then on a tensor may reach past the end of its storage, and calls
/// check theirs. Until then no call pays for it.
extern FL_API constinit std::atomic<bool> storage_has_shrunk;
/// Moves the bytes to memory that processes forked from this one share. Does nothing the second time.
FL_API void share_storage(StorageImpl& s);

}  // namespace flambeau
