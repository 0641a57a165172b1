#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "flambeau/core/export.h"

// Random number engines. The CPU generator is mt19937; its streams, and the 5,056-byte state it saves, equal those of
// torch's CPU generator. The fills that turn its numbers into tensors are in random.h.

namespace flambeau {

// Mersenne Twister of Matsumoto and Nishimura, 32-bit.
class FL_API Mt19937 {
 public:
  static constexpr int kStateWords = 624;
  static constexpr int kShift = 397;

  explicit Mt19937(std::uint64_t seed) { reseed(seed); }

  // Only the low 32 bits of the seed select the stream.
  void reseed(std::uint64_t seed);

  std::uint32_t operator()() {
    if (FL_UNLIKELY(--left == 0)) refill();
    std::uint32_t y = state[next++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }

  // The next n numbers, faster than one by one.
  void fill(std::uint32_t* out, std::int64_t n);

  std::uint64_t seed = 0;
  int left = 1;            // numbers before the next refill, plus one
  std::uint32_t next = 0;  // index of the next one in state
  std::uint32_t state[kStateWords];

 private:
  void refill();
};

// Philox4x32-10 of Salmon et al.: number i of stream s under a key, without state to carry between threads.
class FL_API Philox4x32 {
 public:
  explicit Philox4x32(std::uint64_t key, std::uint64_t subsequence = 0, std::uint64_t offset = 0);

  std::uint32_t operator()() {
    if (lane_ == 0) compute_block();
    const std::uint32_t value = block_[lane_];
    lane_ = (lane_ + 1) & 3;
    if (lane_ == 0) advance(1);
    return value;
  }

  // Skips `blocks` groups of four numbers.
  void advance(std::uint64_t blocks);

  // The four numbers at one counter.
  static void block(std::uint64_t key, std::uint64_t subsequence, std::uint64_t offset, std::uint32_t out[4]);

 private:
  void compute_block();

  std::uint64_t key_;
  std::uint64_t subsequence_;  // high half of the counter
  std::uint64_t offset_;       // low half
  std::uint32_t block_[4];
  unsigned lane_ = 0;
};

// A seedable source of randomness, shared by reference count. Hold mutex() for the length of a draw; the fills in
// random.h do.
struct FL_API GeneratorImpl {
  static constexpr std::uint64_t kDefaultSeed = 67280421310721;
  static constexpr std::size_t kStateBytes = 5056;

  explicit GeneratorImpl(std::uint64_t seed = kDefaultSeed);
  GeneratorImpl(const GeneratorImpl&) = delete;
  GeneratorImpl& operator=(const GeneratorImpl&) = delete;

  // Restarts the stream and forgets cached normal numbers.
  void manual_seed(std::uint64_t seed);
  // Restarts from a seed that the system's entropy gives, and returns it.
  std::uint64_t seed();
  std::uint64_t initial_seed() const { return engine_.seed; }

  // The state as bytes, interchangeable with torch's Generator.get_state() on CPU. `out` has room for kStateBytes.
  void get_state(std::uint8_t* out) const;
  // Throws RuntimeError, and changes nothing, if the bytes are not a state.
  void set_state(const std::uint8_t* bytes, std::size_t num_bytes);

  // A new generator in the same state, with one reference.
  GeneratorImpl* clone() const;

  std::uint32_t random() { return engine_(); }
  std::uint64_t random64() {
    const std::uint64_t high = engine_();
    return (high << 32) | engine_();
  }
  Mt19937& engine() { return engine_; }

  // Second half of the last pair of normal numbers, kept for the next draw.
  std::optional<float> next_float_normal;
  std::optional<double> next_double_normal;

  std::mutex& mutex() { return mutex_; }

  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  ~GeneratorImpl() = default;

  Mt19937 engine_;
  mutable std::mutex mutex_;
  std::atomic<std::uint32_t> references_{1};
};

// The generator that operators use when given none. Lives as long as the process.
FL_API GeneratorImpl& default_generator();

// 53 bits of the system's entropy: exact in a double too.
FL_API std::uint64_t nondeterministic_seed();

}  // namespace flambeau
