// Turns a kernel over contiguous blocks into a PointwiseLoop.
//
// Note [Blocks]
// Each (body, dtype, instruction set) is compiled once, as a loop over contiguous arrays. Everything else is done
// around it, a block that fits the L1 cache at a time: strided inputs are gathered, stride-0 inputs are splatted once,
// half kinds are widened to float, and results are narrowed, scattered or streamed. So every element meets the same
// arithmetic whatever its place and layout, and a strided input costs a copy within L1.
#pragma once

#include "math/isa.h"
#include "pointwise/lane.h"
#include "pointwise/pointwise_kernel.h"

namespace flambeau {
inline namespace FL_ISA {
namespace pw {

using BlockFunction = uint32_t (*)(char* const* ptrs, int64_t n, const Param* params);

struct Block {
  BlockFunction run;
  uint8_t num_outputs;
  uint8_t num_inputs;
  Lane lanes[kMaxPointwiseOperands];
};

uint32_t run_blocks(const Block& block, char* const* ptrs, const int64_t* strides, int64_t n, const Param* params);
uint32_t run_blocks_streaming(const Block& block, char* const* ptrs, const int64_t* strides, int64_t n,
                              const Param* params);

constexpr bool is_plain(const Block& b) {
  for (int i = 0; i < b.num_outputs + b.num_inputs; ++i) {
    if (b.lanes[i].form != Form::kPlain) return false;
  }
  return true;
}

template <const Block& B> uint32_t loop(char* const* ptrs, const int64_t* strides, int64_t n, const Param* params) {
  if constexpr (is_plain(B)) {
    bool contiguous = true;
    for (int i = 0; i < B.num_outputs + B.num_inputs; ++i) contiguous &= strides[i] == B.lanes[i].size;
    if (contiguous) return B.run(ptrs, n, params);
  }
  return run_blocks(B, ptrs, strides, n, params);
}

template <const Block& B> uint32_t stream(char* const* ptrs, const int64_t* strides, int64_t n, const Param* params) {
  return run_blocks_streaming(B, ptrs, strides, n, params);
}

}  // namespace pw
}  // namespace FL_ISA
}  // namespace flambeau
