#pragma once
/// What a pointwise loop is given beside its operands.
#include <cstdint>

namespace flambeau {

/// A scalar argument in the type a loop computes in; see PointwiseKernel::params for which member it arrives in.
union Param {
  double d;
  int64_t i;
  bool b;
  double c[2];
};

}  // namespace flambeau
