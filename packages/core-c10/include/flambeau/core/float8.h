#pragma once
/// 8-bit floats: storage and conversion only.
#include <cstdint>

#include "flambeau/core/dtype.h"

namespace flambeau {

/// Exact. `kind` is one of the Float8_* dtypes.
FL_API float float8_to_float(uint8_t bits, DType kind);
/// Round to nearest even; overflow gives infinity where the format has one, else NaN (torch's conversion).
FL_API uint8_t float8_from_float(float value, DType kind);

}  // namespace flambeau
