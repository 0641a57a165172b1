#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include "flambeau/core/export.h"

// The one thread pool.
//
//     parallel_for(0, n, 32768, [&](int64_t b, int64_t e) { for (int64_t i = b; i < e; ++i) out[i] = f(in[i]); });
//
// * [begin, end) is cut into chunks by (begin, end, grain) alone, never by the number of threads, so a reduction that
//   keeps one partial result per chunk gives the same bits on every machine.
// * The calling thread claims chunks like the workers do and never waits for a worker that has not started one.
// * A call from inside a chunk runs in place, chunk after chunk. So does one made while another thread uses the pool.
// * An exception thrown by a chunk is rethrown in the caller, once every started chunk has ended; chunks not yet
// started
//   are skipped.
// * f runs on several threads at once and must not touch Python objects.
// * With a single chunk f is called directly, and is not in a parallel region.
// `grain` is the least work worth a thread's attention, in elements: about 10 us or more.

namespace flambeau {

namespace detail {

using ChunkFn = void (*)(void* context, std::int64_t begin, std::int64_t end);

// Calls fn on [begin, begin + chunk), [begin + chunk, ...) from all threads.
FL_API void run_chunks(std::int64_t begin, std::int64_t end, std::int64_t chunk, ChunkFn fn, void* context);

}  // namespace detail

// No more chunks than this: past it claiming costs, and partial results too, while balance is as good as it gets.
inline constexpr std::int64_t kMaxChunks = 512;

// Elements per chunk (the last one may be shorter): a multiple of `grain`, so vector alignment survives the cut.
inline std::int64_t chunk_size(std::int64_t begin, std::int64_t end, std::int64_t grain) {
  if (grain < 1) grain = 1;
  const std::int64_t grains = (end - begin - 1) / grain + 1;
  return grains <= kMaxChunks ? grain : grain * ((grains - 1) / kMaxChunks + 1);
}

// How many chunks parallel_for makes; the chunk that begins at b has index (b - begin) / chunk_size(begin, end, grain).
inline std::int64_t num_chunks(std::int64_t begin, std::int64_t end, std::int64_t grain) {
  return end <= begin ? 0 : (end - begin - 1) / chunk_size(begin, end, grain) + 1;
}

template <class F> void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain, F&& f) {
  if (begin >= end) return;
  const std::int64_t chunk = chunk_size(begin, end, grain);
  if (end - begin <= chunk) {
    f(begin, end);
    return;
  }
  using Body = std::remove_reference_t<F>;
  detail::run_chunks(
      begin, end, chunk, [](void* context, std::int64_t b, std::int64_t e) { (*static_cast<Body*>(context))(b, e); },
      const_cast<void*>(static_cast<const void*>(std::addressof(f))));
}

// Threads that parallel_for uses, the caller included. By default FLAMBEAU_NUM_THREADS, else the CPUs this process
// may use (affinity and cgroup quota). Workers start with the first call that can use them.
FL_API int get_num_threads() noexcept;

// Throws RuntimeError below 1. Takes effect at the next parallel_for; results do not change.
FL_API void set_num_threads(int num_threads);

// Whether the calling thread is running a chunk.
FL_API bool in_parallel_region() noexcept;

// 0 on a thread that is not a worker, 1 .. get_num_threads() - 1 on workers: an index for per-thread scratch memory.
FL_API int thread_index() noexcept;

}  // namespace flambeau
