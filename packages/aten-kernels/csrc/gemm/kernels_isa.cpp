// Compiled once per instruction set; see isa.h. Micro-kernels of the f32 and f64 products.
#include "convert.h"
#include "few_rows.h"
#include "isa.h"
#include "kernel_table.h"
#include "pack.h"
#include "tile.h"

namespace flambeau::gemm::FL_ISA {

template <class T> constexpr FloatKernels<T> table() {
  return {kLanes<T>,     kTileRows,      2 * kLanes<T>,  tile_packed<T>, tile_direct<T>,
          tile_panel<T>, few_rows_nn<T>, few_rows_nt<T>, pack_b<T>,      pack_a<T>};
}

extern const FloatKernels<float> kernels_f32;
extern const FloatKernels<double> kernels_f64;
const FloatKernels<float> kernels_f32 = table<float>();
const FloatKernels<double> kernels_f64 = table<double>();

extern const ConvertKernels converters;
const ConvertKernels converters = {bf16_to_f32, f32_to_bf16, f16_to_f32, f32_to_f16};

}  // namespace flambeau::gemm::FL_ISA
