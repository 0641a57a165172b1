#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#include "flambeau/core/random.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include "random/clones.h"
#include "random/draws.h"

namespace flambeau::random {

namespace {

template <class T> inline constexpr bool kIs16Bit = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

FL_CLONES void scale_floats(float* __restrict out, const std::uint32_t* __restrict words, std::int64_t n, float from,
                            float to) {
  const float range = to - from;
  for (std::int64_t i = 0; i < n; ++i) {
    const float x = __builtin_fmaf(unit_float(words[i]), range, from);
    out[i] = x == to ? from : x;
  }
}

FL_CLONES void scale_doubles(double* __restrict out, const std::uint32_t* __restrict words, std::int64_t n, double from,
                             double to) {
  const double range = to - from;
  for (std::int64_t i = 0; i < n; ++i) {
    const double x = __builtin_fma(unit_double(join(words[2 * i], words[2 * i + 1])), range, from);
    out[i] = x == to ? from : x;
  }
}

template <class T>
FL_HALF_INLINE void round_to_16_bit(T* __restrict out, const float* __restrict in, std::int64_t n, T from, T to) {
  const float excluded = to;
  for (std::int64_t i = 0; i < n; ++i) {
    const T x = in[i];
    out[i] = static_cast<float>(x) == excluded ? from : x;
  }
}

FL_CLONES void round_floats(Half* out, const float* in, std::int64_t n, Half from, Half to) {
  round_to_16_bit(out, in, n, from, to);
}

FL_CLONES void round_floats(BFloat16* out, const float* in, std::int64_t n, BFloat16 from, BFloat16 to) {
  round_to_16_bit(out, in, n, from, to);
}

}  // namespace

template <class T> void uniform(GeneratorImpl& gen, T* out, std::int64_t n, double from, double to) {
  const std::lock_guard lock(gen.mutex());
  if constexpr (std::is_same_v<T, double>) {
    for_each_block<2>(gen, n, [&](const std::uint32_t* words, std::int64_t offset, std::int64_t count) {
      scale_doubles(out + offset, words, count, from, to);
    });
  } else {
    const float low = static_cast<float>(from), high = static_cast<float>(to);
    for_each_block<1>(gen, n, [&](const std::uint32_t* words, std::int64_t offset, std::int64_t count) {
      if constexpr (kIs16Bit<T>) {
        float values[kBlock];
        scale_floats(values, words, count, low, high);
        round_floats(out + offset, values, count, low, high);
      } else {
        scale_floats(out + offset, words, count, low, high);
      }
    });
  }
}

namespace {

template <class T> T integer_element(std::int64_t value) {
  if constexpr (kIs16Bit<T>) {
    return static_cast<T>(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

// x mod range for a range fixed over a block, without a division (Lemire, Kaser, Kurz 2019).
struct Modulus32 {
  explicit Modulus32(std::uint32_t r) : range(r), inverse(~std::uint64_t{0} / r + 1) {}
  std::uint32_t operator()(std::uint32_t x) const {
    const std::uint64_t low = inverse * x;
    return static_cast<std::uint32_t>((static_cast<unsigned __int128>(low) * range) >> 64);
  }
  std::uint32_t range;
  std::uint64_t inverse;
};

template <class T>
void random_modulo(GeneratorImpl& gen, T* out, std::int64_t n, std::uint64_t range, std::int64_t base, bool wide) {
  const std::lock_guard lock(gen.mutex());
  const auto element = [base](std::uint64_t offset) {
    return integer_element<T>(static_cast<std::int64_t>(offset + static_cast<std::uint64_t>(base)));
  };
  if (wide) {
    for_each_block<2>(gen, n, [&](const std::uint32_t* words, std::int64_t offset, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) out[offset + i] = element(join(words[2 * i], words[2 * i + 1]) % range);
    });
  } else if (range == 1) {  // draws nothing but advances all the same
    for_each_block<1>(gen, n, [&](const std::uint32_t*, std::int64_t offset, std::int64_t count) {
      std::fill(out + offset, out + offset + count, element(0));
    });
  } else {
    const Modulus32 modulus(static_cast<std::uint32_t>(range));
    for_each_block<1>(gen, n, [&](const std::uint32_t* words, std::int64_t offset, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) out[offset + i] = element(modulus(words[i]));
    });
  }
}

// One more than the largest integer that random_() may give.
template <class T> constexpr std::uint64_t any_range() {
  if constexpr (std::is_same_v<T, bool>) return 2;
  if constexpr (std::is_same_v<T, float>) return (std::uint64_t{1} << 24) + 1;
  if constexpr (std::is_same_v<T, double>) return (std::uint64_t{1} << 53) + 1;
  if constexpr (std::is_same_v<T, Half>) return (std::uint64_t{1} << 11) + 1;
  if constexpr (std::is_same_v<T, BFloat16>) return (std::uint64_t{1} << 8) + 1;
  if constexpr (std::is_same_v<T, std::uint64_t>) return std::uint64_t{1} << 63;
  if constexpr (std::is_integral_v<T>) return static_cast<std::uint64_t>(std::numeric_limits<T>::max()) + 1;
}

template <class T> constexpr int digits() {
  if constexpr (std::is_same_v<T, Half>) return 11;
  if constexpr (std::is_same_v<T, BFloat16>) return 8;
  return std::numeric_limits<T>::digits;
}

// What int64 cannot hold becomes its minimum, so bounds next to 2^63 stay as they are.
template <class T> std::int64_t rounded(std::int64_t value) {
  const double x = static_cast<double>(integer_element<T>(value));
  return x >= 0x1p63 ? INT64_MIN : static_cast<std::int64_t>(x);
}

// Distance of neighbouring T's at a magnitude.
template <class T> std::int64_t spacing(std::int64_t magnitude) {
  const int exponent = 63 - __builtin_clzll(static_cast<unsigned long long>(magnitude));
  return exponent < digits<T>() ? 1 : std::int64_t{1} << (exponent - digits<T>() + 1);
}

// Floats cannot tell large integers apart: a bound whose neighbour inside would round past it moves inwards, as in
// torch.
template <class T> void tighten(std::int64_t& from, std::int64_t& to) {
  if (const std::int64_t first = rounded<T>(from + 1); first < from) from = first + spacing<T>(-(from + 1));
  if (const std::int64_t last = rounded<T>(to - 1); last >= to) to = last - spacing<T>(to - 1);
}

}  // namespace

template <class T> void random_from_to(GeneratorImpl& gen, T* out, std::int64_t n, std::int64_t from, std::int64_t to) {
  if constexpr (!std::is_integral_v<T>) tighten<T>(from, to);
  const std::uint64_t range = static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
  random_modulo(gen, out, n, range, from, range >= std::uint64_t{1} << 28);
}

template <class T> void random_full_range(GeneratorImpl& gen, T* out, std::int64_t n) {
  const std::lock_guard lock(gen.mutex());
  for_each_block<2>(gen, n, [&](const std::uint32_t* words, std::int64_t offset, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
      out[offset + i] = integer_element<T>(static_cast<std::int64_t>(join(words[2 * i], words[2 * i + 1])));
  });
}

template <class T> void random_any(GeneratorImpl& gen, T* out, std::int64_t n) {
  // 32-bit words serve every type but the 64-bit ones.
  constexpr bool wide = sizeof(T) == 8;
  constexpr std::uint64_t range = any_range<T>();
  if constexpr (!wide && range > 0xffffffffu) {  // uint32: all of the word
    const std::lock_guard lock(gen.mutex());
    gen.engine().fill(reinterpret_cast<std::uint32_t*>(out), n);
  } else {
    random_modulo(gen, out, n, range, 0, wide);
  }
}

template <class T> void randperm(GeneratorImpl& gen, T* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = integer_element<T>(i);
  const std::lock_guard lock(gen.mutex());
  const auto exchange = [&](std::int64_t i, std::uint64_t word) {
    const auto other = i + static_cast<std::int64_t>(word % static_cast<std::uint64_t>(n - i));
    std::swap(out[i], out[other]);
  };
  if (n >= std::int64_t{1} << 32) {
    for (std::int64_t i = 0; i + 1 < n; ++i) exchange(i, gen.random64());
    return;
  }
  for_each_block<1>(gen, n - 1, [&](const std::uint32_t* words, std::int64_t offset, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) exchange(offset + i, words[i]);
  });
}

namespace {

FL_CLONES void below(std::uint8_t* __restrict out, const std::uint32_t* __restrict words, std::int64_t n,
                     std::int64_t threshold) {
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint64_t u = join(words[2 * i], words[2 * i + 1]) & 0x1fffffffffffffu;
    out[i] = static_cast<std::int64_t>(u) < threshold;
  }
}

}  // namespace

template <class T> void bernoulli(GeneratorImpl& gen, T* out, std::int64_t n, double p) {
  // u < p over 53-bit integers: u * 2^53 < ceil(p * 2^53).
  const auto threshold = static_cast<std::int64_t>(std::ceil(p * 0x1p53));
  const std::lock_guard lock(gen.mutex());
  for_each_block<2>(gen, n, [&](const std::uint32_t* words, std::int64_t offset, std::int64_t count) {
    std::uint8_t hits[kBlock / 2];
    below(hits, words, count, threshold);
    for (std::int64_t i = 0; i < count; ++i) {
      if constexpr (kIs16Bit<T>) {
        constexpr std::uint16_t one = T(1.0f).bits;
        out[offset + i].bits = static_cast<std::uint16_t>(hits[i] * one);
      } else {
        out[offset + i] = static_cast<T>(hits[i]);
      }
    }
  });
}

template <class T, class P> void bernoulli_each(GeneratorImpl& gen, T* out, const P* p, std::int64_t n) {
  const T one = integer_element<T>(1), zero = integer_element<T>(0);
  const std::lock_guard lock(gen.mutex());
  if constexpr (std::is_same_v<P, double>) {
    for_each_block<2>(gen, n, [&](const std::uint32_t* words, std::int64_t offset, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i)
        out[offset + i] = unit_double(join(words[2 * i], words[2 * i + 1])) < p[offset + i] ? one : zero;
    });
  } else {
    for_each_block<1>(gen, n, [&](const std::uint32_t* words, std::int64_t offset, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i)
        out[offset + i] = unit_float(words[i]) < static_cast<float>(p[offset + i]) ? one : zero;
    });
  }
}

template <class T> void exponential(GeneratorImpl& gen, T* out, std::int64_t n, double lambda) {
  const double scale = -1 / lambda;
  map_unit_doubles(gen, out, n, [scale](double u) { return scale * std::log1p(-u); });
}

template <class T> void cauchy(GeneratorImpl& gen, T* out, std::int64_t n, double median, double sigma) {
  map_unit_doubles(gen, out, n, [=](double u) { return __builtin_fma(sigma, std::tan(M_PI * (u - 0.5)), median); });
}

template <class T> void geometric(GeneratorImpl& gen, T* out, std::int64_t n, double p) {
  const double log_failure = std::log1p(-p);
  map_unit_doubles(gen, out, n, [=](double u) { return std::ceil(std::log(u) / log_failure); });
}

#define FL_INSTANTIATE_FLOAT(T)                                                      \
  template FL_API void uniform<T>(GeneratorImpl&, T*, std::int64_t, double, double); \
  template FL_API void exponential<T>(GeneratorImpl&, T*, std::int64_t, double);     \
  template FL_API void cauchy<T>(GeneratorImpl&, T*, std::int64_t, double, double);
#define FL_INSTANTIATE_ANY(T)                                                                           \
  template FL_API void random_from_to<T>(GeneratorImpl&, T*, std::int64_t, std::int64_t, std::int64_t); \
  template FL_API void random_full_range<T>(GeneratorImpl&, T*, std::int64_t);                          \
  template FL_API void random_any<T>(GeneratorImpl&, T*, std::int64_t);                                 \
  template FL_API void randperm<T>(GeneratorImpl&, T*, std::int64_t);                                   \
  template FL_API void geometric<T>(GeneratorImpl&, T*, std::int64_t, double);                          \
  template FL_API void bernoulli<T>(GeneratorImpl&, T*, std::int64_t, double);                          \
  template FL_API void bernoulli_each<T, float>(GeneratorImpl&, T*, const float*, std::int64_t);        \
  template FL_API void bernoulli_each<T, double>(GeneratorImpl&, T*, const double*, std::int64_t);      \
  template FL_API void bernoulli_each<T, Half>(GeneratorImpl&, T*, const Half*, std::int64_t);          \
  template FL_API void bernoulli_each<T, BFloat16>(GeneratorImpl&, T*, const BFloat16*, std::int64_t);
FL_FOR_FLOATS(FL_INSTANTIATE_FLOAT)
FL_FOR_ALL(FL_INSTANTIATE_ANY)

}  // namespace flambeau::random
