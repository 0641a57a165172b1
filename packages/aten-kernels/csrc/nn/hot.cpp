#include "nn/hot.h"

#include "cpu/for_isa.h"

namespace flambeau::nn {

#define FL_HOT_DECLARE(isa)                \
  namespace isa {                          \
  extern const HotKernels<float> hot_f32;  \
  extern const HotKernels<double> hot_f64; \
  }
FL_FOR_EACH_ISA(FL_HOT_DECLARE)

template <> const HotKernels<float>& hot<float>() {
  static const HotKernels<float>& chosen = FL_PICK_ISA(::hot_f32);
  return chosen;
}
template <> const HotKernels<double>& hot<double>() {
  static const HotKernels<double>& chosen = FL_PICK_ISA(::hot_f64);
  return chosen;
}

}  // namespace flambeau::nn
