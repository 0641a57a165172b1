#include "flambeau/core/views.h"

#include <algorithm>

namespace flambeau {

std::vector<int64_t> infer_size(IntList size, int64_t numel) {
  std::vector<int64_t> out = size.vec();
  int64_t known = 1;
  std::optional<size_t> inferred;
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] == -1) {
      FL_CHECK(!inferred, "only one dimension can be inferred, got ", size);
      inferred = i;
    } else {
      FL_CHECK(out[i] >= 0, "invalid shape dimension ", out[i], " at index ", i, " of shape ", size);
      FL_CHECK(!__builtin_mul_overflow(known, out[i], &known), "shape ", size, " overflows a 64-bit element count");
    }
  }
  if (inferred) {
    FL_CHECK(known != 0, "cannot reshape tensor of ", numel, " elements into shape ", size,
             " because the unspecified dimension size -1 can be any value and is ambiguous");
    FL_CHECK(numel % known == 0, "shape '", size, "' is invalid for input of size ", numel);
    out[*inferred] = numel / known;
  } else {
    FL_CHECK(known == numel, "shape '", size, "' is invalid for input of size ", numel);
  }
  return out;
}

// Walks both shapes from the inside; a run of old dims that is contiguous in memory may be cut anew.
std::optional<std::vector<int64_t>> view_strides(IntList sizes, IntList strides, IntList new_sizes) {
  std::vector<int64_t> out(new_sizes.size());
  int64_t numel = 1;
  for (int64_t s : sizes) numel *= s;
  if (numel == 0) {
    if (sizes == new_sizes) return strides.vec();
    return contiguous_strides(new_sizes);
  }
  if (sizes.empty()) {
    std::fill(out.begin(), out.end(), 1);
    return out;
  }
  int64_t d = static_cast<int64_t>(new_sizes.size()) - 1;
  int64_t base_stride = strides.back(), run = 1, placed = 1;
  for (int64_t i = static_cast<int64_t>(sizes.size()) - 1; i >= 0; --i) {
    run *= sizes[i];
    const bool ends = i == 0 || (sizes[i - 1] != 1 && strides[i - 1] != run * base_stride);
    if (!ends) continue;
    while (d >= 0 && (placed < run || new_sizes[d] == 1)) {
      out[d] = placed * base_stride;
      placed *= new_sizes[d];
      --d;
    }
    if (placed != run) return std::nullopt;
    if (i > 0) {
      base_stride = strides[i - 1];
      run = placed = 1;
    }
  }
  if (d != -1) return std::nullopt;
  return out;
}

Tensor as_strided(const Tensor& self, IntList size, IntList stride, std::optional<int64_t> storage_offset) {
  FL_CHECK(size.size() == stride.size(), "mismatch in length of strides and shape: got ", size, " and ", stride);
  const int64_t offset = storage_offset.value_or(self.storage_offset());
  FL_CHECK(offset >= 0, "Tensor: invalid storage offset ", offset);
  return make_view(self, size, stride, offset);
}

Tensor view(const Tensor& self, IntList size) {
  const std::vector<int64_t> shape = infer_size(size, self.numel());
  auto strides = view_strides(self.sizes(), self.strides(), shape);
  FL_CHECK(strides,
           "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
           "contiguous subspaces). Use .reshape(...) instead. Got size ",
           self.sizes(), ", stride ", self.strides(), ", view ", size);
  return make_view(self, shape, *strides, self.storage_offset());
}

Tensor view_dtype(const Tensor& self, DType dtype) {
  if (dtype == self.dtype()) return alias(self);
  const int64_t from = self.itemsize(), to = item_size(dtype);
  std::vector<int64_t> sizes = self.sizes().vec(), strides = self.strides().vec();
  int64_t offset = self.storage_offset();
  if (from == to) return make_view_dtype(self, dtype, sizes, strides, offset);
  FL_CHECK(self.dim() > 0, "self.dim() cannot be 0 to view ", dtype_name(self.dtype()), " as ", dtype_name(dtype),
           " (different element sizes)");
  FL_CHECK(strides.back() == 1 || sizes.back() == 1, "self.stride(-1) must be 1 to view ", dtype_name(self.dtype()),
           " as ", dtype_name(dtype), " (different element sizes), but got ", strides.back());
  if (from > to) {
    const int64_t ratio = from / to;
    for (auto& s : strides) s *= ratio;
    strides.back() = 1;
    sizes.back() *= ratio;
    return make_view_dtype(self, dtype, sizes, strides, offset * ratio);
  }
  const int64_t ratio = to / from;
  FL_CHECK(sizes.back() % ratio == 0, "self.size(-1) must be divisible by ", ratio, " to view ",
           dtype_name(self.dtype()), " as ", dtype_name(dtype), " (different element sizes), but got ", sizes.back());
  FL_CHECK(offset % ratio == 0, "self.storage_offset() must be divisible by ", ratio, " to view ",
           dtype_name(self.dtype()), " as ", dtype_name(dtype), " (different element sizes), but got ", offset);
  for (size_t i = 0; i + 1 < strides.size(); ++i) {
    FL_CHECK(strides[i] % ratio == 0 || sizes[i] == 1, "self.stride(", i, ") must be divisible by ", ratio, " to view ",
             dtype_name(self.dtype()), " as ", dtype_name(dtype), " (different element sizes), but got ", strides[i]);
    strides[i] /= ratio;
  }
  strides.back() = 1;
  sizes.back() /= ratio;
  return make_view_dtype(self, dtype, sizes, strides, offset / ratio);
}

Tensor alias(const Tensor& self) { return make_view(self, self.sizes(), self.strides(), self.storage_offset()); }
Tensor detach(const Tensor& self) { return alias_without_history(self); }

Tensor permute(const Tensor& self, IntList dims) {
  const int64_t n = self.dim();
  FL_CHECK(static_cast<int64_t>(dims.size()) == n,
           "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
           "ordering of dimensions i.e. input.dim() = ",
           n, " is not equal to len(dims) = ", dims.size());
  std::vector<int64_t> sizes(n), strides(n);
  std::vector<bool> seen(n);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t d = wrap_dim(dims[i], n);
    FL_CHECK(!seen[d], "permute(): duplicate dims are not allowed.");
    seen[d] = true;
    sizes[i] = self.sizes()[d];
    strides[i] = self.strides()[d];
  }
  return make_view(self, sizes, strides, self.storage_offset());
}

Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  const int64_t n = self.dim();
  dim0 = wrap_dim(dim0, n);
  dim1 = wrap_dim(dim1, n);
  std::vector<int64_t> sizes = self.sizes().vec(), strides = self.strides().vec();
  if (n > 0) {
    std::swap(sizes[dim0], sizes[dim1]);
    std::swap(strides[dim0], strides[dim1]);
  }
  return make_view(self, sizes, strides, self.storage_offset());
}

Tensor expand(const Tensor& self, IntList size, bool) {
  const int64_t n = static_cast<int64_t>(size.size()), old = self.dim();
  FL_CHECK(n >= old, "expand(", dtype_name(self.dtype()), "{", self.sizes(), "}, size=", size,
           "): the number of sizes provided (", n,
           ") must be greater or equal to the number of dimensions in the tensor (", old, ")");
  std::vector<int64_t> sizes(n), strides(n);
  for (int64_t i = n - 1; i >= 0; --i) {
    const int64_t d = i - (n - old);
    const int64_t have = d >= 0 ? self.sizes()[d] : 1;
    int64_t want = size[i];
    if (want == -1) {
      FL_CHECK(d >= 0, "expand(", dtype_name(self.dtype()), "{", self.sizes(), "}, size=", size,
               "): the expanded size of the tensor (-1) isn't allowed in a "
               "leading, non-existing dimension ",
               i);
      want = have;
    }
    FL_CHECK(want >= 0, "expand(): sizes must not be negative, got ", size);
    FL_CHECK(have == want || have == 1, "The expanded size of the tensor (", want, ") must match the existing size (",
             have, ") at non-singleton dimension ", i, ".  Target sizes: ", size, ".  Tensor sizes: ", self.sizes());
    sizes[i] = want;
    // a dim that is not expanded keeps its stride; a new dim of size 1 gets the row-major one
    if (have == want && d >= 0)
      strides[i] = self.strides()[d];
    else if (have == want && want == 1)
      strides[i] = i + 1 < n ? sizes[i + 1] * strides[i + 1] : 1;
    else
      strides[i] = 0;
  }
  return make_view(self, sizes, strides, self.storage_offset());
}

Tensor select(const Tensor& self, int64_t dim, int64_t index) {
  FL_CHECK_INDEX(self.dim() > 0, "select() cannot be applied to a 0-dim tensor.");
  dim = wrap_dim(dim, self.dim());
  const int64_t n = self.sizes()[dim];
  FL_CHECK_INDEX(index >= -n && index < n, "select(): index ", index, " out of range for tensor of size ", self.sizes(),
                 " at dimension ", dim);
  if (index < 0) index += n;
  std::vector<int64_t> sizes = self.sizes().vec(), strides = self.strides().vec();
  const int64_t offset = self.storage_offset() + index * strides[dim];
  sizes.erase(sizes.begin() + dim);
  strides.erase(strides.begin() + dim);
  return make_view(self, sizes, strides, offset);
}

Tensor slice(const Tensor& self, int64_t dim, std::optional<int64_t> start_, std::optional<int64_t> end_,
             int64_t step) {
  FL_CHECK(self.dim() > 0, "slice() cannot be applied to a 0-dim tensor.");
  dim = wrap_dim(dim, self.dim());
  FL_CHECK_VALUE(step > 0, "slice step must be positive, got ", step);
  const int64_t n = self.sizes()[dim];
  const auto clamp = [n](int64_t v, int64_t low) {
    if (v < 0) v += n;
    return std::clamp<int64_t>(v, low, std::max(n, low));
  };
  const int64_t start = clamp(start_.value_or(0), 0);
  const int64_t end = std::max(start, clamp(end_.value_or(INT64_MAX), 0));
  std::vector<int64_t> sizes = self.sizes().vec(), strides = self.strides().vec();
  const int64_t offset = self.storage_offset() + start * strides[dim];
  sizes[dim] = (end - start) / step + ((end - start) % step != 0);
  FL_CHECK(sizes[dim] <= 1 || !__builtin_mul_overflow(strides[dim], step, &strides[dim]), "slice step ", step,
           " overflows");
  if (sizes[dim] <= 1)
    __builtin_mul_overflow(strides[dim], step, &strides[dim]), strides[dim] = std::max<int64_t>(strides[dim], 0);
  return make_view(self, sizes, strides, offset);
}

Tensor squeeze(const Tensor& self) {
  std::vector<int64_t> sizes, strides;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (self.sizes()[i] == 1) continue;
    sizes.push_back(self.sizes()[i]);
    strides.push_back(self.strides()[i]);
  }
  return make_view(self, sizes, strides, self.storage_offset());
}

Tensor squeeze_dims(const Tensor& self, IntList dims) {
  std::vector<bool> drop(std::max<int64_t>(self.dim(), 1));
  for (int64_t d : dims) {
    const int64_t w = wrap_dim(d, self.dim());
    FL_CHECK(!drop[w], "dim ", w, " appears multiple times in the list of dims");
    drop[w] = true;
  }
  std::vector<int64_t> sizes, strides;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (drop[i] && self.sizes()[i] == 1) continue;
    sizes.push_back(self.sizes()[i]);
    strides.push_back(self.strides()[i]);
  }
  return make_view(self, sizes, strides, self.storage_offset());
}

Tensor squeeze_dim(const Tensor& self, int64_t dim) { return squeeze_dims(self, {dim}); }

Tensor unsqueeze(const Tensor& self, int64_t dim) {
  dim = wrap_dim(dim, self.dim() + 1);
  std::vector<int64_t> sizes = self.sizes().vec(), strides = self.strides().vec();
  const int64_t stride = dim < self.dim() ? sizes[dim] * strides[dim] : 1;
  sizes.insert(sizes.begin() + dim, 1);
  strides.insert(strides.begin() + dim, stride);
  return make_view(self, sizes, strides, self.storage_offset());
}

Tensor diagonal(const Tensor& self, int64_t offset, int64_t dim1_, int64_t dim2_) {
  const int64_t dim1 = wrap_dim(dim1_, self.dim()), dim2 = wrap_dim(dim2_, self.dim());
  FL_CHECK(dim1 != dim2, "diagonal dimensions cannot be identical ", dim1_, ", ", dim2_);
  const int64_t a = self.sizes()[dim1], b = self.sizes()[dim2];
  FL_CHECK(offset > INT64_MIN / 2 && offset < INT64_MAX / 2, "[diagonal] offset ", offset, " is out of range");
  const int64_t length =
      offset >= 0 ? std::max<int64_t>(std::min(a, b - offset), 0) : std::max<int64_t>(std::min(a + offset, b), 0);
  int64_t start = self.storage_offset();
  if (length > 0) start += offset >= 0 ? offset * self.strides()[dim2] : -offset * self.strides()[dim1];
  std::vector<int64_t> sizes, strides;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (i == dim1 || i == dim2) continue;
    sizes.push_back(self.sizes()[i]);
    strides.push_back(self.strides()[i]);
  }
  sizes.push_back(length);
  strides.push_back(self.strides()[dim1] + self.strides()[dim2]);
  return make_view(self, sizes, strides, start);
}

Tensor unfold(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  const int64_t d = wrap_dim(dimension, self.dim());
  const int64_t n = self.dim() == 0 ? 1 : self.sizes()[d];
  FL_CHECK(size >= 0, "size is ", size, " but must be >= 0");
  FL_CHECK(size <= n, "maximum size for tensor at dimension ", d, " is ", n, " but size is ", size);
  FL_CHECK(step > 0, "step is ", step, " but must be > 0");
  std::vector<int64_t> sizes = self.sizes().vec(), strides = self.strides().vec();
  sizes.push_back(size);
  strides.push_back(self.dim() == 0 ? 1 : strides[d]);
  if (self.dim() > 0) {
    sizes[d] = (n - size) / step + 1;
    FL_CHECK(sizes[d] == 1 || !__builtin_mul_overflow(strides[d], step, &strides[d]), "step ", step, " overflows");
  }
  return make_view(self, sizes, strides, self.storage_offset());
}

Tensor view_as_real(const Tensor& self) {
  FL_CHECK(self.is_complex(), "view_as_real is only supported for complex tensors, got ", dtype_name(self.dtype()));
  std::vector<int64_t> sizes = self.sizes().vec(), strides = self.strides().vec();
  for (auto& s : strides) s *= 2;
  sizes.push_back(2);
  strides.push_back(1);
  return make_view_dtype(self, to_real(self.dtype()), sizes, strides, self.storage_offset() * 2);
}

Tensor view_as_complex(const Tensor& self) {
  FL_CHECK(self.dtype() == DType::Float16 || self.dtype() == DType::Float32 || self.dtype() == DType::Float64,
           "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: ",
           dtype_name(self.dtype()));
  FL_CHECK(self.dim() > 0, "Input tensor must have one or more dimensions");
  FL_CHECK(self.sizes().back() == 2, "Tensor must have a last dimension of size 2, got ", self.sizes());
  FL_CHECK(self.strides().back() == 1, "Tensor must have a last dimension with stride 1");
  std::vector<int64_t> sizes = self.sizes().vec(), strides = self.strides().vec();
  sizes.pop_back();
  strides.pop_back();
  for (auto& s : strides) {
    FL_CHECK(s % 2 == 0, "Tensor must have a stride divisible by 2 for all but last dimension");
    s /= 2;
  }
  FL_CHECK(self.storage_offset() % 2 == 0, "Tensor must have a storage_offset divisible by 2");
  return make_view_dtype(self, to_complex(self.dtype()), sizes, strides, self.storage_offset() / 2);
}

std::vector<Tensor> unbind(const Tensor& self, int64_t dim) {
  FL_CHECK_INDEX(self.dim() > 0, "Dimension specified as ", dim, " but tensor has no dimensions");
  dim = wrap_dim(dim, self.dim());
  std::vector<Tensor> out;
  out.reserve(static_cast<size_t>(self.sizes()[dim]));
  for (int64_t i = 0; i < self.sizes()[dim]; ++i) out.push_back(select(self, dim, i));
  return out;
}

std::vector<Tensor> split(const Tensor& self, int64_t split_size, int64_t dim) {
  FL_CHECK(self.dim() > 0, "split expects at least a 1-dimensional tensor");
  FL_CHECK(split_size >= 0, "split expects split_size be non-negative, but got split_size=", split_size);
  dim = wrap_dim(dim, self.dim());
  const int64_t n = self.sizes()[dim];
  FL_CHECK(split_size > 0 || n == 0, "split_size can only be 0 if dimension size is 0, but got dimension size of ", n);
  std::vector<Tensor> out;
  if (n == 0) return {alias(self)};
  for (int64_t i = 0; i < n; i += std::min(split_size, n - i))
    out.push_back(slice(self, dim, i, i + std::min(split_size, n - i), 1));
  return out;
}

std::vector<Tensor> split_with_sizes(const Tensor& self, IntList split_sizes, int64_t dim) {
  FL_CHECK(self.dim() > 0, "split expects at least a 1-dimensional tensor");
  dim = wrap_dim(dim, self.dim());
  int64_t total = 0;
  for (int64_t s : split_sizes) {
    FL_CHECK(s >= 0,
             "split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes=", split_sizes);
    FL_CHECK(!__builtin_add_overflow(total, s, &total), "split_sizes overflow");
  }
  FL_CHECK(total == self.sizes()[dim], "split_with_sizes expects split_sizes to sum exactly to ", self.sizes()[dim],
           " (input tensor's size at dimension ", dim, "), but got split_sizes=", split_sizes);
  std::vector<Tensor> out;
  int64_t at = 0;
  for (int64_t s : split_sizes) {
    out.push_back(slice(self, dim, at, at + s, 1));
    at += s;
  }
  return out;
}

}  // namespace flambeau
