// The caching allocator: classes, reuse, threads, decay, limits, resident memory, fork, failure.
#include "flambeau/core/allocator.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "check.h"
#include "flambeau/core/error.h"

using namespace flambeau;

namespace {

struct Block {
  unsigned char* ptr;
  std::size_t size;
  unsigned char tag;
};

Block take(std::size_t size, unsigned char tag) {
  auto* ptr = static_cast<unsigned char*>(allocate(size));
  std::memset(ptr, tag, size);
  return {ptr, size, tag};
}

bool intact(const Block& b) {
  for (std::size_t i = 0; i < b.size; i += b.size > 4096 ? 509 : 1)
    if (b.ptr[i] != b.tag) return false;
  return b.size == 0 || b.ptr[b.size - 1] == b.tag;
}

std::size_t resident_bytes() {
  long pages = 0, resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld %ld", &pages, &resident) != 2) return 0;
  std::fclose(file);
  return static_cast<std::size_t>(resident) * 4096;
}

// Before anything has used the allocator: it reads its environment once.
void test_environment() {
  EXPECT(holds_in_child([] {
           setenv("FLAMBEAU_CPU_CACHE_LIMIT_MB", "7", 1);
           return memory_cache_limit() == 7u << 20;
         }),
         "limit from the environment");
  EXPECT(holds_in_child([] {
           setenv("FLAMBEAU_CPU_CACHE_LIMIT_MB", "seven", 1);
           return memory_cache_limit() > 64u << 20;
         }),
         "nonsense leaves the default");
}

void test_sizes() {
  for (std::size_t n = 1; n < (std::size_t{1} << 46); n += 1 + n / 7) {
    const std::size_t got = allocation_size(n);
    EXPECT(got >= n && got % 64 == 0, std::to_string(n));
    EXPECT(got - n < 64 || static_cast<double>(got) <= 1.125 * static_cast<double>(n), std::to_string(n));
    EXPECT(allocation_size(got) == got, std::to_string(n));
  }
  EXPECT(allocation_size(513) == 576 && allocation_size(512) == 512 && allocation_size(1) == 64, "edges");
}

void test_alignment_and_contents() {
  std::vector<Block> live;
  for (std::size_t n : {1, 63, 64, 65, 500, 513, 4096, 4097, 32768, 32769, 100000, 1 << 20, 5000001}) {
    for (int repeat = 0; repeat < 3; ++repeat) live.push_back(take(n, static_cast<unsigned char>(live.size())));
    const auto address = reinterpret_cast<std::uintptr_t>(live.back().ptr);
    EXPECT(address % (n >= (1u << 20) ? (2u << 20) : 64u) == 0, std::to_string(n));
  }
  for (const Block& b : live) EXPECT(intact(b), std::to_string(b.size));
  for (const Block& b : live) deallocate(b.ptr, b.size);
  void* nothing = allocate(0);
  EXPECT(nothing != nullptr, "zero bytes");
  deallocate(nothing, 0);
}

void test_reuse_and_stats() {
  empty_cache();
  const MemoryStats before = memory_stats();
  void* a = allocate(64 << 20);
  deallocate(a, 64 << 20);
  const std::uint64_t maps = memory_stats().num_system_allocs;
  for (int i = 0; i < 10; ++i) {
    void* b = allocate(64 << 20);
    EXPECT(b == a, "a block is reused");
    deallocate(b, 64 << 20);
  }
  const MemoryStats after = memory_stats();
  EXPECT(after.num_system_allocs == maps, "no system calls in steady state");
  EXPECT(after.allocated_bytes == before.allocated_bytes, "balance");
  EXPECT(after.num_allocs - before.num_allocs == 11 && after.num_frees - before.num_frees == 11, "counts");
  EXPECT(after.peak_allocated_bytes >= before.allocated_bytes + (64u << 20), "peak");
  EXPECT(after.cached_bytes >= 64u << 20, "cached");
  reset_peak_memory_stats();
  EXPECT(memory_stats().peak_allocated_bytes < 32u << 20, "peak after reset");
  void* c = allocate(100);
  EXPECT(memory_stats().allocated_bytes == after.allocated_bytes + 128, "small blocks are counted at once");
  deallocate(c, 100);
}

// Random traffic; what one thread allocates may be freed by another, or after its thread has ended.
void test_threads() {
  const std::uint64_t before = memory_stats().allocated_bytes;
  std::mutex mutex;
  std::vector<Block> shared;
  std::atomic<int> broken{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 rng(t);
      for (int i = 0; i < 20000; ++i) {
        const unsigned bits = rng() % 18;
        const Block mine = take(1 + rng() % (1u << bits), static_cast<unsigned char>(rng()));
        const std::lock_guard lock(mutex);
        shared.push_back(mine);
        while (shared.size() > 500 || (!shared.empty() && rng() % 2)) {
          std::swap(shared[rng() % shared.size()], shared.back());
          if (!intact(shared.back())) ++broken;
          deallocate(shared.back().ptr, shared.back().size);
          shared.pop_back();
        }
        if (i % 5000 == 0) empty_cache();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (const Block& b : shared) {
    if (!intact(b)) ++broken;
    deallocate(b.ptr, b.size);
  }
  EXPECT(broken == 0, "blocks keep their contents");
  EXPECT(memory_stats().allocated_bytes == before, "balance over threads");
  empty_cache();
  EXPECT(memory_stats().reserved_bytes < 4u << 20, concat(memory_stats().reserved_bytes));
}

void test_resident_memory_returns() {
  empty_cache();
  const std::size_t before = resident_bytes();
  std::vector<Block> live;
  for (int i = 0; i < 20000; ++i) live.push_back(take(1 + static_cast<std::size_t>(i) % 9000, 1));  // ~90 MB, small
  for (int i = 0; i < 4; ++i) live.push_back(take(40u << 20, 2));
  const std::size_t grown = resident_bytes();
  EXPECT(grown > before + (200u << 20), "the blocks are resident");
  for (const Block& b : live) deallocate(b.ptr, b.size);
  live = {};
  empty_cache();
  const std::size_t after = resident_bytes();
  EXPECT(static_cast<double>(after) <= 1.1 * static_cast<double>(before) + (2u << 20),
         concat("before ", before, " grown ", grown, " after ", after));
}

void test_decay_and_limit() {
  empty_cache();
  set_memory_cache_decay(0.05);
  deallocate(allocate(8 << 20), 8 << 20);
  EXPECT(memory_stats().cached_bytes >= 8u << 20, "kept at first");
  std::this_thread::sleep_for(std::chrono::milliseconds(80));
  for (int i = 0; i < 2000; ++i) deallocate(allocate(64), 64);  // small traffic alone must notice
  EXPECT(memory_stats().cached_bytes < 8u << 20, "gone after the decay");
  set_memory_cache_decay(5);

  const std::size_t limit = memory_cache_limit();
  set_memory_cache_limit(10 << 20);
  void* a = allocate(8 << 20);
  void* b = allocate(7 << 20);
  deallocate(a, 8 << 20);
  deallocate(b, 7 << 20);  // together above the limit: the older one goes
  EXPECT(memory_stats().cached_bytes < 8u << 20, "limit");
  EXPECT(allocate(7 << 20) == b, "the newer block stays");
  deallocate(b, 7 << 20);
  set_memory_cache_limit(0);
  deallocate(allocate(1 << 20), 1 << 20);
  EXPECT(memory_stats().cached_bytes < 1u << 20, "no cache at limit 0");
  set_memory_cache_limit(limit);
}

void test_out_of_memory() {
  for (std::size_t n : {std::size_t{1} << 46, ~std::size_t{0}, (std::size_t{1} << 63) + 5}) {
    try {
      allocate(n);
      EXPECT(false, "nothing thrown");
    } catch (const OutOfMemoryError& e) {
      EXPECT(e.message.find(concat("you tried to allocate ", n, " bytes")) != std::string::npos, e.message);
    }
  }
}

void test_fork() {
  std::atomic<bool> stop{false};
  std::thread noise([&] {
    while (!stop) {
      deallocate(allocate(40100), 40100);
      deallocate(allocate(96), 96);
    }
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT(holds_in_child([] {
             std::vector<Block> live;
             for (std::size_t n = 1; n < 3000000; n = n * 2 + 1) live.push_back(take(n, 3));
             bool ok = true;
             for (const Block& b : live) {
               ok = ok && intact(b);
               deallocate(b.ptr, b.size);
             }
             empty_cache();
             return ok;
           }),
           "the child allocates");
  }
  stop = true;
  noise.join();
}

template <class F> double ns_per_call(int calls, F f) {
  double best = 1e9;
  for (int repeat = 0; repeat < 7; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) f();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    if (took.count() / calls < best) best = took.count() / calls;
  }
  return best;
}

void report_speed() {
  std::printf("allocate+deallocate, ns: 16 B %.1f, 4 KB %.1f, 32 KB %.1f, 64 KB %.1f, 64 MB %.1f; malloc 16 B %.1f\n",
              ns_per_call(1000000, [] { deallocate(allocate(16), 16); }),
              ns_per_call(1000000, [] { deallocate(allocate(4096), 4096); }),
              ns_per_call(1000000, [] { deallocate(allocate(32768), 32768); }),
              ns_per_call(200000, [] { deallocate(allocate(65536), 65536); }),
              ns_per_call(200000, [] { deallocate(allocate(64 << 20), 64 << 20); }), ns_per_call(1000000, [] {
                void* p = std::malloc(16);
                asm volatile("" : "+r"(p));
                std::free(p);
              }));
  empty_cache();
  auto touch = [] {
    char* p = static_cast<char*>(allocate(64 << 20));
    for (std::size_t i = 0; i < (64u << 20); i += 4096) p[i] = 1;
    deallocate(p, 64 << 20);
  };
  const auto start = std::chrono::steady_clock::now();
  touch();
  const std::chrono::duration<double, std::milli> first = std::chrono::steady_clock::now() - start;
  std::printf("touch 64 MB, ms: first %.2f, reused %.3f\n", first.count(), ns_per_call(3, touch) / 1e6);
}

}  // namespace

int main() {
  test_environment();
  test_sizes();
  test_alignment_and_contents();
  test_reuse_and_stats();
  test_threads();
  test_resident_memory_returns();
  test_decay_and_limit();
  test_out_of_memory();
  test_fork();
  report_speed();
  return finish("allocator");
}
