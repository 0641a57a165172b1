#include "kernel_table.h"

#include "../cpu/cpu_features.h"

namespace flambeau::gemm {

#if defined(__x86_64__)
#define FL_GEMM_DECLARE(isa)                     \
  namespace isa {                                \
  extern const FloatKernels<float> kernels_f32;  \
  extern const FloatKernels<double> kernels_f64; \
  }
FL_GEMM_DECLARE(v2)
FL_GEMM_DECLARE(v3)
FL_GEMM_DECLARE(v4)
#undef FL_GEMM_DECLARE

namespace {

template <class T>
const FloatKernels<T>& pick(const FloatKernels<T>& two, const FloatKernels<T>& three, const FloatKernels<T>& four) {
  switch (cpu::cpu_capability()) {
    case cpu::CpuCapability::kV4: return four;
    case cpu::CpuCapability::kV3: return three;
    default: return two;  // "default" is v2 here: every x86-64 CPU that can load this library has SSE2 at least
  }
}

}  // namespace

template <>
const FloatKernels<float>& float_kernels<float>() {
  static const FloatKernels<float>& chosen = pick(v2::kernels_f32, v3::kernels_f32, v4::kernels_f32);
  return chosen;
}
template <>
const FloatKernels<double>& float_kernels<double>() {
  static const FloatKernels<double>& chosen = pick(v2::kernels_f64, v3::kernels_f64, v4::kernels_f64);
  return chosen;
}

#else

namespace portable {
extern const FloatKernels<float> kernels_f32;
extern const FloatKernels<double> kernels_f64;
}  // namespace portable

template <>
const FloatKernels<float>& float_kernels<float>() {
  return portable::kernels_f32;
}
template <>
const FloatKernels<double>& float_kernels<double>() {
  return portable::kernels_f64;
}

#endif

}  // namespace flambeau::gemm
