// Gradients of views: the gradient's elements back in their places, zeros elsewhere.
#include "flambeau/ops/add.h"
#include "flambeau/ops/cat.h"
#include "flambeau/ops/contiguous.h"
#include "flambeau/ops/copy_.h"
#include "flambeau/ops/diagonal.h"
#include "flambeau/ops/permute.h"
#include "flambeau/ops/select.h"
#include "flambeau/ops/slice.h"
#include "flambeau/ops/stack.h"
#include "formula_functions.h"
#include "record.h"

namespace flambeau::autograd {

namespace {

// A fresh tensor of zeros with `place(zeros)` overwritten by the gradient. Recorded when the gradient itself is
// differentiable.
template <class Place> Tensor embed(const Tensor& grad, IntList sizes, Place place) {
  Tensor whole = zeros_like_options(sizes, grad.options());
  ops::copy_(place(whole), grad);
  return whole;
}

}  // namespace

Tensor contiguous(const Tensor& t) { return ops::contiguous(t, MemoryFormat::Contiguous); }

Tensor unpermute(const Tensor& grad, IntList dims) {
  std::vector<int64_t> inverse(dims.size());
  for (size_t i = 0; i < dims.size(); ++i)
    inverse[static_cast<size_t>(wrap_dim(dims[i], grad.dim()))] = static_cast<int64_t>(i);
  return ops::permute(grad, inverse);
}

Tensor select_backward(const Tensor& grad, IntList sizes, int64_t dim, int64_t index) {
  return embed(grad, sizes, [&](const Tensor& w) { return ops::select(w, dim, index); });
}

Tensor slice_backward(const Tensor& grad, IntList sizes, int64_t dim, std::optional<int64_t> start,
                      std::optional<int64_t> end, int64_t step) {
  return embed(grad, sizes, [&](const Tensor& w) { return ops::slice(w, dim, start, end, step); });
}

Tensor diagonal_backward(const Tensor& grad, IntList sizes, int64_t offset, int64_t dim1, int64_t dim2) {
  return embed(grad, sizes, [&](const Tensor& w) { return ops::diagonal(w, offset, dim1, dim2); });
}

Tensor unfold_backward(const Tensor& grad, IntList sizes, int64_t dim, int64_t size, int64_t step) {
  if (sizes.empty()) return size ? ops::select(grad, 0, 0) : zeros_like_options(sizes, grad.options());
  // Windows may overlap: added up position by position.
  Tensor whole = zeros_like_options(sizes, grad.options());
  const int64_t reach = (grad.size(dim < 0 ? dim - 1 : dim) - 1) * step + 1;
  for (int64_t k = 0; k < size; ++k) ops::add_(ops::slice(whole, dim, k, k + reach, step), ops::select(grad, -1, k));
  return whole;
}

Tensor unbind_backward(const Node& n, const Tensor* grads, int64_t dim) {
  std::vector<Tensor> list;
  for (size_t i = 0; i < n.outputs.size(); ++i) list.push_back(gradient_or_zeros(n, grads, i));
  return ops::stack(list, dim);
}

Tensor split_backward(const Node& n, const Tensor* grads, IntList, TensorOptions, int64_t dim) {
  std::vector<Tensor> list;
  for (size_t i = 0; i < n.outputs.size(); ++i) list.push_back(gradient_or_zeros(n, grads, i));
  return ops::cat(list, dim);
}

Tensor as_strided_formula(const Tensor& grad, const Tensor& self, IntList size, IntList stride,
                          std::optional<int64_t> offset) {
  const int64_t lowest = self.storage_offset();
  const Geometry base{self.sizes().vec(), self.strides().vec(), 0};
  const Geometry view{size.vec(), stride.vec(), offset.value_or(lowest) - lowest};
  int64_t span = 1, reach = view.offset + 1;
  for (size_t i = 0; i < base.sizes.size(); ++i) span += (base.sizes[i] - 1) * base.strides[i];
  for (size_t i = 0; i < view.sizes.size(); ++i) reach += (view.sizes[i] - 1) * view.strides[i];
  FL_CHECK(view.offset >= 0,
           "[as_strided] the gradient of a view that starts before its base's first element is not supported");
  const Tensor store = zeros_like_options({std::max(span, reach)}, grad.options());
  return scatter_strided(store, grad, view, base);
}

}  // namespace flambeau::autograd
