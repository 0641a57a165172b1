#include <cmath>

#include "box_muller.h"
#include "draws.h"
#include "flambeau/core/random.h"

// torch has three streams of normal numbers. Fewer than 16 elements, or memory that is not contiguous: pairs from
// double uniforms, the second of a pair kept for the next call. 16 or more: groups of 16 (box_muller.h); if n is not a
// multiple of 16, the last 16 elements are drawn anew. The difference between f32 and 16-bit floats is when that tail
// is drawn.

namespace flambeau::random {

namespace {

constexpr std::int64_t kGroup = 16;
constexpr std::int64_t kGrain = 4096;

// The next normal number of the pair stream; the generator's lock is held.
double next_normal(GeneratorImpl& gen) {
  if (gen.next_double_normal) {
    const double value = *gen.next_double_normal;
    gen.next_double_normal.reset();
    return value;
  }
  const double u1 = unit_double(gen.random64());
  const double u2 = unit_double(gen.random64());
  const double radius = std::sqrt(-2 * std::log1p(-u2));
  const double theta = 2 * M_PI * u1;
  gen.next_double_normal = radius * std::sin(theta);
  return radius * std::cos(theta);
}

template <class T> void draw_units(GeneratorImpl& gen, T* out, std::int64_t n) {
  if constexpr (std::is_same_v<T, double>) {
    for_each_block<2>(gen, n, [&](const std::uint32_t* words, std::int64_t offset, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) out[offset + i] = unit_double(join(words[2 * i], words[2 * i + 1]));
    });
  } else {
    for_each_block<1>(gen, n, [&](const std::uint32_t* words, std::int64_t offset, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) out[offset + i] = unit_float(words[i]);
    });
  }
}

template <class T> void fill_groups(T* data, std::int64_t n, T mean, T std) {
  parallel_for(0, n / kGroup, kGrain / kGroup, [&](std::int64_t begin, std::int64_t end) {
    box_muller(data + begin * kGroup, (end - begin) * kGroup, mean, std);
  });
}

// f32 and f64: all n uniforms first, then 16 more for the tail.
template <class T> void normal_groups(GeneratorImpl& gen, T* out, std::int64_t n, T mean, T std) {
  draw_units(gen, out, n);
  fill_groups(out, n - n % kGroup, mean, std);
  if (n % kGroup != 0) {
    draw_units(gen, out + n - kGroup, kGroup);
    box_muller(out + n - kGroup, kGroup, mean, std);
  }
}

// 16-bit floats: whole groups only, then the tail; computed in f32 and rounded at the end.
template <class T> void normal_groups_16_bit(GeneratorImpl& gen, T* out, std::int64_t n, float mean, float std) {
  float values[kGrain];
  const auto fill = [&](std::int64_t offset, std::int64_t count) {
    draw_units(gen, values, count);
    box_muller(values, count, mean, std);
    for (std::int64_t i = 0; i < count; ++i) out[offset + i] = values[i];
  };
  const std::int64_t whole = n - n % kGroup;
  for (std::int64_t offset = 0; offset < whole; offset += kGrain) fill(offset, std::min(kGrain, whole - offset));
  if (whole != n) fill(n - kGroup, kGroup);
}

}  // namespace

template <class T> void normal_serial(GeneratorImpl& gen, T* out, std::int64_t n, double mean, double std) {
  const std::lock_guard lock(gen.mutex());
  for (std::int64_t i = 0; i < n; ++i) out[i] = to_element<T>(__builtin_fma(next_normal(gen), std, mean));
}

template <class T> void normal(GeneratorImpl& gen, T* out, std::int64_t n, double mean, double std) {
  if (n < kGroup) return normal_serial(gen, out, n, mean, std);
  const std::lock_guard lock(gen.mutex());
  if constexpr (std::is_same_v<T, double>) {
    normal_groups(gen, out, n, mean, std);
  } else if constexpr (std::is_same_v<T, float>) {
    normal_groups(gen, out, n, static_cast<float>(mean), static_cast<float>(std));
  } else {
    normal_groups_16_bit(gen, out, n, static_cast<float>(mean), static_cast<float>(std));
  }
}

template <class T> void log_normal(GeneratorImpl& gen, T* out, std::int64_t n, double mean, double std) {
  const std::lock_guard lock(gen.mutex());
  for (std::int64_t i = 0; i < n; ++i) out[i] = to_element<T>(std::exp(__builtin_fma(next_normal(gen), std, mean)));
}

#define FL_INSTANTIATE(T)                                                                  \
  template FL_API void normal<T>(GeneratorImpl&, T*, std::int64_t, double, double);        \
  template FL_API void normal_serial<T>(GeneratorImpl&, T*, std::int64_t, double, double); \
  template FL_API void log_normal<T>(GeneratorImpl&, T*, std::int64_t, double, double);
FL_FOR_FLOATS(FL_INSTANTIATE)

}  // namespace flambeau::random
