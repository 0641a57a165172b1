// Few input channels and taps, planar output: products [outputs, depth] x [depth, pixels] from small unfolded panels.
#pragma once

#include "correlation.h"

namespace flambeau::conv {

// Whether unfolding `depth` values per pixel costs less than turning [pixels, outputs] around would.
template <class T> bool is_shallow(const Correlation<T>& c);
template <class T> void run_shallow(const Correlation<T>& c);

}  // namespace flambeau::conv
