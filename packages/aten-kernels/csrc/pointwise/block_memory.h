// Moves blocks of elements between strided memory and contiguous buffers, widening and narrowing the half kinds.
#pragma once

#include "math/isa.h"
#include "pointwise/lane.h"

namespace flambeau {
inline namespace FL_ISA {
namespace pw {

inline constexpr int64_t kMaxBlock = 2048;  // most elements of one call
inline constexpr int64_t kBlockAlign = 64;

// Bytes of an element in a buffer.
constexpr int64_t buffer_size(Lane lane) { return lane.form == Form::kPlain ? lane.size : 4; }

void load_block(char* buffer, const char* src, int64_t stride, int64_t n, Lane lane);

// `streamed` asks for streaming stores; dst is then contiguous.
void store_block(char* dst, int64_t stride, const char* buffer, int64_t n, Lane lane, bool streamed = false);

}  // namespace pw
}  // namespace FL_ISA
}  // namespace flambeau
