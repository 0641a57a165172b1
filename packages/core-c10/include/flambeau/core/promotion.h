#pragma once
/// torch's rule: a dimensioned tensor's dtype wins over a 0-d tensor's, which wins over a Python number's, inside a
/// category.
#include "flambeau/core/tensor.h"

namespace flambeau {

class FL_API PromotionState {
 public:
  void add(const Tensor& t);
  void add(DType t, bool dimensioned, bool wrapped);
  DType result() const;

 private:
  DType dimensioned_ = DType::Undefined, zero_dim_ = DType::Undefined, wrapped_ = DType::Undefined;
};

}  // namespace flambeau
