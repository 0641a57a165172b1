#include "formula.h"

#include "flambeau/core/views.h"
#include "flambeau/ops/add.h"
#include "flambeau/ops/clone.h"
#include "flambeau/ops/copy_.h"
#include "flambeau/ops/zero_.h"
#include "formula_functions.h"
#include "hooks.h"

namespace flambeau::autograd {

void accumulate_into_leaf(const Tensor& leaf, const Tensor& grad) {
  Meta& m = ensure_meta(leaf);
  if (!m.grad.defined()) {
    // The gradient is ours to keep when nobody else holds it and it has the leaf's geometry; else it is copied.
    const bool own = !grad_enabled() && grad.impl()->refs.count() <= 2 && grad.impl()->storage->refs.count() == 1 &&
                     grad.sizes() == leaf.sizes() && grad.strides() == leaf.strides();
    m.grad = own || grad_enabled() ? grad : ops::clone(grad, MemoryFormat::Preserve);
    if (!grad_enabled() && m.grad.requires_grad()) m.grad = alias_without_history(m.grad);
  } else if (grad_enabled()) {
    m.grad = ops::add(m.grad, grad);
  } else {
    ops::add_(m.grad, grad);  // in place: references to .grad see the sum
  }
  run_post_accumulate_hooks(leaf);
}

Tensor fit_gradient(const Tensor& grad, const Shape& want, const char* node, size_t index) {
  Tensor g = grad;
  FL_CHECK(g.device().type == want.device().type, "Function ", node, " returned an invalid gradient at index ", index,
           " - expected device ", device_type_name(want.device().type), " but got ", device_type_name(g.device().type));
  if (FL_UNLIKELY(!(g.sizes() == want.sizes()))) {
    const int64_t extra = g.dim() - want.dim();
    bool fits = extra >= 0;
    for (int64_t d = 0; d < want.dim() && fits; ++d)
      fits = want.sizes()[static_cast<size_t>(d)] == g.sizes()[static_cast<size_t>(d + extra)] ||
             want.sizes()[static_cast<size_t>(d)] == 1;
    FL_CHECK(fits, "Function ", node, " returned an invalid gradient at index ", index, " - got ", g.sizes(),
             " but expected shape compatible with ", want.sizes());
    g = sum_to(g, want.sizes());
  }
  if (FL_UNLIKELY(g.dtype() != want.dtype())) {
    if (g.is_complex() && !want.is_complex()) g = real_part(g);
    g = to_dtype(g, want.dtype());
  }
  return g;
}

Tensor strided_clone(const Tensor& grad, const Geometry& base) {
  bool dense = true;
  int64_t span = 1;
  for (size_t i = 0; i < base.sizes.size(); ++i)
    dense = dense && (base.strides[i] != 0 || base.sizes[i] <= 1), span += (base.sizes[i] - 1) * base.strides[i];
  FL_CHECK(dense, "an in-place write through a view of an expanded tensor cannot be differentiated");
  const Tensor store = zeros_like_options({base.offset + span}, grad.options());
  Tensor whole = as_strided(store, base.sizes, base.strides, base.offset);
  // Not a view as far as autograd is concerned: nothing else sees the store.
  Tensor fresh = alias_without_history(whole);
  copy_in_graph(fresh, grad);
  return fresh;
}

Tensor as_strided_backward(const Tensor& grad, const Geometry& base, const Geometry& view, TensorOptions options) {
  int64_t span = base.offset + 1;
  for (size_t i = 0; i < base.sizes.size(); ++i) span += (base.sizes[i] - 1) * base.strides[i];
  const Tensor store = zeros_like_options({span}, {grad.dtype(), options.device});
  return scatter_strided(store, grad, view, base);
}

Tensor ops_clone(const Tensor& t) { return ops::clone(t, MemoryFormat::Preserve); }
void copy_in_graph(const Tensor& dst, const Tensor& src) { ops::copy_(dst, src); }
void zero_in_graph(const Tensor& t) { ops::zero_(t); }

std::string tensor_type_name(const Tensor& t) {
  switch (t.dtype()) {
    case DType::Float32: return "torch.FloatTensor";
    case DType::Float64: return "torch.DoubleTensor";
    case DType::Float16: return "torch.HalfTensor";
    case DType::BFloat16: return "torch.BFloat16Tensor";
    case DType::Complex64: return "torch.ComplexFloatTensor";
    case DType::Complex128: return "torch.ComplexDoubleTensor";
    case DType::Int64: return "torch.LongTensor";
    default: return concat("torch.", dtype_name(t.dtype()));
  }
}

}  // namespace flambeau::autograd
