#include "flambeau/core/parallel.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>
#include <vector>

#include "cpu_count.h"
#include "flambeau/core/error.h"

// How a job runs. Its chunks are the bits of one cache line; a zero bit is a chunk nobody has taken. Every thread
// starts at a place of its own, so consecutive jobs over the same tensors meet the caches they left, and goes on to
// whatever is left. So the caller, too, takes chunks that a worker did not come to, and waits only for chunks that have
// been started.
//
// A worker that was late for one job may take a chunk of the next: it reads what to do after it took the chunk, and no
// job ends while a taken chunk runs. Between jobs all bits are set.

namespace flambeau {

namespace {

using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

constexpr int kMostThreads = 1024;
constexpr int kNumWords = kMaxChunks / 64;
constexpr std::int64_t kSpinNs = 50'000;  // about what waking a sleeper costs

thread_local bool t_in_region = false;
thread_local int t_index = 0;

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

void futex_wake(std::atomic<std::uint32_t>& word, int count) {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

std::int64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
}

// Spins until ready() or the time is up; says whether it became ready.
template <class Ready> bool spin(Ready ready) {
  std::int64_t deadline = 0;
  for (unsigned i = 1;; ++i) {
    if (ready()) return true;
    relax();
    if (i % 32 == 0) {
      const std::int64_t now = now_ns();
      if (deadline == 0) deadline = now + kSpinNs;
      if (now >= deadline) return false;
    }
  }
}

struct RegionGuard {
  RegionGuard() { t_in_region = true; }
  ~RegionGuard() { t_in_region = false; }
};

void run_serially(std::int64_t begin, std::int64_t end, std::int64_t chunk, detail::ChunkFn fn, void* context) {
  for (std::int64_t b = begin; b < end; b += chunk) fn(context, b, end - b < chunk ? end : b + chunk);
}

struct Job {
  std::int64_t begin, end, chunk;
  detail::ChunkFn fn;
  void* context;
  std::uint32_t num_chunks;
};

class Pool {
 public:
  Pool() {
    for (auto& word : taken_) word.store(~std::uint64_t{0}, memory_order_relaxed);
  }

  // False if another thread is using the pool.
  bool run(const Job& job, int num_threads);

  // Ends the workers beyond num_threads - 1, after the job in progress.
  void shrink(int num_threads);

 private:
  static void* worker_main(void* argument);
  void work(int index);
  void start_workers(int wanted);
  void publish(const Job& job, int num_threads);
  int claim(unsigned& position);
  void take_part(int index);
  void run_chunk(int chunk);
  void wait_for_done();

  std::mutex mutex_;  // held by the caller of the job in progress
  std::vector<pthread_t> workers_;
  std::atomic<int> num_wanted_{0};  // workers above this index end

  Job job_{};
  std::exception_ptr error_;

  alignas(64) std::atomic<std::uint64_t> taken_[kNumWords];
  alignas(64) std::atomic<std::uint32_t> serial_{0};  // changes with every job; workers sleep on it
  std::atomic<std::uint32_t> shape_{0};               // chunks << 16 | threads: a hint where to start
  alignas(64) std::atomic<std::uint32_t> num_sleeping_{0};
  alignas(64) std::atomic<std::uint32_t> num_done_{0};
  std::atomic<bool> caller_sleeps_{false};
  std::atomic<bool> failed_{false};
};

struct WorkerStart {
  Pool* pool;
  int index;
};

void* Pool::worker_main(void* argument) {
  const WorkerStart start = *static_cast<WorkerStart*>(argument);
  delete static_cast<WorkerStart*>(argument);
  t_index = start.index;
  t_in_region = true;
  start.pool->work(start.index);
  return nullptr;
}

void Pool::work(int index) {
  std::uint32_t seen = 0;  // not the current serial: a job may have been published before this thread ran
  for (;;) {
    const auto changed = [&] { return serial_.load(memory_order_acquire) != seen; };
    while (!spin(changed)) {
      num_sleeping_.fetch_add(1, memory_order_seq_cst);
      futex_wait(serial_, seen);
      num_sleeping_.fetch_sub(1, memory_order_relaxed);
    }
    seen = serial_.load(memory_order_acquire);
    if (index > num_wanted_.load(memory_order_acquire)) return;
    take_part(index);
  }
}

// Python's signal handlers belong on its own threads: workers block all signals.
void Pool::start_workers(int wanted) {
  if (static_cast<int>(workers_.size()) >= wanted) return;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  num_wanted_.store(wanted, memory_order_release);
  while (static_cast<int>(workers_.size()) < wanted) {
    pthread_t thread;
    auto* start = new WorkerStart{this, static_cast<int>(workers_.size()) + 1};
    if (pthread_create(&thread, nullptr, worker_main, start) != 0) {
      delete start;  // the system gives no more threads: those there are do the work
      break;
    }
    workers_.push_back(thread);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Pool::shrink(int num_threads) {
  const std::lock_guard lock(mutex_);
  const int wanted = num_threads - 1;
  if (static_cast<int>(workers_.size()) <= wanted) return;
  num_wanted_.store(wanted, memory_order_release);
  serial_.fetch_add(1, memory_order_seq_cst);
  futex_wake(serial_, kMostThreads);
  while (static_cast<int>(workers_.size()) > wanted) {
    pthread_join(workers_.back(), nullptr);
    workers_.pop_back();
  }
}

void Pool::publish(const Job& job, int num_threads) {
  job_ = job;
  failed_.store(false, memory_order_relaxed);
  num_done_.store(0, memory_order_relaxed);
  shape_.store(job.num_chunks << 16 | static_cast<std::uint32_t>(num_threads), memory_order_relaxed);
  for (int w = 0; w < kNumWords; ++w) {
    const int bits = static_cast<int>(job.num_chunks) - 64 * w;
    if (bits <= 0) break;
    taken_[w].store(bits >= 64 ? 0 : ~std::uint64_t{0} << bits, memory_order_release);
  }
  serial_.fetch_add(1, memory_order_seq_cst);
  const std::uint32_t sleeping = num_sleeping_.load(memory_order_seq_cst);
  if (sleeping != 0) futex_wake(serial_, static_cast<int>(job.num_chunks) - 1);
}

// Takes a free chunk at or after `position`, cyclically; -1 if there is none.
int Pool::claim(unsigned& position) {
  for (unsigned tried = 0; tried <= kNumWords; ++tried) {
    const unsigned w = position / 64 % kNumWords;
    const std::uint64_t ahead = ~std::uint64_t{0} << position % 64;
    std::uint64_t free = ~taken_[w].load(memory_order_acquire) & ahead;
    while (free != 0) {
      const std::uint64_t bit = free & -free;
      const std::uint64_t before = taken_[w].fetch_or(bit, memory_order_acquire);
      if ((before & bit) == 0) {
        const unsigned chunk = w * 64 + static_cast<unsigned>(std::countr_zero(bit));
        position = chunk + 1;
        return static_cast<int>(chunk);
      }
      free = ~before & ahead & ~bit;
    }
    position = (w + 1) * 64;
  }
  return -1;
}

void Pool::run_chunk(int chunk) {
  const Job& job = job_;
  const std::uint32_t num_chunks = job.num_chunks;
  if (!failed_.load(memory_order_relaxed)) {
    const std::int64_t begin = job.begin + chunk * job.chunk;
    const std::int64_t end = job.end - begin < job.chunk ? job.end : begin + job.chunk;
    try {
      job.fn(job.context, begin, end);
    } catch (...) {
      if (!failed_.exchange(true, memory_order_relaxed)) error_ = std::current_exception();
    }
  }
  // From here on the job may be over, and job_ another's.
  if (num_done_.fetch_add(1, memory_order_seq_cst) + 1 == num_chunks && caller_sleeps_.load(memory_order_seq_cst))
    futex_wake(num_done_, 1);
}

void Pool::take_part(int index) {
  const std::uint32_t shape = shape_.load(memory_order_relaxed);
  const std::uint32_t chunks = shape >> 16, threads = shape & 0xffff;
  if (static_cast<std::uint32_t>(index) >= std::min(chunks, threads)) return;  // more hands than work
  unsigned position = chunks * static_cast<std::uint32_t>(index) / threads;
  for (int chunk; (chunk = claim(position)) >= 0;) run_chunk(chunk);
}

void Pool::wait_for_done() {
  const std::uint32_t wanted = job_.num_chunks;
  if (spin([&] { return num_done_.load(memory_order_acquire) >= wanted; })) return;
  caller_sleeps_.store(true, memory_order_seq_cst);
  for (std::uint32_t done; (done = num_done_.load(memory_order_seq_cst)) < wanted;) futex_wait(num_done_, done);
  caller_sleeps_.store(false, memory_order_relaxed);
}

bool Pool::run(const Job& job, int num_threads) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  start_workers(num_threads - 1);
  publish(job, num_threads);
  {
    const RegionGuard region;
    take_part(0);
  }
  wait_for_done();
  if (failed_.load(memory_order_relaxed)) {
    std::exception_ptr error = std::move(error_);
    error_ = nullptr;
    std::rethrow_exception(std::move(error));
  }
  return true;
}

// The number from a variable, or 0 if it is not set to a positive number.
int threads_from(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return 0;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  return end != text && value > 0 ? static_cast<int>(value < kMostThreads ? value : kMostThreads) : 0;
}

int default_num_threads() {
  // OMP_NUM_THREADS is what clusters and launchers set to say "this many CPUs are yours".
  for (const char* variable : {"FLAMBEAU_NUM_THREADS", "OMP_NUM_THREADS"}) {
    if (const int value = threads_from(variable)) return value;
  }
  const int cpus = available_cpus();
  return cpus < kMostThreads ? cpus : kMostThreads;
}

std::atomic<int>& num_threads_setting() {
  static std::atomic<int> value{default_num_threads()};
  return value;
}

alignas(Pool) char pool_storage[sizeof(Pool)];

// A fork copies only the calling thread: the child starts over with a pool that has no workers, and leaks the old one's
// bookkeeping, which may have been caught half-way through a change.
void make_pool() { new (pool_storage) Pool; }

// Never destroyed: jobs may run until the process ends.
Pool& pool() {
  static const bool made = (make_pool(), pthread_atfork(nullptr, nullptr, make_pool), true);
  static_cast<void>(made);
  return *std::launder(reinterpret_cast<Pool*>(pool_storage));
}

}  // namespace

namespace detail {

void run_chunks(std::int64_t begin, std::int64_t end, std::int64_t chunk, ChunkFn fn, void* context) {
  if (t_in_region) return run_serially(begin, end, chunk, fn, context);
  const int num_threads = get_num_threads();
  if (num_threads > 1) {
    const auto chunks = static_cast<std::uint32_t>((end - begin - 1) / chunk + 1);
    if (pool().run({begin, end, chunk, fn, context, chunks}, num_threads)) return;
  }
  const RegionGuard region;
  run_serially(begin, end, chunk, fn, context);
}

}  // namespace detail

int get_num_threads() noexcept { return num_threads_setting().load(memory_order_relaxed); }

void set_num_threads(int num_threads) {
  FL_CHECK(num_threads >= 1, "[set_num_threads] num_threads must be at least 1, got ", num_threads);
  if (num_threads > kMostThreads) num_threads = kMostThreads;
  FL_CHECK(!t_in_region, "[set_num_threads] cannot change the number of threads from inside a parallel region");
  num_threads_setting().store(num_threads, memory_order_relaxed);
  pool().shrink(num_threads);
}

bool in_parallel_region() noexcept { return t_in_region; }

int thread_index() noexcept { return t_index; }

}  // namespace flambeau
