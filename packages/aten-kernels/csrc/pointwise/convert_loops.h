#pragma once
#include <cstdint>

#include "flambeau/core/dtype.h"

namespace flambeau {

/// Loop that converts elements (ptrs and byte strides: destination, source); null where there is no conversion.
using ConvertLoop = void (*)(char* const* ptrs, const int64_t* strides, int64_t n);
ConvertLoop convert_loop(DType from, DType to);

}  // namespace flambeau
