// The geometry of an elementwise loop: operands broadcast to one shape, dims reordered and merged so that the inner
// loop is long.
#pragma once
#include <cstdint>

#include "flambeau/core/tensor.h"

namespace flambeau {

inline constexpr int kMaxOperands = 12;
inline constexpr int kMaxIterDims = 64;

class Operands {
 public:
  /// `shape` is what every operand broadcasts to. Outputs first.
  Operands(IntList shape, const Tensor* operands, int count);

  /// Calls `f(ptrs, strides, n)` over inner runs, on all threads when there is enough work. `cost` is a rough number of
  /// nanoseconds per 16 elements.
  template <class F> void for_each(F&& f, int64_t grain = 32768) const;

  int64_t numel() const { return numel_; }
  int ndim() const { return ndim_; }
  bool one_run() const { return ndim_ <= 1; }

 private:
  void walk_long_shape(IntList shape, const Tensor* operands);
  void sort_dims();
  void merge_dims();
  template <class F> void run_range(F& f, int64_t begin, int64_t end) const;

  int count_ = 0;
  int ndim_ = 0;
  int64_t numel_ = 1;
  int64_t sizes_[kMaxIterDims];                  // inner dim first
  int64_t strides_[kMaxOperands][kMaxIterDims];  // in bytes
  char* data_[kMaxOperands];
};

}  // namespace flambeau

#include "iterator/operands_inl.h"
