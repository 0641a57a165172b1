// 3x3 kernels with step 1 by F(2x2, 3x3). See Note [Winograd] in winograd.cpp.
#pragma once

#include "correlation.h"

namespace flambeau::conv {

bool is_winograd(const Correlation<float>& c);
void run_winograd(const Correlation<float>& c);

}  // namespace flambeau::conv
