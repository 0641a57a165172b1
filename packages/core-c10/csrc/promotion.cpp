#include "flambeau/core/promotion.h"

namespace flambeau {
namespace {

DType widest(DType a, DType b) { return a == DType::Undefined ? b : a == b ? a : promote_types(a, b); }

int category(DType t) { return is_complex(t) ? 3 : is_floating(t) ? 2 : is_bool(t) ? 0 : 1; }

// A weaker operand only matters when its category is higher.
DType combine(DType strong, DType weak) {
  if (strong == DType::Undefined) return weak;
  if (weak == DType::Undefined || category(weak) <= category(strong)) return strong;
  // the precision stays that of the strong one
  if (is_complex(weak) && is_floating(strong)) return strong == DType::Float64 ? DType::Complex128 : DType::Complex64;
  return promote_types(strong, weak);
}

}  // namespace

void PromotionState::add(DType t, bool dimensioned, bool wrapped) {
  if (wrapped) {
    if (is_floating(t))
      t = default_dtype();
    else if (is_complex(t))
      t = to_complex(default_dtype());
    wrapped_ = widest(wrapped_, t);
  } else if (dimensioned)
    dimensioned_ = widest(dimensioned_, t);
  else
    zero_dim_ = widest(zero_dim_, t);
}

void PromotionState::add(const Tensor& t) { add(t.dtype(), t.dim() > 0, t.is_wrapped_number()); }

DType PromotionState::result() const { return combine(combine(dimensioned_, zero_dim_), wrapped_); }

}  // namespace flambeau
