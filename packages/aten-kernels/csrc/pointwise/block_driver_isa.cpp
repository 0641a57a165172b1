// Compiled once per instruction set. See Note [Blocks] in block_driver.h.
#include "pointwise/block_driver.h"

#include "pointwise/block_memory.h"
#include "pointwise/stream_copy.h"

namespace flambeau {
inline namespace FL_ISA {
namespace pw {
namespace {

constexpr int64_t kArenaBytes = 32 * 1024;  // all buffers of a call: they and the operands' lines fit L1
// A streamed block is short, so that its stores drain while the next one loads: with 8 KB blocks relu and add of 64 MB
// took twice as long.
constexpr int64_t kStreamedBytes = 512;

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
  plan.block = plan.block > kMaxBlock ? kMaxBlock : plan.block / kBlockAlign * kBlockAlign;
  if (streaming)
    plan.block = kStreamedBytes / b.lanes[0].size < kBlockAlign ? kBlockAlign : kStreamedBytes / b.lanes[0].size;
  for (int k = 0; k < total; ++k) {
    plan.at[k] = arena;
    if (plan.mode[k] != Mode::kDirect) arena += plan.block * buffer_size(b.lanes[k]);
  }
  return plan;
}

void splat(const Block& b, const Plan& plan, char* const* ptrs, int64_t n) {
  const int64_t count = n < plan.block ? n : plan.block;
  for (int k = b.num_outputs; k < b.num_outputs + b.num_inputs; ++k) {
    if (plan.mode[k] == Mode::kSplat) load_block(plan.at[k], ptrs[k], 0, count, b.lanes[k]);
  }
}

uint32_t run_one(const Block& b, const Plan& plan, char* const* ptrs, const int64_t* strides, int64_t start, int64_t n,
                 const Param* params, bool streaming) {
  char* at[kMaxPointwiseOperands];
  const int total = b.num_outputs + b.num_inputs;
  for (int k = 0; k < total; ++k) {
    char* here = ptrs[k] + start * strides[k];
    at[k] = plan.mode[k] == Mode::kDirect ? here : plan.at[k];
    if (k >= b.num_outputs && plan.mode[k] == Mode::kBuffered) load_block(at[k], here, strides[k], n, b.lanes[k]);
  }
  const uint32_t flags = b.run(at, n, params);
  for (int k = 0; k < b.num_outputs; ++k) {
    if (plan.mode[k] == Mode::kDirect) continue;
    store_block(ptrs[k] + start * strides[k], strides[k], plan.at[k], n, b.lanes[k], streaming);
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
  alignas(kBlockAlign) char arena[kArenaBytes + kBlockAlign];
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
  alignas(kBlockAlign) char arena[kArenaBytes + kBlockAlign];
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
