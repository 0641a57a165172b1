// Kernels of one tap, step 1, nothing padded: plain matrix products.
#pragma once

#include "correlation.h"

namespace flambeau::conv {

// Whether c is one, with the pixels of a plane in a row on both sides or the channels of a pixel in a row on both.
template <class T> bool is_pointwise(const Correlation<T>& c);
template <class T> void run_pointwise(const Correlation<T>& c);
// c as in weight_grad.h. gw of one output has to be contiguous, or of one input channel.
template <class T> void run_pointwise_weight_grad(const Correlation<T>& c, T* gw);

}  // namespace flambeau::conv
