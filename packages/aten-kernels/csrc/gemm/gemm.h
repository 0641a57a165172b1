// Matrix products on raw memory. No tensor types: the callers check shapes, resolve layouts, pick the dtype.
//
// Everything is row-major. C[M, N] = act(alpha * op(A) op(B) + beta * C + bias), where op(A) is [M, K], op(B) is [K,
// N].
//   ta == false: op(A)[i, k] = A[i * lda + k]        ta == true: op(A)[i, k] = A[k * lda + i]     (same for B)
// Leading dimensions are in elements. beta == 0 never reads C. K == 0 gives act(beta * C + bias). Empty M or N is a
// no-op. Work is shared through flambeau/core/parallel.h; the sum over K is never split between threads, so a result is
// the same bits for any number of threads.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>

namespace flambeau::gemm {

enum class Activation : int32_t { kNone = 0, kRelu = 1 };

// What happens to a tile of C before it leaves the registers.
struct GemmEpilogue {
  const void* bias = nullptr;  // element type of C; N values, or M values if bias_per_row
  bool bias_per_row = false;
  Activation activation = Activation::kNone;
};

void gemm_f32(bool ta, bool tb, int64_t M, int64_t N, int64_t K, float alpha, const float* A, int64_t lda,
              const float* B, int64_t ldb, float beta, float* C, int64_t ldc, const GemmEpilogue* epilogue = nullptr);
void gemm_f64(bool ta, bool tb, int64_t M, int64_t N, int64_t K, double alpha, const double* A, int64_t lda,
              const double* B, int64_t ldb, double beta, double* C, int64_t ldc,
              const GemmEpilogue* epilogue = nullptr);

// 16-bit floats are passed as their bits; sums are kept in f32 and rounded once.
void gemm_bf16(bool ta, bool tb, int64_t M, int64_t N, int64_t K, float alpha, const uint16_t* A, int64_t lda,
               const uint16_t* B, int64_t ldb, float beta, uint16_t* C, int64_t ldc,
               const GemmEpilogue* epilogue = nullptr);
void gemm_f16(bool ta, bool tb, int64_t M, int64_t N, int64_t K, float alpha, const uint16_t* A, int64_t lda,
              const uint16_t* B, int64_t ldb, float beta, uint16_t* C, int64_t ldc,
              const GemmEpilogue* epilogue = nullptr);

// Integers wrap. T: int8_t, uint8_t, int16_t, int32_t, int64_t (instantiated in gemm_int.cpp). No epilogue.
template <class T>
void gemm_int(bool ta, bool tb, int64_t M, int64_t N, int64_t K, T alpha, const T* A, int64_t lda, const T* B,
              int64_t ldb, T beta, T* C, int64_t ldc);
// int8 x int8 -> int32, exact (wraps in int32).
void gemm_i8_i32(bool ta, bool tb, int64_t M, int64_t N, int64_t K, const int8_t* A, int64_t lda, const int8_t* B,
                 int64_t ldb, int32_t* C, int64_t ldc);

// conj_x conjugates that operand's elements as they are read. No epilogue.
void gemm_c64(bool ta, bool tb, int64_t M, int64_t N, int64_t K, std::complex<float> alpha,
              const std::complex<float>* A, int64_t lda, const std::complex<float>* B, int64_t ldb,
              std::complex<float> beta, std::complex<float>* C, int64_t ldc, bool conj_a = false, bool conj_b = false);
void gemm_c128(bool ta, bool tb, int64_t M, int64_t N, int64_t K, std::complex<double> alpha,
               const std::complex<double>* A, int64_t lda, const std::complex<double>* B, int64_t ldb,
               std::complex<double> beta, std::complex<double>* C, int64_t ldc, bool conj_a = false,
               bool conj_b = false);

// Batches: matrix b of X starts at X + b * stride_x (0 repeats the operand; the C's must not overlap).
void gemm_f32_batched(int64_t batch, bool ta, bool tb, int64_t M, int64_t N, int64_t K, float alpha, const float* A,
                      int64_t lda, int64_t stride_a, const float* B, int64_t ldb, int64_t stride_b, float beta,
                      float* C, int64_t ldc, int64_t stride_c, const GemmEpilogue* epilogue = nullptr);
void gemm_f64_batched(int64_t batch, bool ta, bool tb, int64_t M, int64_t N, int64_t K, double alpha, const double* A,
                      int64_t lda, int64_t stride_a, const double* B, int64_t ldb, int64_t stride_b, double beta,
                      double* C, int64_t ldc, int64_t stride_c, const GemmEpilogue* epilogue = nullptr);
void gemm_bf16_batched(int64_t batch, bool ta, bool tb, int64_t M, int64_t N, int64_t K, float alpha, const uint16_t* A,
                       int64_t lda, int64_t stride_a, const uint16_t* B, int64_t ldb, int64_t stride_b, float beta,
                       uint16_t* C, int64_t ldc, int64_t stride_c, const GemmEpilogue* epilogue = nullptr);
void gemm_f16_batched(int64_t batch, bool ta, bool tb, int64_t M, int64_t N, int64_t K, float alpha, const uint16_t* A,
                      int64_t lda, int64_t stride_a, const uint16_t* B, int64_t ldb, int64_t stride_b, float beta,
                      uint16_t* C, int64_t ldc, int64_t stride_c, const GemmEpilogue* epilogue = nullptr);
template <class T>
void gemm_int_batched(int64_t batch, bool ta, bool tb, int64_t M, int64_t N, int64_t K, T alpha, const T* A,
                      int64_t lda, int64_t stride_a, const T* B, int64_t ldb, int64_t stride_b, T beta, T* C,
                      int64_t ldc, int64_t stride_c);

// A right-hand operand packed once, for weights used many times. Immutable; share it between threads freely.
class PackedB;
using PackedBPtr = std::shared_ptr<const PackedB>;
PackedBPtr pack_b_f32(bool tb, int64_t N, int64_t K, const float* B, int64_t ldb);
void gemm_f32_packed(bool ta, int64_t M, float alpha, const float* A, int64_t lda, const PackedB& B, float beta,
                     float* C, int64_t ldc, const GemmEpilogue* epilogue = nullptr);

}  // namespace flambeau::gemm
