#include "cpu_features.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace flambeau::cpu {
namespace {

// __builtin_cpu_supports also asks the operating system (XGETBV) whether it saves the wide registers.
CpuCapability detect() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
  const bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  if (v4) return CpuCapability::kV4;
  if (v3) return CpuCapability::kV3;
  if (v2) return CpuCapability::kV2;
#endif
  return CpuCapability::kDefault;
}

// An unknown word changes nothing: a typing error in the environment must not break a program.
CpuCapability requested(CpuCapability fallback) {
  const char* text = std::getenv("FLAMBEAU_CPU_CAPABILITY");
  if (text == nullptr) return fallback;
  for (CpuCapability c : {CpuCapability::kDefault, CpuCapability::kV2, CpuCapability::kV3, CpuCapability::kV4}) {
    if (std::strcmp(text, cpu_capability_name(c)) == 0) return c;
  }
  return fallback;
}

}  // namespace

const char* cpu_capability_name(CpuCapability capability) {
  switch (capability) {
    case CpuCapability::kV2: return "v2";
    case CpuCapability::kV3: return "v3";
    case CpuCapability::kV4: return "v4";
    case CpuCapability::kDefault: break;
  }
  return "default";
}

CpuCapability cpu_capability() {
  static const CpuCapability chosen = [] {
    const CpuCapability best = detect();
    return std::min(best, requested(best));
  }();
  return chosen;
}

bool cpu_has_avx512_bf16() {
#if defined(__x86_64__)
  static const bool has = cpu_capability() == CpuCapability::kV4 && __builtin_cpu_supports("avx512bf16");
  return has;
#else
  return false;
#endif
}

}  // namespace flambeau::cpu
