#include "linalg/product.h"

#include <algorithm>
#include <complex>

#include "flambeau/core/parallel.h"
#include "flambeau/core/python_hook.h"
#include "gemm/gemm.h"
#include "pointwise/convert.h"

namespace flambeau {

namespace {

// A matrix as gemm wants it. `copy` holds the elements where the strides fit no layout.
struct Operand {
  const void* data;
  bool transposed = false;
  int64_t ld = 0;
  int64_t batch_stride = 0;
  Tensor copy;

  Operand(const Tensor& t, int64_t batch_dims) {
    data = t.data();
    if (fits(t, batch_dims)) return;
    copy = contiguous(t);
    data = copy.data();
    fits(copy, batch_dims);
  }

 private:
  bool fits(const Tensor& t, int64_t batch_dims) {
    const int64_t* sizes = t.impl()->sizes() + batch_dims;
    const int64_t* strides = t.impl()->strides() + batch_dims;
    batch_stride = batch_dims ? strides[-1] : 0;
    const bool rows_contiguous = sizes[1] <= 1 || strides[1] == 1;
    const bool columns_contiguous = sizes[0] <= 1 || strides[0] == 1;
    transposed = !rows_contiguous && columns_contiguous;
    const int64_t row = transposed ? sizes[0] : sizes[1], lines = transposed ? sizes[1] : sizes[0];
    ld = lines <= 1 ? std::max<int64_t>(row, 1) : strides[transposed ? 1 : 0];
    // Rows that share memory (expanded: also those of one element) are read through a copy: kernels take ld for the
    // length of a row.
    return (rows_contiguous || columns_contiguous) && ld >= std::max<int64_t>(row, 1);
  }
};

struct Product {
  bool ta, tb;
  int64_t batch, m, n, k;
  const void* a;
  int64_t lda, stride_a;
  const void* b;
  int64_t ldb, stride_b;
  void* c;
  int64_t stride_c;
  const Scalar& alpha;
  const Scalar& beta;
};

template <auto kGemm, auto kBatched, class T, class S> void real_product(const Product& p) {
  const auto* a = static_cast<const T*>(p.a);
  const auto* b = static_cast<const T*>(p.b);
  auto* c = static_cast<T*>(p.c);
  const S alpha = static_cast<S>(p.alpha.to_double()), beta = static_cast<S>(p.beta.to_double());
  if (p.batch == 1) return kGemm(p.ta, p.tb, p.m, p.n, p.k, alpha, a, p.lda, b, p.ldb, beta, c, p.n, nullptr);
  kBatched(p.batch, p.ta, p.tb, p.m, p.n, p.k, alpha, a, p.lda, p.stride_a, b, p.ldb, p.stride_b, beta, c, p.n,
           p.stride_c, nullptr);
}

template <class T> void integer_product(const Product& p) {
  const T alpha = static_cast<T>(p.alpha.to_int()), beta = static_cast<T>(p.beta.to_int());
  gemm::gemm_int_batched<T>(p.batch, p.ta, p.tb, p.m, p.n, p.k, alpha, static_cast<const T*>(p.a), p.lda, p.stride_a,
                            static_cast<const T*>(p.b), p.ldb, p.stride_b, beta, static_cast<T*>(p.c), p.n, p.stride_c);
}

template <auto kGemm, class R> void complex_product(const Product& p) {
  using T = std::complex<R>;
  const auto number = [](const Scalar& s) { return T(static_cast<R>(s.real()), static_cast<R>(s.imag())); };
  const T alpha = number(p.alpha), beta = number(p.beta);
  const double work = 4.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k + 1);
  const int64_t grain = static_cast<int64_t>(std::max(1.0, 3e5 / std::max(work, 1.0)));
  parallel_for(0, p.batch, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      kGemm(p.ta, p.tb, p.m, p.n, p.k, alpha, static_cast<const T*>(p.a) + i * p.stride_a, p.lda,
            static_cast<const T*>(p.b) + i * p.stride_b, p.ldb, beta, static_cast<T*>(p.c) + i * p.stride_c, p.n, false,
            false);
  });
}

void run_product(const Product& p, DType dtype) {
  using namespace gemm;
  switch (dtype) {
    case DType::Float32: return real_product<gemm_f32, gemm_f32_batched, float, float>(p);
    case DType::Float64: return real_product<gemm_f64, gemm_f64_batched, double, double>(p);
    case DType::BFloat16: return real_product<gemm_bf16, gemm_bf16_batched, uint16_t, float>(p);
    case DType::Float16: return real_product<gemm_f16, gemm_f16_batched, uint16_t, float>(p);
    case DType::Complex64: return complex_product<gemm_c64, float>(p);
    case DType::Complex128: return complex_product<gemm_c128, double>(p);
    case DType::Int8: return integer_product<int8_t>(p);
    case DType::UInt8: return integer_product<uint8_t>(p);
    case DType::Int16: return integer_product<int16_t>(p);
    case DType::Int32: return integer_product<int32_t>(p);
    default: return integer_product<int64_t>(p);
  }
}

constexpr double kLongWork = 1e6;  // multiply-adds, about 30 us

void multiply(const Tensor& out, const Tensor& a, const Tensor& b, const Scalar& alpha, const Scalar& beta,
              int64_t batch_dims) {
  if (out.numel() == 0) return;
  const Operand left(a, batch_dims), right(b, batch_dims);
  const int64_t batch = batch_dims ? out.sizes()[0] : 1;
  const int64_t m = out.sizes()[static_cast<size_t>(batch_dims)], n = out.sizes()[static_cast<size_t>(batch_dims) + 1];
  const int64_t k = a.sizes()[static_cast<size_t>(batch_dims) + 1];
  const double work =
      static_cast<double>(batch) * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  ReleaseInterpreter long_work(work > kLongWork);
  run_product({left.transposed, right.transposed, batch, m, n, k, left.data, left.ld, left.batch_stride, right.data,
               right.ld, right.batch_stride, out.data(), m * n, alpha, beta},
              out.dtype());
}

}  // namespace

void check_product_dtype(const char* op, DType dtype) {
  const bool known = dtype == DType::Float32 || dtype == DType::Float64 || dtype == DType::BFloat16 ||
                     dtype == DType::Float16 || dtype == DType::Complex64 || dtype == DType::Complex128 ||
                     dtype == DType::Int8 || dtype == DType::UInt8 || dtype == DType::Int16 || dtype == DType::Int32 ||
                     dtype == DType::Int64;
  FL_CHECK_NOT_IMPLEMENTED(
      known, "[", op, "] not implemented for ", dtype_name(dtype),
      "; allowed: float16, bfloat16, float32, float64, complex64, complex128, uint8, int8, int16, int32, int64");
}

void multiply_into(const Tensor& out, const Tensor& a, const Tensor& b, const Scalar& alpha, const Scalar& beta) {
  multiply(out, a, b, alpha, beta, 0);
}

void multiply_batch_into(const Tensor& out, const Tensor& a, const Tensor& b, const Scalar& alpha, const Scalar& beta) {
  multiply(out, a, b, alpha, beta, 1);
}

}  // namespace flambeau
