#pragma once
/// What neural kernels share: they compute in f32 or f64 on row-major memory; 16-bit floats are widened and rounded
/// once.
#include <algorithm>
#include <string_view>

#include "flambeau/core/kernel.h"
#include "flambeau/core/parallel.h"
#include "flambeau/core/python_hook.h"
#include "flambeau/core/tensor.h"
#include "pointwise/convert.h"

namespace flambeau::nn {

inline bool is_half_kind(DType t) { return t == DType::BFloat16 || t == DType::Float16; }

/// f32 for the 16-bit floats, f32 and f64 as they are. Throws NotImplementedError for the rest.
DType compute_dtype(const char* op, DType t);

/// Row-major and of a dtype; the tensor itself where it is that already, undefined where it is undefined.
Tensor prepared(const Tensor& t, DType dtype);

/// The same, dense in a memory format.
Tensor prepared_in(const Tensor& t, DType dtype, MemoryFormat format);
/// An uninitialised tensor that is dense in a memory format.
Tensor empty_in(IntList sizes, TensorOptions options, MemoryFormat format);
/// Channels-last where the tensor is so and not row-major as well, else contiguous.
MemoryFormat format_of(const Tensor& t);
/// Strides of a TensorSpec in a format: none for row-major.
std::vector<int64_t> spec_strides(IntList sizes, MemoryFormat format);

/// Where a kernel writes a result: the result itself where it has the compute dtype and the format, else a buffer.
class Output {
 public:
  Output(const Tensor& out, DType dtype, MemoryFormat format = MemoryFormat::Contiguous)
      : out_(out),
        buffer_(out.dtype() == dtype && out.is_contiguous(format)
                    ? out
                    : empty_in(out.sizes(), {dtype, out.device()}, format)) {}
  template <class T> T* data() const { return buffer_.data_as<T>(); }
  const Tensor& tensor() const { return buffer_; }
  /// Call once the buffer is filled.
  void finish() const {
    if (!buffer_.is_same(out_)) copy_values(out_, buffer_);
  }

 private:
  Tensor out_, buffer_;
};

/// Calls f with a zero of the C++ type of a compute dtype.
template <class F> void by_compute(DType dtype, F&& f) {
  if (dtype == DType::Float32)
    f(float{});
  else
    f(double{});
}

/// Rows per chunk so that a chunk takes about 10 us, for rows that cost `cost` elements of simple work.
inline int64_t row_grain(int64_t cost) { return std::max<int64_t>(1, 16384 / std::max<int64_t>(cost, 1)); }

/// parallel_for over rows, without the interpreter lock where the work is long.
template <class F> void for_rows(int64_t rows, int64_t cost, F&& f) {
  ReleaseInterpreter long_work(rows * std::max<int64_t>(cost, 1) > (1 << 16));
  parallel_for(0, rows, row_grain(cost), std::forward<F>(f));
}

/// Element types must agree where both are defined; throws RuntimeError naming both.
void check_same_dtype(const char* op, const Tensor& a, const char* a_name, const Tensor& b, const char* b_name);

/// A list of the length of `spatial` from a list of that length or of one number; throws RuntimeError otherwise.
std::vector<int64_t> spread(const char* op, const char* name, IntList values, int64_t spatial);

/// A tensor that an operator's backward was given must have the sizes of the forward's.
void check_sizes(const char* op, const char* name, const Tensor& t, IntList sizes);

}  // namespace flambeau::nn
