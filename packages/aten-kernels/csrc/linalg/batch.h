#pragma once
/// What the LAPACK kernels share: checks, column-major results, loops over a batch.
#include <complex>
#include <string>
#include <vector>

#include "flambeau/core/kernel.h"
#include "flambeau/core/parallel.h"
#include "flambeau/core/python_hook.h"
#include "linalg/lapack.h"

namespace flambeau::linalg {

using lapack::Int;

/// At least two dims, a dtype LAPACK has. `op` opens the message.
void check_matrix(const char* op, const Tensor& a);
/// NotImplementedError for integers, where torch has that instead of RuntimeError.
void check_number(const char* op, const Tensor& a);
void check_square(const char* op, const Tensor& a);
void check_same_dtype(const char* op, const Tensor& a, const Tensor& b);
/// Sizes fit LAPACK's 32-bit integers.
Int checked_int(const char* op, int64_t n);

inline int64_t rows(const Tensor& a) { return a.sizes()[static_cast<size_t>(a.dim()) - 2]; }
inline int64_t columns(const Tensor& a) { return a.sizes()[static_cast<size_t>(a.dim()) - 1]; }
inline IntList batch_sizes(const Tensor& a) { return {a.sizes().data(), static_cast<size_t>(a.dim()) - 2}; }
int64_t batch_count(const Tensor& a);

/// A batch of `m` by `n` matrices, each column-major.
TensorSpec matrix_spec(IntList batch, int64_t m, int64_t n, DType dtype);
/// A batch of vectors, row-major.
TensorSpec vector_spec(IntList batch, int64_t n, DType dtype);
TensorSpec info_spec(IntList batch);
/// A new tensor of such a spec.
Tensor allocate(const TensorSpec& spec);
/// A column-major copy of `a`, broadcast to `batch`.
Tensor column_major_copy(const Tensor& a, IntList batch);
inline Tensor column_major_copy(const Tensor& a) { return column_major_copy(a, batch_sizes(a)); }
/// `a` itself if its matrices are column-major one after the other, else a copy.
Tensor column_major(const Tensor& a);

/// Calls `f(i)` for every matrix, on all threads when there is work for them; `work` is about the operations of one.
template <class F> void for_each_matrix(int64_t count, double work, F&& f) {
  lapack::load();
  const ReleaseInterpreter long_work(work * static_cast<double>(count) > 1e5);
  const double per_chunk = 2e5 / (work + 1);
  parallel_for(0, count, per_chunk < 1 ? 1 : static_cast<int64_t>(per_chunk), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i);
  });
}

/// Runs `f.template operator()<T>()` for the element type.
template <class F> void with_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::Float32: return f.template operator()<float>();
    case DType::Float64: return f.template operator()<double>();
    case DType::Complex64: return f.template operator()<std::complex<float>>();
    default: return f.template operator()<std::complex<double>>();
  }
}

/// Index of the first matrix whose info is not 0, or -1.
int64_t first_failure(const Tensor& info);
/// Raises flambeau.linalg.LinAlgError with "op: (Batch element i): text".
[[noreturn]] void raise_linalg(const char* op, const Tensor& info, int64_t index, const std::string& text);
/// Info of inversion and solving: a zero on the diagonal.
void check_invertible(const char* op, const Tensor& info);

}  // namespace flambeau::linalg
