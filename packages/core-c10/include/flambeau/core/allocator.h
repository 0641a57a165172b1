#pragma once

#include <cstddef>
#include <cstdint>

#include "flambeau/core/export.h"

// The caching CPU allocator. Memory comes in size classes at most 12.5 % above what was asked, is kept on free, and
// goes back to the system by decay, under pressure, and by empty_cache(). Safe to use from any thread and across
// fork(); a block may be freed on another thread than the one that allocated it.

namespace flambeau {

inline constexpr std::size_t kAllocationAlignment = 64;

// A block of at least `nbytes`, aligned to 64 bytes (to 2 MB from 1 MB up, with huge-page advice). Contents are
// undefined. Never null, for 0 bytes either. Throws OutOfMemoryError, after having given back every cached block.
FL_API void* allocate(std::size_t nbytes);

// `nbytes` must be what allocate() was given.
FL_API void deallocate(void* ptr, std::size_t nbytes) noexcept;

// Bytes usable in a block that allocate(nbytes) returns.
FL_API std::size_t allocation_size(std::size_t nbytes) noexcept;

struct MemoryStats {
  std::uint64_t allocated_bytes = 0;  // in blocks handed out, size-class rounding included
  std::uint64_t peak_allocated_bytes =
      0;                             // since start or reset_peak_memory_stats(); see allocator.cpp on its precision
  std::uint64_t reserved_bytes = 0;  // taken from the system and not given back
  std::uint64_t peak_reserved_bytes = 0;
  std::uint64_t cached_bytes = 0;  // reserved and free to be reused
  std::uint64_t num_allocs = 0;
  std::uint64_t num_frees = 0;
  std::uint64_t num_system_allocs = 0;  // mmap calls
  std::uint64_t num_system_frees = 0;   // munmap calls
};

FL_API MemoryStats memory_stats() noexcept;
FL_API void reset_peak_memory_stats() noexcept;

// Gives every cached block back to the system, those in other threads' caches at those threads' next call.
FL_API void empty_cache() noexcept;

// Most bytes kept in the cache of large blocks; from FLAMBEAU_CPU_CACHE_LIMIT_MB, by default half of the machine's
// memory.
FL_API std::size_t memory_cache_limit() noexcept;
FL_API void set_memory_cache_limit(std::size_t nbytes) noexcept;

// A cached block idle for this long goes back to the system at the next call that passes by; 5 s at the start.
FL_API void set_memory_cache_decay(double seconds) noexcept;

}  // namespace flambeau
