// Factors of symmetric and Hermitian indefinite matrices (sytrf, hetrf).
#include <memory>

#include "flambeau/core/views.h"
#include "linalg/batch.h"
#include "pointwise/convert.h"

namespace flambeau {

using namespace linalg;

std::tuple<TensorSpec, TensorSpec, TensorSpec> ldl_factor_shape(const Tensor& self, bool, bool) {
  check_square("torch.linalg.ldl_factor_ex", self);
  const IntList batch = batch_sizes(self);
  return {matrix_spec(batch, rows(self), rows(self), self.dtype()), vector_spec(batch, rows(self), DType::Int32),
          info_spec(batch)};
}

void ldl_factor_cpu(const Tensor& self, bool hermitian, bool check_errors, const Tensor& LD, const Tensor& pivots,
                    const Tensor& info) {
  const Int n = checked_int("torch.linalg.ldl_factor_ex", rows(self));
  if (LD.numel()) copy_values(LD, self);
  with_type(self.dtype(), [&]<class T>() {
    static void* const symmetric = lapack::routine<T>("sytrf");
    static void* const conjugate = lapack::routine<T>("sytrf", "hetrf");
    void* const f = hermitian ? conjugate : symmetric;
    for_each_matrix(info.numel(), 0.4 * n * n * n, [&](int64_t i) {
      int32_t& status = info.data_as<int32_t>()[i];
      status = 0;
      if (n == 0) return;
      T* a = LD.data_as<T>() + i * n * n;
      for (Int j = 1; j < n; ++j)  // only the lower triangle is meant
        for (Int r = 0; r < j; ++r) a[static_cast<int64_t>(j) * n + r] = T(0);
      const char uplo = 'L';
      Int length = -1;
      T first{};
      lapack::call(f, &uplo, &n, a, &n, pivots.data_as<int32_t>() + i * n, &first, &length, &status, lapack::kOne);
      length = lapack::work_length(first);
      const std::unique_ptr<T[]> work(new T[static_cast<size_t>(length)]);
      lapack::call(f, &uplo, &n, a, &n, pivots.data_as<int32_t>() + i * n, work.get(), &length, &status, lapack::kOne);
    });
  });
  if (!check_errors) return;
  if (const int64_t i = first_failure(info); i >= 0)
    raise_linalg("torch.linalg.ldl_factor", info, i,
                 "The diagonal block " + std::to_string(info.data_as<int32_t>()[i]) +
                     " of D is exactly zero, the factors cannot be used to solve.");
}

namespace {

// A block of two rows has two negative pivots: one alone would send the solver past the end.
void check_pivots(const int32_t* pivots, Int n) {
  for (Int i = 0; i < n; ++i) {
    const int32_t x = pivots[i];
    FL_CHECK(x != 0 && x >= -n && x <= n, "torch.linalg.ldl_solve: pivots must be between 1 and ", n, " in size, got ",
             x);
    if (x > 0) continue;
    FL_CHECK(i + 1 < n && pivots[i + 1] < 0 && pivots[i + 1] >= -n,
             "torch.linalg.ldl_solve: negative pivots come in pairs, got ", x, " alone at index ", i);
    ++i;
  }
}

}  // namespace

TensorSpec ldl_solve_shape(const Tensor& LD, const Tensor& pivots, const Tensor& B, bool) {
  check_square("torch.linalg.ldl_solve", LD);
  check_matrix("torch.linalg.ldl_solve", B);
  check_same_dtype("torch.linalg.ldl_solve", LD, B);
  FL_CHECK(rows(LD) == rows(B), "[torch.linalg.ldl_solve] Incompatible shapes of LD and B (", rows(LD), "x",
           columns(LD), " and ", rows(B), "x", columns(B), ")");
  FL_CHECK(is_integral(pivots.dtype()), "torch.linalg.ldl_solve: Expected pivots to be integers. Got ",
           dtype_name(pivots.dtype()));
  FL_CHECK(
      pivots.dim() + 1 == LD.dim() && pivots.sizes() == IntList(LD.sizes().data(), static_cast<size_t>(LD.dim()) - 1),
      "torch.linalg.ldl_solve: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape ",
      pivots.sizes(), " instead");
  return matrix_spec(broadcast_shapes(batch_sizes(LD), batch_sizes(B), "linalg.ldl_solve"), rows(B), columns(B),
                     B.dtype());
}

void ldl_solve_cpu(const Tensor& LD, const Tensor& pivots, const Tensor& B, bool hermitian, const Tensor& out) {
  if (!out.numel()) return;
  copy_values(out, B);
  const Tensor factors = column_major_copy(LD, batch_sizes(out));
  const Tensor p = allocate(vector_spec(batch_sizes(out), rows(out), DType::Int32));
  copy_values(p, pivots);
  const Int n = checked_int("torch.linalg.ldl_solve", rows(out)),
            k = checked_int("torch.linalg.ldl_solve", columns(out));
  for (int64_t b = 0; b < batch_count(out); ++b) check_pivots(p.data_as<int32_t>() + b * n, n);
  with_type(out.dtype(), [&]<class T>() {
    static void* const symmetric = lapack::routine<T>("sytrs");
    static void* const conjugate = lapack::routine<T>("sytrs", "hetrs");
    void* const f = hermitian ? conjugate : symmetric;
    for_each_matrix(batch_count(out), 2.0 * n * n * k, [&](int64_t i) {
      const char uplo = 'L';
      Int info = 0;
      lapack::call(f, &uplo, &n, &k, factors.data_as<T>() + i * n * n, &n, p.data_as<int32_t>() + i * n,
                   out.data_as<T>() + i * n * k, &n, &info, lapack::kOne);
    });
  });
}

}  // namespace flambeau
