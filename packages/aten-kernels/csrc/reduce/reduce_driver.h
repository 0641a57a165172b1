#pragma once

#include "math/isa.h"
#include "reduce/reduce_blocks.h"

namespace flambeau {
inline namespace FL_ISA {
namespace reduce_impl {

void run_reduction(const ReduceBlocks& blocks, const ReduceArgs& args, const Param* params);

}  // namespace reduce_impl
}  // namespace FL_ISA
}  // namespace flambeau
