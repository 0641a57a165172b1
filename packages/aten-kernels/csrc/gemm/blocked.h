// The path for large products: both operands packed for a block of K, then tiles shared out in two dimensions.
#pragma once

#include "problem.h"

namespace flambeau::gemm {

struct BlockSizes {
  int64_t k;     // a panel of B of this depth stays in the nearest caches while the rows of A pass
  int64_t rows;  // a group of A's panels stays in the second-level cache
  int64_t columns;
};

template <class T> constexpr BlockSizes block_sizes() { return {384 * 4 / static_cast<int64_t>(sizeof(T)), 168, 512}; }

// K in equal blocks, a function of K alone: it decides the order of additions.
template <class T> int64_t k_block(int64_t K) {
  const int64_t most = block_sizes<T>().k;
  const int64_t blocks = std::max<int64_t>(1, (K + most - 1) / most);
  return std::max<int64_t>(1, round_up((K + blocks - 1) / blocks, 8));
}

template <class T> void run_blocked(const Problem<T>& p);

// As run_blocked with op(B) in panels already: block by block of K, each round_up(N, nr) wide.
template <class T> void run_blocked_with(const Problem<T>& p, const T* packed_b);

}  // namespace flambeau::gemm
