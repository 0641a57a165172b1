// Which instruction set the kernels of this process use; decided once.
#pragma once

namespace flambeau::cpu {

// The x86-64 psABI levels. `kDefault` is the portable build: the only one on other architectures.
enum class CpuCapability : int { kDefault = 0, kV2 = 1, kV3 = 2, kV4 = 3 };

// The best level this CPU and operating system offer, lowered to FLAMBEAU_CPU_CAPABILITY
// (default, v2, v3 or v4) when that is set. Never above what the CPU has.
CpuCapability cpu_capability();

// "default", "v2", "v3" or "v4".
const char* cpu_capability_name(CpuCapability capability);

// AVX512-BF16 (dot products of bf16 pairs); false below v4, whatever the CPU has.
bool cpu_has_avx512_bf16();

}  // namespace flambeau::cpu
