// What generated reductions may use.
#pragma once

#include "pointwise/pointwise_prelude.h"
#include "reduce/reduce_blocks.h"

namespace flambeau {
inline namespace FL_ISA {
namespace reduce_impl {

using pw::c128;
using pw::c64;
using vm::kInf;
using vm::kNaN;

}  // namespace reduce_impl
}  // namespace FL_ISA
}  // namespace flambeau
