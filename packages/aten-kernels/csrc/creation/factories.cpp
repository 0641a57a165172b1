// Tensors without data, of one number, and their *_like and new_* forms. They serve every device: what has no memory
// stays unfilled.
#include "creation/formats.h"

namespace flambeau {

using OptType = std::optional<DType>;
using OptLayout = std::optional<Layout>;
using OptDevice = std::optional<Device>;
using OptBool = std::optional<bool>;
using OptFormat = std::optional<MemoryFormat>;

Tensor empty_op(IntList size, OptType dtype, OptLayout layout, OptDevice device, OptBool, OptFormat format) {
  const TensorOptions o = factory_options(dtype, layout, device);
  FL_CHECK(
      format != MemoryFormat::Preserve,
      "[empty] preserve_format needs a tensor to be like; allowed: contiguous_format, channels_last, channels_last_3d");
  if (!format || *format == MemoryFormat::Contiguous) return empty(size, o);
  checked_numel(size, "empty");
  return empty_strided(size, format_strides(size, *format, "empty"), o);
}

Tensor empty_strided_op(IntList size, IntList stride, OptType dtype, OptLayout layout, OptDevice device, OptBool) {
  return empty_strided(size, stride, factory_options(dtype, layout, device));
}

Tensor empty_permuted_op(IntList size, IntList physical, OptType dtype, OptLayout layout, OptDevice device, OptBool) {
  const TensorOptions o = factory_options(dtype, layout, device);
  checked_numel(size, "empty_permuted");
  FL_CHECK(size.size() == physical.size(), "[empty_permuted] Number of dimensions in size (", size.size(),
           ") does not match the length of physical_layout (", physical.size(), ")");
  std::vector<int64_t> strides(size.size(), -1);
  int64_t step = 1;
  for (size_t i = size.size(); i-- > 0;) {
    const int64_t d = physical[i];
    FL_CHECK(d >= 0 && d < static_cast<int64_t>(size.size()),
             "[empty_permuted] Dimension out of range (expected to be between 0 and ",
             static_cast<int64_t>(size.size()) - 1, ", but got ", d, " at index ", i, ")");
    FL_CHECK(strides[static_cast<size_t>(d)] < 0, "[empty_permuted] Duplicate dim not allowed: ", physical);
    strides[static_cast<size_t>(d)] = step;
    step *= std::max<int64_t>(size[static_cast<size_t>(d)], 1);
  }
  return empty_strided(size, strides, o);
}

Tensor empty_like_op(const Tensor& self, OptType dtype, OptLayout layout, OptDevice device, OptBool, OptFormat format) {
  return empty_in_format(self, like_options(self, dtype, layout, device), format.value_or(MemoryFormat::Preserve),
                         "empty_like");
}

Tensor full_op(IntList size, const Scalar& value, OptType dtype, OptLayout layout, OptDevice device, OptBool) {
  Tensor t = empty(size, factory_options(dtype, layout, device, dtype_of_number(value)));
  fill_value(t, value);
  return t;
}

Tensor full_like_op(const Tensor& self, const Scalar& value, OptType dtype, OptLayout layout, OptDevice device, OptBool,
                    OptFormat format) {
  Tensor t = empty_in_format(self, like_options(self, dtype, layout, device), format.value_or(MemoryFormat::Preserve),
                             "full_like");
  fill_value(t, value);
  return t;
}

Tensor zeros_op(IntList size, OptType dtype, OptLayout layout, OptDevice device, OptBool) {
  Tensor t = empty(size, factory_options(dtype, layout, device));
  fill_zero(t);
  return t;
}

Tensor ones_op(IntList size, OptType dtype, OptLayout layout, OptDevice device, OptBool) {
  Tensor t = empty(size, factory_options(dtype, layout, device));
  fill_value(t, Scalar(1));
  return t;
}

Tensor zeros_like_op(const Tensor& self, OptType dtype, OptLayout layout, OptDevice device, OptBool pin,
                     OptFormat format) {
  Tensor t = empty_like_op(self, dtype, layout, device, pin, format);
  fill_zero(t);
  return t;
}

Tensor ones_like_op(const Tensor& self, OptType dtype, OptLayout layout, OptDevice device, OptBool pin,
                    OptFormat format) {
  return full_like_op(self, Scalar(1), dtype, layout, device, pin, format);
}

Tensor new_empty_op(const Tensor& self, IntList size, OptType dtype, OptLayout layout, OptDevice device, OptBool) {
  return empty(size, like_options(self, dtype, layout, device));
}

Tensor new_empty_strided_op(const Tensor& self, IntList size, IntList stride, OptType dtype, OptLayout layout,
                            OptDevice device, OptBool) {
  return empty_strided(size, stride, like_options(self, dtype, layout, device));
}

Tensor new_full_op(const Tensor& self, IntList size, const Scalar& value, OptType dtype, OptLayout layout,
                   OptDevice device, OptBool) {
  Tensor t = empty(size, like_options(self, dtype, layout, device));
  fill_value(t, value);
  return t;
}

Tensor new_zeros_op(const Tensor& self, IntList size, OptType dtype, OptLayout layout, OptDevice device, OptBool pin) {
  Tensor t = new_empty_op(self, size, dtype, layout, device, pin);
  fill_zero(t);
  return t;
}

Tensor new_ones_op(const Tensor& self, IntList size, OptType dtype, OptLayout layout, OptDevice device, OptBool pin) {
  return new_full_op(self, size, Scalar(1), dtype, layout, device, pin);
}

Tensor scalar_tensor_op(const Scalar& value, OptType dtype, OptLayout layout, OptDevice device, OptBool) {
  return scalar_tensor(value, factory_options(dtype, layout, device));
}

}  // namespace flambeau
