// Batches: many small products go to the threads whole, few large ones are shared out one after the other.
#include "flambeau/core/parallel.h"
#include "problem.h"

namespace flambeau::gemm {
namespace {

constexpr double kSharedWork = 4e6;  // multiply-adds from which one product keeps every thread busy by itself
constexpr int64_t kManyProducts = 16;

template <class F> void for_each_product(int64_t batch, double work, F&& product) {
  if (work >= kSharedWork && batch < kManyProducts) {
    for (int64_t i = 0; i < batch; i++) product(i);
    return;
  }
  parallel_for(0, batch, units_per_chunk(work), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) product(i);
  });
}

// One B for all, and the rows of all A's and C's evenly spaced: a single tall product.
bool is_one_product(bool ta, int64_t M, int64_t lda, int64_t stride_a, int64_t stride_b, int64_t ldc, int64_t stride_c,
                    const GemmEpilogue* epilogue) {
  const bool per_row = epilogue != nullptr && epilogue->bias != nullptr && epilogue->bias_per_row;
  return !ta && stride_b == 0 && stride_a == M * lda && stride_c == M * ldc && !per_row;
}

template <auto kGemm, class T, class S>
void run_batch(int64_t batch, bool ta, bool tb, int64_t M, int64_t N, int64_t K, S alpha, const T* A, int64_t lda,
               int64_t stride_a, const T* B, int64_t ldb, int64_t stride_b, S beta, T* C, int64_t ldc, int64_t stride_c,
               const GemmEpilogue* epilogue) {
  if (is_one_product(ta, M, lda, stride_a, stride_b, ldc, stride_c, epilogue)) {
    return kGemm(ta, tb, batch * M, N, K, alpha, A, lda, B, ldb, beta, C, ldc, epilogue);
  }
  const double work = static_cast<double>(M) * static_cast<double>(N) * static_cast<double>(std::max<int64_t>(K, 1));
  for_each_product(batch, work, [&](int64_t i) {
    kGemm(ta, tb, M, N, K, alpha, A + i * stride_a, lda, B + i * stride_b, ldb, beta, C + i * stride_c, ldc, epilogue);
  });
}

}  // namespace

void gemm_f32_batched(int64_t batch, bool ta, bool tb, int64_t M, int64_t N, int64_t K, float alpha, const float* A,
                      int64_t lda, int64_t stride_a, const float* B, int64_t ldb, int64_t stride_b, float beta,
                      float* C, int64_t ldc, int64_t stride_c, const GemmEpilogue* epilogue) {
  run_batch<gemm_f32>(batch, ta, tb, M, N, K, alpha, A, lda, stride_a, B, ldb, stride_b, beta, C, ldc, stride_c,
                      epilogue);
}

void gemm_f64_batched(int64_t batch, bool ta, bool tb, int64_t M, int64_t N, int64_t K, double alpha, const double* A,
                      int64_t lda, int64_t stride_a, const double* B, int64_t ldb, int64_t stride_b, double beta,
                      double* C, int64_t ldc, int64_t stride_c, const GemmEpilogue* epilogue) {
  run_batch<gemm_f64>(batch, ta, tb, M, N, K, alpha, A, lda, stride_a, B, ldb, stride_b, beta, C, ldc, stride_c,
                      epilogue);
}

void gemm_bf16_batched(int64_t batch, bool ta, bool tb, int64_t M, int64_t N, int64_t K, float alpha, const uint16_t* A,
                       int64_t lda, int64_t stride_a, const uint16_t* B, int64_t ldb, int64_t stride_b, float beta,
                       uint16_t* C, int64_t ldc, int64_t stride_c, const GemmEpilogue* epilogue) {
  run_batch<gemm_bf16>(batch, ta, tb, M, N, K, alpha, A, lda, stride_a, B, ldb, stride_b, beta, C, ldc, stride_c,
                       epilogue);
}

void gemm_f16_batched(int64_t batch, bool ta, bool tb, int64_t M, int64_t N, int64_t K, float alpha, const uint16_t* A,
                      int64_t lda, int64_t stride_a, const uint16_t* B, int64_t ldb, int64_t stride_b, float beta,
                      uint16_t* C, int64_t ldc, int64_t stride_c, const GemmEpilogue* epilogue) {
  run_batch<gemm_f16>(batch, ta, tb, M, N, K, alpha, A, lda, stride_a, B, ldb, stride_b, beta, C, ldc, stride_c,
                      epilogue);
}

}  // namespace flambeau::gemm
