#include "reduce/reduce_plan.h"

#include <algorithm>

namespace flambeau {

namespace {

int64_t magnitude(int64_t stride) { return stride < 0 ? -stride : stride; }

template <typename Axis> void sort_axes(Axis* axes, int n) {
  std::stable_sort(axes, axes + n,
                   [](const Axis& a, const Axis& b) { return magnitude(a.in_stride) > magnitude(b.in_stride); });
}

void collect_axes(ReducePlan& plan, const ReduceArgs& args, int num_outputs) {
  int64_t index_step = 1;
  for (int d = args.num_dims - 1; d >= 0; --d) {
    const int64_t size = args.sizes[d];
    if (args.reduced[d]) {
      plan.num_elements *= size;
      if (size != 1) plan.reduced[plan.num_reduced++] = {size, args.in_strides[d], index_step};
      index_step *= size;
      continue;
    }
    plan.num_outputs *= size;
    if (size == 1) continue;
    KeptAxis axis{size, args.in_strides[d], {0, 0}};
    for (int k = 0; k < num_outputs; ++k) axis.out_stride[k] = args.out_strides[k][d];
    plan.kept[plan.num_kept++] = axis;
  }
}

bool is_one_walk(const KeptAxis& outer, const KeptAxis& inner) {
  bool same = outer.in_stride == inner.in_stride * inner.size;
  for (int k = 0; k < kMaxReduceResults; ++k) same &= outer.out_stride[k] == inner.out_stride[k] * inner.size;
  return same;
}

bool is_one_walk(const ReducedAxis& outer, const ReducedAxis& inner) {
  return outer.in_stride == inner.in_stride * inner.size;
}

bool keeps_index(const KeptAxis&, const KeptAxis&) { return true; }
bool keeps_index(const ReducedAxis& outer, const ReducedAxis& inner) {
  return outer.index_step == inner.index_step * inner.size;
}

template <typename Axis> int merge_axes(Axis* axes, int n, bool is_indexed) {
  int last = -1;
  for (int k = 0; k < n; ++k) {
    const bool merges =
        last >= 0 && is_one_walk(axes[last], axes[k]) && (!is_indexed || keeps_index(axes[last], axes[k]));
    if (!merges) {
      axes[++last] = axes[k];
      continue;
    }
    const int64_t size = axes[last].size * axes[k].size;
    axes[last] = axes[k];
    axes[last].size = size;
  }
  return last + 1;
}

// Reducing along contiguous memory is worth its folding of lanes from here on; shorter runs are gathered into columns.
constexpr int64_t kMinRun = 16;

bool reduces_runs(const ReducePlan& plan) {
  if (plan.num_kept == 0) return true;
  if (plan.num_reduced == 0) return false;
  const KeptAxis& kept = plan.kept[plan.num_kept - 1];
  const ReducedAxis& reduced = plan.reduced[plan.num_reduced - 1];
  return magnitude(reduced.in_stride) < magnitude(kept.in_stride) &&
         (reduced.size >= kMinRun || kept.size < reduced.size);
}

}  // namespace

ReducePlan make_reduce_plan(const ReduceArgs& args, int num_outputs, bool is_indexed) {
  ReducePlan plan;
  collect_axes(plan, args, num_outputs);
  sort_axes(plan.kept, plan.num_kept);
  sort_axes(plan.reduced, plan.num_reduced);
  plan.num_kept = merge_axes(plan.kept, plan.num_kept, false);
  plan.num_reduced = merge_axes(plan.reduced, plan.num_reduced, is_indexed);
  const bool runs = reduces_runs(plan);
  if (plan.num_reduced > 0) plan.row = plan.reduced[--plan.num_reduced];
  if (!runs) plan.column = plan.kept[--plan.num_kept];
  return plan;
}

}  // namespace flambeau
