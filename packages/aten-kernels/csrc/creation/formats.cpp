#include "creation/formats.h"

#include <cstring>

#include "flambeau/core/parallel.h"
#include "iterator/operands.h"

namespace flambeau {

namespace {

void check_layout(std::optional<Layout> layout) {
  FL_CHECK_NOT_IMPLEMENTED(!layout || *layout == Layout::Strided, "only strided tensors can be made here, got layout ",
                           layout_name(layout.value_or(Layout::Strided)));
}

struct Bytes16 {
  uint64_t a, b;
};

template <class T> void fill_loop(char* const* p, const int64_t* s, int64_t n, const void* pattern) {
  T value;
  std::memcpy(&value, pattern, sizeof value);
  if (s[0] == sizeof(T)) {
    std::fill_n(reinterpret_cast<T*>(p[0]), n, value);
    return;
  }
  for (int64_t i = 0; i < n; ++i) *reinterpret_cast<T*>(p[0] + i * s[0]) = value;
}

void fill_pattern(const Tensor& t, const void* pattern) {
  const Operands iter(t.sizes(), &t, 1);
  iter.for_each([&](char* const* p, const int64_t* s, int64_t n) {
    switch (t.itemsize()) {
      case 1: return fill_loop<uint8_t>(p, s, n, pattern);
      case 2: return fill_loop<uint16_t>(p, s, n, pattern);
      case 4: return fill_loop<uint32_t>(p, s, n, pattern);
      case 8: return fill_loop<uint64_t>(p, s, n, pattern);
      default: return fill_loop<Bytes16>(p, s, n, pattern);
    }
  });
}

}  // namespace

TensorOptions factory_options(std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
                              DType fallback) {
  check_layout(layout);
  return {dtype.value_or(fallback == DType::Undefined ? default_dtype() : fallback),
          device ? *device : default_device()};
}

TensorOptions like_options(const Tensor& like, std::optional<DType> dtype, std::optional<Layout> layout,
                           std::optional<Device> device) {
  check_layout(layout);
  return {dtype.value_or(like.dtype()), device.value_or(like.device())};
}

std::vector<int64_t> format_strides(IntList sizes, MemoryFormat format, const char* op) {
  const bool last3d = format == MemoryFormat::ChannelsLast3d;
  if (format != MemoryFormat::ChannelsLast && !last3d) return contiguous_strides(sizes);
  const size_t rank = last3d ? 5 : 4;
  FL_CHECK(sizes.size() == rank, "[", op, "] required rank ", rank, " tensor to use ", memory_format_name(format),
           " format, got sizes ", sizes);
  std::vector<int64_t> strides(rank);
  int64_t step = 1;
  const auto place = [&](size_t d) {
    strides[d] = step;
    step *= std::max<int64_t>(sizes[d], 1);
  };
  place(1);
  for (size_t d = rank; d-- > 2;) place(d);
  place(0);
  return strides;
}

Tensor empty_in_format(const Tensor& like, TensorOptions options, MemoryFormat format, const char* op) {
  if (format == MemoryFormat::Preserve) {
    if (options.device == like.device()) return empty_like(like, options.dtype);
    if (like.is_non_overlapping_and_dense()) return empty_strided(like.sizes(), like.strides(), options);
    return empty(like.sizes(), options);
  }
  if (format == MemoryFormat::Contiguous) return empty(like.sizes(), options);
  return empty_strided(like.sizes(), format_strides(like.sizes(), format, op), options);
}

void fill_value(const Tensor& t, const Scalar& value) {
  alignas(16) char pattern[16] = {};
  store_scalar(pattern, t.dtype(), value);  // checks the value even where there is nothing to fill
  if (t.numel() && t.storage().data) fill_pattern(t, pattern);
}

void fill_zero(const Tensor& t) {
  if (!t.numel() || !t.storage().data) return;
  if (t.is_contiguous() || t.is_non_overlapping_and_dense()) {
    char* data = static_cast<char*>(t.data());
    parallel_for(0, t.numel() * t.itemsize(), 1 << 18,
                 [&](int64_t b, int64_t e) { std::memset(data + b, 0, static_cast<size_t>(e - b)); });
    return;
  }
  const char zero[16] = {};
  fill_pattern(t, zero);
}

DType dtype_of_number(const Scalar& value) {
  if (value.is_bool()) return DType::Bool;
  if (value.is_int()) return DType::Int64;
  return value.is_complex() ? to_complex(default_dtype()) : default_dtype();
}

}  // namespace flambeau
