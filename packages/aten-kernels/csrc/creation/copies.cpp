// clone, contiguous, to, reshape: copies where a copy is needed.
#include "creation/formats.h"
#include "flambeau/core/views.h"
#include "flambeau/ops/_to_copy.h"
#include "flambeau/ops/_unsafe_view.h"
#include "flambeau/ops/clone.h"
#include "flambeau/ops/view.h"
#include "pointwise/convert.h"

namespace flambeau {

using OptType = std::optional<DType>;
using OptLayout = std::optional<Layout>;
using OptDevice = std::optional<Device>;
using OptFormat = std::optional<MemoryFormat>;

Tensor clone_op(const Tensor& self, OptFormat format) {
  Tensor out = empty_in_format(self, self.options(), format.value_or(MemoryFormat::Preserve), "clone");
  if (self.storage().data && self.numel()) copy_values(out, self);
  return out;
}

Tensor contiguous_op(const Tensor& self, MemoryFormat format) {
  FL_CHECK(format != MemoryFormat::Preserve, "preserve memory format is unsupported by the contiguous operator");
  if (format == MemoryFormat::Contiguous ? self.is_contiguous() : self.is_contiguous(format)) return self;
  return ops::clone(self, format);
}

Tensor to_copy_op(const Tensor& self, OptType dtype, OptLayout layout, OptDevice device, std::optional<bool>, bool,
                  OptFormat format) {
  const TensorOptions o = like_options(self, dtype, layout, device);
  Tensor out = empty_in_format(self, o, format.value_or(MemoryFormat::Preserve), "to");
  if (out.is_meta() || !self.numel()) return out;
  FL_CHECK_NOT_IMPLEMENTED(self.is_cpu() && out.is_cpu(), "Cannot copy out of ", device_type_name(self.device().type),
                           " tensor; no data!");
  copy_values(out, self);
  return out;
}

namespace {

bool same_device(Device a, Device b) {
  return a.type == b.type && (a.index == b.index || (a.type == DeviceType::CPU || a.type == DeviceType::Meta));
}

// x itself when it is all that was asked for.
Tensor convert_to(const Tensor& self, OptType dtype, OptLayout layout, OptDevice device, std::optional<bool> pin,
                  bool non_blocking, bool copy, OptFormat format) {
  const bool fits = (!dtype || *dtype == self.dtype()) && (!device || same_device(*device, self.device())) &&
                    (!layout || *layout == Layout::Strided) &&
                    (!format || *format == MemoryFormat::Preserve || self.is_contiguous(*format));
  if (fits && !copy) return self;
  return ops::_to_copy(self, dtype, layout, device, pin, non_blocking, format);
}

}  // namespace

Tensor to_dtype_layout(const Tensor& self, OptType dtype, OptLayout layout, OptDevice device, std::optional<bool> pin,
                       bool non_blocking, bool copy, OptFormat format) {
  return convert_to(self, dtype, layout, device, pin, non_blocking, copy, format);
}
Tensor to_device(const Tensor& self, OptDevice device, OptType dtype, bool non_blocking, bool copy, OptFormat format) {
  return convert_to(self, dtype, std::nullopt, device, std::nullopt, non_blocking, copy, format);
}
Tensor to_dtype(const Tensor& self, DType dtype, bool non_blocking, bool copy, OptFormat format) {
  return convert_to(self, dtype, std::nullopt, std::nullopt, std::nullopt, non_blocking, copy, format);
}
Tensor to_other(const Tensor& self, const Tensor& other, bool non_blocking, bool copy, OptFormat format) {
  return convert_to(self, other.dtype(), std::nullopt, other.device(), std::nullopt, non_blocking, copy, format);
}
Tensor type_as_op(const Tensor& self, const Tensor& other) { return to_other(self, other, false, false, std::nullopt); }

namespace {
Tensor cast(const Tensor& self, DType dtype, OptFormat format) {
  return convert_to(self, dtype, std::nullopt, std::nullopt, std::nullopt, false, false, format);
}
}  // namespace

#define FL_CAST(name, type) \
  Tensor name(const Tensor& self, OptFormat format) { return cast(self, DType::type, format); }
FL_CAST(cast_float, Float32)
FL_CAST(cast_double, Float64)
FL_CAST(cast_half, Float16)
FL_CAST(cast_bfloat16, BFloat16)
FL_CAST(cast_int, Int32)
FL_CAST(cast_long, Int64)
FL_CAST(cast_short, Int16)
FL_CAST(cast_char, Int8)
FL_CAST(cast_byte, UInt8)
FL_CAST(cast_bool, Bool)
FL_CAST(cast_cfloat, Complex64)
FL_CAST(cast_cdouble, Complex128)
FL_CAST(cast_chalf, Complex32)
#undef FL_CAST

Tensor cpu_op(const Tensor& self, OptFormat format) {
  return convert_to(self, std::nullopt, std::nullopt, Device{DeviceType::CPU, -1}, std::nullopt, false, false, format);
}

Tensor unsafe_view_op(const Tensor& self, IntList size) {
  const std::vector<int64_t> shape = infer_size(size, self.numel());
  const auto strides = view_strides(self.sizes(), self.strides(), shape);
  FL_CHECK(strides, "[_unsafe_view] size ", size, " is not a view of sizes ", self.sizes(), " with strides ",
           self.strides());
  Tensor out = alias_without_history(self);
  set_geometry(*out.impl(), shape, *strides, self.storage_offset());
  return out;
}

Tensor reshape_op(const Tensor& self, IntList shape) {
  const std::vector<int64_t> sizes = infer_size(shape, self.numel());
  if (view_strides(self.sizes(), self.strides(), sizes)) return ops::view(self, sizes);
  return ops::_unsafe_view(ops::clone(self, MemoryFormat::Contiguous), sizes);
}

Tensor reshape_as_op(const Tensor& self, const Tensor& other) { return reshape_op(self, other.sizes()); }
Tensor view_as_op(const Tensor& self, const Tensor& other) { return ops::view(self, other.sizes()); }

}  // namespace flambeau
