#include "kernel_table.h"

#include "cpu/for_isa.h"

namespace flambeau::gemm {

#define FL_GEMM_DECLARE(isa)                     \
  namespace isa {                                \
  extern const FloatKernels<float> kernels_f32;  \
  extern const FloatKernels<double> kernels_f64; \
  extern const ConvertKernels converters;        \
  }
FL_FOR_EACH_ISA(FL_GEMM_DECLARE)

template <> const FloatKernels<float>& float_kernels<float>() {
  static const FloatKernels<float>& chosen = FL_PICK_ISA(::kernels_f32);
  return chosen;
}
template <> const FloatKernels<double>& float_kernels<double>() {
  static const FloatKernels<double>& chosen = FL_PICK_ISA(::kernels_f64);
  return chosen;
}
const ConvertKernels& convert_kernels() {
  static const ConvertKernels& chosen = FL_PICK_ISA(::converters);
  return chosen;
}

#if FL_HAVE_V4
namespace v4_bf16 {
extern const FloatKernels<float> kernels;
}
const FloatKernels<float>* bf16_pair_kernels() { return cpu::cpu_has_avx512_bf16() ? &v4_bf16::kernels : nullptr; }
#else
const FloatKernels<float>* bf16_pair_kernels() { return nullptr; }
#endif

}  // namespace flambeau::gemm
