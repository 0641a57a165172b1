// Eigenvalues and eigenvectors: Hermitian matrices (heevd) and general ones (geev).
#include <algorithm>
#include <limits>
#include <memory>

#include "linalg/batch.h"
#include "linalg/finite.h"
#include "pointwise/convert.h"

namespace flambeau {

using namespace linalg;

namespace {

template <class T> Int heevd(char job, char uplo, Int n, T* a, lapack::Real<T>* w) {
  static void* const f = lapack::routine<T>("syevd", "heevd");
  using R = lapack::Real<T>;
  Int info = 0, length = -1, real_length = -1, int_length = -1;
  T first{};
  R first_real{};
  Int first_int = 0;
  const auto run = [&](T* work, [[maybe_unused]] R* rwork, Int* iwork) {
    if constexpr (lapack::is_complex_v<T>)
      lapack::call(f, &job, &uplo, &n, a, &n, w, work, &length, rwork, &real_length, iwork, &int_length, &info,
                   lapack::kOne, lapack::kOne);
    else
      lapack::call(f, &job, &uplo, &n, a, &n, w, work, &length, iwork, &int_length, &info, lapack::kOne, lapack::kOne);
  };
  run(&first, &first_real, &first_int);
  length = lapack::work_length(first);
  real_length = lapack::work_length(first_real);
  int_length = first_int < 1 ? 1 : first_int;
  const std::unique_ptr<T[]> work(new T[static_cast<size_t>(length)]);
  const std::unique_ptr<R[]> rwork(new R[static_cast<size_t>(real_length)]);
  const std::unique_ptr<Int[]> iwork(new Int[static_cast<size_t>(int_length)]);
  run(work.get(), rwork.get(), iwork.get());
  return info;
}

char upper_or_lower(std::string_view UPLO) {
  const char c = UPLO.size() == 1 ? static_cast<char>(UPLO[0] & ~0x20) : ' ';
  FL_CHECK(c == 'U' || c == 'L', "Expected UPLO argument to be 'L' or 'U', but got ", UPLO);
  return c;
}

}  // namespace

std::tuple<TensorSpec, TensorSpec> eigh_shape(const Tensor& A, std::string_view UPLO, bool compute_v) {
  check_square("linalg.eigh", A);
  upper_or_lower(UPLO);
  const TensorSpec values = vector_spec(batch_sizes(A), rows(A), to_real(A.dtype()));
  return {values,
          compute_v ? matrix_spec(batch_sizes(A), rows(A), rows(A), A.dtype()) : TensorSpec{{0}, A.dtype(), {}}};
}

void eigh_cpu(const Tensor& A, std::string_view UPLO, bool compute_v, const Tensor& values, const Tensor& vectors) {
  const Int n = checked_int("linalg.eigh", rows(A));
  const char uplo = upper_or_lower(UPLO);
  const Tensor work = compute_v ? vectors : column_major_copy(A);
  if (compute_v && A.numel()) copy_values(vectors, A);
  const Tensor info = allocate(info_spec(batch_sizes(A)));
  with_type(A.dtype(), [&]<class T>() {
    for_each_matrix(info.numel(), 9.0 * n * n * n, [&](int64_t i) {
      using R = lapack::Real<T>;
      T* a = work.data_as<T>() + i * n * n;
      R* found = values.data_as<R>() + i * n;
      int32_t& status = info.data_as<int32_t>()[i];
      if (all_finite(a, static_cast<int64_t>(n) * n)) {
        status = n == 0 ? 0 : heevd<T>(compute_v ? 'V' : 'N', uplo, n, a, found);
      } else {
        std::fill_n(found, n, std::numeric_limits<R>::quiet_NaN());
        std::fill_n(a, static_cast<int64_t>(n) * n, T(std::numeric_limits<R>::quiet_NaN()));
        status = 0;
      }
    });
  });
  if (const int64_t i = first_failure(info); i >= 0)
    raise_linalg("linalg.eigh", info, i,
                 "The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
                 "repeated eigenvalues (error code: " +
                     std::to_string(info.data_as<int32_t>()[i]) + ").");
}

namespace {

template <class T> struct ComplexOf {
  using type = std::complex<T>;
};
template <class T> struct ComplexOf<std::complex<T>> {
  using type = std::complex<T>;
};

// A conjugate pair of real matrices' vectors comes as real and imaginary columns.
template <class R> void join_pairs(Int n, const R* im, const R* v, std::complex<R>* out) {
  for (Int j = 0; j < n; ++j) {
    const R* re_column = v + static_cast<int64_t>(j) * n;
    std::complex<R>* to = out + static_cast<int64_t>(j) * n;
    if (im[j] == 0 || j + 1 >= n) {
      for (Int i = 0; i < n; ++i) to[i] = re_column[i];
      continue;
    }
    for (Int i = 0; i < n; ++i) {
      to[i] = {re_column[i], re_column[n + i]};
      to[n + i] = {re_column[i], -re_column[n + i]};
    }
    ++j;
  }
}

template <class T> Int geev(Int n, T* a, typename ComplexOf<T>::type* w, typename ComplexOf<T>::type* vectors) {
  static void* const f = lapack::routine<T>("geev");
  using R = lapack::Real<T>;
  const char left = 'N', right = vectors ? 'V' : 'N';
  const size_t size = static_cast<size_t>(n);
  Int info = 0, length = -1;
  T first{};
  T none{};
  const Int one = 1;
  if constexpr (lapack::is_complex_v<T>) {
    const std::unique_ptr<R[]> rwork(new R[2 * size]);
    const auto run = [&](T* work) {
      lapack::call(f, &left, &right, &n, a, &n, w, &none, &one, vectors ? vectors : &none, vectors ? &n : &one, work,
                   &length, rwork.get(), &info, lapack::kOne, lapack::kOne);
    };
    run(&first);
    length = lapack::work_length(first);
    const std::unique_ptr<T[]> work(new T[static_cast<size_t>(length)]);
    run(work.get());
  } else {
    const std::unique_ptr<R[]> re(new R[size]), im(new R[size]), v(new R[vectors ? size * size : 1]);
    const auto run = [&](T* work) {
      lapack::call(f, &left, &right, &n, a, &n, re.get(), im.get(), &none, &one, v.get(), vectors ? &n : &one, work,
                   &length, &info, lapack::kOne, lapack::kOne);
    };
    run(&first);
    length = lapack::work_length(first);
    const std::unique_ptr<T[]> work(new T[static_cast<size_t>(length)]);
    run(work.get());
    for (Int i = 0; i < n; ++i) w[i] = {re[static_cast<size_t>(i)], im[static_cast<size_t>(i)]};
    if (vectors) join_pairs(n, im.get(), v.get(), vectors);
  }
  return info;
}

}  // namespace

std::tuple<TensorSpec, TensorSpec> eig_shape(const Tensor& A, bool compute_v) {
  check_square("linalg.eig", A);
  const DType t = to_complex(A.dtype());
  return {vector_spec(batch_sizes(A), rows(A), t),
          compute_v ? matrix_spec(batch_sizes(A), rows(A), rows(A), t) : TensorSpec{{0}, t, {}}};
}

void eig_cpu(const Tensor& A, bool compute_v, const Tensor& values, const Tensor& vectors) {
  const Int n = checked_int("linalg.eig", rows(A));
  const Tensor work = column_major_copy(A);
  const Tensor info = allocate(info_spec(batch_sizes(A)));
  with_type(A.dtype(), [&]<class T>() {
    using C = typename ComplexOf<T>::type;
    FL_CHECK(all_finite(work.data_as<T>(), work.numel()),
             "torch.linalg.eig: input tensor should not contain infs or NaNs.");
    for_each_matrix(info.numel(), 25.0 * n * n * n, [&](int64_t i) {
      const int64_t at = i * n * n;
      info.data_as<int32_t>()[i] = n == 0 ? 0
                                          : geev<T>(n, work.data_as<T>() + at, values.data_as<C>() + i * n,
                                                    compute_v ? vectors.data_as<C>() + at : nullptr);
    });
  });
  if (const int64_t i = first_failure(info); i >= 0)
    raise_linalg("linalg.eig", info, i,
                 "The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
                 "repeated eigenvalues (error code: " +
                     std::to_string(info.data_as<int32_t>()[i]) + ").");
}

}  // namespace flambeau
