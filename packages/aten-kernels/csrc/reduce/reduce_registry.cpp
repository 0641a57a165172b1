// Finds reductions by name, and runs them by the driver of the instruction set in use. As in pointwise_registry.cpp,
// blocks that are built for the base set only are taken from there.
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

#include "cpu/for_isa.h"
#include "reduce/reduce_blocks.h"
#include "reduce_units.h"

namespace flambeau {

#define FL_DECLARE(unit) ReduceTable reduce_table_##unit();
namespace v2::reduce_impl {
FL_REDUCE_BASE_UNITS(FL_DECLARE)
}
#define FL_DECLARE_HOT(isa)                                                                    \
  namespace isa::reduce_impl {                                                                 \
  FL_REDUCE_HOT_UNITS(FL_DECLARE)                                                              \
  void run_reduction(const ReduceBlocks& blocks, const ReduceArgs& args, const Param* params); \
  }
FL_FOR_EACH_ISA(FL_DECLARE_HOT)

namespace {

using Kernels = std::map<std::string_view, ReduceKernel>;

void overlay(Kernels& kernels, ReduceTable table) {
  for (int k = 0; k < table.count; ++k) {
    const ReduceKernel& from = table.kernels[k];
    auto [it, is_new] = kernels.try_emplace(from.name, from);
    if (is_new) continue;
    for (int t = 0; t < kNumPointwiseDTypes; ++t) {
      if (from.blocks[t] != nullptr) it->second.blocks[t] = from.blocks[t];
    }
  }
}

Kernels collect() {
  Kernels kernels;
#define FL_OVERLAY_BASE(unit) overlay(kernels, v2::reduce_impl::reduce_table_##unit());
#define FL_OVERLAY_HOT(unit) overlay(kernels, FL_PICK_ISA(::reduce_impl::reduce_table_##unit)());
  FL_REDUCE_BASE_UNITS(FL_OVERLAY_BASE)
  FL_REDUCE_HOT_UNITS(FL_OVERLAY_HOT)
  return kernels;
}

}  // namespace

const ReduceKernel* find_reduction(std::string_view name) {
  static const Kernels kernels = collect();
  const auto it = kernels.find(name);
  return it == kernels.end() ? nullptr : &it->second;
}

void reduce(const ReduceKernel& kernel, int dtype, const ReduceArgs& args, const Param* params) {
  static auto& run = FL_PICK_ISA(::reduce_impl::run_reduction);
  const ReduceBlocks* blocks = kernel.blocks[dtype];
  if (blocks == nullptr) throw std::logic_error(std::string("[") + kernel.name + "] has no kernel for this dtype");
  run(*blocks, args, params);
}

}  // namespace flambeau
