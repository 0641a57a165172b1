#pragma once
#include <algorithm>

#include "flambeau/core/parallel.h"
#include "flambeau/core/python_hook.h"

namespace flambeau {

// Elements [begin, end) in iteration order: a partial first run, whole runs, a partial last one.
template <class F> void Operands::run_range(F& f, int64_t begin, int64_t end) const {
  const int64_t inner = ndim_ ? sizes_[0] : 1;
  int64_t index[kMaxIterDims];
  int64_t rest = begin;
  for (int d = 0; d < ndim_; ++d) {
    index[d] = rest % sizes_[d];
    rest /= sizes_[d];
  }
  char* ptrs[kMaxOperands];
  int64_t inner_strides[kMaxOperands];
  for (int k = 0; k < count_; ++k) inner_strides[k] = ndim_ ? strides_[k][0] : 0;
  while (begin < end) {
    const int64_t n = std::min(inner - (ndim_ ? index[0] : 0), end - begin);
    for (int k = 0; k < count_; ++k) {
      char* p = data_[k];
      for (int d = 0; d < ndim_; ++d) p += index[d] * strides_[k][d];
      ptrs[k] = p;
    }
    f(ptrs, inner_strides, n);
    begin += n;
    if (ndim_ == 0) break;
    index[0] += n;
    for (int d = 0; d + 1 < ndim_ && index[d] == sizes_[d]; ++d) {
      index[d] = 0;
      ++index[d + 1];
    }
  }
}

template <class F> void Operands::for_each(F&& f, int64_t grain) const {
  if (numel_ == 0) return;
  if (FL_LIKELY(numel_ <= grain)) {
    run_range(f, 0, numel_);
    return;
  }
  ReleaseInterpreter long_work(true);
  parallel_for(0, numel_, grain, [&](int64_t b, int64_t e) { run_range(f, b, e); });
}

}  // namespace flambeau
