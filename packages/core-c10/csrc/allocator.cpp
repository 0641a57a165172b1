#include "flambeau/core/allocator.h"

#include <pthread.h>

#include <cstdlib>
#include <new>

#include "alloc/block_cache.h"
#include "alloc/slabs.h"
#include "flambeau/core/error.h"

// Three levels: a cache per thread for blocks up to 32 KB, without locks or atomic read-modify-writes (the path of a
// small tensor, a few ns); slabs per size class, under a lock each; and the cache of whole mappings.
//
// Counters are kept per thread and added to the process's when they have moved by more than 64 KB, so a peak may be
// reported low by at most that much per thread. Current figures are exact when no other thread is at work.

namespace flambeau {

namespace alloc {
namespace {

constexpr std::int64_t kUnreportedLimit = 65536;
constexpr std::uint64_t kTickMask = 1023;  // every so many small allocations a thread looks for expired blocks

struct Bin {
  FreeBlock* blocks = nullptr;
  unsigned count = 0;
};

// Owned by one thread; others only read the counters and set flush_wanted.
struct alignas(64) ThreadCache {
  std::atomic<bool> flush_wanted{false};
  std::atomic<std::int64_t> unreported_bytes{0};  // allocated minus freed, since the last report
  std::atomic<std::uint64_t> num_allocs{0};
  std::atomic<std::uint64_t> num_frees{0};
  ThreadCache* next = nullptr;  // in the registry
  ThreadCache* previous = nullptr;
  Bin bins[kNumSmallClasses];
};

// A counter that only its owner writes: a plain add, readable by others.
template <class T> T bump(std::atomic<T>& counter, T by) {
  const T value = counter.load(std::memory_order_relaxed) + by;
  counter.store(value, std::memory_order_relaxed);
  return value;
}

struct State {
  State();

  BlockCache cache;
  SlabClass slabs[kNumSmallClasses];

  std::mutex registry_mutex;
  ThreadCache* threads = nullptr;

  std::atomic<std::int64_t> allocated_bytes{0};
  std::atomic<std::int64_t> peak_allocated_bytes{0};
  std::atomic<std::uint64_t> num_allocs{0};  // of threads that have ended, and of blocks above 32 KB
  std::atomic<std::uint64_t> num_frees{0};

  void report(std::int64_t delta) noexcept {
    const std::int64_t now = allocated_bytes.fetch_add(delta, std::memory_order_relaxed) + delta;
    std::int64_t peak = peak_allocated_bytes.load(std::memory_order_relaxed);
    while (peak < now && !peak_allocated_bytes.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {}
  }
};

// Never destroyed: blocks are freed until the very end of the process. Created on first use, whatever the order of
// initialisation.
State& state() {
  alignas(State) static char storage[sizeof(State)];
  static State* instance = new (storage) State;
  return *instance;
}

// initial-exec: one instruction instead of a call, at the price of a few bytes of the static TLS reserve.
[[gnu::tls_model("initial-exec")]] thread_local ThreadCache* t_cache = nullptr;
[[gnu::tls_model("initial-exec")]] thread_local bool t_ended = false;

void unregister(State& s, ThreadCache* cache) {
  if (cache->next != nullptr) cache->next->previous = cache->previous;
  (cache->previous != nullptr ? cache->previous->next : s.threads) = cache->next;
  s.report(cache->unreported_bytes.load(std::memory_order_relaxed));
  s.num_allocs.fetch_add(cache->num_allocs.load(std::memory_order_relaxed), std::memory_order_relaxed);
  s.num_frees.fetch_add(cache->num_frees.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

void flush(State& s, ThreadCache& cache) noexcept {
  cache.flush_wanted.store(false, std::memory_order_relaxed);
  for (unsigned c = 0; c < kNumSmallClasses; ++c) {
    Bin& bin = cache.bins[c];
    if (bin.count == 0) continue;
    s.slabs[c].give(s.cache, c, bin.blocks, bin.count);
    bin = Bin{};
  }
}

// Gives a thread's blocks back when it ends. Blocks freed after that, by later destructors, bypass the cache.
struct EndOfThread {
  bool armed = false;
  ~EndOfThread() {
    ThreadCache* cache = t_cache;
    t_ended = true;
    t_cache = nullptr;
    if (cache == nullptr) return;
    State& s = state();
    flush(s, *cache);
    {
      const std::lock_guard lock(s.registry_mutex);
      unregister(s, cache);
    }
    cache->~ThreadCache();
    std::free(cache);
  }
};
thread_local EndOfThread t_end_of_thread;

// Null when the thread is ending, or when there is no memory for the cache itself.
[[gnu::cold, gnu::noinline]] ThreadCache* make_thread_cache() noexcept {
  if (t_ended) return nullptr;
  void* memory = std::aligned_alloc(alignof(ThreadCache), sizeof(ThreadCache));
  if (memory == nullptr) return nullptr;
  ThreadCache* cache = new (memory) ThreadCache;
  t_end_of_thread.armed = true;  // touching it registers the destructor
  State& s = state();
  const std::lock_guard lock(s.registry_mutex);
  cache->next = s.threads;
  if (s.threads != nullptr) s.threads->previous = cache;
  s.threads = cache;
  t_cache = cache;
  return cache;
}

// fork() copies one thread. Its locks must be free in the child, so the parent takes them all first. The caches of the
// other threads may be caught half-way through a change: they are forgotten, and their blocks, at most about 2 MB each,
// stay allocated in the child.
void before_fork() {
  State& s = state();
  s.registry_mutex.lock();
  for (SlabClass& slabs : s.slabs) slabs.mutex.lock();
  s.cache.mutex.lock();
}

void after_fork_parent() {
  State& s = state();
  s.cache.mutex.unlock();
  for (unsigned c = kNumSmallClasses; c-- != 0;) s.slabs[c].mutex.unlock();
  s.registry_mutex.unlock();
}

void after_fork_child() {
  State& s = state();
  for (ThreadCache* cache = s.threads; cache != nullptr;) {
    ThreadCache* next = cache->next;
    if (cache != t_cache) unregister(s, cache);
    cache = next;
  }
  after_fork_parent();
}

State::State() {
  cache.configure();
  pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

[[noreturn, gnu::cold, gnu::noinline]] void out_of_memory(std::size_t nbytes) {
  const MemoryStats stats = memory_stats();
  throw OutOfMemoryError(concat("can't allocate memory: you tried to allocate ", nbytes, " bytes; ",
                                stats.allocated_bytes, " bytes are in use by tensors and ", stats.cached_bytes,
                                " bytes are cached in blocks that cannot be given back"));
}

[[gnu::cold, gnu::noinline]] void report_thread(ThreadCache& cache) noexcept {
  state().report(cache.unreported_bytes.load(std::memory_order_relaxed));
  cache.unreported_bytes.store(0, std::memory_order_relaxed);
}

inline void count_bytes(ThreadCache& cache, std::int64_t delta) noexcept {
  const std::int64_t total = bump(cache.unreported_bytes, delta);
  if (FL_UNLIKELY(total > kUnreportedLimit || total < -kUnreportedLimit)) report_thread(cache);
}

void* allocate_uncached(std::size_t nbytes, unsigned c) {
  State& s = state();
  unsigned count = 1;
  void* block = s.slabs[c].take(s.cache, c, count);
  if (block == nullptr) out_of_memory(nbytes);
  s.report(static_cast<std::int64_t>(size_of_class(c)));
  s.num_allocs.fetch_add(1, std::memory_order_relaxed);
  return block;
}

[[gnu::noinline]] void* allocate_small_slow(std::size_t nbytes, unsigned c) {
  ThreadCache* cache = t_cache;
  if (cache == nullptr) cache = make_thread_cache();
  if (cache == nullptr) return allocate_uncached(nbytes, c);
  State& s = state();
  if (cache->flush_wanted.load(std::memory_order_relaxed)) flush(s, *cache);
  s.cache.decay();
  Bin& bin = cache->bins[c];
  if (bin.count == 0) {
    bin.count = batch_of(c);
    bin.blocks = s.slabs[c].take(s.cache, c, bin.count);
    if (bin.count == 0) {
      flush(s, *cache);  // a last try, with what this thread hoards
      bin.count = 1;
      bin.blocks = s.slabs[c].take(s.cache, c, bin.count);
      if (bin.count == 0) out_of_memory(nbytes);
    }
  }
  FreeBlock* block = bin.blocks;
  bin.blocks = block->next;
  --bin.count;
  bump(cache->num_allocs, std::uint64_t{1});
  count_bytes(*cache, static_cast<std::int64_t>(size_of_class(c)));
  return block;
}

[[gnu::noinline]] void deallocate_small_slow(void* ptr, unsigned c) noexcept {
  State& s = state();
  FreeBlock* block = static_cast<FreeBlock*>(ptr);
  ThreadCache* cache = t_cache;
  if (cache == nullptr) cache = make_thread_cache();
  if (cache == nullptr) {
    block->next = nullptr;
    s.slabs[c].give(s.cache, c, block, 1);
    s.report(-static_cast<std::int64_t>(size_of_class(c)));
    s.num_frees.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  Bin& bin = cache->bins[c];
  block->next = bin.blocks;
  bin.blocks = block;
  ++bin.count;
  bump(cache->num_frees, std::uint64_t{1});
  count_bytes(*cache, -static_cast<std::int64_t>(size_of_class(c)));
  if (cache->flush_wanted.load(std::memory_order_relaxed)) {
    flush(s, *cache);
  } else if (bin.count > 2 * batch_of(c)) {
    bin.blocks = s.slabs[c].give(s.cache, c, bin.blocks, batch_of(c));
    bin.count -= batch_of(c);
  }
  s.cache.decay();
}

[[gnu::noinline]] void* allocate_large(std::size_t nbytes) {
  if (nbytes > kLargestBlock) out_of_memory(nbytes);
  State& s = state();
  const unsigned c = class_of(nbytes);
  const std::size_t size = size_of_class(c);
  const std::size_t alignment = nbytes >= kHugeLimit ? kHugePage : 4096;
  void* block = s.cache.acquire(c, size, alignment);
  if (block == nullptr && t_cache != nullptr) {
    flush(s, *t_cache);
    block = s.cache.acquire(c, size, alignment);
  }
  if (block == nullptr) out_of_memory(nbytes);
  s.report(static_cast<std::int64_t>(size));
  s.num_allocs.fetch_add(1, std::memory_order_relaxed);
  return block;
}

[[gnu::noinline]] void deallocate_large(void* ptr, std::size_t nbytes) noexcept {
  State& s = state();
  const unsigned c = class_of(nbytes);
  s.cache.release(c, ptr, size_of_class(c));
  s.report(-static_cast<std::int64_t>(size_of_class(c)));
  s.num_frees.fetch_add(1, std::memory_order_relaxed);
}

// What allocate(0) returns: an address that is not null and holds nothing.
alignas(kAllocationAlignment) char empty_block[kAllocationAlignment];

// For the fast paths: class sizes and limits without arithmetic.
struct SmallClassTable {
  unsigned short size[kNumSmallClasses];
  unsigned char most_cached[kNumSmallClasses];
  constexpr SmallClassTable() : size(), most_cached() {
    for (unsigned c = 0; c < kNumSmallClasses; ++c) {
      size[c] = static_cast<unsigned short>(size_of_class(c));
      most_cached[c] = static_cast<unsigned char>(2 * batch_of(c));
    }
  }
};
constexpr SmallClassTable kSmall;

}  // namespace
}  // namespace alloc

using namespace alloc;

void* allocate(std::size_t nbytes) {
  if (FL_UNLIKELY(nbytes > kSmallLimit)) return allocate_large(nbytes);
  if (FL_UNLIKELY(nbytes == 0)) return empty_block;
  const unsigned c = class_of(nbytes);
  ThreadCache* cache = t_cache;
  if (FL_UNLIKELY(cache == nullptr)) return allocate_small_slow(nbytes, c);
  Bin& bin = cache->bins[c];
  FreeBlock* block = bin.blocks;
  const std::uint64_t serial = cache->num_allocs.load(std::memory_order_relaxed);
  if (FL_UNLIKELY(block == nullptr || cache->flush_wanted.load(std::memory_order_relaxed) ||
                  (serial & kTickMask) == kTickMask)) {
    return allocate_small_slow(nbytes, c);
  }
  bin.blocks = block->next;
  --bin.count;
  cache->num_allocs.store(serial + 1, std::memory_order_relaxed);
  count_bytes(*cache, kSmall.size[c]);
  return block;
}

void deallocate(void* ptr, std::size_t nbytes) noexcept {
  if (FL_UNLIKELY(nbytes > kSmallLimit)) return deallocate_large(ptr, nbytes);
  if (FL_UNLIKELY(nbytes == 0)) return;
  const unsigned c = class_of(nbytes);
  ThreadCache* cache = t_cache;
  if (FL_UNLIKELY(cache == nullptr || cache->bins[c].count >= kSmall.most_cached[c] ||
                  cache->flush_wanted.load(std::memory_order_relaxed))) {
    return deallocate_small_slow(ptr, c);
  }
  Bin& bin = cache->bins[c];
  FreeBlock* block = static_cast<FreeBlock*>(ptr);
  block->next = bin.blocks;
  bin.blocks = block;
  ++bin.count;
  bump(cache->num_frees, std::uint64_t{1});
  count_bytes(*cache, -static_cast<std::int64_t>(kSmall.size[c]));
}

std::size_t allocation_size(std::size_t nbytes) noexcept {
  return nbytes == 0 || nbytes > kLargestBlock ? 0 : size_of_class(class_of(nbytes));
}

MemoryStats memory_stats() noexcept {
  State& s = state();
  MemoryStats stats;
  std::int64_t allocated;
  {
    const std::lock_guard lock(s.registry_mutex);
    allocated = s.allocated_bytes.load(std::memory_order_relaxed);
    stats.num_allocs = s.num_allocs.load(std::memory_order_relaxed);
    stats.num_frees = s.num_frees.load(std::memory_order_relaxed);
    for (const ThreadCache* cache = s.threads; cache != nullptr; cache = cache->next) {
      allocated += cache->unreported_bytes.load(std::memory_order_relaxed);
      stats.num_allocs += cache->num_allocs.load(std::memory_order_relaxed);
      stats.num_frees += cache->num_frees.load(std::memory_order_relaxed);
    }
  }
  const std::int64_t peak = s.peak_allocated_bytes.load(std::memory_order_relaxed);
  stats.allocated_bytes = static_cast<std::uint64_t>(allocated > 0 ? allocated : 0);
  stats.peak_allocated_bytes = static_cast<std::uint64_t>(peak > allocated ? peak : allocated);
  stats.reserved_bytes = s.cache.reserved_bytes.load(std::memory_order_relaxed);
  stats.peak_reserved_bytes = s.cache.peak_reserved_bytes.load(std::memory_order_relaxed);
  stats.cached_bytes = stats.reserved_bytes > stats.allocated_bytes ? stats.reserved_bytes - stats.allocated_bytes : 0;
  stats.num_system_allocs = s.cache.num_maps.load(std::memory_order_relaxed);
  stats.num_system_frees = s.cache.num_unmaps.load(std::memory_order_relaxed);
  return stats;
}

void reset_peak_memory_stats() noexcept {
  State& s = state();
  s.peak_allocated_bytes.store(s.allocated_bytes.load(std::memory_order_relaxed), std::memory_order_relaxed);
  s.cache.peak_reserved_bytes.store(s.cache.reserved_bytes.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

void empty_cache() noexcept {
  State& s = state();
  {
    const std::lock_guard lock(s.registry_mutex);
    for (ThreadCache* cache = s.threads; cache != nullptr; cache = cache->next) {
      if (cache != t_cache) cache->flush_wanted.store(true, std::memory_order_relaxed);
    }
  }
  if (t_cache != nullptr) flush(s, *t_cache);
  s.cache.clear();
}

std::size_t memory_cache_limit() noexcept { return state().cache.limit(); }

void set_memory_cache_limit(std::size_t nbytes) noexcept { state().cache.set_limit(nbytes); }

void set_memory_cache_decay(double seconds) noexcept { state().cache.set_decay(seconds); }

}  // namespace flambeau
