// Finds kernels by name. The tables of the base build are laid under those of the instruction set in use: a loop that
// is built for the base set only is taken from there.
#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>
#include <vector>

#include "cpu/cpu_features.h"
#include "pointwise/pointwise_kernel.h"
#include "pointwise_units.h"

namespace flambeau {

#define FL_DECLARE(unit) PointwiseTable pointwise_table_##unit();
namespace v2::pw {
FL_POINTWISE_HOT_UNITS(FL_DECLARE)
FL_POINTWISE_BASE_UNITS(FL_DECLARE)
}  // namespace v2::pw
namespace v3::pw {
FL_POINTWISE_HOT_UNITS(FL_DECLARE)
}
namespace v4::pw {
FL_POINTWISE_HOT_UNITS(FL_DECLARE)
}
#undef FL_DECLARE

namespace {

using Kernels = std::map<std::string_view, PointwiseKernel>;

void overlay(Kernels& kernels, PointwiseTable table) {
  for (int k = 0; k < table.count; ++k) {
    const PointwiseKernel& from = table.kernels[k];
    auto [it, is_new] = kernels.try_emplace(from.name, from);
    if (is_new) continue;
    PointwiseKernel& to = it->second;
    if (from.num_errors > to.num_errors) {
      to.num_errors = from.num_errors;
      to.errors = from.errors;
    }
    for (int t = 0; t < kNumPointwiseDTypes; ++t) {
      if (from.loops[t] == nullptr) continue;
      to.loops[t] = from.loops[t];
      to.stream[t] = from.stream[t];
    }
  }
}

Kernels collect() {
  Kernels kernels;
#define FL_OVERLAY_V2(unit) overlay(kernels, v2::pw::pointwise_table_##unit());
#define FL_OVERLAY_V3(unit) overlay(kernels, v3::pw::pointwise_table_##unit());
#define FL_OVERLAY_V4(unit) overlay(kernels, v4::pw::pointwise_table_##unit());
  FL_POINTWISE_BASE_UNITS(FL_OVERLAY_V2)
  switch (cpu::cpu_capability()) {
    case cpu::CpuCapability::kV4: FL_POINTWISE_HOT_UNITS(FL_OVERLAY_V4) break;
    case cpu::CpuCapability::kV3: FL_POINTWISE_HOT_UNITS(FL_OVERLAY_V3) break;
    default: FL_POINTWISE_HOT_UNITS(FL_OVERLAY_V2) break;
  }
  return kernels;
}

}  // namespace

const PointwiseKernel* find_pointwise(std::string_view name) {
  static const Kernels kernels = collect();
  const auto it = kernels.find(name);
  return it == kernels.end() ? nullptr : &it->second;
}

}  // namespace flambeau
