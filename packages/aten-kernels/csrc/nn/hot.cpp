#include "nn/hot.h"

#include "cpu/cpu_features.h"

#define FL_HOT_DECLARE(isa)                \
  namespace isa {                          \
  extern const HotKernels<float> hot_f32;  \
  extern const HotKernels<double> hot_f64; \
  }

namespace flambeau::nn {

#if defined(__x86_64__)

FL_HOT_DECLARE(v2)
FL_HOT_DECLARE(v3)
FL_HOT_DECLARE(v4)

namespace {

template <class Table> const Table& pick(const Table& two, const Table& three, const Table& four) {
  switch (cpu::cpu_capability()) {
    case cpu::CpuCapability::kV4: return four;
    case cpu::CpuCapability::kV3: return three;
    default: return two;
  }
}

}  // namespace

template <> const HotKernels<float>& hot<float>() {
  static const HotKernels<float>& chosen = pick(v2::hot_f32, v3::hot_f32, v4::hot_f32);
  return chosen;
}
template <> const HotKernels<double>& hot<double>() {
  static const HotKernels<double>& chosen = pick(v2::hot_f64, v3::hot_f64, v4::hot_f64);
  return chosen;
}

#else

FL_HOT_DECLARE(portable)
template <> const HotKernels<float>& hot<float>() { return portable::hot_f32; }
template <> const HotKernels<double>& hot<double>() { return portable::hot_f64; }

#endif

}  // namespace flambeau::nn
