// The generated half of a reduction, and how the driver calls it.
//
// Note [Lanes]
// A reduction keeps a row of partial results ("lanes", at most kMaxLanes) and combines rows of the input into it,
// element by element: a loop that vectorises for any body. Reducing an outer dimension, lanes are output elements.
// Reducing contiguous elements, each row is cut from one run, and the lanes are folded in halves at the end. Rows are
// combined 64 at a time, then 64 such blocks, and so on, so the rounding error of a sum grows with the logarithm of its
// length.
#pragma once

#include <cstdint>

#include "pointwise/lane.h"
#include "reduce/reduce_kernel.h"

namespace flambeau {

inline constexpr int kMaxAccumulators = 3;
inline constexpr int64_t kMaxLanes = 128;

// Rows of the input to combine into the lanes.
struct ReduceRows {
  const char* x;
  int64_t num_rows;
  int64_t row_stride;  // bytes; within a row elements are contiguous
  int64_t width;       // lanes that the rows cover
  int64_t index;       // of the first element, among those reduced
  int64_t row_step;    // what a row adds to the index
  int64_t col_step;    // what a lane adds to it
  int64_t count;       // rows already in these lanes
};

// Short runs of contiguous elements, each to be reduced to one accumulator.
struct ReduceRuns {
  const char* x;
  int64_t num_runs;
  int64_t run_stride;  // bytes
  int64_t n;           // elements of a run
  int64_t index_step;  // what an element adds to the index
};

// Runs up to this length go through `runs`, whose 16 lanes live in registers: about 4 ns for 64 floats.
inline constexpr int64_t kMaxRun = 1024;
inline constexpr int kRunLanes = 16;

// For one (reduction, dtype, instruction set). `acc` lists the lanes' arrays, one for each accumulator.
struct ReduceBlocks {
  void (*init)(char* const* acc, int64_t n);
  void (*rows)(char* const* acc, const ReduceRows& rows, const Param* params);
  void (*runs)(char* const* acc, const ReduceRuns& runs, const Param* params);  // acc[.][k]: the k-th run
  void (*merge)(char* const* acc, char* const* other, int64_t n);
  void (*finish)(char* const* out, char* const* acc, int64_t n, int64_t count, const Param* params);
  uint8_t num_accumulators;
  uint8_t num_outputs;
  uint8_t sizes[kMaxAccumulators];  // bytes of an accumulator
  bool is_indexed;
  bool is_counted;
  Lane in;
  Lane out[kMaxReduceResults];
};

}  // namespace flambeau
