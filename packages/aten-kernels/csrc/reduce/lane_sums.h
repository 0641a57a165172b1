// The lanes of one reduction in progress. See Note [Lanes] in reduce_blocks.h.
#pragma once

#include <cstring>

#include "math/isa.h"
#include "pointwise/block_memory.h"
#include "reduce/reduce_blocks.h"

namespace flambeau {
inline namespace FL_ISA {
namespace reduce_impl {

class LaneSums {
 public:
  LaneSums(const ReduceBlocks& blocks, const Param* params, int64_t width)
      : blocks_(blocks), params_(params), width_(width) {
    restart(0);
    for (int level = 1; level < kLevels; ++level) used_[level] = 0;
  }
  LaneSums(const LaneSums&) = delete;
  LaneSums& operator=(const LaneSums&) = delete;

  // Combines `rows` into the lanes; rows.count is filled in here.
  void add(ReduceRows rows) {
    while (rows.num_rows > 0) {
      ReduceRows part = rows;
      part.num_rows = rows.num_rows < kFanIn - used_[0] ? rows.num_rows : kFanIn - used_[0];
      part.count = used_[0];
      char* lanes[kMaxAccumulators];
      lanes_of(0, lanes);
      blocks_.rows(lanes, part, params_);
      used_[0] += part.num_rows;
      if (used_[0] == kFanIn) spill(0);
      rows.num_rows -= part.num_rows;
      rows.x += part.num_rows * rows.row_stride;
      rows.index += part.num_rows * rows.row_step;
    }
  }

  // Ends a block: from here on, lanes count their elements from zero (a row that did not cover all lanes came before).
  void cut() {
    if (used_[0] > 0) spill(0);
  }

  // Gathers all levels into one, and gives its lanes.
  void collapse(char** lanes) {
    int top = kLevels - 1;
    while (top > 0 && used_[top] == 0) --top;
    for (int level = 0; level < top; ++level) {
      if (used_[level] > 0) spill(level);
    }
    lanes_of(top, lanes);
  }

 private:
  static constexpr int kLevels = 4;
  static constexpr int64_t kFanIn = 64;
  static constexpr int64_t kArrayBytes = kMaxLanes * 16;

  void lanes_of(int level, char** lanes) {
    for (int k = 0; k < blocks_.num_accumulators; ++k) lanes[k] = memory_[level][k];
  }

  void init(int level) {
    char* lanes[kMaxAccumulators];
    lanes_of(level, lanes);
    blocks_.init(lanes, width_);
  }

  void restart(int level) {
    if (level == 0) init(0);
    used_[level] = 0;
  }

  // Moves a level into the next, which may fill it in turn.
  void spill(int level) {
    char* from[kMaxAccumulators];
    char* to[kMaxAccumulators];
    lanes_of(level, from);
    lanes_of(level + 1, to);
    if (used_[level + 1] == 0) {
      for (int k = 0; k < blocks_.num_accumulators; ++k) {
        std::memcpy(to[k], from[k], static_cast<size_t>(width_ * blocks_.sizes[k]));
      }
    } else {
      blocks_.merge(to, from, width_);
    }
    ++used_[level + 1];
    restart(level);
    if (used_[level + 1] == kFanIn && level + 2 < kLevels) spill(level + 1);
  }

  const ReduceBlocks& blocks_;
  const Param* params_;
  int64_t width_;
  int64_t used_[kLevels];  // rows of level 0, blocks of the others
  alignas(pw::kBlockAlign) char memory_[kLevels][kMaxAccumulators][kArrayBytes];
};

}  // namespace reduce_impl
}  // namespace FL_ISA
}  // namespace flambeau
