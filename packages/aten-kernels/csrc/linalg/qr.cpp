// Householder reflections: QR, and products with the Q they stand for.
#include <memory>

#include "flambeau/core/views.h"
#include "linalg/batch.h"
#include "pointwise/convert.h"

namespace flambeau {

using namespace linalg;

namespace {

// Runs a routine that takes (..., work, lwork, info) twice: to ask how much work space it wants, then for good.
template <class T, class F> void with_work(F&& run) {
  T first{};
  run(&first, Int{-1});
  const Int length = lapack::work_length(first);
  const std::unique_ptr<T[]> work(new T[static_cast<size_t>(length)]);
  run(work.get(), length);
}

template <class T> void geqrf(Int m, Int n, T* a, T* tau) {
  static void* const f = lapack::routine<T>("geqrf");
  Int info = 0;
  if (m && n) with_work<T>([&](T* work, Int length) { lapack::call(f, &m, &n, a, &m, tau, work, &length, &info); });
}

template <class T> void orgqr(Int m, Int n, Int k, T* a, const T* tau) {
  static void* const f = lapack::routine<T>("orgqr", "ungqr");
  Int info = 0;
  if (m && n) with_work<T>([&](T* work, Int length) { lapack::call(f, &m, &n, &k, a, &m, tau, work, &length, &info); });
}

double work_of(Int m, Int n) { return 2.0 * m * n * std::min(m, n); }

}  // namespace

std::tuple<TensorSpec, TensorSpec> geqrf_shape(const Tensor& self) {
  check_number("geqrf", self);
  check_matrix("geqrf", self);
  return {matrix_spec(batch_sizes(self), rows(self), columns(self), self.dtype()),
          vector_spec(batch_sizes(self), std::min(rows(self), columns(self)), self.dtype())};
}

void geqrf_cpu(const Tensor& self, const Tensor& a, const Tensor& tau) {
  const Int m = checked_int("geqrf", rows(self)), n = checked_int("geqrf", columns(self)), k = std::min(m, n);
  if (!a.numel()) return;
  copy_values(a, self);
  with_type(self.dtype(), [&]<class T>() {
    for_each_matrix(batch_count(self), work_of(m, n),
                    [&](int64_t i) { geqrf<T>(m, n, a.data_as<T>() + i * m * n, tau.data_as<T>() + i * k); });
  });
}

TensorSpec householder_product_shape(const Tensor& input, const Tensor& tau) {
  check_matrix("linalg.householder_product", input);
  check_same_dtype("linalg.householder_product", input, tau);
  FL_CHECK(rows(input) >= columns(input),
           "[linalg.householder_product] input.shape[-2] must be greater than or equal to input.shape[-1], got ",
           input.sizes());
  FL_CHECK(tau.dim() + 1 == input.dim() && IntList(tau.sizes().data(), static_cast<size_t>(std::max<int64_t>(
                                                                           tau.dim() - 1, 0))) == batch_sizes(input),
           "[linalg.householder_product] batch dimensions of tau must be those of input, got ", tau.sizes(), " and ",
           input.sizes());
  FL_CHECK(columns(input) >= tau.sizes().back(),
           "[linalg.householder_product] input.shape[-1] must be greater than or equal to tau.shape[-1], got ",
           input.sizes(), " and ", tau.sizes());
  return matrix_spec(batch_sizes(input), rows(input), columns(input), input.dtype());
}

void householder_product_cpu(const Tensor& input, const Tensor& tau, const Tensor& out) {
  if (!out.numel()) return;
  copy_values(out, input);
  const Tensor t = contiguous(tau);
  const Int m = checked_int("linalg.householder_product", rows(out)),
            n = checked_int("linalg.householder_product", columns(out)), k = static_cast<Int>(t.sizes().back());
  with_type(out.dtype(), [&]<class T>() {
    for_each_matrix(batch_count(out), work_of(m, n),
                    [&](int64_t i) { orgqr<T>(m, n, k, out.data_as<T>() + i * m * n, t.data_as<T>() + i * k); });
  });
}

TensorSpec ormqr_shape(const Tensor& self, const Tensor& input2, const Tensor& input3, bool left, bool) {
  check_matrix("ormqr", self);
  check_matrix("ormqr", input3);
  check_same_dtype("ormqr", self, input2);
  check_same_dtype("ormqr", self, input3);
  const int64_t order = left ? rows(input3) : columns(input3);
  FL_CHECK(input2.dim() + 1 == self.dim() && input3.dim() == self.dim(),
           "[ormqr] input, tau and other must have 2, 1 and 2 dimensions beside the batch, got sizes ", self.sizes(),
           ", ", input2.sizes(), " and ", input3.sizes());
  FL_CHECK(batch_sizes(self) == batch_sizes(input3) &&
               IntList(input2.sizes().data(), static_cast<size_t>(input2.dim()) - 1) == batch_sizes(self),
           "[ormqr] batch dimensions of input, tau and other must be equal, got sizes ", self.sizes(), ", ",
           input2.sizes(), " and ", input3.sizes());
  FL_CHECK(order == rows(self), "[ormqr] other.shape[", left ? -2 : -1, "] must be equal to input.shape[-2], got ",
           input3.sizes(), " and ", self.sizes());
  FL_CHECK(order >= input2.sizes().back() && columns(self) >= input2.sizes().back(), "[ormqr] tau has ",
           input2.sizes().back(), " reflections, more than other or input allow: ", input3.sizes(), " and ",
           self.sizes());
  return matrix_spec(batch_sizes(input3), rows(input3), columns(input3), input3.dtype());
}

void ormqr_cpu(const Tensor& self, const Tensor& input2, const Tensor& input3, bool left, bool transpose,
               const Tensor& out) {
  if (!out.numel()) return;
  copy_values(out, input3);
  const Tensor a = column_major(self), tau = contiguous(input2);
  const Int m = checked_int("ormqr", rows(out)), n = checked_int("ormqr", columns(out)),
            k = static_cast<Int>(tau.sizes().back()), lda = left ? m : n;
  const int64_t a_step = rows(self) * columns(self);
  with_type(out.dtype(), [&]<class T>() {
    for_each_matrix(batch_count(out), 2.0 * m * n * k, [&](int64_t i) {
      static void* const f = lapack::routine<T>("ormqr", "unmqr");
      const char side = left ? 'L' : 'R', trans = !transpose ? 'N' : lapack::is_complex_v<T> ? 'C' : 'T';
      Int info = 0;
      with_work<T>([&](T* work, Int length) {
        lapack::call(f, &side, &trans, &m, &n, &k, a.data_as<T>() + i * a_step, &lda, tau.data_as<T>() + i * k,
                     out.data_as<T>() + i * m * n, &m, work, &length, &info, lapack::kOne, lapack::kOne);
      });
    });
  });
}

namespace {

enum class QrMode { Reduced, Complete, OnlyR };

QrMode qr_mode(std::string_view mode) {
  if (mode == "reduced") return QrMode::Reduced;
  if (mode == "complete") return QrMode::Complete;
  FL_CHECK(mode == "r", "qr received unrecognized mode '", mode,
           "' but expected one of 'reduced' (default), 'r', or 'complete'");
  return QrMode::OnlyR;
}

// The upper triangle of the first `r` rows of a column-major m x n matrix.
template <class T> void copy_upper(const T* a, Int m, Int n, Int r, T* out) {
  for (Int j = 0; j < n; ++j)
    for (Int i = 0; i < r; ++i)
      out[static_cast<int64_t>(j) * r + i] = i <= j ? a[static_cast<int64_t>(j) * m + i] : T(0);
}

}  // namespace

std::tuple<TensorSpec, TensorSpec> qr_shape(const Tensor& A, std::string_view mode) {
  check_matrix("linalg.qr", A);
  const QrMode kind = qr_mode(mode);
  const int64_t m = rows(A), n = columns(A), k = kind == QrMode::Complete ? m : std::min(m, n);
  const TensorSpec q =
      kind == QrMode::OnlyR ? TensorSpec{{0}, A.dtype(), {}} : matrix_spec(batch_sizes(A), m, k, A.dtype());
  return {q, matrix_spec(batch_sizes(A), k, n, A.dtype())};
}

void qr_cpu(const Tensor& A, std::string_view mode, const Tensor& Q, const Tensor& R) {
  const QrMode kind = qr_mode(mode);
  const Int m = checked_int("linalg.qr", rows(A)), n = checked_int("linalg.qr", columns(A)), k = std::min(m, n);
  const Int q_columns = kind == QrMode::Complete ? m : k;
  const Tensor work = column_major_copy(A);
  with_type(A.dtype(), [&]<class T>() {
    for_each_matrix(batch_count(A), 2 * work_of(m, n), [&](int64_t i) {
      const std::unique_ptr<T[]> tau(new T[static_cast<size_t>(k) + 1]);
      T* a = work.data_as<T>() + i * m * n;
      geqrf<T>(m, n, a, tau.get());
      const Int r_rows = q_columns;
      copy_upper(a, m, n, r_rows, R.data_as<T>() + i * static_cast<int64_t>(r_rows) * n);
      if (kind == QrMode::OnlyR) return;
      T* q = Q.data_as<T>() + i * static_cast<int64_t>(m) * q_columns;
      std::copy(a, a + static_cast<int64_t>(m) * std::min(n, q_columns), q);
      std::fill(q + static_cast<int64_t>(m) * std::min(n, q_columns), q + static_cast<int64_t>(m) * q_columns, T(0));
      orgqr<T>(m, q_columns, k, q, tau.get());
    });
  });
}

}  // namespace flambeau
