#pragma once
#include <vector>

#include "flambeau/core/tensor.h"

namespace flambeau {

/// Strides of a dense result whose dimensions lie in memory in the order of the operands' strides, the first operand
/// deciding: what torch gives results that no memory format rules. A stride of 0 says nothing. Empty: row-major.
std::vector<int64_t> ordered_strides(IntList sizes, const std::vector<std::vector<int64_t>>& operand_strides);

}  // namespace flambeau
