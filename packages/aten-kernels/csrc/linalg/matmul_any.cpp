// matmul: vectors, matrices and broadcast batches, brought down to dot, mv, mm and bmm.
#include "flambeau/core/kernel.h"
#include "flambeau/core/views.h"
#include "flambeau/ops/_unsafe_view.h"
#include "flambeau/ops/bmm.h"
#include "flambeau/ops/dot.h"
#include "flambeau/ops/expand.h"
#include "flambeau/ops/mm.h"
#include "flambeau/ops/mul.h"
#include "flambeau/ops/mv.h"
#include "flambeau/ops/reshape.h"
#include "flambeau/ops/squeeze.h"
#include "flambeau/ops/unsqueeze.h"

namespace flambeau {

namespace {

using Sizes = std::vector<int64_t>;

int64_t product(IntList sizes) {
  int64_t n = 1;
  for (const int64_t s : sizes) n *= s;
  return n;
}

Sizes joined(IntList batch, std::initializer_list<int64_t> tail) {
  Sizes sizes(batch.begin(), batch.end());
  sizes.insert(sizes.end(), tail);
  return sizes;
}

Tensor as_batch(const Tensor& t, IntList batch) {
  const int64_t rows = t.sizes()[static_cast<size_t>(t.dim()) - 2],
                columns = t.sizes()[static_cast<size_t>(t.dim()) - 1];
  const Sizes full = joined(batch, {rows, columns});
  const Tensor expanded = t.sizes() == IntList(full) ? t : ops::expand(t, full);
  if (batch.size() == 1) return expanded;
  return ops::reshape(expanded, IntList{product(batch), rows, columns});
}

// (..., n, k) @ (k) or (k, p): the batch dims are more rows of one product.
Tensor fold_left(const Tensor& self, const Tensor& other) {
  const IntList sizes = self.sizes();
  const int64_t k = sizes.back();
  const IntList outer(sizes.data(), sizes.size() - 1);
  const Tensor rows = ops::reshape(self, IntList{product(outer), k});
  if (other.dim() == 1) return ops::_unsafe_view(ops::mv(rows, other), outer);
  return ops::_unsafe_view(ops::mm(rows, other), joined(outer, {other.sizes()[1]}));
}

// Folding copies an operand whose rows are not evenly spaced; a batch of products reads it where it lies.
bool folds(const Tensor& self, const Tensor& other) {
  if (other.requires_grad() || other.dim() == 1) return true;
  const IntList sizes = self.sizes();
  const int64_t folded[] = {product({sizes.data(), sizes.size() - 1}), sizes.back()};
  return self.numel() == 0 || view_strides(sizes, self.strides(), IntList(folded, 2)).has_value();
}

Tensor multiply_batches(const Tensor& self, const Tensor& other) {
  const IntList a = self.sizes(), b = other.sizes();
  const Sizes batch = broadcast_shapes({a.data(), a.size() - 2}, {b.data(), b.size() - 2}, "matmul");
  const Tensor out = ops::bmm(as_batch(self, batch), as_batch(other, batch));
  if (batch.size() == 1) return out;
  return ops::_unsafe_view(out, joined(batch, {a[a.size() - 2], b[b.size() - 1]}));
}

}  // namespace

Tensor matmul_op(const Tensor& self, const Tensor& other) {
  const int64_t a = self.dim(), b = other.dim();
  FL_CHECK(a > 0 && b > 0, "[matmul] both arguments to matmul need to be at least 1D, but they are ", a, "D and ", b,
           "D");
  if (a == 2 && b == 2) return ops::mm(self, other);
  if (a == 1 && b == 1) return ops::dot(self, other);
  if (a == 2 && b == 1) return ops::mv(self, other);
  if (a == 1 && b == 2) return ops::squeeze(ops::mm(ops::unsqueeze(self, 0), other), 0);
  if (b <= 2 && folds(self, other)) return fold_left(self, other);
  const Tensor left = a == 1 ? ops::unsqueeze(self, 0) : self;
  const Tensor right = b == 1 ? ops::unsqueeze(other, 1) : other;
  const Tensor out = multiply_batches(left, right);
  return a == 1 ? ops::squeeze(out, -2) : b == 1 ? ops::squeeze(out, -1) : out;
}

Tensor outer_op(const Tensor& self, const Tensor& vec2) {
  FL_CHECK(self.dim() == 1, "[outer] Expected 1-D argument self, but got ", self.dim(), "-D");
  FL_CHECK(vec2.dim() == 1, "[outer] Expected 1-D argument vec2, but got ", vec2.dim(), "-D");
  return ops::mul(ops::unsqueeze(self, 1), vec2);
}

}  // namespace flambeau
