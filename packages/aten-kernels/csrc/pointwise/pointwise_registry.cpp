// Finds kernels by name. The tables of the base build are laid under those of the instruction set in use: a loop that
// is built for the base set only is taken from there.
#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>
#include <vector>

#include "cpu/for_isa.h"
#include "pointwise/pointwise_kernel.h"
#include "pointwise_units.h"

namespace flambeau {

#define FL_DECLARE(unit) PointwiseTable pointwise_table_##unit();
namespace v2::pw {
FL_POINTWISE_BASE_UNITS(FL_DECLARE)
}
#define FL_DECLARE_HOT(isa)          \
  namespace isa::pw {                \
  FL_POINTWISE_HOT_UNITS(FL_DECLARE) \
  }
FL_FOR_EACH_ISA(FL_DECLARE_HOT)

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
#define FL_OVERLAY_BASE(unit) overlay(kernels, v2::pw::pointwise_table_##unit());
#define FL_OVERLAY_HOT(unit) overlay(kernels, FL_PICK_ISA(::pw::pointwise_table_##unit)());
  FL_POINTWISE_BASE_UNITS(FL_OVERLAY_BASE)
  FL_POINTWISE_HOT_UNITS(FL_OVERLAY_HOT)
  return kernels;
}

}  // namespace

const PointwiseKernel* find_pointwise(std::string_view name) {
  static const Kernels kernels = collect();
  const auto it = kernels.find(name);
  return it == kernels.end() ? nullptr : &it->second;
}

}  // namespace flambeau
