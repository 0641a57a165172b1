#include "conv_kernels.h"

#include "../cpu/cpu_features.h"

namespace flambeau {

#define FL_CONV_DECLARE(isa)                               \
  namespace gemm::isa {                                    \
  extern const conv::ConvKernels<float> conv_kernels_f32;  \
  extern const conv::ConvKernels<double> conv_kernels_f64; \
  }

#if defined(__x86_64__)
FL_CONV_DECLARE(v2)
FL_CONV_DECLARE(v3)
FL_CONV_DECLARE(v4)
#else
FL_CONV_DECLARE(v2)
#endif

namespace conv {

#if defined(__x86_64__)
namespace {

template <class T>
const ConvKernels<T>& pick(const ConvKernels<T>& two, const ConvKernels<T>& three, const ConvKernels<T>& four) {
  switch (cpu::cpu_capability()) {
    case cpu::CpuCapability::kV4: return four;
    case cpu::CpuCapability::kV3: return three;
    default: return two;
  }
}

}  // namespace

template <> const ConvKernels<float>& conv_kernels<float>() {
  static const ConvKernels<float>& chosen =
      pick(gemm::v2::conv_kernels_f32, gemm::v3::conv_kernels_f32, gemm::v4::conv_kernels_f32);
  return chosen;
}
template <> const ConvKernels<double>& conv_kernels<double>() {
  static const ConvKernels<double>& chosen =
      pick(gemm::v2::conv_kernels_f64, gemm::v3::conv_kernels_f64, gemm::v4::conv_kernels_f64);
  return chosen;
}
#else
template <> const ConvKernels<float>& conv_kernels<float>() { return gemm::v2::conv_kernels_f32; }
template <> const ConvKernels<double>& conv_kernels<double>() { return gemm::v2::conv_kernels_f64; }
#endif

}  // namespace conv
}  // namespace flambeau
