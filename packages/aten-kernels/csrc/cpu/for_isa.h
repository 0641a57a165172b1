#pragma once
// The instruction sets that hot sources (*_isa.cpp, generated *_hot_*.cpp) are built for, and the choice among them.
// The build says which there are: FL_HAVE_V3 and FL_HAVE_V4. v2 is always there; on processors other than x86-64 it is
// the portable build, under that name.
//
//   FL_FOR_EACH_ISA(DECLARE)        DECLARE(v2) DECLARE(v3) DECLARE(v4)
//   FL_PICK_ISA(::kernels)          v2::kernels, v3::kernels or v4::kernels, for this process

#include "cpu/cpu_features.h"

#if FL_HAVE_V3 && FL_HAVE_V4
#define FL_FOR_EACH_ISA(_) _(v2) _(v3) _(v4)
#define FL_PICK_ISA(name) ::flambeau::cpu::pick(v2 name, v3 name, v4 name)
#else
#define FL_FOR_EACH_ISA(_) _(v2)
#define FL_PICK_ISA(name) (v2 name)
#endif

namespace flambeau::cpu {

/// Tables or functions of the three sets. "default" takes v2.
template <class T> T& pick(T& two, T& three, T& four) {
  switch (cpu_capability()) {
    case CpuCapability::kV4: return four;
    case CpuCapability::kV3: return three;
    default: return two;
  }
}

}  // namespace flambeau::cpu
