#pragma once

// Hot loops of the random fills are compiled per instruction set and chosen at load. All of them give the same bits:
// fused multiply-adds are written out, and nothing is reassociated.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define FL_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define FL_CLONES
#endif
