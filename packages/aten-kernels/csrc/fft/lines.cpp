#include "fft/lines.h"

#include "cpu/cpu_features.h"

#define FL_FFT_DECLARE(isa)                                                                        \
  namespace isa {                                                                                  \
  SplitLines<float> run_lines_f32(const Stages<float>&, SplitLines<float>, SplitLines<float>);     \
  SplitLines<double> run_lines_f64(const Stages<double>&, SplitLines<double>, SplitLines<double>); \
  }

namespace flambeau::fft {

#if defined(__x86_64__)

FL_FFT_DECLARE(v2)
FL_FFT_DECLARE(v3)
FL_FFT_DECLARE(v4)

namespace {

template <class F> F pick(F two, F three, F four) {
  switch (cpu::cpu_capability()) {
    case cpu::CpuCapability::kV4: return four;
    case cpu::CpuCapability::kV3: return three;
    default: return two;
  }
}

}  // namespace

template <> LineKernel<float> line_kernel<float>() {
  return pick(&v2::run_lines_f32, &v3::run_lines_f32, &v4::run_lines_f32);
}
template <> LineKernel<double> line_kernel<double>() {
  return pick(&v2::run_lines_f64, &v3::run_lines_f64, &v4::run_lines_f64);
}

#else

FL_FFT_DECLARE(v2)  // other architectures build one level, under this name

template <> LineKernel<float> line_kernel<float>() { return &v2::run_lines_f32; }
template <> LineKernel<double> line_kernel<double>() { return &v2::run_lines_f64; }

#endif

}  // namespace flambeau::fft
