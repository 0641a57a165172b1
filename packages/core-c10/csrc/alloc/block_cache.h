#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "size_class.h"

// The cache of whole mappings: blocks above 32 KB, and slabs. One bucket per size; a list over all of them in the order
// of their release serves decay, the cache limit and memory pressure. Nothing runs in the background: blocks that have
// been idle too long go at the next call that passes here. The cost of mapping them again is then small against the
// time that has passed.

namespace flambeau::alloc {

// Header of a cached block, kept in its first bytes.
struct CachedBlock {
  CachedBlock* older;  // neighbours in release order
  CachedBlock* newer;
  CachedBlock* next;  // neighbours in the bucket, most recent first
  CachedBlock* previous;
  std::size_t num_bytes;
  std::int64_t released_ns;
  unsigned bucket;
};

class BlockCache {
 public:
  static constexpr unsigned kSmallSlabBucket = kNumClasses;
  static constexpr unsigned kLargeSlabBucket = kNumClasses + 1;

  void configure();  // reads the environment and the machine's memory

  // A block of num_bytes, aligned to `alignment`; null if the system has no more even after everything cached is gone.
  void* acquire(unsigned bucket, std::size_t num_bytes, std::size_t alignment) noexcept;
  void release(unsigned bucket, void* block, std::size_t num_bytes) noexcept;

  void clear() noexcept;
  // Gives back what has been idle for too long; cheap when nothing has.
  void decay() noexcept {
    if (next_decay_ns_.load(std::memory_order_relaxed) <= now_ns()) decay_now();
  }

  std::size_t limit() const noexcept { return limit_.load(std::memory_order_relaxed); }
  void set_limit(std::size_t num_bytes) noexcept;
  void set_decay(double seconds) noexcept;

  std::atomic<std::uint64_t> reserved_bytes{0};
  std::atomic<std::uint64_t> peak_reserved_bytes{0};
  std::atomic<std::uint64_t> num_maps{0};
  std::atomic<std::uint64_t> num_unmaps{0};

  std::mutex mutex;  // held across fork()

 private:
  static constexpr std::int64_t kNever = INT64_MAX;

  static std::int64_t now_ns() noexcept;
  void* map(std::size_t num_bytes, std::size_t alignment) noexcept;
  void unmap(void* block, std::size_t num_bytes) noexcept;
  void unmap_all(CachedBlock* victims) noexcept;
  void decay_now() noexcept;

  // With the mutex held:
  void link(CachedBlock* block) noexcept;
  void unlink(CachedBlock* block) noexcept;
  CachedBlock* evict(CachedBlock* victims) noexcept;  // the oldest, put in front of victims
  CachedBlock* evict_expired(CachedBlock* victims) noexcept;
  CachedBlock* evict_above(std::size_t num_bytes, CachedBlock* victims) noexcept;

  CachedBlock* buckets_[kNumClasses + 2] = {};
  CachedBlock* oldest_ = nullptr;
  CachedBlock* newest_ = nullptr;
  std::size_t cached_bytes_ = 0;
  std::atomic<std::size_t> limit_{0};
  std::size_t pressure_bytes_ = SIZE_MAX;  // above this much reserved, cached blocks go before new ones are mapped
  std::int64_t decay_ns_ = 5'000'000'000;
  std::atomic<std::int64_t> next_decay_ns_{kNever};
};

}  // namespace flambeau::alloc
