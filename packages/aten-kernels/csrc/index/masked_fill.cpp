// masked_fill_ of a tensor whose elements share memory: the pointwise loop would write unmasked elements back over
// masked ones, so only the masked ones are written.
#include "flambeau/ops/masked_fill.h"
#include "flambeau/core/views.h"
#include "flambeau/ops/index_put.h"
#include "flambeau/ops/masked_select.h"
#include "pointwise/run_pointwise.h"

namespace flambeau {

void masked_fill_inplace(const Operator& op, KeySet keys, const Value* args, Value* results) {
  const Tensor& self = args[0].as_tensor();
  if (!has_internal_overlap(self)) return run_pointwise_inplace(op, keys, args, results);
  const Tensor& mask = args[1].as_tensor();
  const Tensor filled = ops::masked_fill(self, mask, Arg<const Scalar&>::get(args[2]));  // checks mask and value
  const Tensor index[1] = {expand(mask, self.sizes())};
  ops::index_put_(self, TensorList(index, 1), ops::masked_select(filled, index[0]));
  set_result(results, Tensor(self));
}

}  // namespace flambeau
