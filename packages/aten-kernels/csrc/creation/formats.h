#pragma once
/// Options and memory formats of tensors to be made.
#include <optional>
#include <vector>

#include "flambeau/core/tensor.h"

namespace flambeau {

/// Options of a factory; what was not said is the default dtype (or `fallback`) and the default device. Throws for
/// layouts that are not strided.
TensorOptions factory_options(std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
                              DType fallback = DType::Undefined);
/// The same where a tensor says what was not said.
TensorOptions like_options(const Tensor& like, std::optional<DType> dtype, std::optional<Layout> layout,
                           std::optional<Device> device);

/// Strides of a dense tensor in a format. Throws RuntimeError where the rank does not fit.
std::vector<int64_t> format_strides(IntList sizes, MemoryFormat format, const char* op);
/// An uninitialised tensor with the sizes of `like`; Preserve keeps its order of dimensions.
Tensor empty_in_format(const Tensor& like, TensorOptions options, MemoryFormat format, const char* op);

/// Writes one number everywhere; nothing happens to tensors without memory.
void fill_value(const Tensor& t, const Scalar& value);
void fill_zero(const Tensor& t);
/// dtype that full() and friends infer from a number.
DType dtype_of_number(const Scalar& value);

}  // namespace flambeau
