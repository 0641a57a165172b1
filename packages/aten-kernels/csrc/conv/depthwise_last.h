// Depthwise correlations with the channels of a pixel side by side: vectors along channels.
#pragma once

#include "correlation.h"

namespace flambeau::conv {

template <class T> bool is_depthwise_last(const Correlation<T>& c);
template <class T> void run_depthwise_last(const Correlation<T>& c);
// c as in weight_grad.h.
template <class T> void run_depthwise_last_weight_grad(const Correlation<T>& c, T* gw);

}  // namespace flambeau::conv
