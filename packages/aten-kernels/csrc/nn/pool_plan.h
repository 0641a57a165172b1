#pragma once
/// The checked geometry of pooling windows, one to three spatial dimensions seen as three.
#include "flambeau/core/kernel.h"
#include "nn/compute.h"

namespace flambeau::nn {

struct PoolPlan {
  int64_t in[3], out[3], k[3], stride[3], pad[3], dil[3];
  std::vector<int64_t> sizes;  ///< of the result

  int64_t in_plane() const { return in[0] * in[1] * in[2]; }
  int64_t out_plane() const { return out[0] * out[1] * out[2]; }
  /// Elements that a window can cover.
  int64_t window() const { return std::min(k[0], in[0]) * std::min(k[1], in[1]) * std::min(k[2], in[2]); }
};

/// Planes of a tensor in memory: `batches` blocks of plane x `inner`. Row-major: N * C blocks, inner 1; channels-last:
/// N blocks, inner C.
struct Planes {
  int64_t batches, inner;
};
Planes planes_of(IntList sizes, int64_t spatial, MemoryFormat format);

/// Rank is spatial + 1 or spatial + 2 and no size but the batch's is 0. Throws RuntimeError.
void check_pool_input(const char* op, const Tensor& self, int64_t spatial);

/// Checks everything; throws RuntimeError. An empty stride is the kernel's size.
PoolPlan plan_pool(const char* op, int64_t spatial, const Tensor& self, IntList kernel, IntList stride, IntList padding,
                   IntList dilation, bool ceil_mode);

/// Where windows along one dimension begin and end within the input, `step` apart.
struct Reach {
  int64_t begin, end;
};
inline Reach reach(const PoolPlan& p, int d, int64_t o) {
  int64_t begin = o * p.stride[d] - p.pad[d];
  const int64_t end = std::min(begin + (p.k[d] - 1) * p.dil[d] + 1, p.in[d]);
  if (begin < 0) begin += (-begin + p.dil[d] - 1) / p.dil[d] * p.dil[d];
  return {begin, end};
}

/// Adds `grad` into the positions of its plane that `indices` gives; `out` is zero elsewhere. Throws RuntimeError for a
/// position outside.
void scatter_to_positions(const char* op, int64_t spatial, const Tensor& grad, const Tensor& indices,
                          const Tensor& out);

/// What the backward of a pool was given must fit the forward's result of `sizes`.
void check_pool_gradient(const char* op, const Tensor& grad, const Tensor& self, const Tensor& indices, IntList sizes);

}  // namespace flambeau::nn
