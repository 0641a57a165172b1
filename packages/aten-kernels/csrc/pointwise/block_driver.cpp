// Compiled once per instruction set. See Note [Blocks] in block_driver.h.
#include "pointwise/block_driver.h"

#include <cstring>

#include "flambeau/core/half.h"
#include "pointwise/stream_copy.h"

namespace flambeau {
inline namespace FL_ISA {
namespace pw {
namespace {

constexpr int64_t kArenaBytes = 32 * 1024;  // all buffers of a call: they and the operands' lines fit L1
constexpr int64_t kMaxBlock = 2048;
constexpr int64_t kAlign = 64;

int64_t buffer_size(Lane lane) { return lane.form == Form::kPlain ? lane.size : 4; }

template <typename T>
void gather_as(char* dst, const char* src, int64_t stride, int64_t n) {
  for (int64_t i = 0; i < n; ++i) std::memcpy(dst + i * static_cast<int64_t>(sizeof(T)), src + i * stride, sizeof(T));
}

template <typename T>
void scatter_as(char* dst, int64_t stride, const char* src, int64_t n) {
  for (int64_t i = 0; i < n; ++i) std::memcpy(dst + i * stride, src + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
}

struct Bytes16 {
  uint64_t a, b;
};

void gather_plain(char* dst, const char* src, int64_t stride, int64_t n, int size) {
  if (stride == size) {
    std::memcpy(dst, src, static_cast<size_t>(n * size));
    return;
  }
  switch (size) {
    case 1: return gather_as<uint8_t>(dst, src, stride, n);
    case 2: return gather_as<uint16_t>(dst, src, stride, n);
    case 4: return gather_as<uint32_t>(dst, src, stride, n);
    case 8: return gather_as<uint64_t>(dst, src, stride, n);
    default: return gather_as<Bytes16>(dst, src, stride, n);
  }
}

void scatter_plain(char* dst, int64_t stride, const char* src, int64_t n, int size) {
  if (stride == size) {
    std::memcpy(dst, src, static_cast<size_t>(n * size));
    return;
  }
  switch (size) {
    case 1: return scatter_as<uint8_t>(dst, stride, src, n);
    case 2: return scatter_as<uint16_t>(dst, stride, src, n);
    case 4: return scatter_as<uint32_t>(dst, stride, src, n);
    case 8: return scatter_as<uint64_t>(dst, stride, src, n);
    default: return scatter_as<Bytes16>(dst, stride, src, n);
  }
}

void widen(float* dst, const char* src, int64_t stride, int64_t n, Form form) {
  alignas(kAlign) uint16_t packed[kMaxBlock];
  const auto* half = reinterpret_cast<const uint16_t*>(src);
  if (stride != 2) {
    gather_as<uint16_t>(reinterpret_cast<char*>(packed), src, stride, n);
    half = packed;
  }
  if (form == Form::kBFloat16) {
    for (int64_t i = 0; i < n; ++i) dst[i] = half_detail::bfloat16_to_float(half[i]);
    return;
  }
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8) {
    const __m128i h = _mm_loadu_si128(reinterpret_cast<const __m128i*>(half + i));
    _mm256_storeu_ps(dst + i, _mm256_cvtph_ps(h));
  }
#endif
  for (; i < n; ++i) dst[i] = half_detail::half_to_float_portable(half[i]);
}

void narrow(uint16_t* dst, const float* src, int64_t n, Form form) {
  if (form == Form::kBFloat16) {
    for (int64_t i = 0; i < n; ++i) dst[i] = half_detail::bfloat16_from_float(src[i]);
    return;
  }
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8) {
    const __m128i h = _mm256_cvtps_ph(_mm256_loadu_ps(src + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(dst + i), h);
  }
#endif
  for (; i < n; ++i) dst[i] = half_detail::half_from_float_portable(src[i]);
}

void load(char* buffer, const char* src, int64_t stride, int64_t n, Lane lane) {
  if (lane.form == Form::kPlain) return gather_plain(buffer, src, stride, n, lane.size);
  widen(reinterpret_cast<float*>(buffer), src, stride, n, lane.form);
}

// Copies `buffer` to where the output lies; `streamed` outputs are contiguous.
void store(char* dst, int64_t stride, const char* buffer, int64_t n, Lane lane, bool streamed) {
  alignas(kAlign) uint16_t packed[kMaxBlock];
  if (lane.form != Form::kPlain) {
    const auto* values = reinterpret_cast<const float*>(buffer);
    if (stride == 2 && !streamed) return narrow(reinterpret_cast<uint16_t*>(dst), values, n, lane.form);
    narrow(packed, values, n, lane.form);
    buffer = reinterpret_cast<const char*>(packed);
  }
  if (streamed) return stream_copy(dst, buffer, n * lane.size);
  scatter_plain(dst, stride, buffer, n, lane.size);
}

enum class Mode : uint8_t { kDirect, kSplat, kBuffered };

// The operands of one call: which are buffered, where, and how long a block is.
struct Plan {
  Mode mode[kMaxPointwiseOperands];
  char* at[kMaxPointwiseOperands];  // what the block function is given
  int64_t block;
};

Mode mode_of(Lane lane, int64_t stride, bool is_output, bool streaming) {
  if (!is_output && stride == 0) return Mode::kSplat;
  const bool contiguous = stride == lane.size && lane.form == Form::kPlain;
  return contiguous && !(is_output && streaming) ? Mode::kDirect : Mode::kBuffered;
}

Plan make_plan(const Block& b, const int64_t* strides, char* arena, bool streaming) {
  Plan plan;
  const int total = b.num_outputs + b.num_inputs;
  int64_t bytes = 0;
  for (int k = 0; k < total; ++k) {
    plan.mode[k] = mode_of(b.lanes[k], strides[k], k < b.num_outputs, streaming);
    bytes += plan.mode[k] == Mode::kDirect ? 0 : buffer_size(b.lanes[k]);
  }
  plan.block = bytes == 0 ? kMaxBlock : kArenaBytes / bytes;
  plan.block = plan.block > kMaxBlock ? kMaxBlock : plan.block / kAlign * kAlign;
  for (int k = 0; k < total; ++k) {
    plan.at[k] = arena;
    if (plan.mode[k] != Mode::kDirect) arena += plan.block * buffer_size(b.lanes[k]);
  }
  return plan;
}

void splat(const Block& b, const Plan& plan, char* const* ptrs, int64_t n) {
  const int64_t count = n < plan.block ? n : plan.block;
  for (int k = b.num_outputs; k < b.num_outputs + b.num_inputs; ++k) {
    if (plan.mode[k] == Mode::kSplat) load(plan.at[k], ptrs[k], 0, count, b.lanes[k]);
  }
}

uint32_t run_one(const Block& b, const Plan& plan, char* const* ptrs, const int64_t* strides, int64_t start, int64_t n,
                 const Param* params, bool streaming) {
  char* at[kMaxPointwiseOperands];
  const int total = b.num_outputs + b.num_inputs;
  for (int k = 0; k < total; ++k) {
    char* here = ptrs[k] + start * strides[k];
    at[k] = plan.mode[k] == Mode::kDirect ? here : plan.at[k];
    if (k >= b.num_outputs && plan.mode[k] == Mode::kBuffered) load(at[k], here, strides[k], n, b.lanes[k]);
  }
  const uint32_t flags = b.run(at, n, params);
  for (int k = 0; k < b.num_outputs; ++k) {
    if (plan.mode[k] == Mode::kDirect) continue;
    store(ptrs[k] + start * strides[k], strides[k], plan.at[k], n, b.lanes[k], streaming);
  }
  return flags;
}

// Elements before the first output reaches a cache line's start, so that whole lines are streamed from there on.
int64_t elements_to_line(const char* out, int size) {
  const auto gap = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(out) & 63u);
  return gap % size == 0 ? gap / size : 0;
}

}  // namespace

uint32_t run_blocks(const Block& b, char* const* ptrs, const int64_t* strides, int64_t n, const Param* params) {
  alignas(kAlign) char arena[kArenaBytes + kAlign];
  const Plan plan = make_plan(b, strides, arena, false);
  splat(b, plan, ptrs, n);
  uint32_t flags = 0;
  for (int64_t i = 0; i < n; i += plan.block) {
    const int64_t count = n - i < plan.block ? n - i : plan.block;
    flags |= run_one(b, plan, ptrs, strides, i, count, params, false);
  }
  return flags;
}

uint32_t run_blocks_streaming(const Block& b, char* const* ptrs, const int64_t* strides, int64_t n,
                              const Param* params) {
  for (int k = 0; k < b.num_outputs; ++k) {
    if (strides[k] != b.lanes[k].size) return run_blocks(b, ptrs, strides, n, params);
  }
  alignas(kAlign) char arena[kArenaBytes + kAlign];
  const Plan plan = make_plan(b, strides, arena, true);
  splat(b, plan, ptrs, n);
  uint32_t flags = 0;
  int64_t count = elements_to_line(ptrs[0], b.lanes[0].size);
  count = count == 0 ? plan.block : count;
  for (int64_t i = 0; i < n; i += count, count = plan.block) {
    count = n - i < count ? n - i : count;
    flags |= run_one(b, plan, ptrs, strides, i, count, params, true);
    if (i + count >= n) break;
  }
  stream_fence();
  return flags;
}

}  // namespace pw
}  // namespace FL_ISA
}  // namespace flambeau
