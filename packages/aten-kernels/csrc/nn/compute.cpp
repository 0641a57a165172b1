#include "nn/compute.h"

#include "creation/formats.h"

namespace flambeau::nn {

DType compute_dtype(const char* op, DType t) {
  if (is_half_kind(t)) return DType::Float32;
  FL_CHECK_NOT_IMPLEMENTED(t == DType::Float32 || t == DType::Float64, "\"", op, "\" not implemented for '",
                           dtype_name(t), "'; it takes float32, float64, float16 and bfloat16");
  return t;
}

Tensor prepared(const Tensor& t, DType dtype) {
  if (!t.defined() || (t.dtype() == dtype && t.is_contiguous())) return t;
  Tensor out = empty(t.sizes(), {dtype, t.device()});
  copy_values(out, t);
  return out;
}

Tensor empty_in(IntList sizes, TensorOptions options, MemoryFormat format) {
  if (format == MemoryFormat::Contiguous) return empty(sizes, options);
  return empty_strided(sizes, format_strides(sizes, format, "empty"), options);
}

Tensor prepared_in(const Tensor& t, DType dtype, MemoryFormat format) {
  if (!t.defined() || (t.dtype() == dtype && t.is_contiguous(format))) return t;
  Tensor out = empty_in(t.sizes(), {dtype, t.device()}, format);
  copy_values(out, t);
  return out;
}

MemoryFormat format_of(const Tensor& t) {
  if (t.dim() != 4 && t.dim() != 5) return MemoryFormat::Contiguous;
  const MemoryFormat f = t.dim() == 4 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d;
  return !t.is_contiguous() && t.is_contiguous(f) ? f : MemoryFormat::Contiguous;
}

std::vector<int64_t> spec_strides(IntList sizes, MemoryFormat format) {
  if (format == MemoryFormat::Contiguous) return {};
  return format_strides(sizes, format, "strides");
}

void check_same_dtype(const char* op, const Tensor& a, const char* a_name, const Tensor& b, const char* b_name) {
  if (!a.defined() || !b.defined()) return;
  FL_CHECK_DTYPE(a.dtype() == b.dtype(), "[", op, "] ", a_name, " is ", dtype_name(a.dtype()), " and ", b_name, " is ",
                 dtype_name(b.dtype()), "; they must be the same");
}

std::vector<int64_t> spread(const char* op, const char* name, IntList values, int64_t spatial) {
  if (static_cast<int64_t>(values.size()) == spatial) return values.vec();
  FL_CHECK(values.size() == 1, "[", op, "] ", name, " should contain one int or ", spatial, " ints, got ",
           values.size(), ": ", values);
  return std::vector<int64_t>(static_cast<size_t>(spatial), values[0]);
}

void check_sizes(const char* op, const char* name, const Tensor& t, IntList sizes) {
  FL_CHECK_SHAPE(t.defined() && t.sizes() == sizes, "[", op, "] ", name, " has sizes ",
                 t.defined() ? t.sizes() : IntList{}, ", expected ", sizes);
}

}  // namespace flambeau::nn
