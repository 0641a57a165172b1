// bf16 products by AVX512-BF16. Two neighbouring elements along k are one 32-bit unit; a unit travels through the f32
// kernels (loads, broadcasts, packing, transposes move bits only) and meets arithmetic in one place, multiply_add(),
// which here is a dot product of pairs. Only the x86-64-v4 build of this file holds anything.
#if defined(__AVX512F__)
#pragma GCC target("avx512bf16")
#undef FL_ISA
#define FL_ISA v4_bf16
#define FL_BF16_PAIRS 1

#include "few_rows.h"
#include "isa.h"
#include "kernel_table.h"
#include "pack.h"
#include "tile.h"

namespace flambeau::gemm::v4_bf16 {

extern const FloatKernels<float> kernels;
const FloatKernels<float> kernels = {kLanes<float>,      kTileRows,         2 * kLanes<float>,  tile_packed<float>,
                                     tile_direct<float>, tile_panel<float>, few_rows_nn<float>, few_rows_nt<float>,
                                     pack_b<float>,      pack_a<float>};

}  // namespace flambeau::gemm::v4_bf16
#endif
