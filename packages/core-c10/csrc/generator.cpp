#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")  // the twist and the tempering vectorise
#endif

#include "flambeau/core/generator.h"

#include <sys/random.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "flambeau/core/error.h"
#include "random/clones.h"

namespace flambeau {

namespace {

constexpr int kWords = Mt19937::kStateWords;
constexpr int kShift = Mt19937::kShift;

inline std::uint32_t twist(std::uint32_t high, std::uint32_t low) {
  const std::uint32_t mixed = (high & 0x80000000u) | (low & 0x7fffffffu);
  return (mixed >> 1) ^ (-(low & 1u) & 0x9908b0dfu);
}

// Each word depends on one 227 words earlier at the nearest, so the loops vectorise.
FL_CLONES void next_state(std::uint32_t* s) {
  for (int i = 0; i < kWords - kShift; ++i) s[i] = s[i + kShift] ^ twist(s[i], s[i + 1]);
  for (int i = kWords - kShift; i < kWords - 1; ++i) s[i] = s[i + kShift - kWords] ^ twist(s[i], s[i + 1]);
  s[kWords - 1] = s[kShift - 1] ^ twist(s[kWords - 1], s[0]);
}

FL_CLONES void temper(std::uint32_t* __restrict out, const std::uint32_t* __restrict s, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    std::uint32_t y = s[i];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    out[i] = y ^ (y >> 18);
  }
}

}  // namespace

void Mt19937::reseed(std::uint64_t new_seed) {
  seed = new_seed;
  left = 1;
  next = 0;
  state[0] = static_cast<std::uint32_t>(new_seed);
  for (std::uint32_t i = 1; i < kStateWords; ++i) {
    const std::uint32_t previous = state[i - 1];
    state[i] = 1812433253u * (previous ^ (previous >> 30)) + i;
  }
}

void Mt19937::refill() {
  left = kStateWords;
  next = 0;
  next_state(state);
}

void Mt19937::fill(std::uint32_t* out, std::int64_t n) {
  while (n > 0) {
    if (left == 1) {
      refill();
      left = kStateWords + 1;  // none of the fresh state is used yet
    }
    const std::int64_t count = std::min<std::int64_t>(n, left - 1);
    temper(out, state + next, count);
    left -= static_cast<int>(count);
    next += static_cast<std::uint32_t>(count);
    out += count;
    n -= count;
  }
}

Philox4x32::Philox4x32(std::uint64_t key, std::uint64_t subsequence, std::uint64_t offset)
    : key_(key), subsequence_(subsequence), offset_(offset), block_{} {}

void Philox4x32::advance(std::uint64_t blocks) {
  const std::uint64_t before = offset_;
  offset_ += blocks;
  if (offset_ < before) ++subsequence_;
  lane_ = 0;
}

void Philox4x32::compute_block() { block(key_, subsequence_, offset_, block_); }

void Philox4x32::block(std::uint64_t key, std::uint64_t subsequence, std::uint64_t offset, std::uint32_t out[4]) {
  std::uint32_t c0 = static_cast<std::uint32_t>(offset), c1 = static_cast<std::uint32_t>(offset >> 32);
  std::uint32_t c2 = static_cast<std::uint32_t>(subsequence), c3 = static_cast<std::uint32_t>(subsequence >> 32);
  std::uint32_t k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xd2511f53u} * c0;
    const std::uint64_t p1 = std::uint64_t{0xcd9e8d57u} * c2;
    c0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ k0;
    c2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c1 = static_cast<std::uint32_t>(p1);
    c3 = static_cast<std::uint32_t>(p0);
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

namespace {

// The 5,056 bytes that torch saves. The engine's words are widened to 64 bits; the normal numbers' fields keep the
// place they had in an older format.
struct SavedState {
  std::uint64_t seed;
  std::int32_t left;
  std::int32_t seeded;
  std::uint64_t next;
  std::uint64_t state[kWords];
  double normal_x;
  double normal_y;  // the cached double
  double normal_rho;
  std::int32_t has_normal_y;
  std::int32_t padding;
  float next_float;
  std::uint8_t has_next_float;
  std::uint8_t padding2[3];
};
static_assert(sizeof(SavedState) == GeneratorImpl::kStateBytes);

}  // namespace

GeneratorImpl::GeneratorImpl(std::uint64_t seed) : engine_(seed) {}

void GeneratorImpl::manual_seed(std::uint64_t seed) {
  const std::lock_guard lock(mutex_);
  engine_.reseed(seed);
  next_float_normal.reset();
  next_double_normal.reset();
}

std::uint64_t GeneratorImpl::seed() {
  const std::uint64_t value = nondeterministic_seed();
  manual_seed(value);
  return value;
}

void GeneratorImpl::get_state(std::uint8_t* out) const {
  const std::lock_guard lock(mutex_);
  SavedState saved{};
  saved.seed = engine_.seed;
  saved.left = engine_.left;
  saved.seeded = 1;
  saved.next = engine_.next;
  std::copy(engine_.state, engine_.state + kWords, saved.state);
  saved.has_normal_y = next_double_normal.has_value();
  saved.normal_y = next_double_normal.value_or(0);
  saved.has_next_float = next_float_normal.has_value();
  saved.next_float = next_float_normal.value_or(0);
  std::memcpy(out, &saved, sizeof saved);
}

void GeneratorImpl::set_state(const std::uint8_t* bytes, std::size_t num_bytes) {
  FL_CHECK(num_bytes == kStateBytes, "[set_state] expected a CPU generator state of ", kStateBytes,
           " bytes, but the given state has ", num_bytes);
  SavedState saved;
  std::memcpy(&saved, bytes, sizeof saved);
  bool valid = saved.seeded == 1 && saved.left >= 1 && saved.left <= kWords && saved.next <= kWords &&
               saved.next + static_cast<std::uint64_t>(saved.left) <= kWords + 1;
  for (const std::uint64_t word : saved.state) valid = valid && word <= 0xffffffffu;
  FL_CHECK(valid, "[set_state] the bytes are not a state of the mt19937 generator; pass what get_state() returned");
  const std::lock_guard lock(mutex_);
  engine_.seed = saved.seed;
  engine_.left = saved.left;
  engine_.next = static_cast<std::uint32_t>(saved.next);
  for (int i = 0; i < kWords; ++i) engine_.state[i] = static_cast<std::uint32_t>(saved.state[i]);
  next_double_normal = saved.has_normal_y ? std::optional<double>(saved.normal_y) : std::nullopt;
  next_float_normal = saved.has_next_float ? std::optional<float>(saved.next_float) : std::nullopt;
}

GeneratorImpl* GeneratorImpl::clone() const {
  auto* copy = new GeneratorImpl(0);
  const std::lock_guard lock(mutex_);
  copy->engine_ = engine_;
  copy->next_float_normal = next_float_normal;
  copy->next_double_normal = next_double_normal;
  return copy;
}

GeneratorImpl& default_generator() {
  static auto* generator = new GeneratorImpl;  // never freed: used until the end of the process
  return *generator;
}

std::uint64_t nondeterministic_seed() {
  std::uint64_t value;
  if (getrandom(&value, sizeof value, 0) != sizeof value) {
    value = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
    value *= 0x9e3779b97f4a7c15u;
  }
  return value & ((std::uint64_t{1} << 53) - 1);
}

}  // namespace flambeau
