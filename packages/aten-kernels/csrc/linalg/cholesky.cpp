// Cholesky factors, and solving and inverting with them.
#include "flambeau/core/views.h"
#include "linalg/batch.h"
#include "pointwise/convert.h"

namespace flambeau {

using namespace linalg;

namespace {

template <class T> Int potrf(char uplo, Int n, T* a) {
  static void* const f = lapack::routine<T>("potrf");
  Int info = 0;
  const Int ld = n > 1 ? n : 1;
  lapack::call(f, &uplo, &n, a, &ld, &info, lapack::kOne);
  // Not every routine notices a NaN, which is no positive pivot.
  for (Int j = 0; j < n && info == 0; ++j)
    if (a[static_cast<int64_t>(j) * (n + 1)] != a[static_cast<int64_t>(j) * (n + 1)]) info = j + 1;
  return info;
}

template <class T> void clear_triangle(bool upper, Int n, T* a) {
  for (Int j = 0; j < n; ++j)
    for (Int i = upper ? 0 : j + 1; i < (upper ? j : n); ++i) a[static_cast<int64_t>(j) * n + i] = T(0);
}

std::string not_positive(const Tensor& info, int64_t i) {
  return "The factorization could not be completed because the input is not positive-definite (the leading minor of "
         "order " +
         std::to_string(info.data_as<int32_t>()[i]) + " is not positive-definite).";
}

double cube(int64_t n) { return static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n); }

}  // namespace

std::tuple<TensorSpec, TensorSpec> cholesky_shape(const Tensor& self, bool, bool) {
  check_square("linalg.cholesky", self);
  return {matrix_spec(batch_sizes(self), rows(self), rows(self), self.dtype()), info_spec(batch_sizes(self))};
}

void cholesky_cpu(const Tensor& self, bool upper, bool check_errors, const Tensor& L, const Tensor& info) {
  const Int n = checked_int("linalg.cholesky", rows(self));
  if (L.numel()) copy_values(L, self);
  with_type(self.dtype(), [&]<class T>() {
    for_each_matrix(info.numel(), cube(n) / 3, [&](int64_t i) {
      T* a = L.data_as<T>() + i * n * n;
      info.data_as<int32_t>()[i] = n ? potrf<T>(upper ? 'U' : 'L', n, a) : 0;
      clear_triangle(!upper, n, a);
    });
  });
  if (!check_errors) return;
  if (const int64_t i = first_failure(info); i >= 0) raise_linalg("linalg.cholesky", info, i, not_positive(info, i));
}

TensorSpec cholesky_solve_shape(const Tensor& self, const Tensor& input2, bool) {
  check_matrix("cholesky_solve", self);
  check_square("cholesky_solve", input2);
  check_same_dtype("cholesky_solve", self, input2);
  FL_CHECK(rows(self) == rows(input2), "[cholesky_solve] Incompatible matrix sizes: each factor is ", rows(input2),
           " by ", rows(input2), " but each b has ", rows(self), " rows");
  return matrix_spec(broadcast_shapes(batch_sizes(self), batch_sizes(input2), "cholesky_solve"), rows(self),
                     columns(self), self.dtype());
}

void cholesky_solve_cpu(const Tensor& self, const Tensor& input2, bool upper, const Tensor& out) {
  if (!out.numel()) return;
  copy_values(out, self);
  const Tensor factor = column_major_copy(input2, batch_sizes(out));
  const Int n = checked_int("cholesky_solve", rows(out)), k = checked_int("cholesky_solve", columns(out));
  with_type(out.dtype(), [&]<class T>() {
    for_each_matrix(batch_count(out), 2.0 * n * n * k, [&](int64_t i) {
      static void* const f = lapack::routine<T>("potrs");
      const char uplo = upper ? 'U' : 'L';
      Int info = 0;
      lapack::call(f, &uplo, &n, &k, factor.data_as<T>() + i * n * n, &n, out.data_as<T>() + i * n * k, &n, &info,
                   lapack::kOne);
    });
  });
}

TensorSpec cholesky_inverse_shape(const Tensor& self, bool) {
  check_square("cholesky_inverse", self);
  return matrix_spec(batch_sizes(self), rows(self), rows(self), self.dtype());
}

void cholesky_inverse_cpu(const Tensor& self, bool upper, const Tensor& out) {
  if (!out.numel()) return;
  copy_values(out, self);
  const Int n = checked_int("cholesky_inverse", rows(out));
  const Tensor info = allocate(info_spec(batch_sizes(out)));
  with_type(out.dtype(), [&]<class T>() {
    for_each_matrix(info.numel(), cube(n), [&](int64_t b) {
      static void* const f = lapack::routine<T>("potri");
      const char uplo = upper ? 'U' : 'L';
      T* a = out.data_as<T>() + b * n * n;
      lapack::call(f, &uplo, &n, a, &n, info.data_as<int32_t>() + b, lapack::kOne);
      for (Int j = 0; j < n; ++j)
        for (Int i = upper ? 0 : j + 1; i < (upper ? j : n); ++i) {
          const T x = a[static_cast<int64_t>(j) * n + i];
          if constexpr (lapack::is_complex_v<T>)
            a[static_cast<int64_t>(i) * n + j] = std::conj(x);
          else
            a[static_cast<int64_t>(i) * n + j] = x;
        }
    });
  });
  check_invertible("cholesky_inverse", info);
}

}  // namespace flambeau
