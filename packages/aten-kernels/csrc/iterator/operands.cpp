#include "iterator/operands.h"

namespace flambeau {

Operands::Operands(IntList shape, const Tensor* operands, int count) : count_(count) {
  FL_INTERNAL_CHECK(count <= kMaxOperands);
  for (const int64_t size : shape) numel_ *= size;
  if (shape.size() > kMaxIterDims) {
    walk_long_shape(shape, operands);
    return;
  }
  ndim_ = static_cast<int>(shape.size());
  for (int d = 0; d < ndim_; ++d) sizes_[d] = shape[static_cast<size_t>(ndim_ - 1 - d)];
  for (int k = 0; k < count; ++k) {
    const Tensor& t = operands[k];
    const int64_t size = t.itemsize();
    const int have = static_cast<int>(t.dim());
    data_[k] = static_cast<char*>(t.data());
    for (int d = 0; d < ndim_; ++d) {
      const int own = have - 1 - d;
      strides_[k][d] = own < 0 || t.sizes()[own] == 1 ? 0 : t.strides()[own] * size;
    }
  }
  if (ndim_ > 1) {
    sort_dims();
    merge_dims();
  } else if (ndim_ == 1 && sizes_[0] == 1) {
    ndim_ = 1;
  }
}

// More dims than there is room for: 64 dims of two or more elements overflow a count, so the others are of size 1 or
// there is no element at all.
void Operands::walk_long_shape(IntList shape, const Tensor* operands) {
  if (numel_ == 0) shape = {};
  for (size_t d = shape.size(); d-- > 0;) {
    if (shape[d] == 1) continue;
    FL_INTERNAL_CHECK(ndim_ < kMaxIterDims);
    for (int k = 0; k < count_; ++k) {
      const Tensor& t = operands[k];
      const int64_t own = static_cast<int64_t>(d) - (static_cast<int64_t>(shape.size()) - t.dim());
      strides_[k][ndim_] = own < 0 || t.sizes()[own] == 1 ? 0 : t.strides()[own] * t.itemsize();
    }
    sizes_[ndim_++] = shape[d];
  }
  for (int k = 0; k < count_; ++k) data_[k] = static_cast<char*>(operands[k].data());
  if (numel_ == 0) {
    sizes_[0] = 0, ndim_ = 1;
    for (int k = 0; k < count_; ++k) strides_[k][0] = 0;
  }
  if (ndim_ > 1) {
    sort_dims();
    merge_dims();
  }
}

// Ascending strides, the first operand (the output) deciding: writes walk memory in order.
void Operands::sort_dims() {
  const auto before = [&](int a, int b) {  // whether dim a should be inside dim b
    for (int k = 0; k < count_; ++k) {
      const int64_t x = strides_[k][a], y = strides_[k][b];
      if (x == 0 || y == 0 || x == y) continue;
      return x < y;
    }
    return a < b;
  };
  for (int i = 1; i < ndim_; ++i)
    for (int j = i; j > 0 && before(j, j - 1); --j) {
      std::swap(sizes_[j], sizes_[j - 1]);
      for (int k = 0; k < count_; ++k) std::swap(strides_[k][j], strides_[k][j - 1]);
    }
}

// Neighbouring dims that every operand steps through evenly are one dim.
void Operands::merge_dims() {
  int last = 0;
  for (int d = 1; d < ndim_; ++d) {
    bool even = sizes_[d] == 1 || sizes_[last] == 1;
    if (!even) {
      even = true;
      for (int k = 0; k < count_ && even; ++k) even = strides_[k][d] == strides_[k][last] * sizes_[last];
    }
    if (even) {
      if (sizes_[last] == 1)
        for (int k = 0; k < count_; ++k) strides_[k][last] = strides_[k][d];
      sizes_[last] *= sizes_[d];
      continue;
    }
    ++last;
    sizes_[last] = sizes_[d];
    for (int k = 0; k < count_; ++k) strides_[k][last] = strides_[k][d];
  }
  ndim_ = last + 1;
}

}  // namespace flambeau
