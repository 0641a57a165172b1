#pragma once
/// Loops over elements of every dtype: how a value is combined with what is there.
#include <cstdint>

#include "flambeau/core/complex.h"
#include "flambeau/core/dtype.h"
#include "flambeau/core/half.h"

namespace flambeau {

enum class Combine : uint8_t { Add, Multiply, Max, Min };

/// self[0] = combine(self[0], source[0]) for n elements with byte strides.
using CombineLoop = void (*)(char* self, int64_t self_stride, const char* source, int64_t source_stride, int64_t n);
/// The same where element k of self is at `self + index[k] * step`. index has a byte stride.
using CombineIndexedLoop = void (*)(char* self, int64_t self_stride, const char* index, int64_t index_stride,
                                    int64_t step, const char* source, int64_t source_stride, int64_t n);

/// Null for dtypes that the operation does not take (order of complex numbers).
CombineLoop combine_loop(Combine op, DType dtype);
CombineIndexedLoop combine_indexed_loop(Combine op, DType dtype);

}  // namespace flambeau
