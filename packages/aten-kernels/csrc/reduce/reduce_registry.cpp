// Finds reductions by name, and runs them by the driver of the instruction set in use. As in pointwise_registry.cpp,
// blocks that are built for the base set only are taken from there.
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

#include "cpu/cpu_features.h"
#include "reduce/reduce_blocks.h"
#include "reduce_units.h"

namespace flambeau {

#define FL_DECLARE(unit) ReduceTable reduce_table_##unit();
#define FL_DECLARE_RUN() void run_reduction(const ReduceBlocks& blocks, const ReduceArgs& args, const Param* params);
namespace v2::reduce_impl {
FL_REDUCE_HOT_UNITS(FL_DECLARE)
FL_REDUCE_BASE_UNITS(FL_DECLARE)
FL_DECLARE_RUN()
}  // namespace v2::reduce_impl
namespace v3::reduce_impl {
FL_REDUCE_HOT_UNITS(FL_DECLARE)
FL_DECLARE_RUN()
}  // namespace v3::reduce_impl
namespace v4::reduce_impl {
FL_REDUCE_HOT_UNITS(FL_DECLARE)
FL_DECLARE_RUN()
}  // namespace v4::reduce_impl
#undef FL_DECLARE
#undef FL_DECLARE_RUN

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
#define FL_OVERLAY_V2(unit) overlay(kernels, v2::reduce_impl::reduce_table_##unit());
#define FL_OVERLAY_V3(unit) overlay(kernels, v3::reduce_impl::reduce_table_##unit());
#define FL_OVERLAY_V4(unit) overlay(kernels, v4::reduce_impl::reduce_table_##unit());
  FL_REDUCE_BASE_UNITS(FL_OVERLAY_V2)
  switch (cpu::cpu_capability()) {
    case cpu::CpuCapability::kV4: FL_REDUCE_HOT_UNITS(FL_OVERLAY_V4) break;
    case cpu::CpuCapability::kV3: FL_REDUCE_HOT_UNITS(FL_OVERLAY_V3) break;
    default: FL_REDUCE_HOT_UNITS(FL_OVERLAY_V2) break;
  }
  return kernels;
}

using RunFunction = void (*)(const ReduceBlocks& blocks, const ReduceArgs& args, const Param* params);

RunFunction choose_driver() {
  switch (cpu::cpu_capability()) {
    case cpu::CpuCapability::kV4: return v4::reduce_impl::run_reduction;
    case cpu::CpuCapability::kV3: return v3::reduce_impl::run_reduction;
    default: return v2::reduce_impl::run_reduction;
  }
}

}  // namespace

const ReduceKernel* find_reduction(std::string_view name) {
  static const Kernels kernels = collect();
  const auto it = kernels.find(name);
  return it == kernels.end() ? nullptr : &it->second;
}

void reduce(const ReduceKernel& kernel, int dtype, const ReduceArgs& args, const Param* params) {
  static const RunFunction run = choose_driver();
  const ReduceBlocks* blocks = kernel.blocks[dtype];
  if (blocks == nullptr) throw std::logic_error(std::string("[") + kernel.name + "] has no kernel for this dtype");
  run(*blocks, args, params);
}

}  // namespace flambeau
