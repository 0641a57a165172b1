// The thread pool: coverage, fixed boundaries, nesting, exceptions, callers at once, resizing, fork, speed.
#include "flambeau/core/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.h"
#include "flambeau/core/error.h"

using namespace flambeau;

namespace {

using Cut = std::vector<std::pair<std::int64_t, std::int64_t>>;

Cut chunks_of(std::int64_t begin, std::int64_t end, std::int64_t grain) {
  Cut cut;
  std::mutex mutex;
  parallel_for(begin, end, grain, [&](std::int64_t b, std::int64_t e) {
    const std::lock_guard lock(mutex);
    cut.emplace_back(b, e);
  });
  std::sort(cut.begin(), cut.end());
  return cut;
}

// Before anything has used the pool: it reads its environment once.
void test_environment() {
  const auto threads_with = [](const char* ours, const char* omp) {
    unsetenv("FLAMBEAU_NUM_THREADS");
    unsetenv("OMP_NUM_THREADS");
    if (ours != nullptr) setenv("FLAMBEAU_NUM_THREADS", ours, 1);
    if (omp != nullptr) setenv("OMP_NUM_THREADS", omp, 1);
    return get_num_threads();
  };
  EXPECT(holds_in_child([&] { return threads_with("5", "3") == 5; }), "FLAMBEAU_NUM_THREADS");
  EXPECT(holds_in_child([&] { return threads_with(nullptr, "3") == 3; }), "OMP_NUM_THREADS");
  EXPECT(holds_in_child([&] { return threads_with("0", "x") >= 1; }), "nonsense leaves the default");
}

void test_cut() {
  for (std::int64_t n : {0, 1, 2, 63, 64, 65, 1000, 100003, 5000000}) {
    for (std::int64_t grain : {1, 3, 64, 1000, 100000}) {
      for (std::int64_t begin : {0, -17, 5}) {
        set_num_threads(1);
        const Cut one = chunks_of(begin, begin + n, grain);
        std::int64_t at = begin;
        for (auto [b, e] : one) {
          EXPECT(b == at && e > b, "chunks are adjacent");
          at = e;
        }
        EXPECT(at == begin + n, "chunks cover the range");
        EXPECT(static_cast<std::int64_t>(one.size()) == num_chunks(begin, begin + n, grain), concat(n, " ", grain));
        EXPECT(one.size() <= kMaxChunks, "bounded");
        for (int threads : {2, 3, 7}) {
          set_num_threads(threads);
          EXPECT(chunks_of(begin, begin + n, grain) == one, concat("same cut with ", threads, " threads"));
        }
      }
    }
  }
  EXPECT(chunks_of(5, 3, 1).empty(), "empty range");
}

void test_every_chunk_once() {
  set_num_threads(4);
  std::vector<int> hits(512);
  for (int round = 0; round < 20000; ++round) {
    const std::int64_t n = 1 + round % 512;
    parallel_for(0, n, 1, [&](std::int64_t b, std::int64_t e) {
      for (std::int64_t i = b; i < e; ++i) ++hits[static_cast<std::size_t>(i)];
    });
    bool ok = true;
    for (std::int64_t i = 0; i < 512; ++i) {
      ok = ok && hits[static_cast<std::size_t>(i)] == (i < n);
      hits[static_cast<std::size_t>(i)] = 0;
    }
    if (!ok) EXPECT(ok, concat("round ", round));
  }
}

void test_regions() {
  set_num_threads(3);
  EXPECT(!in_parallel_region() && thread_index() == 0, "outside");
  parallel_for(0, 10, 10, [](std::int64_t, std::int64_t) { EXPECT(!in_parallel_region(), "one chunk is no region"); });
  std::atomic<int> wrong{0};
  std::atomic<std::int64_t> sum{0};
  std::mutex mutex;
  std::set<int> indices;
  parallel_for(0, 300, 1, [&](std::int64_t b, std::int64_t) {
    if (!in_parallel_region()) ++wrong;
    const auto self = std::this_thread::get_id();
    const int index = thread_index();
    parallel_for(0, 10, 1, [&](std::int64_t i, std::int64_t) {
      if (std::this_thread::get_id() != self || thread_index() != index || !in_parallel_region()) ++wrong;
      sum += b * 10 + i;
    });
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    const std::lock_guard lock(mutex);
    indices.insert(index);
  });
  EXPECT(wrong == 0, "nested calls run in place");
  EXPECT(sum == 3000 * 2999 / 2, "sum");
  EXPECT(indices.size() == 3 && *indices.begin() == 0 && *indices.rbegin() == 2, concat(indices.size(), " threads"));
  EXPECT(!in_parallel_region(), "outside again");
}

void test_exceptions() {
  for (int threads : {1, 2, 4}) {
    set_num_threads(threads);
    for (int round = 0; round < 200; ++round) {
      std::atomic<int> ran{0};
      try {
        parallel_for(0, 100, 1, [&](std::int64_t b, std::int64_t) {
          ++ran;
          if (b % 10 == 3) throw ValueError(concat("chunk ", b));
        });
        EXPECT(false, "nothing thrown");
      } catch (const ValueError& e) {
        EXPECT(e.message.rfind("chunk ", 0) == 0, e.message);
      }
      EXPECT(!in_parallel_region(), "the region ends");
      std::atomic<int> after{0};
      parallel_for(0, 100, 1, [&](std::int64_t, std::int64_t) { ++after; });
      EXPECT(after == 100, "the pool works on");
    }
  }
  try {
    set_num_threads(0);
    EXPECT(false, "nothing thrown");
  } catch (const Error& e) {
    EXPECT(e.message.find("got 0") != std::string::npos, e.message);
  }
}

void test_many_callers_and_resizing() {
  std::atomic<bool> wrong{false};
  std::vector<std::thread> callers;
  for (int t = 0; t < 3; ++t) {
    callers.emplace_back([&] {
      for (int round = 0; round < 3000; ++round) {
        std::atomic<std::int64_t> sum{0};
        parallel_for(0, 1000, 10, [&](std::int64_t b, std::int64_t e) {
          for (std::int64_t i = b; i < e; ++i) sum.fetch_add(i, std::memory_order_relaxed);
        });
        if (sum != 499500) wrong = true;
      }
    });
  }
  for (int round = 0; round < 100; ++round) set_num_threads(1 + round % 5);
  for (std::thread& t : callers) t.join();
  EXPECT(!wrong, "callers do not mix");
}

void test_fork() {
  set_num_threads(3);
  chunks_of(0, 100, 1);
  EXPECT(holds_in_child([] {
           const bool ok = chunks_of(0, 1000, 7).size() == 143;
           set_num_threads(2);
           return ok && chunks_of(0, 1000, 7).size() == 143;
         }),
         "the child has a pool of its own");
  EXPECT(chunks_of(0, 1000, 7).size() == 143, "the parent works on");
}

double busy(std::int64_t units) {
  double x = 1;
  for (std::int64_t i = 0; i < units; ++i) asm volatile("" : "+x"(x = x * 1.0000001));
  return x;
}

void report_speed() {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  busy(20'000'000);
  const double units_per_us = 20'000'000 / std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  set_num_threads(2);
  for (double us : {0.0, 10.0, 30.0, 100.0, 300.0}) {
    const auto units = static_cast<std::int64_t>(us * units_per_us / 8);
    std::vector<double> took;
    for (int round = 0; round < 400; ++round) {
      const auto t = Clock::now();
      parallel_for(0, 8, 1, [&](std::int64_t, std::int64_t) { busy(units); });
      took.push_back(std::chrono::duration<double, std::micro>(Clock::now() - t).count());
    }
    std::sort(took.begin(), took.end());
    std::printf("work %5.0f us on 2 threads: p5 %.2f median %.2f p95 %.2f us\n", us, took[20], took[200], took[380]);
  }
}

}  // namespace

int main() {
  test_environment();
  EXPECT(get_num_threads() >= 1, "default");
  std::printf("default threads: %d\n", get_num_threads());
  test_cut();
  test_every_chunk_once();
  test_regions();
  test_exceptions();
  test_many_callers_and_resizing();
  test_fork();
  report_speed();
  return finish("parallel");
}
