// LU factors: factoring, solving, inverting; determinants are read off them in Python.
#include <memory>

#include "flambeau/core/views.h"
#include "linalg/batch.h"
#include "pointwise/convert.h"

namespace flambeau {

using namespace linalg;

namespace {

double cube(int64_t n) { return static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n); }

template <class T> Int getrf(Int m, Int n, T* a, Int* pivots) {
  static void* const f = lapack::routine<T>("getrf");
  Int info = 0;
  if (m == 0 || n == 0) return 0;
  lapack::call(f, &m, &n, a, &m, pivots, &info);
  return info;
}

template <class T> void getrs(char trans, Int n, Int k, const T* lu, const Int* pivots, T* b) {
  static void* const f = lapack::routine<T>("getrs");
  Int info = 0;
  if (n == 0 || k == 0) return;
  lapack::call(f, &trans, &n, &k, lu, &n, pivots, b, &n, &info, lapack::kOne);
}

template <class T> Int getri(Int n, T* a, const Int* pivots) {
  static void* const f = lapack::routine<T>("getri");
  Int info = 0, length = -1;
  T first{};
  lapack::call(f, &n, a, &n, pivots, &first, &length, &info);
  length = lapack::work_length(first);
  const std::unique_ptr<T[]> work(new T[static_cast<size_t>(length)]);
  lapack::call(f, &n, a, &n, pivots, work.get(), &length, &info);
  return info;
}

// Columns of an identity permuted as the row exchanges say.
void permutation(const Int* pivots, int64_t count, int64_t n, int64_t* order) {
  for (int64_t i = 0; i < n; ++i) order[i] = i;
  for (int64_t i = 0; i < count; ++i) std::swap(order[i], order[pivots[i] - 1]);
}

}  // namespace

std::tuple<TensorSpec, TensorSpec, TensorSpec> lu_factor_shape(const Tensor& A, bool pivot, bool) {
  FL_CHECK(A.dim() >= 2, "[linalg.lu_factor] Expected tensor with 2 or more dimensions. Got size: ", A.sizes(),
           " instead");
  check_number("linalg.lu_factor", A);
  check_matrix("linalg.lu_factor", A);
  FL_CHECK(pivot, "[linalg.lu_factor] LU without pivoting is not implemented on the CPU");
  const IntList batch = batch_sizes(A);
  return {matrix_spec(batch, rows(A), columns(A), A.dtype()),
          vector_spec(batch, std::min(rows(A), columns(A)), DType::Int32), info_spec(batch)};
}

void lu_factor_cpu(const Tensor& A, bool, bool check_errors, const Tensor& LU, const Tensor& pivots,
                   const Tensor& info) {
  const Int m = checked_int("linalg.lu_factor", rows(A)), n = checked_int("linalg.lu_factor", columns(A)),
            k = std::min(m, n);
  if (LU.numel()) copy_values(LU, A);
  with_type(A.dtype(), [&]<class T>() {
    for_each_matrix(info.numel(), cube(k), [&](int64_t i) {
      info.data_as<int32_t>()[i] = getrf<T>(m, n, LU.data_as<T>() + i * m * n, pivots.data_as<int32_t>() + i * k);
    });
  });
  if (!check_errors) return;
  if (const int64_t i = first_failure(info); i >= 0) {
    const std::string at = std::to_string(info.data_as<int32_t>()[i]);
    FL_CHECK(false, "linalg.lu_factor: ", info.dim() ? concat("(Batch element ", i, "): ") : std::string(), "U[", at,
             ",", at,
             "] is zero and using it on lu_solve would result in a division by zero. If you still want to perform the "
             "factorization, consider calling "
             "linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)");
  }
}

TensorSpec lu_solve_shape(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool) {
  check_square("linalg.lu_solve", LU);
  check_matrix("linalg.lu_solve", B);
  check_same_dtype("linalg.lu_solve", LU, B);
  FL_CHECK(pivots.dtype() == DType::Int32, "[linalg.lu_solve] pivots should be a tensor of int32, got ",
           dtype_name(pivots.dtype()));
  FL_CHECK(
      pivots.dim() + 1 == LU.dim() && pivots.sizes() == IntList(LU.sizes().data(), static_cast<size_t>(LU.dim()) - 1),
      "[linalg.lu_solve] Number of pivots per batch should be same as the dimension of the matrix, got sizes ",
      pivots.sizes(), " for LU of sizes ", LU.sizes());
  FL_CHECK(rows(LU) == rows(B), "[linalg.lu_solve] Incompatible shapes of A and B for the equation AX = B (", rows(LU),
           "x", columns(LU), " and ", rows(B), "x", columns(B), ")");
  return matrix_spec(broadcast_shapes(batch_sizes(LU), batch_sizes(B), "linalg.lu_solve"), rows(B), columns(B),
                     B.dtype());
}

void lu_solve_cpu(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool adjoint, const Tensor& out) {
  if (!out.numel()) return;
  copy_values(out, B);
  const IntList batch = batch_sizes(out);
  const Tensor lu = batch_sizes(LU) == batch ? column_major(LU) : column_major_copy(LU, batch);
  TensorSpec pivot_spec = vector_spec(batch, rows(out), DType::Int32);
  Tensor p = allocate(pivot_spec);
  copy_values(p, pivots);
  for (int64_t i = 0; i < p.numel(); ++i) {
    const int32_t x = p.data_as<int32_t>()[i];
    FL_CHECK(x >= 1 && x <= rows(out),
             "[linalg.lu_solve] Pivots given to lu_solve must all be greater or equal to 1 and at most ", rows(out),
             ", got ", x);
  }
  const Int n = checked_int("linalg.lu_solve", rows(out)), k = checked_int("linalg.lu_solve", columns(out));
  with_type(out.dtype(), [&]<class T>() {
    for_each_matrix(batch_count(out), 2.0 * n * n * k, [&](int64_t i) {
      getrs<T>(adjoint ? 'C' : 'N', n, k, lu.data_as<T>() + i * n * n, p.data_as<int32_t>() + i * n,
               out.data_as<T>() + i * n * k);
    });
  });
}

std::tuple<TensorSpec, TensorSpec, TensorSpec, TensorSpec> solve_shape(const Tensor& A, const Tensor& B, bool) {
  check_square("linalg.solve", A);
  check_matrix("linalg.solve", B);
  check_same_dtype("linalg.solve", A, B);
  FL_CHECK(rows(A) == rows(B), "[linalg.solve] Incompatible shapes of A and B for the equation AX = B (", rows(A), "x",
           columns(A), " and ", rows(B), "x", columns(B), ")");
  const std::vector<int64_t> batch = broadcast_shapes(batch_sizes(A), batch_sizes(B), "linalg.solve");
  const IntList own = batch_sizes(A);
  return {matrix_spec(batch, rows(B), columns(B), B.dtype()), matrix_spec(own, rows(A), rows(A), A.dtype()),
          vector_spec(own, rows(A), DType::Int32), info_spec(own)};
}

void solve_cpu(const Tensor& A, const Tensor& B, bool check_errors, const Tensor& result, const Tensor& LU,
               const Tensor& pivots, const Tensor& info) {
  lu_factor_cpu(A, true, false, LU, pivots, info);
  if (check_errors) {
    if (const int64_t i = first_failure(info); i >= 0)
      raise_linalg("torch.linalg.solve", info, i, "The solver failed because the input matrix is singular.");
  }
  lu_solve_cpu(LU, pivots, B, false, result);
}

std::tuple<TensorSpec, TensorSpec> inv_shape(const Tensor& A, bool) {
  FL_CHECK(A.dtype() != DType::Float16 && A.dtype() != DType::BFloat16,
           "[linalg.inv] Low precision dtypes not supported. Got ", dtype_name(A.dtype()));
  check_square("linalg.inv", A);
  return {matrix_spec(batch_sizes(A), rows(A), rows(A), A.dtype()), info_spec(batch_sizes(A))};
}

void inv_cpu(const Tensor& A, bool check_errors, const Tensor& inverse, const Tensor& info) {
  const Int n = checked_int("linalg.inv", rows(A));
  if (inverse.numel()) copy_values(inverse, A);
  with_type(A.dtype(), [&]<class T>() {
    for_each_matrix(info.numel(), 2 * cube(n), [&](int64_t i) {
      T* a = inverse.data_as<T>() + i * n * n;
      const std::unique_ptr<Int[]> pivots(new Int[static_cast<size_t>(n) + 1]);
      Int status = getrf<T>(n, n, a, pivots.get());
      if (status == 0 && n) status = getri<T>(n, a, pivots.get());
      info.data_as<int32_t>()[i] = status;
    });
  });
  if (check_errors) check_invertible("linalg.inv", info);
}

TensorSpec pivots_to_permutation_shape(const Tensor& pivots, int64_t n) {
  FL_CHECK(pivots.dim() >= 1 && pivots.dtype() == DType::Int32,
           "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype, got ",
           dtype_name(pivots.dtype()), " of sizes ", pivots.sizes());
  std::vector<int64_t> sizes = pivots.sizes().vec();
  FL_CHECK(sizes.back() <= n, "[lu_unpack] ", sizes.back(), " pivots for a matrix of ", n, " rows");
  sizes.back() = n;
  return {sizes, DType::Int64, {}};
}

void pivots_to_permutation_cpu(const Tensor& pivots, int64_t n, const Tensor& out) {
  const Tensor p = contiguous(pivots);
  const int64_t count = p.sizes().back();
  for (int64_t i = 0; i < p.numel(); ++i) {
    const int32_t x = p.data_as<int32_t>()[i];
    FL_CHECK(x >= 1 && x <= n, "[lu_unpack] pivots passed to lu_unpack must be between 1 and ", n, ", got ", x);
  }
  const int64_t batch = n ? out.numel() / n : 0;
  for (int64_t b = 0; b < batch; ++b)
    permutation(p.data_as<int32_t>() + b * count, count, n, out.data_as<int64_t>() + b * n);
}

}  // namespace flambeau
