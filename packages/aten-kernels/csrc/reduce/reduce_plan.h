// The geometry of a reduction, put into the order in which memory lies.
#pragma once

#include <cstdint>

#include "reduce/reduce_kernel.h"

namespace flambeau {

struct KeptAxis {
  int64_t size;
  int64_t in_stride;
  int64_t out_stride[kMaxReduceResults];
};

struct ReducedAxis {
  int64_t size;
  int64_t in_stride;
  int64_t index_step;  // what a step adds to the element's index among those reduced
};

// Axes are listed from the largest stride to the smallest, merged where two can be walked as one; axes of size 1 are
// gone. The innermost kept axis has become `column` (size 1 where lanes are cut from contiguous elements) and the
// innermost reduced one `row`.
struct ReducePlan {
  KeptAxis kept[kMaxReduceDims];
  int num_kept = 0;
  ReducedAxis reduced[kMaxReduceDims];
  int num_reduced = 0;
  KeptAxis column{1, 0, {0, 0}};
  ReducedAxis row{1, 0, 0};
  int64_t num_outputs = 1;   // all kept sizes
  int64_t num_elements = 1;  // all reduced sizes: elements of each output
};

ReducePlan make_reduce_plan(const ReduceArgs& args, int num_outputs, bool is_indexed);

}  // namespace flambeau
