// Complex products as four real ones on separated parts.
#include "flambeau/core/parallel.h"
#include "problem.h"
#include "scratch.h"

namespace flambeau::gemm {
namespace {

constexpr int64_t kSplitGrain = 32768;  // elements

template <class F> void for_rows(int64_t rows, int64_t row_length, F&& f) {
  parallel_for(0, rows, std::max<int64_t>(1, kSplitGrain / std::max<int64_t>(1, row_length)), f);
}

template <class R> struct Parts {
  Scratch<R> re, im;
  int64_t ld;

  Parts(const std::complex<R>* x, int64_t ldx, int64_t rows, int64_t columns, bool conjugate)
      : re(rows * columns), im(rows * columns), ld(columns) {
    const R sign = conjugate ? R(-1) : R(1);
    for_rows(rows, columns, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) {
        for (int64_t j = 0; j < columns; j++) {
          re.get()[i * columns + j] = x[i * ldx + j].real();
          im.get()[i * columns + j] = sign * x[i * ldx + j].imag();
        }
      }
    });
  }
};

template <class R>
void gemm_complex(bool ta, bool tb, int64_t M, int64_t N, int64_t K, std::complex<R> alpha, const std::complex<R>* A,
                  int64_t lda, const std::complex<R>* B, int64_t ldb, std::complex<R> beta, std::complex<R>* C,
                  int64_t ldc, bool conj_a, bool conj_b) {
  if (M <= 0 || N <= 0) return;
  if (alpha == std::complex<R>(0)) K = 0;
  const Parts<R> a(A, lda, ta ? K : M, ta ? M : K, conj_a), b(B, ldb, tb ? N : K, tb ? K : N, conj_b);
  Scratch<R> re(M * N), im(M * N);
  const auto real_gemm = [&](R sign, const R* x, const R* y, R keep, R* out) {
    run_problem(make_problem<R>(ta, tb, M, N, K, sign, x, a.ld, y, b.ld, keep, out, N, nullptr));
  };
  real_gemm(1, a.re.get(), b.re.get(), 0, re.get());
  real_gemm(-1, a.im.get(), b.im.get(), 1, re.get());
  real_gemm(1, a.re.get(), b.im.get(), 0, im.get());
  real_gemm(1, a.im.get(), b.re.get(), 1, im.get());
  const bool scaled = alpha != std::complex<R>(1), keeps = beta != std::complex<R>(0);
  for_rows(M, N, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      for (int64_t j = 0; j < N; j++) {
        std::complex<R> x(re.get()[i * N + j], im.get()[i * N + j]);
        if (scaled) x *= alpha;
        C[i * ldc + j] = keeps ? x + beta * C[i * ldc + j] : x;
      }
    }
  });
}

}  // namespace

void gemm_c64(bool ta, bool tb, int64_t M, int64_t N, int64_t K, std::complex<float> alpha,
              const std::complex<float>* A, int64_t lda, const std::complex<float>* B, int64_t ldb,
              std::complex<float> beta, std::complex<float>* C, int64_t ldc, bool conj_a, bool conj_b) {
  gemm_complex(ta, tb, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc, conj_a, conj_b);
}

void gemm_c128(bool ta, bool tb, int64_t M, int64_t N, int64_t K, std::complex<double> alpha,
               const std::complex<double>* A, int64_t lda, const std::complex<double>* B, int64_t ldb,
               std::complex<double> beta, std::complex<double>* C, int64_t ldc, bool conj_a, bool conj_b) {
  gemm_complex(ta, tb, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc, conj_a, conj_b);
}

}  // namespace flambeau::gemm
