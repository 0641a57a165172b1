#include "fft/lines.h"

#include "cpu/for_isa.h"

namespace flambeau::fft {

#define FL_FFT_DECLARE(isa)                                                                        \
  namespace isa {                                                                                  \
  SplitLines<float> run_lines_f32(const Stages<float>&, SplitLines<float>, SplitLines<float>);     \
  SplitLines<double> run_lines_f64(const Stages<double>&, SplitLines<double>, SplitLines<double>); \
  }
FL_FOR_EACH_ISA(FL_FFT_DECLARE)

template <> LineKernel<float> line_kernel<float>() { return &FL_PICK_ISA(::run_lines_f32); }
template <> LineKernel<double> line_kernel<double>() { return &FL_PICK_ISA(::run_lines_f64); }

}  // namespace flambeau::fft
