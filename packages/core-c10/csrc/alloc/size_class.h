#pragma once

#include <bit>
#include <cstddef>

// Size classes: multiples of 64 up to 512 bytes, then eight per doubling, so that a block is never more than 12.5 % (or
// 63 bytes) larger than what was asked. From 32 KB on class sizes are whole pages, from 16 MB on whole 2 MB pages.

namespace flambeau::alloc {

inline constexpr std::size_t kSmallLimit = 32768;                // up to here: slabs and per-thread caches
inline constexpr std::size_t kHugeLimit = std::size_t{1} << 20;  // from here: 2 MB aligned, huge-page advice
inline constexpr std::size_t kHugePage = std::size_t{2} << 20;
inline constexpr std::size_t kLargestBlock = std::size_t{1} << 47;  // the user half of the address space
inline constexpr unsigned kNumSmallClasses = 56;
inline constexpr unsigned kNumClasses = 312;

// n in [1, kLargestBlock]
constexpr unsigned class_of(std::size_t n) {
  if (n <= 512) return static_cast<unsigned>((n - 1) >> 6);
  const unsigned log2 = std::bit_width(n - 1) - 1;
  return 8 + (log2 - 9) * 8 + static_cast<unsigned>(((n - 1) >> (log2 - 3)) & 7);
}

constexpr std::size_t size_of_class(unsigned c) {
  if (c < 8) return (c + std::size_t{1}) * 64;
  const unsigned log2 = 9 + (c - 8) / 8;
  return (std::size_t{1} << log2) + (((c - 8) % 8 + std::size_t{1}) << (log2 - 3));
}

static_assert(class_of(kSmallLimit) == kNumSmallClasses - 1 && size_of_class(kNumSmallClasses - 1) == kSmallLimit);
static_assert(class_of(kLargestBlock) == kNumClasses - 1 && size_of_class(kNumClasses - 1) == kLargestBlock);

// Slabs are aligned to their size, so that a block finds its slab's header by masking.
constexpr std::size_t slab_bytes(unsigned c) { return size_of_class(c) <= 4096 ? 65536 : 524288; }

// Blocks moved between a thread's cache and the slabs at a time; a thread keeps at most twice as many.
constexpr unsigned batch_of(unsigned c) {
  const std::size_t fit = 16384 / size_of_class(c);
  return fit > 32 ? 32 : fit < 1 ? 1 : static_cast<unsigned>(fit);
}

}  // namespace flambeau::alloc
