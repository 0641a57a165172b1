// Determinants, read off LU factors.
#include <cmath>

#include "linalg/batch.h"

namespace flambeau {

using namespace linalg;

std::tuple<TensorSpec, TensorSpec, TensorSpec> lu_factor_shape(const Tensor& A, bool pivot, bool check_errors);
void lu_factor_cpu(const Tensor& A, bool pivot, bool check_errors, const Tensor& LU, const Tensor& pivots,
                   const Tensor& info);

namespace {

bool odd_exchanges(const int32_t* pivots, int64_t n) {
  bool odd = false;
  for (int64_t i = 0; i < n; ++i) odd ^= pivots[i] != i + 1;
  return odd;
}

void factor(const Tensor& A, const Tensor& LU, const Tensor& pivots) {
  lu_factor_cpu(A, true, false, LU, pivots, allocate(info_spec(batch_sizes(A))));
}

}  // namespace

std::tuple<TensorSpec, TensorSpec, TensorSpec> det_shape(const Tensor& A) {
  check_square("linalg.det", A);
  auto [lu, pivots, info] = lu_factor_shape(A, true, false);
  return {TensorSpec{batch_sizes(A).vec(), A.dtype(), {}}, std::move(lu), std::move(pivots)};
}

void det_cpu(const Tensor& A, const Tensor& result, const Tensor& LU, const Tensor& pivots) {
  factor(A, LU, pivots);
  const int64_t n = rows(A);
  with_type(A.dtype(), [&]<class T>() {
    for (int64_t i = 0; i < result.numel(); ++i) {
      const T* lu = LU.data_as<T>() + i * n * n;
      T det(odd_exchanges(pivots.data_as<int32_t>() + i * n, n) ? -1 : 1);
      for (int64_t j = 0; j < n; ++j) det *= lu[j * n + j];
      result.data_as<T>()[i] = det;
    }
  });
}

std::tuple<TensorSpec, TensorSpec, TensorSpec, TensorSpec> slogdet_shape(const Tensor& A) {
  FL_CHECK(A.dtype() != DType::Float16 && A.dtype() != DType::BFloat16,
           "[linalg.slogdet] Low precision dtypes not supported. Got ", dtype_name(A.dtype()));
  check_square("linalg.slogdet", A);
  auto [lu, pivots, info] = lu_factor_shape(A, true, false);
  const std::vector<int64_t> batch = batch_sizes(A).vec();
  return {TensorSpec{batch, A.dtype(), {}}, TensorSpec{batch, to_real(A.dtype()), {}}, std::move(lu),
          std::move(pivots)};
}

void slogdet_cpu(const Tensor& A, const Tensor& sign, const Tensor& logabsdet, const Tensor& LU, const Tensor& pivots) {
  factor(A, LU, pivots);
  const int64_t n = rows(A);
  with_type(A.dtype(), [&]<class T>() {
    using R = lapack::Real<T>;
    for (int64_t i = 0; i < sign.numel(); ++i) {
      const T* lu = LU.data_as<T>() + i * n * n;
      T s(odd_exchanges(pivots.data_as<int32_t>() + i * n, n) ? -1 : 1);
      R log_size = 0;
      for (int64_t j = 0; j < n; ++j) {
        const T d = lu[j * n + j];
        const R size = std::abs(d);
        s = size == 0 ? T(0) : s * (d / size);
        log_size += std::log(size);
      }
      sign.data_as<T>()[i] = s;
      logabsdet.data_as<R>()[i] = log_size;
    }
  });
}

}  // namespace flambeau
