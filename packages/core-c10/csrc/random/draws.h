#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>

#include "flambeau/core/generator.h"
#include "flambeau/core/half.h"
#include "flambeau/core/parallel.h"

// What all fills share: numbers are drawn one after another, in blocks that stay in the cache; the mathematics on a
// block is spread over the threads.

namespace flambeau::random {

inline constexpr std::int64_t kBlock = 8192;

inline float unit_float(std::uint32_t word) {
  return static_cast<float>(static_cast<std::int32_t>(word & 0xffffffu)) * 0x1p-24f;
}

inline std::uint64_t join(std::uint32_t high, std::uint32_t low) { return std::uint64_t{high} << 32 | low; }

inline double unit_double(std::uint64_t word) {
  return static_cast<double>(static_cast<std::int64_t>(word & 0x1fffffffffffffu)) * 0x1p-53;
}

// A double becomes an integer by truncation; what int64 cannot hold becomes its minimum; narrower types keep the low
// bits.
template <class T> T to_element(double value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else if constexpr (std::is_integral_v<T>) {
    const bool fits = value >= -0x1p63 && value < 0x1p63;
    return static_cast<T>(fits ? static_cast<std::int64_t>(value) : INT64_MIN);
  } else {
    return static_cast<T>(static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(value));
  }
}

// For each block of at most kBlock elements: body(words, offset, count), with words_per_element random words per
// element.
template <int words_per_element, class Body> void for_each_block(GeneratorImpl& gen, std::int64_t n, Body body) {
  alignas(64) std::uint32_t words[kBlock];
  constexpr std::int64_t step = kBlock / words_per_element;
  for (std::int64_t offset = 0; offset < n; offset += step) {
    const std::int64_t count = std::min(step, n - offset);
    gen.engine().fill(words, count * words_per_element);
    body(words, offset, count);
  }
}

// out[i] = f(uniform double in [0, 1)), f expensive: drawn here, computed on all threads.
template <class T, class F> void map_unit_doubles(GeneratorImpl& gen, T* out, std::int64_t n, F f) {
  constexpr std::int64_t grain = 512;  // a logarithm or tangent takes about 20 ns
  const std::lock_guard lock(gen.mutex());
  for_each_block<2>(gen, n, [&](const std::uint32_t* words, std::int64_t offset, std::int64_t count) {
    parallel_for(0, count, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        out[offset + i] = to_element<T>(f(unit_double(join(words[2 * i], words[2 * i + 1]))));
    });
  });
}

// An instantiation for a hidden type is hidden unless it says FL_API itself.
#define FL_FOR_FLOATS(M) M(float) M(double) M(Half) M(BFloat16)
#define FL_FOR_INTEGERS(M) \
  M(bool)                  \
  M(std::uint8_t)          \
  M(std::int8_t) M(std::int16_t) M(std::int32_t) M(std::int64_t) M(std::uint16_t) M(std::uint32_t) M(std::uint64_t)
#define FL_FOR_ALL(M) FL_FOR_FLOATS(M) FL_FOR_INTEGERS(M)

}  // namespace flambeau::random
