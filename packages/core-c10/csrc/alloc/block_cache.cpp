#include "block_cache.h"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace flambeau::alloc {

namespace {

// The memory this process may use: the machine's, or less in a container. Reading a limit that is not there costs
// nothing.
std::size_t memory_available() {
  std::size_t bytes =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::FILE* file = std::fopen(path, "re");
    if (file == nullptr) continue;
    unsigned long long limit = 0;
    if (std::fscanf(file, "%llu", &limit) == 1 && limit < bytes) bytes = limit;  // "max" does not parse: no limit
    std::fclose(file);
  }
  return bytes;
}

void raise_to(std::atomic<std::uint64_t>& peak, std::uint64_t value) {
  std::uint64_t seen = peak.load(std::memory_order_relaxed);
  while (seen < value && !peak.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {}
}

}  // namespace

void BlockCache::configure() {
  const std::size_t memory = memory_available();
  std::size_t limit = memory / 2;
  if (const char* text = std::getenv("FLAMBEAU_CPU_CACHE_LIMIT_MB")) {
    char* end = nullptr;
    const unsigned long long megabytes = std::strtoull(text, &end, 10);
    if (end != text && *end == '\0' && megabytes < (1ull << 43)) limit = megabytes << 20;
  }
  limit_.store(limit, std::memory_order_relaxed);
  // The system overcommits: mmap hardly ever fails, and what runs out ends in the OOM killer. So make room early.
  pressure_bytes_ = memory / 5 * 4;
}

std::int64_t BlockCache::now_ns() noexcept {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
}

void* BlockCache::map(std::size_t num_bytes, std::size_t alignment) noexcept {
  const std::size_t extra = alignment > 4096 ? alignment : 0;
  void* mapped = mmap(nullptr, num_bytes + extra, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* block = static_cast<char*>(mapped);
  if (extra != 0) {  // cut the aligned part out of the larger mapping
    const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(block);
    const std::size_t head = (alignment - address % alignment) % alignment;
    if (head != 0) munmap(block, head);
    block += head;
    if (extra > head) munmap(block + num_bytes, extra - head);
  }
  if (num_bytes >= kHugeLimit)
    madvise(block, num_bytes, MADV_HUGEPAGE);  // advice: where it is refused, 4 KB pages serve
  num_maps.fetch_add(1, std::memory_order_relaxed);
  raise_to(peak_reserved_bytes, reserved_bytes.fetch_add(num_bytes, std::memory_order_relaxed) + num_bytes);
  return block;
}

void BlockCache::unmap(void* block, std::size_t num_bytes) noexcept {
  munmap(block, num_bytes);
  num_unmaps.fetch_add(1, std::memory_order_relaxed);
  reserved_bytes.fetch_sub(num_bytes, std::memory_order_relaxed);
}

void BlockCache::unmap_all(CachedBlock* victims) noexcept {
  while (victims != nullptr) {
    CachedBlock* next = victims->next;
    unmap(victims, victims->num_bytes);
    victims = next;
  }
}

void BlockCache::link(CachedBlock* block) noexcept {
  block->next = buckets_[block->bucket];
  block->previous = nullptr;
  if (block->next != nullptr) block->next->previous = block;
  buckets_[block->bucket] = block;

  block->older = newest_;
  block->newer = nullptr;
  if (newest_ != nullptr) {
    newest_->newer = block;
  } else {
    oldest_ = block;
    next_decay_ns_.store(block->released_ns + decay_ns_, std::memory_order_relaxed);
  }
  newest_ = block;
  cached_bytes_ += block->num_bytes;
}

void BlockCache::unlink(CachedBlock* block) noexcept {
  if (block->next != nullptr) block->next->previous = block->previous;
  (block->previous != nullptr ? block->previous->next : buckets_[block->bucket]) = block->next;

  (block->newer != nullptr ? block->newer->older : newest_) = block->older;
  if (block->older != nullptr) {
    block->older->newer = block->newer;
  } else {
    oldest_ = block->newer;
    next_decay_ns_.store(oldest_ != nullptr ? oldest_->released_ns + decay_ns_ : kNever, std::memory_order_relaxed);
  }
  cached_bytes_ -= block->num_bytes;
}

CachedBlock* BlockCache::evict(CachedBlock* victims) noexcept {
  CachedBlock* block = oldest_;
  unlink(block);
  block->next = victims;
  return block;
}

CachedBlock* BlockCache::evict_expired(CachedBlock* victims) noexcept {
  if (next_decay_ns_.load(std::memory_order_relaxed) == kNever) return victims;
  const std::int64_t now = now_ns();
  while (oldest_ != nullptr && oldest_->released_ns + decay_ns_ <= now) victims = evict(victims);
  return victims;
}

CachedBlock* BlockCache::evict_above(std::size_t num_bytes, CachedBlock* victims) noexcept {
  while (oldest_ != nullptr && cached_bytes_ > num_bytes) victims = evict(victims);
  return victims;
}

void* BlockCache::acquire(unsigned bucket, std::size_t num_bytes, std::size_t alignment) noexcept {
  CachedBlock* victims = nullptr;
  CachedBlock* block;
  {
    const std::lock_guard lock(mutex);
    block = buckets_[bucket];
    if (block != nullptr) unlink(block);
    victims = evict_expired(victims);
    if (block == nullptr) {
      const std::size_t wanted = reserved_bytes.load(std::memory_order_relaxed) + num_bytes;
      if (wanted > pressure_bytes_) {
        const std::size_t excess = wanted - pressure_bytes_;
        victims = evict_above(cached_bytes_ > excess ? cached_bytes_ - excess : 0, victims);
      }
    }
  }
  unmap_all(victims);  // out of the lock: returning gigabytes takes milliseconds
  if (block != nullptr) return block;
  void* fresh = map(num_bytes, alignment);
  if (fresh == nullptr) {
    clear();
    fresh = map(num_bytes, alignment);
  }
  return fresh;
}

void BlockCache::release(unsigned bucket, void* memory, std::size_t num_bytes) noexcept {
  const std::size_t limit = limit_.load(std::memory_order_relaxed);
  if (num_bytes > limit) {
    unmap(memory, num_bytes);
    return;
  }
  CachedBlock* block = static_cast<CachedBlock*>(memory);
  block->bucket = bucket;
  block->num_bytes = num_bytes;
  block->released_ns = now_ns();
  CachedBlock* victims = nullptr;
  {
    const std::lock_guard lock(mutex);
    link(block);
    victims = evict_above(limit, evict_expired(victims));
  }
  unmap_all(victims);
}

void BlockCache::clear() noexcept {
  CachedBlock* victims;
  {
    const std::lock_guard lock(mutex);
    victims = evict_above(0, nullptr);
  }
  unmap_all(victims);
}

void BlockCache::decay_now() noexcept {
  CachedBlock* victims;
  {
    const std::lock_guard lock(mutex);
    victims = evict_expired(nullptr);
  }
  unmap_all(victims);
}

void BlockCache::set_limit(std::size_t num_bytes) noexcept {
  CachedBlock* victims;
  {
    const std::lock_guard lock(mutex);
    limit_.store(num_bytes, std::memory_order_relaxed);
    victims = evict_above(num_bytes, nullptr);
  }
  unmap_all(victims);
}

void BlockCache::set_decay(double seconds) noexcept {
  const std::lock_guard lock(mutex);
  decay_ns_ = static_cast<std::int64_t>(seconds * 1e9);
  if (oldest_ != nullptr) next_decay_ns_.store(oldest_->released_ns + decay_ns_, std::memory_order_relaxed);
}

}  // namespace flambeau::alloc
