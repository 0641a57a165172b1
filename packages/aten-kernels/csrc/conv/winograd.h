// 3x3 kernels with step 1 by F(2x2, 3x3). See Note [Winograd] in winograd.cpp.
#pragma once

#include "correlation.h"

namespace flambeau::conv {

bool is_winograd(const Correlation<float>& c);
void run_winograd(const Correlation<float>& c);

// c as in weight_grad.h.
bool is_winograd_weight_grad(const Correlation<float>& c);
void run_winograd_weight_grad(const Correlation<float>& c, float* gw);

}  // namespace flambeau::conv
