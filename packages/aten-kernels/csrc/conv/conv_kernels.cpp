#include "conv_kernels.h"

#include "cpu/for_isa.h"

namespace flambeau::gemm {

#define FL_CONV_DECLARE(isa)                               \
  namespace isa {                                          \
  extern const conv::ConvKernels<float> conv_kernels_f32;  \
  extern const conv::ConvKernels<double> conv_kernels_f64; \
  }
FL_FOR_EACH_ISA(FL_CONV_DECLARE)

namespace {

const conv::ConvKernels<float>& pick_f32() { return FL_PICK_ISA(::conv_kernels_f32); }
const conv::ConvKernels<double>& pick_f64() { return FL_PICK_ISA(::conv_kernels_f64); }

}  // namespace
}  // namespace flambeau::gemm

namespace flambeau::conv {

template <> const ConvKernels<float>& conv_kernels<float>() {
  static const ConvKernels<float>& chosen = gemm::pick_f32();
  return chosen;
}
template <> const ConvKernels<double>& conv_kernels<double>() {
  static const ConvKernels<double>& chosen = gemm::pick_f64();
  return chosen;
}

}  // namespace flambeau::conv
