// Least squares: gels (full rank, QR), gelsy (pivoted QR), gelsd and gelss (singular values).
#include <algorithm>
#include <cmath>
#include <memory>

#include "flambeau/core/views.h"
#include "linalg/batch.h"
#include "linalg/finite.h"
#include "pointwise/convert.h"

namespace flambeau {

using namespace linalg;

namespace {

enum class Driver { Gels, Gelsy, Gelsd, Gelss };

Driver driver_of(std::string_view name) {
  if (name == "gels") return Driver::Gels;
  if (name == "gelsy") return Driver::Gelsy;
  if (name == "gelsd") return Driver::Gelsd;
  FL_CHECK(name == "gelss", "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss), got ",
           name);
  return Driver::Gelss;
}

bool finds_singular_values(Driver d) { return d == Driver::Gelsd || d == Driver::Gelss; }

// LAPACK refuses NaN, and says so on the program's own output; the iterations of gelsd and gelss make NaN of
// infinities.
template <class T> void check_numbers(const T* a, int64_t n, bool finite, const char* name) {
  const bool known = finite ? all_finite(a, n) : std::none_of(a, a + n, [](T x) { return x != x; });
  FL_CHECK(known, "[linalg.lstsq] ", name, " holds NaN", finite ? " or infinities" : "",
           "; the least squares solution of such numbers is not defined");
}

template <class T> struct Problem {
  Int m, n, k, ldb;
  T* a;
  T* b;
  lapack::Real<T>* s;
  lapack::Real<T> rcond;
  Int rank = 0, info = 0;
};

template <class T> void gels(Problem<T>& p) {
  static void* const f = lapack::routine<T>("gels");
  const char trans = 'N';
  Int length = -1;
  T first{};
  lapack::call(f, &trans, &p.m, &p.n, &p.k, p.a, &p.m, p.b, &p.ldb, &first, &length, &p.info, lapack::kOne);
  length = lapack::work_length(first);
  const std::unique_ptr<T[]> work(new T[static_cast<size_t>(length)]);
  lapack::call(f, &trans, &p.m, &p.n, &p.k, p.a, &p.m, p.b, &p.ldb, work.get(), &length, &p.info, lapack::kOne);
}

template <class T> void gelsy(Problem<T>& p) {
  static void* const f = lapack::routine<T>("gelsy");
  using R = lapack::Real<T>;
  const std::unique_ptr<Int[]> jpvt(new Int[static_cast<size_t>(p.n)]());
  const std::unique_ptr<R[]> rwork(new R[static_cast<size_t>(2 * p.n)]);
  Int length = -1;
  T first{};
  const auto run = [&](T* work) {
    if constexpr (lapack::is_complex_v<T>)
      lapack::call(f, &p.m, &p.n, &p.k, p.a, &p.m, p.b, &p.ldb, jpvt.get(), &p.rcond, &p.rank, work, &length,
                   rwork.get(), &p.info);
    else
      lapack::call(f, &p.m, &p.n, &p.k, p.a, &p.m, p.b, &p.ldb, jpvt.get(), &p.rcond, &p.rank, work, &length, &p.info);
  };
  run(&first);
  length = lapack::work_length(first);
  const std::unique_ptr<T[]> work(new T[static_cast<size_t>(length)]);
  run(work.get());
}

template <class T> void gelsd(Problem<T>& p) {
  static void* const f = lapack::routine<T>("gelsd");
  using R = lapack::Real<T>;
  Int length = -1, first_int = 0;
  T first{};
  R first_real{};
  const auto run = [&](T* work, [[maybe_unused]] R* rwork, Int* iwork) {
    if constexpr (lapack::is_complex_v<T>)
      lapack::call(f, &p.m, &p.n, &p.k, p.a, &p.m, p.b, &p.ldb, p.s, &p.rcond, &p.rank, work, &length, rwork, iwork,
                   &p.info);
    else
      lapack::call(f, &p.m, &p.n, &p.k, p.a, &p.m, p.b, &p.ldb, p.s, &p.rcond, &p.rank, work, &length, iwork, &p.info);
  };
  run(&first, &first_real, &first_int);
  length = lapack::work_length(first);
  const std::unique_ptr<T[]> work(new T[static_cast<size_t>(length)]);
  const std::unique_ptr<R[]> rwork(new R[static_cast<size_t>(lapack::work_length(first_real))]);
  const std::unique_ptr<Int[]> iwork(new Int[static_cast<size_t>(std::max<Int>(first_int, 1))]);
  run(work.get(), rwork.get(), iwork.get());
}

template <class T> void gelss(Problem<T>& p) {
  static void* const f = lapack::routine<T>("gelss");
  using R = lapack::Real<T>;
  const std::unique_ptr<R[]> rwork(new R[static_cast<size_t>(5 * std::min(p.m, p.n))]);
  Int length = -1;
  T first{};
  const auto run = [&](T* work) {
    if constexpr (lapack::is_complex_v<T>)
      lapack::call(f, &p.m, &p.n, &p.k, p.a, &p.m, p.b, &p.ldb, p.s, &p.rcond, &p.rank, work, &length, rwork.get(),
                   &p.info);
    else
      lapack::call(f, &p.m, &p.n, &p.k, p.a, &p.m, p.b, &p.ldb, p.s, &p.rcond, &p.rank, work, &length, &p.info);
  };
  run(&first);
  length = lapack::work_length(first);
  const std::unique_ptr<T[]> work(new T[static_cast<size_t>(length)]);
  run(work.get());
}

}  // namespace

/// The solution stands in the first n rows of `result`, which has max(m, n); the rows below hold what is left over.
/// Only gelsd and gelss find singular values: of the others there are none.
std::tuple<TensorSpec, TensorSpec, TensorSpec> lstsq_shape(const Tensor& A, const Tensor& B, std::optional<double>,
                                                           std::string_view driver) {
  check_matrix("linalg.lstsq", A);
  check_matrix("linalg.lstsq", B);
  check_same_dtype("linalg.lstsq", A, B);
  const Driver kind = driver_of(driver);
  FL_CHECK(rows(A) == rows(B), "[linalg.lstsq] input.size(-2) should match other.size(-2), got ", A.sizes(), " and ",
           B.sizes());
  const std::vector<int64_t> batch = broadcast_shapes(batch_sizes(A), batch_sizes(B), "linalg.lstsq");
  return {matrix_spec(batch, std::max(rows(A), columns(A)), columns(B), A.dtype()), TensorSpec{batch, DType::Int64, {}},
          finds_singular_values(kind) ? vector_spec(batch, std::min(rows(A), columns(A)), to_real(A.dtype()))
                                      : TensorSpec{{0}, to_real(A.dtype()), {}}};
}

void lstsq_cpu(const Tensor& A, const Tensor& B, std::optional<double> rcond, std::string_view driver,
               const Tensor& result, const Tensor& rank, const Tensor& singular_values) {
  const Driver kind = driver_of(driver);
  const Int m = checked_int("linalg.lstsq", rows(A)), n = checked_int("linalg.lstsq", columns(A)),
            k = checked_int("linalg.lstsq", columns(B)), ldb = std::max(m, n);
  const Tensor work = column_major_copy(A, batch_sizes(result));
  if (result.numel() && B.numel()) copy_values(slice(result, -2, 0, m, 1), B);
  const Tensor info = allocate(info_spec(batch_sizes(result)));
  const double epsilon = to_real(A.dtype()) == DType::Float32 ? 1.1920928955078125e-07 : 2.220446049250313e-16;
  with_type(A.dtype(), [&]<class T>() {
    using R = lapack::Real<T>;
    check_numbers(work.data_as<T>(), work.numel(), finds_singular_values(kind), "input");
    if (B.numel()) check_numbers(contiguous(B).data_as<T>(), B.numel(), finds_singular_values(kind), "other");
    R* const s = finds_singular_values(kind) ? singular_values.data_as<R>() : nullptr;
    for_each_matrix(info.numel(), 4.0 * m * n * ldb, [&](int64_t i) {
      Problem<T> p{m,
                   n,
                   k,
                   ldb,
                   work.data_as<T>() + i * m * n,
                   result.data_as<T>() + i * static_cast<int64_t>(ldb) * k,
                   s ? s + i * std::min(m, n) : nullptr,
                   static_cast<R>(rcond.value_or(epsilon * ldb))};
      const std::unique_ptr<T[]> nothing(k ? nullptr : new T[static_cast<size_t>(ldb)]());
      if (k == 0) p.k = 1, p.b = nothing.get();  // rank and singular values do not need a right-hand side, LAPACK does
      if (m == 0 || n == 0) {
        if (m == 0) std::fill(p.b, p.b + static_cast<int64_t>(ldb) * p.k, T(0));  // of no column, all of B is left over
      } else {
        switch (kind) {
          case Driver::Gels: gels(p); break;
          case Driver::Gelsy: gelsy(p); break;
          case Driver::Gelsd: gelsd(p); break;
          case Driver::Gelss: gelss(p); break;
        }
      }
      rank.data_as<int64_t>()[i] = p.rank;
      info.data_as<int32_t>()[i] = p.info;
    });
  });
  if (const int64_t i = first_failure(info); i >= 0)
    raise_linalg(
        "torch.linalg.lstsq", info, i,
        kind == Driver::Gels
            ? "The least squares solution could not be computed because the input matrix does not have full rank "
              "(error code: " +
                  std::to_string(info.data_as<int32_t>()[i]) + ")."
            : "The algorithm failed to converge (error code: " + std::to_string(info.data_as<int32_t>()[i]) + ").");
}

}  // namespace flambeau
