#pragma once

#include <mutex>

#include "block_cache.h"

// Small blocks, cut from slabs of one size class each. A slab whose blocks are all free goes to the block cache, and
// from there back to the system.

namespace flambeau::alloc {

// A free block's first word leads to the next one.
struct FreeBlock {
  FreeBlock* next;
};

// In the first 64 bytes of a slab; blocks follow. Blocks never used lie beyond `num_cut`, so their pages stay
// untouched.
struct alignas(64) Slab {
  Slab* next;
  Slab* previous;
  FreeBlock* free;
  unsigned num_used;
  unsigned num_cut;
  bool listed;  // has room, and is in its class's list
};

class SlabClass {
 public:
  // Up to `count` blocks as a list; sets count to how many there are. Null if the system has no memory.
  FreeBlock* take(BlockCache& cache, unsigned size_class, unsigned& count) noexcept;
  // Takes back the first `count` blocks of a list; returns the rest.
  FreeBlock* give(BlockCache& cache, unsigned size_class, FreeBlock* blocks, unsigned count) noexcept;

  std::mutex mutex;  // held across fork()

 private:
  Slab* new_slab(BlockCache& cache, unsigned size_class) noexcept;
  void push(Slab* slab) noexcept;
  void remove(Slab* slab) noexcept;

  Slab* with_room_ = nullptr;
};

}  // namespace flambeau::alloc
