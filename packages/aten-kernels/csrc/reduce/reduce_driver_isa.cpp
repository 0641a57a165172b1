// Compiled once per instruction set: walks a reduction's memory and feeds its lanes.
#include "reduce/reduce_driver.h"

#include <cstring>
#include <vector>

#include "flambeau/core/parallel.h"
#include "pointwise/block_memory.h"
#include "reduce/lane_sums.h"
#include "reduce/reduce_plan.h"

namespace flambeau {
inline namespace FL_ISA {
namespace reduce_impl {
namespace {

constexpr int64_t kTileBytes = 16 * 1024;
constexpr int64_t kPieceElements = 64 * 1024;  // of a long reduction that is cut for the threads
constexpr int64_t kGrainElements = 32 * 1024;
constexpr int64_t kFewTasks = 16;

struct Run {
  const ReduceBlocks& blocks;
  const ReducePlan& plan;
  const ReduceArgs& args;
  const Param* params;
  int64_t period;      // columns of a task: neighbouring lanes that are different outputs
  int64_t width;       // lanes: `period`, or several rows side by side
  int64_t num_chunks;  // of columns
  int64_t num_tasks;
  int64_t outer_rows;  // combinations of the outer reduced axes
  int64_t piece_rows;  // rows of the row axis in a segment
  int64_t segments;    // of one task
  int64_t group;       // segments in a piece
  int64_t num_pieces;
};

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Rows that follow each other without a gap can lie side by side in the lanes.
int64_t lanes_for(const ReducePlan& plan, const ReduceBlocks& blocks, int64_t period) {
  const bool one_chunk = period == plan.column.size;
  const int64_t lane_stride = plan.column.size == 1 ? plan.row.in_stride : plan.column.in_stride;
  const bool joined = one_chunk && plan.row.in_stride == lane_stride * period && plan.row.size > 1;
  if (!joined || (blocks.is_indexed && period > 1)) return period;
  const int64_t wanted = plan.row.size * period >= 256 ? 64 : 16;
  int64_t rows = 1;
  while (rows * 2 * period <= wanted) rows *= 2;
  return rows * period;
}

Run make_run(const ReduceBlocks& blocks, const ReducePlan& plan, const ReduceArgs& args, const Param* params) {
  Run run{blocks, plan, args, params, 0, 0, 0, 1, 1, plan.row.size, 0, 0, 1};
  run.period = plan.column.size < kMaxLanes ? plan.column.size : kMaxLanes;
  run.num_chunks = ceil_div(plan.column.size, run.period);
  run.width = lanes_for(plan, blocks, run.period);
  run.num_tasks = plan.num_outputs / plan.column.size * run.num_chunks;
  for (int k = 0; k < plan.num_reduced; ++k) run.outer_rows *= plan.reduced[k].size;
  const bool cut = run.num_tasks < kFewTasks && plan.num_elements * run.period >= 2 * kPieceElements;
  if (cut) {
    const int64_t rows = kPieceElements / run.period / 64 * 64;
    run.piece_rows = rows < plan.row.size ? rows : plan.row.size;
  }
  if (run.piece_rows == 0) run.piece_rows = 1;  // nothing to reduce: no segment, and nothing divides by it
  const int64_t per_row_axis = ceil_div(plan.row.size, run.piece_rows);
  run.segments = run.outer_rows * per_row_axis;
  const int64_t segment_elements = run.piece_rows * run.period;
  run.group = cut ? (kPieceElements > segment_elements ? kPieceElements / segment_elements : 1) : run.segments;
  if (run.group == 0) run.group = 1;
  run.num_pieces = ceil_div(run.segments, run.group);
  return run;
}

// One segment: `rows` rows of the row axis, from `x` on, `columns` wide.
class Feeder {
 public:
  Feeder(const Run& run, LaneSums& sums) : run_(run), sums_(sums) {
    const Lane lane = run.blocks.in;
    const bool is_run = run.plan.column.size == 1;
    lane_stride_ = is_run ? run.plan.row.in_stride : run.plan.column.in_stride;
    direct_ = lane.form == Form::kPlain && (lane_stride_ == lane.size || run.width == 1);
  }

  void add(const char* x, int64_t index, int64_t rows, int64_t columns) {
    if (run_.width == run_.period) return add_rows(x, index, rows, columns);
    // Rows side by side: as wide rows, then one shorter row.
    const int64_t side_by_side = run_.width / run_.period;
    const int64_t wide = rows / side_by_side;
    const int64_t step = run_.plan.row.index_step;
    add_wide(x, index, wide, run_.width, side_by_side * step, step);
    const int64_t rest = rows - wide * side_by_side;
    if (rest == 0) return;
    const int64_t done = wide * side_by_side;
    add_wide(x + done * run_.plan.row.in_stride, index + done * step, 1, rest * run_.period, 0, step);
    if (run_.blocks.is_counted) sums_.cut();
  }

 private:
  // Rows that touch: the elements are one run with stride lane_stride_.
  void add_wide(const char* x, int64_t index, int64_t rows, int64_t width, int64_t row_step, int64_t col_step) {
    if (rows == 0) return;
    if (direct_) {
      return sums_.add({x, rows, width * lane_stride_, width, index, row_step, col_step, 0});
    }
    const int64_t size = pw::buffer_size(run_.blocks.in);
    const int64_t most = tile_rows(width * size, width);
    for (int64_t r = 0; r < rows; r += most) {
      const int64_t n = rows - r < most ? rows - r : most;
      pw::load_block(tile_, x + r * width * lane_stride_, lane_stride_, n * width, run_.blocks.in);
      sums_.add({tile_, n, width * size, width, index + r * row_step, row_step, col_step, 0});
    }
  }

  void add_rows(const char* x, int64_t index, int64_t rows, int64_t columns) {
    const ReducedAxis& row = run_.plan.row;
    if (direct_) return sums_.add({x, rows, row.in_stride, columns, index, row.index_step, 0, 0});
    const int64_t size = pw::buffer_size(run_.blocks.in);
    const int64_t most = tile_rows(columns * size, columns);
    for (int64_t r = 0; r < rows; r += most) {
      const int64_t n = rows - r < most ? rows - r : most;
      for (int64_t k = 0; k < n; ++k) {
        pw::load_block(tile_ + k * columns * size, x + (r + k) * row.in_stride, lane_stride_, columns, run_.blocks.in);
      }
      sums_.add({tile_, n, columns * size, columns, index + r * row.index_step, row.index_step, 0, 0});
    }
  }

  static int64_t tile_rows(int64_t row_bytes, int64_t columns) {
    const int64_t by_bytes = kTileBytes / row_bytes;
    const int64_t by_count = pw::kMaxBlock / columns;
    const int64_t rows = by_bytes < by_count ? by_bytes : by_count;
    return rows < 1 ? 1 : rows;
  }

  const Run& run_;
  LaneSums& sums_;
  int64_t lane_stride_;
  bool direct_;
  alignas(pw::kBlockAlign) char tile_[kTileBytes];
};

// Where a task's first element and results lie.
struct Place {
  const char* in;
  char* out[kMaxReduceResults];
  int64_t columns;
};

Place place_of(const Run& run, int64_t task) {
  const ReducePlan& plan = run.plan;
  const int64_t first = task % run.num_chunks * run.period;
  int64_t rest = task / run.num_chunks;
  Place place{run.args.in + first * plan.column.in_stride, {}, 0};
  place.columns = plan.column.size - first < run.period ? plan.column.size - first : run.period;
  for (int k = 0; k < run.blocks.num_outputs; ++k) place.out[k] = run.args.out[k] + first * plan.column.out_stride[k];
  for (int d = plan.num_kept - 1; d >= 0; --d) {
    const KeptAxis& axis = plan.kept[d];
    const int64_t at = rest % axis.size;
    rest /= axis.size;
    place.in += at * axis.in_stride;
    for (int k = 0; k < run.blocks.num_outputs; ++k) place.out[k] += at * axis.out_stride[k];
  }
  return place;
}

void add_segment(const Run& run, Feeder& feeder, const Place& place, int64_t segment) {
  const ReducePlan& plan = run.plan;
  const int64_t per_row_axis = ceil_div(plan.row.size, run.piece_rows);
  const int64_t first = segment % per_row_axis * run.piece_rows;
  int64_t rest = segment / per_row_axis;
  const char* x = place.in + first * plan.row.in_stride;
  int64_t index = first * plan.row.index_step;
  for (int d = plan.num_reduced - 1; d >= 0; --d) {
    const ReducedAxis& axis = plan.reduced[d];
    const int64_t at = rest % axis.size;
    rest /= axis.size;
    x += at * axis.in_stride;
    index += at * axis.index_step;
  }
  const int64_t rows = plan.row.size - first < run.piece_rows ? plan.row.size - first : run.piece_rows;
  feeder.add(x, index, rows, place.columns);
}

// Lanes of one piece of a task, collapsed.
void add_piece(const Run& run, LaneSums& sums, const Place& place, int64_t piece) {
  Feeder feeder(run, sums);
  const int64_t begin = piece * run.group;
  const int64_t end = begin + run.group < run.segments ? begin + run.group : run.segments;
  for (int64_t s = begin; s < end; ++s) add_segment(run, feeder, place, s);
}

// Folds the rows that lie side by side in the lanes, and writes the results.
void finish(const Run& run, const Place& place, char* const* lanes) {
  const ReduceBlocks& b = run.blocks;
  for (int64_t width = run.width; width > run.period;) {
    width /= 2;
    char* upper[kMaxAccumulators];
    for (int k = 0; k < b.num_accumulators; ++k) upper[k] = lanes[k] + width * b.sizes[k];
    b.merge(lanes, upper, width);
  }
  alignas(pw::kBlockAlign) char results[kMaxReduceResults][kMaxLanes * 16];
  char* out[kMaxReduceResults] = {results[0], results[1]};
  b.finish(out, lanes, place.columns, run.plan.num_elements, run.params);
  for (int k = 0; k < b.num_outputs; ++k) {
    pw::store_block(place.out[k], run.plan.column.out_stride[k], results[k], place.columns, b.out[k]);
  }
}

void run_whole(const Run& run, int64_t begin, int64_t end) {
  for (int64_t task = begin; task < end; ++task) {
    const Place place = place_of(run, task);
    LaneSums sums(run.blocks, run.params, run.width);
    if (run.plan.num_elements > 0) add_piece(run, sums, place, 0);
    char* lanes[kMaxAccumulators];
    sums.collapse(lanes);
    finish(run, place, lanes);
  }
}

// Lanes of every piece of every task, side by side.
class Partials {
 public:
  explicit Partials(const Run& run) : run_(run) {
    for (int k = 0; k < run.blocks.num_accumulators; ++k) row_bytes_ += run.width * 16;
    memory_.resize(static_cast<size_t>(run.num_tasks * run.num_pieces * row_bytes_));
  }
  void at(int64_t task, int64_t piece, char** lanes) {
    char* row = memory_.data() + (task * run_.num_pieces + piece) * row_bytes_;
    for (int k = 0; k < run_.blocks.num_accumulators; ++k) lanes[k] = row + k * run_.width * 16;
  }

 private:
  const Run& run_;
  int64_t row_bytes_ = 0;
  std::vector<char> memory_;
};

void run_in_pieces(const Run& run) {
  Partials partials(run);
  const ReduceBlocks& b = run.blocks;
  parallel_for(0, run.num_tasks * run.num_pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const int64_t task = k / run.num_pieces, piece = k % run.num_pieces;
      LaneSums sums(b, run.params, run.width);
      add_piece(run, sums, place_of(run, task), piece);
      char* from[kMaxAccumulators];
      char* to[kMaxAccumulators];
      sums.collapse(from);
      partials.at(task, piece, to);
      for (int a = 0; a < b.num_accumulators; ++a) {
        std::memcpy(to[a], from[a], static_cast<size_t>(run.width * b.sizes[a]));
      }
    }
  });
  for (int64_t task = 0; task < run.num_tasks; ++task) {
    // In pairs, as a tree: the number of pieces is not bounded.
    for (int64_t step = 1; step < run.num_pieces; step *= 2) {
      for (int64_t p = 0; p + step < run.num_pieces; p += 2 * step) {
        char* into[kMaxAccumulators];
        char* from[kMaxAccumulators];
        partials.at(task, p, into);
        partials.at(task, p + step, from);
        b.merge(into, from, run.width);
      }
    }
    char* lanes[kMaxAccumulators];
    partials.at(task, 0, lanes);
    finish(run, place_of(run, task), lanes);
  }
}

// Many short runs: `axis` steps from one to the next.
bool is_short_runs(const ReducePlan& plan) {
  return plan.column.size == 1 && plan.num_reduced == 0 && plan.row.size > 1 && plan.row.size <= kMaxRun &&
         plan.num_elements > 0;
}

void reduce_runs(const Run& run, const Place& place, const KeptAxis& axis, int64_t count) {
  const ReduceBlocks& b = run.blocks;
  const ReducedAxis& row = run.plan.row;
  alignas(pw::kBlockAlign) char memory[kMaxAccumulators][kMaxLanes * 16];
  alignas(pw::kBlockAlign) char results[kMaxReduceResults][kMaxLanes * 16];
  alignas(pw::kBlockAlign) char tile[kMaxRun * 16];
  char* acc[kMaxAccumulators] = {memory[0], memory[1], memory[2]};
  char* out[kMaxReduceResults] = {results[0], results[1]};
  if (b.in.form == Form::kPlain && row.in_stride == b.in.size) {
    b.runs(acc, {place.in, count, axis.in_stride, row.size, row.index_step}, run.params);
  } else {
    for (int64_t k = 0; k < count; ++k) {
      char* at[kMaxAccumulators];
      for (int a = 0; a < b.num_accumulators; ++a) at[a] = acc[a] + k * b.sizes[a];
      pw::load_block(tile, place.in + k * axis.in_stride, row.in_stride, row.size, b.in);
      b.runs(at, {tile, 1, 0, row.size, row.index_step}, run.params);
    }
  }
  b.finish(out, acc, count, run.plan.num_elements, run.params);
  for (int k = 0; k < b.num_outputs; ++k) {
    pw::store_block(place.out[k], axis.out_stride[k], results[k], count, b.out[k]);
  }
}

void run_short_runs(const Run& run) {
  const ReducePlan& plan = run.plan;
  const KeptAxis axis = plan.num_kept > 0 ? plan.kept[plan.num_kept - 1] : KeptAxis{1, 0, {0, 0}};
  const int64_t chunks = ceil_div(axis.size, kMaxLanes);
  const int64_t outer = plan.num_outputs / axis.size;
  // One more, since runs may be empty.
  const int64_t grain = kGrainElements / (plan.row.size * (axis.size < kMaxLanes ? axis.size : kMaxLanes) + 1) + 1;
  parallel_for(0, outer * chunks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const int64_t first = k % chunks * kMaxLanes;
      const Place place = place_of(run, k / chunks * axis.size + first);
      reduce_runs(run, place, axis, axis.size - first < kMaxLanes ? axis.size - first : kMaxLanes);
    }
  });
}

}  // namespace

void run_reduction(const ReduceBlocks& blocks, const ReduceArgs& args, const Param* params) {
  const ReducePlan plan = make_reduce_plan(args, blocks.num_outputs, blocks.is_indexed);
  if (plan.num_outputs == 0) return;
  const Run run = make_run(blocks, plan, args, params);
  if (is_short_runs(plan)) return run_short_runs(run);
  if (run.num_pieces > 1) return run_in_pieces(run);
  const int64_t task_elements = plan.num_elements * run.period;
  const int64_t grain = task_elements >= kGrainElements ? 1 : kGrainElements / (task_elements + 1) + 1;
  parallel_for(0, run.num_tasks, grain, [&](int64_t begin, int64_t end) { run_whole(run, begin, end); });
}

}  // namespace reduce_impl
}  // namespace FL_ISA
}  // namespace flambeau
