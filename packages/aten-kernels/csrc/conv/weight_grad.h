#pragma once

#include "correlation.h"

namespace flambeau::conv {

// c describes the forward pass with y as the output gradient (read only) and w as the result; relu and bias are unused.
template <class T> void run_weight_grad(const Correlation<T>& c, T* gw);

template <class T> void run_planes_weight_grad(const Correlation<T>& c, T* gw);

}  // namespace flambeau::conv
