// Operators that write every element to another place: flip, roll, triangles, diagonals, padding, writes into a view of
// a copy.
#include <algorithm>
#include <cstdlib>

#include "creation/formats.h"
#include "flambeau/core/kernel.h"
#include "flambeau/core/parallel.h"
#include "flambeau/core/views.h"
#include "index/gather_scatter.h"
#include "pointwise/convert.h"

namespace flambeau {

Tensor flip_op(const Tensor& self, IntList dims) {
  std::vector<bool> flipped(static_cast<size_t>(std::max<int64_t>(self.dim(), 1)));
  for (const int64_t d : dims) {
    const size_t w = static_cast<size_t>(wrap_dim(d, self.dim()));
    FL_CHECK(!flipped[w], "dim ", w, " appears multiple times in the list of dims");
    flipped[w] = true;
  }
  Tensor out = empty_like(self);
  if (self.numel() == 0 || !self.storage().data) return out;
  std::vector<int64_t> strides = self.strides().vec();
  int64_t offset = self.storage_offset();
  for (int64_t d = 0; d < self.dim(); ++d)
    if (flipped[static_cast<size_t>(d)]) {
      offset += (self.sizes()[d] - 1) * strides[static_cast<size_t>(d)];
      strides[static_cast<size_t>(d)] *= -1;  // never leaves this function: copies may walk backwards, tensors may not
    }
  copy_values(out, with_geometry(self, self.sizes(), strides, offset));
  return out;
}

namespace {

// One dimension moved round by `shift`.
Tensor rolled(const Tensor& self, int64_t dim, int64_t shift) {
  const int64_t size = self.sizes()[dim];
  Tensor out = empty(self.sizes(), self.options());
  if (self.numel() == 0 || !self.storage().data) return out;
  shift = (shift % size + size) % size;
  const auto part = [&](const Tensor& t, int64_t start, int64_t length) {
    return slice(t, dim, start, start + length, 1);
  };
  if (shift) copy_values(part(out, 0, shift), part(self, size - shift, shift));
  copy_values(part(out, shift, size - shift), part(self, 0, size - shift));
  return out;
}

}  // namespace

Tensor roll_op(const Tensor& self, IntList shifts, IntList dims) {
  FL_CHECK(!shifts.empty(), "`shifts` required");
  if (dims.empty()) {
    FL_CHECK(shifts.size() == 1, "shifts and dimensions must align. shifts: ", shifts.size(), ", dims:", dims.size());
    const Tensor flat = contiguous(self);
    if (flat.numel() == 0) return clone_values(self);
    const int64_t size[1] = {flat.numel()}, stride[1] = {1};
    const Tensor moved = rolled(with_geometry(flat, {size, 1}, {stride, 1}, flat.storage_offset()), 0, shifts[0]);
    return with_geometry(moved, self.sizes(), contiguous_strides(self.sizes()), 0);
  }
  FL_CHECK(shifts.size() == dims.size(), "shifts and dimensions must align. shifts: ", shifts.size(),
           ", dims:", dims.size());
  FL_CHECK_INDEX(self.dim() > 0, "Dimension specified as ", dims[0], " but tensor has no dimensions");
  Tensor out = self;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t dim = wrap_dim(dims[i], self.dim());
    out = self.sizes()[dim] == 0 ? clone_values(out) : rolled(out, dim, shifts[i]);
  }
  return out;
}

// --- triangles
// --------------------------------------------------------------------------------------------------------------

namespace {

// Zeros the part of every row that the triangle does not hold.
void keep_triangle(const char* op, const Tensor& self, int64_t diagonal, bool lower) {
  FL_CHECK(self.dim() >= 2, op, ": input tensor must have at least 2 dimensions");
  if (self.numel() == 0 || !self.storage().data) return;
  const int64_t rows = self.sizes()[self.dim() - 2], cols = self.sizes()[self.dim() - 1];
  const int64_t step = self.strides()[self.dim() - 1], size = self.itemsize();
  int64_t batches = 1;
  for (int64_t d = 0; d + 2 < self.dim(); ++d) batches *= self.sizes()[d];
  parallel_for(0, batches * rows, std::max<int64_t>(1, 16384 / cols), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) {
      const int64_t row = i % rows;
      int64_t at = row * self.strides()[self.dim() - 2], rest = i / rows;
      for (int64_t d = self.dim() - 2; d-- > 0;) {
        at += rest % self.sizes()[d] * self.strides()[d];
        rest /= self.sizes()[d];
      }
      const __int128 edge = static_cast<__int128>(row) + diagonal;
      const int64_t from = lower ? static_cast<int64_t>(std::clamp<__int128>(edge + 1, 0, cols)) : 0;
      const int64_t to = lower ? cols : static_cast<int64_t>(std::clamp<__int128>(edge, 0, cols));
      char* p = static_cast<char*>(self.data()) + (at + from * step) * size;
      if (step == 1)
        std::fill_n(p, static_cast<size_t>(to - from) * static_cast<size_t>(size), char{0});
      else
        for (int64_t c = from; c < to; ++c, p += step * size) std::fill_n(p, size, char{0});
    }
  });
}

}  // namespace

const Tensor& tril_op_(const Tensor& self, int64_t diagonal) {
  keep_triangle("tril", self, diagonal, true);
  return self;
}
const Tensor& triu_op_(const Tensor& self, int64_t diagonal) {
  keep_triangle("triu", self, diagonal, false);
  return self;
}

// --- diagonals and writes into views
// ------------------------------------------------------------------------------------------

Tensor diag_embed_op(const Tensor& self, int64_t offset, int64_t dim1_, int64_t dim2_) {
  const int64_t n = self.dim() + 1;
  const int64_t dim1 = wrap_dim(dim1_, n), dim2 = wrap_dim(dim2_, n);
  FL_CHECK(dim1 != dim2, "diagonal dimensions cannot be identical ", dim1_, ", ", dim2_);
  FL_CHECK_INDEX(self.dim() > 0, "diag_embed needs at least a 1-dimensional tensor");
  FL_CHECK(offset > -(int64_t{1} << 40) && offset < int64_t{1} << 40, "[diag_embed] offset ", offset, " is too large");
  const int64_t width = self.sizes().back() + std::abs(offset);
  std::vector<int64_t> sizes = self.sizes().vec();
  sizes.pop_back();
  sizes.insert(sizes.begin() + std::min(dim1, dim2), width);
  sizes.insert(sizes.begin() + std::max(dim1, dim2), width);
  Tensor out = empty(sizes, self.options());
  fill_zero(out);
  if (out.storage().data && self.numel()) copy_values(diagonal(out, offset, dim1, dim2), self);
  return out;
}

namespace {

template <class F> Tensor written_copy(const char* op, const Tensor& self, const Tensor& src, F&& view_of) {
  Tensor out = clone_values(self);
  const Tensor part = view_of(out);
  FL_CHECK(part.sizes() == src.sizes(), "[", op,
           "] expected src to have a size equal to the slice of self. src size = ", src.sizes(),
           ", slice size = ", part.sizes());
  if (part.numel()) copy_values(part, src);
  return out;
}

}  // namespace

Tensor diagonal_scatter_op(const Tensor& self, const Tensor& src, int64_t offset, int64_t dim1, int64_t dim2) {
  return written_copy("diagonal_scatter", self, src, [&](const Tensor& t) { return diagonal(t, offset, dim1, dim2); });
}
Tensor select_scatter_op(const Tensor& self, const Tensor& src, int64_t dim, int64_t index) {
  return written_copy("select_scatter", self, src, [&](const Tensor& t) { return select(t, dim, index); });
}
Tensor slice_scatter_op(const Tensor& self, const Tensor& src, int64_t dim, std::optional<int64_t> start,
                        std::optional<int64_t> end, int64_t step) {
  return written_copy("slice_scatter", self, src, [&](const Tensor& t) { return slice(t, dim, start, end, step); });
}
Tensor as_strided_scatter_op(const Tensor& self, const Tensor& src, IntList size, IntList stride,
                             std::optional<int64_t> offset) {
  return written_copy("as_strided_scatter", self, src,
                      [&](const Tensor& t) { return as_strided(t, size, stride, offset); });
}

// --- padding
// ------------------------------------------------------------------------------------------------------------------

Tensor constant_pad_nd_op(const Tensor& self, IntList pad, const Scalar& value) {
  FL_CHECK(pad.size() % 2 == 0, "Length of pad must be even but instead it equals ", pad.size());
  const int64_t padded = static_cast<int64_t>(pad.size()) / 2;
  FL_CHECK(padded <= self.dim(),
           "Length of pad should be no more than twice the number of dimensions of the input. Pad length is ",
           pad.size(), " while the input has ", self.dim(), " dimensions.");
  std::vector<int64_t> sizes = self.sizes().vec();
  Tensor from = self;
  for (int64_t i = 0; i < padded; ++i) {
    const int64_t d = self.dim() - 1 - i, before = pad[static_cast<size_t>(2 * i)],
                  after = pad[static_cast<size_t>(2 * i) + 1];
    int64_t& size = sizes[static_cast<size_t>(d)];
    FL_CHECK(!__builtin_add_overflow(size, before, &size) && !__builtin_add_overflow(size, after, &size),
             "[constant_pad_nd] padding ", pad, " overflows");
    FL_CHECK(size >= 0, "The input size ", self.sizes()[d], ", plus negative padding ", before, " and ", after,
             " resulted in a negative output size, which is invalid. Check dimension ", d, " of your input.");
    const int64_t n = self.sizes()[d], start = std::clamp<int64_t>(-before, 0, n),
                  end = std::clamp<int64_t>(after < 0 ? n + after : n, start, n);
    if (start != 0 || end != n) from = slice(from, d, start, end, 1);
  }
  Tensor out = empty(sizes, self.options());
  fill_value(out, value);
  if (!out.storage().data || out.numel() == 0) return out;
  Tensor to = out;
  for (int64_t i = 0; i < padded; ++i) {
    const int64_t d = self.dim() - 1 - i, before = std::max<int64_t>(pad[static_cast<size_t>(2 * i)], 0);
    to = slice(to, d, before, before + from.sizes()[d], 1);
  }
  if (to.sizes() == from.sizes()) copy_values(to, from);
  return out;
}

}  // namespace flambeau
