#include "flambeau/core/storage.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

#include "flambeau/core/allocator.h"
#include "flambeau/core/error.h"

namespace flambeau {

constinit std::atomic<bool> storage_has_shrunk = false;

namespace {

using StorageList = FreeList<StorageImpl, sizeof(StorageImpl)>;

StorageImpl* raw_storage() { return new (StorageList::take()) StorageImpl; }

void free_data(StorageImpl& s) {
  if (s.deleter)
    s.deleter(s.context);
  else if (s.data && s.data != s.inline_bytes)
    deallocate(s.data, s.nbytes);
  s.data = nullptr;
}

}  // namespace

void destroy(StorageImpl* s) {
  free_data(*s);
  StorageList::give(s);
}

Storage new_storage(int64_t nbytes) {
  FL_CHECK(nbytes >= 0, "[storage] size must not be negative, got ", nbytes, " bytes");
  StorageImpl* s = raw_storage();
  s->nbytes = static_cast<size_t>(nbytes);
  if (FL_LIKELY(s->nbytes <= StorageImpl::kInlineBytes)) {
    s->data = s->inline_bytes;
    return Storage::steal(s);
  }
  Storage owner = Storage::steal(s);
  s->data = static_cast<char*>(allocate(s->nbytes));
  return owner;
}

Storage new_meta_storage(int64_t nbytes, Device device) {
  StorageImpl* s = raw_storage();
  s->nbytes = static_cast<size_t>(nbytes);
  s->device = device;
  s->data = nullptr;
  s->deleter = +[](void*) {};
  return Storage::steal(s);
}

Storage borrow_storage(void* data, int64_t nbytes, void* context, void (*deleter)(void*), Device device) {
  FL_CHECK(nbytes >= 0, "[storage] size must not be negative, got ", nbytes, " bytes");
  StorageImpl* s = raw_storage();
  s->nbytes = static_cast<size_t>(nbytes);
  s->data = static_cast<char*>(data);
  s->context = context;
  s->deleter = deleter;
  s->device = device;
  s->resizable = false;
  return Storage::steal(s);
}

void resize_storage(StorageImpl& s, int64_t nbytes) {
  FL_CHECK(nbytes >= 0, "[resize_] size must not be negative, got ", nbytes, " bytes");
  const size_t n = static_cast<size_t>(nbytes);
  if (n == s.nbytes) return;
  if (n < s.nbytes) storage_has_shrunk.store(true, std::memory_order_relaxed);
  if (s.device.type == DeviceType::Meta) {
    s.nbytes = n;
    return;
  }
  FL_CHECK(s.resizable, "Trying to resize storage that is not resizable: it is lent by another object");
  if (s.data == s.inline_bytes && n <= StorageImpl::kInlineBytes) {
    s.nbytes = n;
    return;
  }
  char* fresh = n <= StorageImpl::kInlineBytes ? s.inline_bytes : static_cast<char*>(allocate(n));
  std::memmove(fresh, s.data, n < s.nbytes ? n : s.nbytes);
  if (s.data && s.data != s.inline_bytes) deallocate(s.data, s.nbytes);
  s.data = fresh;
  s.nbytes = n;
}

namespace {

struct Mapping {
  void* address;
  size_t bytes;
};

}  // namespace

void share_storage(StorageImpl& s) {
  if (s.shared_memory || s.device.type != DeviceType::CPU) return;
  FL_CHECK(s.resizable, "[share_memory_] the storage cannot move: its memory is lent by or to another object");
  if (s.nbytes == 0) {
    s.shared_memory = true;
    return;
  }
  void* address = mmap(nullptr, s.nbytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  FL_CHECK(address != MAP_FAILED, "[share_memory_] the system refuses ", s.nbytes, " bytes of shared memory");
  std::memcpy(address, s.data, s.nbytes);
  free_data(s);
  s.data = static_cast<char*>(address);
  s.context = new Mapping{address, s.nbytes};
  s.deleter = [](void* context) {
    auto* m = static_cast<Mapping*>(context);
    munmap(m->address, m->bytes);
    delete m;
  };
  s.resizable = false;
  s.shared_memory = true;
}

}  // namespace flambeau
