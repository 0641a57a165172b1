// index_select, take, put_, masked_select, masked_scatter.
#include <cstring>

#include "flambeau/core/kernel.h"
#include "flambeau/core/parallel.h"
#include "flambeau/core/python_hook.h"
#include "flambeau/core/views.h"
#include "index/element_ops.h"
#include "index/gather_scatter.h"
#include "index/positions.h"
#include "iterator/operands.h"
#include "pointwise/convert.h"

namespace flambeau {

TensorSpec index_select_shape(const Tensor& self, int64_t dim_, const Tensor& index) {
  FL_CHECK_INDEX(index.dim() <= 1, "index_select(): Index is supposed to be a vector, got ", index.dim(),
                 " dimensions");
  FL_CHECK(index.dtype() == DType::Int64 || index.dtype() == DType::Int32,
           "index_select(): Expected dtype int32 or int64 for index, got ", dtype_name(index.dtype()));
  FL_CHECK(self.dim() > 0 || index.numel() == 1, "index_select(): Index to scalar can have only 1 value, got ",
           index.numel(), " value(s)");
  const int64_t dim = wrap_dim(dim_, self.dim());
  std::vector<int64_t> sizes = self.sizes().vec();
  if (!sizes.empty()) sizes[static_cast<size_t>(dim)] = index.numel();
  return {std::move(sizes), self.dtype(), {}};
}

void index_select_cpu(const Tensor& self_, int64_t dim_, const Tensor& index_, const Tensor& out) {
  const Tensor self = contiguous(at_least_1d(self_));
  const int64_t dim = wrap_dim(dim_, self.dim()), size = self.sizes()[dim];
  const std::vector<int64_t> index = read_indices(index_, "index_select");
  for (const int64_t i : index) {
    if (dim == 0) FL_CHECK_INDEX(i >= 0 && i < size, "index out of range in self: ", i, " is not in [0, ", size, ")");
    FL_CHECK(i >= 0 && i < size, "INDICES element is out of DATA bounds, id=", i, " axis_dim=", size);
  }
  if (out.numel() == 0) return;
  int64_t outer = 1;
  for (int64_t d = 0; d < dim; ++d) outer *= self.sizes()[d];
  const int64_t count = static_cast<int64_t>(index.size());
  const int64_t bytes = out.numel() / (outer * count) * self.itemsize();
  const char* from = static_cast<const char*>(self.data());
  char* to = static_cast<char*>(out.data());
  ReleaseInterpreter long_work(out.numel() > 1 << 16);
  parallel_for(0, outer * count, std::max<int64_t>(1, (1 << 16) / std::max<int64_t>(bytes, 16)),
               [&](int64_t b, int64_t e) {
                 for (int64_t r = b; r < e; ++r) {
                   const char* row = from + (r / count * size + index[static_cast<size_t>(r % count)]) * bytes;
                   switch (bytes) {  // constant sizes become single moves
                     case 4: std::memcpy(to + r * 4, row, 4); break;
                     case 8: std::memcpy(to + r * 8, row, 8); break;
                     default: std::memcpy(to + r * bytes, row, static_cast<size_t>(bytes));
                   }
                 }
               });
}

namespace {

// Byte offsets of the elements of self at flat positions.
std::vector<int64_t> flat_offsets(const Tensor& self, const Tensor& index, const char* op) {
  FL_CHECK(index.dtype() == DType::Int64, op, ": Expected a long tensor for index, but got ",
           dtype_name(index.dtype()));
  std::vector<int64_t> at = read_indices(index, op);
  const int64_t n = self.numel();
  FL_CHECK_INDEX(n > 0 || at.empty(), op, ": tried to take from an empty tensor");
  for (int64_t& i : at) {
    FL_CHECK_INDEX(i >= -n && i < n, "out of range: tried to access index ", i, " on a tensor of ", n, " elements.");
    if (i < 0) i += n;
    if (self.is_contiguous()) {
      i *= self.itemsize();
      continue;
    }
    int64_t rest = i, offset = 0;
    for (int64_t d = self.dim(); d-- > 0;) {
      offset += rest % self.sizes()[d] * self.strides()[d];
      rest /= self.sizes()[d];
    }
    i = offset * self.itemsize();
  }
  return at;
}

void move_element(char* to, const char* from, int64_t size) {
  switch (size) {
    case 1: *to = *from; return;
    case 2: std::memcpy(to, from, 2); return;
    case 4: std::memcpy(to, from, 4); return;
    case 8: std::memcpy(to, from, 8); return;
    default: std::memcpy(to, from, 16);
  }
}

}  // namespace

TensorSpec take_shape(const Tensor& self, const Tensor& index) {
  FL_CHECK(index.dtype() == DType::Int64, "take(): Expected a long tensor for index, but got ",
           dtype_name(index.dtype()));
  return {index.sizes().vec(), self.dtype(), {}};
}

void take_cpu(const Tensor& self, const Tensor& index, const Tensor& out) {
  const std::vector<int64_t> at = flat_offsets(self, index, "take()");
  const char* from = static_cast<const char*>(self.data());
  char* to = static_cast<char*>(out.data());
  const int64_t size = self.itemsize();
  parallel_for(0, static_cast<int64_t>(at.size()), 1 << 14, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) move_element(to + i * size, from + at[static_cast<size_t>(i)], size);
  });
}

const Tensor& put_op_(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  FL_CHECK(self.dtype() == source.dtype(),
           "put_(): self and source expected to have the same dtype, but got self.dtype = ", dtype_name(self.dtype()),
           " and source.dtype = ", dtype_name(source.dtype()));
  FL_CHECK_INDEX(source.numel() == index.numel(),
                 "put_(): Expected source and index to have the same number of elements, but got source.numel() = ",
                 source.numel(), ", index.numel() = ", index.numel());
  const std::vector<int64_t> at = flat_offsets(self, index, "put_()");
  const Tensor values = contiguous(source);
  const CombineLoop add = combine_loop(Combine::Add, self.dtype());
  FL_CHECK_NOT_IMPLEMENTED(add || !accumulate, "put_ with accumulate is not implemented for '",
                           dtype_name(self.dtype()), "'");
  char* to = static_cast<char*>(self.data());
  const char* from = static_cast<const char*>(values.data());
  const int64_t size = self.itemsize();
  for (size_t i = 0; i < at.size(); ++i) {
    const char* value = from + static_cast<int64_t>(i) * size;
    if (accumulate)
      add(to + at[i], size, value, size, 1);
    else
      move_element(to + at[i], value, size);
  }
  return self;
}

Tensor masked_select_op(const Tensor& self_, const Tensor& mask_) {
  FL_CHECK(mask_.dtype() == DType::Bool, "masked_select: expected BoolTensor for mask, got ",
           dtype_name(mask_.dtype()));
  const std::vector<int64_t> shape = broadcast_shapes(self_.sizes(), mask_.sizes(), "masked_select");
  const Tensor self = contiguous(expand(self_, shape)), mask = contiguous(expand(mask_, shape));
  const uint8_t* m = mask.data_as<uint8_t>();
  const int64_t n = mask.numel(), size = self.itemsize();
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) count += m[i] != 0;
  const int64_t sizes[1] = {count};
  Tensor out = empty({sizes, 1}, self.options());
  const char* from = static_cast<const char*>(self.data());
  char* to = static_cast<char*>(out.data());
  for (int64_t i = 0; i < n; ++i) {
    if (!m[i]) continue;
    move_element(to, from + i * size, size);
    to += size;
  }
  return out;
}

Tensor masked_scatter_op(const Tensor& self, const Tensor& mask_, const Tensor& source_) {
  FL_CHECK(self.dtype() == source_.dtype(), "masked_scatter: expected self and source to have same dtypes but got ",
           dtype_name(self.dtype()), " and ", dtype_name(source_.dtype()));
  FL_CHECK(mask_.dtype() == DType::Bool, "masked_scatter_ only supports boolean masks, but got mask with dtype ",
           dtype_name(mask_.dtype()));
  const std::vector<int64_t> shape = broadcast_shapes(self.sizes(), mask_.sizes(), "masked_scatter");
  Tensor out = empty(shape, self.options());
  copy_values(out, self);
  const Tensor mask = contiguous(expand(mask_, shape)), source = contiguous(source_);
  const uint8_t* m = mask.data_as<uint8_t>();
  const int64_t n = out.numel(), size = out.itemsize();
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) count += m[i] != 0;
  FL_CHECK(count <= source.numel(), "Number of elements of source < number of ones in mask: ", source.numel(), " < ",
           count);
  const char* from = static_cast<const char*>(source.data());
  char* to = static_cast<char*>(out.data());
  for (int64_t i = 0; i < n; ++i) {
    if (!m[i]) continue;
    move_element(to + i * size, from, size);
    from += size;
  }
  return out;
}

}  // namespace flambeau
