// Singular values and vectors by divide and conquer (gesdd).
#include <cmath>
#include <memory>

#include "linalg/batch.h"
#include "linalg/finite.h"
#include "pointwise/convert.h"

namespace flambeau {

using namespace linalg;

namespace {

constexpr Int kNotFinite = -4;  // what gesdd itself says of a matrix with NaN

template <class T>
Int gesdd(char job, Int m, Int n, T* a, lapack::Real<T>* s, T* u, Int u_columns, T* vt, Int vt_rows) {
  static void* const f = lapack::routine<T>("gesdd");
  using R = lapack::Real<T>;
  const Int k = std::min(m, n), largest = std::max(m, n);
  const Int ldu = m, ldvt = vt_rows > 0 ? vt_rows : 1;
  (void)u_columns;
  Int info = 0, length = -1;
  T first{};
  const std::unique_ptr<Int[]> iwork(new Int[static_cast<size_t>(8) * static_cast<size_t>(k)]);
  std::unique_ptr<R[]> rwork;
  if constexpr (lapack::is_complex_v<T>) {
    const size_t mn = static_cast<size_t>(k), mx = static_cast<size_t>(largest);
    rwork.reset(new R[job == 'N' ? 7 * mn : mn * std::max(5 * mn + 7, 2 * mx + 2 * mn + 1)]);
  }
  const auto run = [&](T* work) {
    if constexpr (lapack::is_complex_v<T>)
      lapack::call(f, &job, &m, &n, a, &m, s, u, &ldu, vt, &ldvt, work, &length, rwork.get(), iwork.get(), &info,
                   lapack::kOne);
    else
      lapack::call(f, &job, &m, &n, a, &m, s, u, &ldu, vt, &ldvt, work, &length, iwork.get(), &info, lapack::kOne);
  };
  run(&first);
  length = lapack::work_length(first);
  const std::unique_ptr<T[]> work(new T[static_cast<size_t>(length)]);
  run(work.get());
  return info;
}

// The factors of a matrix without elements.
template <class T> void identity(T* a, int64_t n, int64_t m) {
  for (int64_t j = 0; j < m; ++j)
    for (int64_t i = 0; i < n; ++i) a[j * n + i] = i == j ? T(1) : T(0);
}

}  // namespace

std::tuple<TensorSpec, TensorSpec, TensorSpec> svd_shape(const Tensor& A, bool full_matrices, bool compute_uv,
                                                         std::optional<std::string_view> driver) {
  check_matrix("linalg.svd", A);
  FL_CHECK(!driver,
           "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.");
  const int64_t m = rows(A), n = columns(A), k = std::min(m, n);
  const IntList batch = batch_sizes(A);
  const TensorSpec s = vector_spec(batch, k, to_real(A.dtype()));
  if (!compute_uv) return {TensorSpec{{0}, A.dtype(), {}}, s, TensorSpec{{0}, A.dtype(), {}}};
  return {matrix_spec(batch, m, full_matrices ? m : k, A.dtype()), s,
          matrix_spec(batch, full_matrices ? n : k, n, A.dtype())};
}

void svd_cpu(const Tensor& A, bool full_matrices, bool compute_uv, std::optional<std::string_view>, const Tensor& U,
             const Tensor& S, const Tensor& Vh) {
  const Int m = checked_int("linalg.svd", rows(A)), n = checked_int("linalg.svd", columns(A)), k = std::min(m, n);
  const Int u_columns = full_matrices ? m : k, v_rows = full_matrices ? n : k;
  const Tensor work = column_major_copy(A);
  const Tensor info = allocate(info_spec(batch_sizes(A)));
  with_type(A.dtype(), [&]<class T>() {
    using R = lapack::Real<T>;
    for_each_matrix(info.numel(), 10.0 * m * n * k, [&](int64_t i) {
      T* a = work.data_as<T>() + i * m * n;
      T* u = compute_uv ? U.data_as<T>() + i * static_cast<int64_t>(m) * u_columns : nullptr;
      T* v = compute_uv ? Vh.data_as<T>() + i * static_cast<int64_t>(v_rows) * n : nullptr;
      int32_t& status = info.data_as<int32_t>()[i];
      status = 0;
      if (k == 0) {
        if (compute_uv) identity(u, m, u_columns), identity(v, v_rows, n);
      } else if (!all_finite(a, static_cast<int64_t>(m) * n)) {
        status = kNotFinite;
      } else {
        status = gesdd<T>(!compute_uv     ? 'N'
                          : full_matrices ? 'A'
                                          : 'S',
                          m, n, a, S.data_as<R>() + i * k, u, u_columns, v, v_rows);
      }
    });
  });
  const int64_t i = first_failure(info);
  if (i < 0) return;
  const int32_t status = info.data_as<int32_t>()[i];
  raise_linalg("linalg.svd", info, i,
               status == kNotFinite
                   ? "The algorithm failed to converge because the input matrix contained non-finite values."
                   : "The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
                     "repeated singular values (error code: " +
                         std::to_string(status) + ").");
}

}  // namespace flambeau
