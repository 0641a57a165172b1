#include "slabs.h"

namespace flambeau::alloc {

namespace {

unsigned slab_bucket(unsigned size_class) {
  return slab_bytes(size_class) == slab_bytes(0) ? BlockCache::kSmallSlabBucket : BlockCache::kLargeSlabBucket;
}

unsigned capacity(unsigned size_class) {
  return static_cast<unsigned>((slab_bytes(size_class) - sizeof(Slab)) / size_of_class(size_class));
}

FreeBlock* cut_block(Slab* slab, unsigned size_class) {
  char* first = reinterpret_cast<char*>(slab + 1);
  return reinterpret_cast<FreeBlock*>(first + size_of_class(size_class) * slab->num_cut++);
}

Slab* slab_of(void* block, unsigned size_class) {
  return reinterpret_cast<Slab*>(reinterpret_cast<std::uintptr_t>(block) & ~(slab_bytes(size_class) - 1));
}

}  // namespace

void SlabClass::push(Slab* slab) noexcept {
  slab->next = with_room_;
  slab->previous = nullptr;
  if (with_room_ != nullptr) with_room_->previous = slab;
  with_room_ = slab;
  slab->listed = true;
}

void SlabClass::remove(Slab* slab) noexcept {
  if (slab->next != nullptr) slab->next->previous = slab->previous;
  (slab->previous != nullptr ? slab->previous->next : with_room_) = slab->next;
  slab->listed = false;
}

Slab* SlabClass::new_slab(BlockCache& cache, unsigned size_class) noexcept {
  const std::size_t bytes = slab_bytes(size_class);
  void* memory = cache.acquire(slab_bucket(size_class), bytes, bytes);
  if (memory == nullptr) return nullptr;
  Slab* slab = static_cast<Slab*>(memory);
  slab->free = nullptr;
  slab->num_used = 0;
  slab->num_cut = 0;
  push(slab);
  return slab;
}

FreeBlock* SlabClass::take(BlockCache& cache, unsigned size_class, unsigned& count) noexcept {
  const std::lock_guard lock(mutex);
  const unsigned room = capacity(size_class);
  FreeBlock* blocks = nullptr;
  unsigned taken = 0;
  while (taken < count) {
    Slab* slab = with_room_;
    if (slab == nullptr) {
      if (taken != 0) break;  // some are enough: do not map more for the sake of a full batch
      slab = new_slab(cache, size_class);
      if (slab == nullptr) break;
    }
    while (taken < count && slab->num_used < room) {
      FreeBlock* block = slab->free;
      if (block != nullptr) {
        slab->free = block->next;
      } else {
        block = cut_block(slab, size_class);
      }
      block->next = blocks;
      blocks = block;
      ++slab->num_used;
      ++taken;
    }
    if (slab->num_used == room) remove(slab);
  }
  count = taken;
  return blocks;
}

FreeBlock* SlabClass::give(BlockCache& cache, unsigned size_class, FreeBlock* blocks, unsigned count) noexcept {
  const std::lock_guard lock(mutex);
  for (; count != 0 && blocks != nullptr; --count) {
    FreeBlock* block = blocks;
    blocks = blocks->next;
    Slab* slab = slab_of(block, size_class);
    block->next = slab->free;
    slab->free = block;
    if (!slab->listed) push(slab);
    if (--slab->num_used == 0) {
      remove(slab);
      cache.release(slab_bucket(size_class), slab, slab_bytes(size_class));
    }
  }
  return blocks;
}

}  // namespace flambeau::alloc
