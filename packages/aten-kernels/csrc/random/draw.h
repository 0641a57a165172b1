#pragma once
/// Filling tensors of any dtype and geometry from a generator.
#include "creation/formats.h"
#include "flambeau/core/generator.h"
#include "flambeau/core/random.h"
#include "pointwise/convert.h"

namespace flambeau {

inline GeneratorImpl& generator_or_default(GeneratorImpl* g) { return g ? *g : default_generator(); }

/// The tensor seen with its dimensions in the order of their strides: torch draws numbers along memory.
Tensor in_memory_order(const Tensor& t);

/// Runs f on row-major memory: on the tensor itself, or on a buffer that is copied into it afterwards.
template <class F> void fill_row_major(const Tensor& t, F&& f) {
  if (t.numel() == 0 || !t.storage().data) return;
  if (t.is_contiguous()) return f(t);
  const Tensor ordered = in_memory_order(t);
  if (ordered.is_contiguous()) return f(ordered);
  const Tensor buffer = empty(ordered.sizes(), t.options());
  f(buffer);
  copy_values(ordered, buffer);
}

#define FL_FLOAT_CASE(name, T, ...) \
  case DType::name: {               \
    using scalar_t = T;             \
    __VA_ARGS__;                    \
    return;                         \
  }
/// Runs a statement with scalar_t as one of the four floating types.
#define FL_DISPATCH_FLOAT(dtype, op, ...)                                                                   \
  switch (dtype) {                                                                                          \
    FL_FLOAT_CASE(Float32, float, __VA_ARGS__)                                                              \
    FL_FLOAT_CASE(Float64, double, __VA_ARGS__)                                                             \
    FL_FLOAT_CASE(Float16, Half, __VA_ARGS__)                                                               \
    FL_FLOAT_CASE(BFloat16, BFloat16, __VA_ARGS__)                                                          \
    default: FL_CHECK_NOT_IMPLEMENTED(false, "\"", op, "\" not implemented for '", dtype_name(dtype), "'"); \
  }
#define FL_DISPATCH_ALL(dtype, op, ...)          \
  switch (dtype) {                               \
    FL_FLOAT_CASE(UInt8, uint8_t, __VA_ARGS__)   \
    FL_FLOAT_CASE(Int8, int8_t, __VA_ARGS__)     \
    FL_FLOAT_CASE(Int16, int16_t, __VA_ARGS__)   \
    FL_FLOAT_CASE(Int32, int32_t, __VA_ARGS__)   \
    FL_FLOAT_CASE(Int64, int64_t, __VA_ARGS__)   \
    FL_FLOAT_CASE(UInt16, uint16_t, __VA_ARGS__) \
    FL_FLOAT_CASE(UInt32, uint32_t, __VA_ARGS__) \
    FL_FLOAT_CASE(UInt64, uint64_t, __VA_ARGS__) \
    FL_FLOAT_CASE(Bool, bool, __VA_ARGS__)       \
    default: break;                              \
  }                                              \
  FL_DISPATCH_FLOAT(dtype, op, __VA_ARGS__)

void draw_uniform(const Tensor& t, double from, double to, GeneratorImpl* g);
void draw_normal(const Tensor& t, double mean, double std, GeneratorImpl* g);
void draw_integers(const Tensor& t, int64_t from, int64_t to, GeneratorImpl* g);
void draw_bernoulli(const Tensor& t, double p, GeneratorImpl* g);

}  // namespace flambeau
