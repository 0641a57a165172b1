#include "kernel_table.h"

#include "../cpu/cpu_features.h"

#define FL_GEMM_DECLARE(isa)                     \
  namespace isa {                                \
  extern const FloatKernels<float> kernels_f32;  \
  extern const FloatKernels<double> kernels_f64; \
  extern const ConvertKernels converters;        \
  }

namespace flambeau::gemm {

#if defined(__x86_64__)

FL_GEMM_DECLARE(v2)
FL_GEMM_DECLARE(v3)
FL_GEMM_DECLARE(v4)
namespace v4_bf16 {
extern const FloatKernels<float> kernels;
}

namespace {

// "default" is v2 here.
template <class Table> const Table& pick(const Table& two, const Table& three, const Table& four) {
  switch (cpu::cpu_capability()) {
    case cpu::CpuCapability::kV4: return four;
    case cpu::CpuCapability::kV3: return three;
    default: return two;
  }
}

}  // namespace

template <> const FloatKernels<float>& float_kernels<float>() {
  static const FloatKernels<float>& chosen = pick(v2::kernels_f32, v3::kernels_f32, v4::kernels_f32);
  return chosen;
}
template <> const FloatKernels<double>& float_kernels<double>() {
  static const FloatKernels<double>& chosen = pick(v2::kernels_f64, v3::kernels_f64, v4::kernels_f64);
  return chosen;
}
const ConvertKernels& convert_kernels() {
  static const ConvertKernels& chosen = pick(v2::converters, v3::converters, v4::converters);
  return chosen;
}
const FloatKernels<float>* bf16_pair_kernels() { return cpu::cpu_has_avx512_bf16() ? &v4_bf16::kernels : nullptr; }

#else

FL_GEMM_DECLARE(v2)  // other architectures build one level, under this name

template <> const FloatKernels<float>& float_kernels<float>() { return v2::kernels_f32; }
template <> const FloatKernels<double>& float_kernels<double>() { return v2::kernels_f64; }
const ConvertKernels& convert_kernels() { return v2::converters; }
const FloatKernels<float>* bf16_pair_kernels() { return nullptr; }

#endif

}  // namespace flambeau::gemm
