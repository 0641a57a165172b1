// Shape operators that views and copies make up, and that models call most; the rest are in Python.
#include "creation/formats.h"
#include "flambeau/core/views.h"
#include "flambeau/ops/_unsafe_view.h"
#include "flambeau/ops/clone.h"
#include "flambeau/ops/expand.h"
#include "flambeau/ops/permute.h"
#include "flambeau/ops/reshape.h"
#include "flambeau/ops/slice.h"
#include "flambeau/ops/transpose.h"
#include "flambeau/ops/view.h"

namespace flambeau {

Tensor flatten_op(const Tensor& self, int64_t start_, int64_t end_) {
  const int64_t start = wrap_dim(start_, self.dim()), end = wrap_dim(end_, self.dim());
  FL_CHECK(start <= end, "flatten() has invalid args: start_dim cannot come after end_dim, got ", start_, " and ",
           end_);
  if (self.dim() == 0) return ops::reshape(self, {1});
  if (start == end) return self;
  std::vector<int64_t> sizes;
  int64_t product = 1;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d < start || d > end)
      sizes.push_back(self.sizes()[d]);
    else
      product *= self.sizes()[d];
    if (d == end) sizes.push_back(product);
  }
  return ops::reshape(self, sizes);
}

Tensor ravel_op(const Tensor& self) { return ops::reshape(self, {-1}); }

Tensor t_op(const Tensor& self) {
  FL_CHECK(self.dim() <= 2, "t() expects a tensor with <= 2 dimensions, but self is ", self.dim(), "D");
  return ops::transpose(self, 0, self.dim() < 2 ? 0 : 1);
}

Tensor adjoint_view(const Tensor& self) {
  FL_CHECK(self.dim() != 1, "tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.");
  return self.dim() == 0 ? self : ops::transpose(self, -2, -1);
}

Tensor expand_as_op(const Tensor& self, const Tensor& other) { return ops::expand(self, other.sizes()); }
Tensor broadcast_to_op(const Tensor& self, IntList size) { return ops::expand(self, size); }

Tensor narrow_op(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  FL_CHECK(self.dim() > 0, "narrow() cannot be applied to a 0-dim tensor.");
  FL_CHECK(length >= 0, "narrow(): length must be non-negative, got ", length);
  const int64_t size = self.size(dim);
  FL_CHECK_INDEX(start >= -size && start <= size, "start out of range (expected to be in range of [", -size, ", ", size,
                 "], but got ", start, ")");
  if (start < 0) start += size;
  FL_CHECK(start <= size - length, "start (", start, ") + length (", length, ") exceeds dimension size (", size, ").");
  return ops::slice(self, dim, start, start + length, 1);
}

Tensor narrow_tensor_op(const Tensor& self, int64_t dim, const Tensor& start, int64_t length) {
  FL_CHECK(start.dim() == 0 && is_integral(start.dtype()), "start must be an 0-dim integral Tensor.");
  return narrow_op(self, dim, item(start).to_int(), length);
}

std::vector<Tensor> chunk_op(const Tensor& self, int64_t chunks, int64_t dim_) {
  FL_CHECK(self.dim() > 0, "chunk expects at least a 1-dimensional tensor");
  FL_CHECK(chunks > 0, "chunk expects `chunks` to be greater than 0, got: ", chunks);
  const int64_t dim = wrap_dim(dim_, self.dim()), size = self.sizes()[dim];
  const int64_t piece = size == 0 ? 0 : (size - 1) / chunks + 1;
  std::vector<Tensor> out;
  if (piece == 0) {  // torch keeps the number of chunks when there is nothing to share out
    FL_CHECK(chunks <= 1 << 20, "chunk: ", chunks, " chunks of nothing are more than a list should hold");
    for (int64_t i = 0; i < chunks; ++i) out.push_back(ops::slice(self, dim, 0, 0, 1));
    return out;
  }
  for (int64_t at = 0; at < size; at += piece) out.push_back(ops::slice(self, dim, at, std::min(at + piece, size), 1));
  return out;
}

Tensor movedim_op(const Tensor& self, IntList source, IntList destination) {
  FL_CHECK(source.size() == destination.size(), "movedim: Invalid source or destination dims: source (", source,
           " dims) should contain the same number of dims as destination (", destination, " dims)");
  const int64_t n = self.dim();
  std::vector<int64_t> order(static_cast<size_t>(n), -1);
  std::vector<bool> from_used(static_cast<size_t>(n)), to_used(static_cast<size_t>(n));
  for (size_t i = 0; i < source.size(); ++i) {
    const int64_t from = wrap_dim(source[i], n), to = wrap_dim(destination[i], n);
    if (n == 0) continue;
    FL_CHECK(!from_used[static_cast<size_t>(from)], "movedim: repeated dim in `source` (", source, ")");
    FL_CHECK(!to_used[static_cast<size_t>(to)], "movedim: repeated dim in `destination` (", destination, ")");
    from_used[static_cast<size_t>(from)] = to_used[static_cast<size_t>(to)] = true;
    order[static_cast<size_t>(to)] = from;
  }
  int64_t next = 0;
  for (int64_t& d : order) {
    if (d >= 0) continue;
    while (from_used[static_cast<size_t>(next)]) ++next;
    d = next++;
  }
  return ops::permute(self, order);
}
Tensor movedim_int(const Tensor& self, int64_t source, int64_t destination) {
  return movedim_op(self, {source}, {destination});
}

Tensor repeat_op(const Tensor& self, IntList repeats) {
  const size_t n = repeats.size();
  FL_CHECK(static_cast<int64_t>(n) >= self.dim(),
           "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor: ", n, " < ",
           self.dim());
  std::vector<int64_t> split, wide, sizes;
  for (size_t i = 0; i < n; ++i) {
    FL_CHECK(repeats[i] >= 0, "Trying to create tensor with negative dimension: repeats are ", repeats);
    const int64_t own = static_cast<int64_t>(i) - (static_cast<int64_t>(n) - self.dim());
    const int64_t size = own < 0 ? 1 : self.sizes()[own];
    split.insert(split.end(), {1, size});
    wide.insert(wide.end(), {repeats[i], size});
    int64_t total = 0;
    FL_CHECK(!__builtin_mul_overflow(repeats[i], size, &total), "[repeat] ", repeats[i], " times ", size, " overflows");
    sizes.push_back(total);
  }
  checked_numel(sizes, "repeat");
  return ops::_unsafe_view(ops::clone(ops::expand(ops::reshape(self, split), wide), MemoryFormat::Contiguous), sizes);
}

}  // namespace flambeau
