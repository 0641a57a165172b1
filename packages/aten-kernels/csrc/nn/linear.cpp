// linear: rows of the input times the transposed weight, the bias added before results leave the registers.
#include "flambeau/core/kernel.h"
#include "flambeau/core/views.h"
#include "gemm/gemm.h"
#include "nn/compute.h"

namespace flambeau {

using namespace nn;

namespace {

// A [rows, columns] operand of a product: where it lies in memory row by row, or column by column.
struct Matrix {
  Tensor t;
  bool transposed;
  int64_t ld;
};

Matrix as_matrix(const Tensor& t, int64_t rows, int64_t columns) {
  if (t.dim() == 2) {
    const int64_t r = t.strides()[0], c = t.strides()[1];
    if (c == 1 && r >= std::max<int64_t>(columns, 1)) return {t, false, r};
    if (r == 1 && c >= std::max<int64_t>(rows, 1)) return {t, true, c};
  }
  return {contiguous(t), false, std::max<int64_t>(columns, 1)};
}

void product(const Matrix& a, const Matrix& b, bool flip_b, int64_t M, int64_t N, int64_t K, const Tensor& bias,
             const Tensor& out) {
  gemm::GemmEpilogue epilogue;
  if (bias.defined()) epilogue.bias = bias.data();
  const gemm::GemmEpilogue* e = bias.defined() ? &epilogue : nullptr;
  const bool tb = b.transposed != flip_b;
  ReleaseInterpreter long_work(M * N * K > (1 << 19));
  const auto bits = [](const Tensor& t) { return t.data_as<uint16_t>(); };
  switch (out.dtype()) {
    case DType::Float32:
      return gemm::gemm_f32(a.transposed, tb, M, N, K, 1, a.t.data_as<float>(), a.ld, b.t.data_as<float>(), b.ld, 0,
                            out.data_as<float>(), N, e);
    case DType::Float64:
      return gemm::gemm_f64(a.transposed, tb, M, N, K, 1, a.t.data_as<double>(), a.ld, b.t.data_as<double>(), b.ld, 0,
                            out.data_as<double>(), N, e);
    case DType::BFloat16:
      return gemm::gemm_bf16(a.transposed, tb, M, N, K, 1, bits(a.t), a.ld, bits(b.t), b.ld, 0, bits(out), N, e);
    default: return gemm::gemm_f16(a.transposed, tb, M, N, K, 1, bits(a.t), a.ld, bits(b.t), b.ld, 0, bits(out), N, e);
  }
}

template <class T>
void complex_product(const Matrix& a, const Matrix& b, int64_t M, int64_t N, int64_t K, const Tensor& bias,
                     const Tensor& out) {
  using C = std::complex<T>;
  C* y = out.data_as<C>();
  if (bias.defined())
    for (int64_t m = 0; m < M; ++m) std::copy_n(bias.data_as<C>(), N, y + m * N);
  const auto f = [&] {
    if constexpr (std::is_same_v<T, float>)
      return &gemm::gemm_c64;
    else
      return &gemm::gemm_c128;
  }();
  f(a.transposed, !b.transposed, M, N, K, C(1), a.t.data_as<C>(), a.ld, b.t.data_as<C>(), b.ld,
    bias.defined() ? C(1) : C(0), y, N, false, false);
}

void integer_product(const Tensor& x, const Tensor& w, int64_t M, int64_t N, int64_t K, const Tensor& bias,
                     const Tensor& out) {
  FL_CHECK_NOT_IMPLEMENTED(is_integral(out.dtype()), "\"linear\" not implemented for '", dtype_name(out.dtype()), "'");
  const Tensor a = prepared(x, DType::Int64), b = prepared(w, DType::Int64);
  const Tensor y = empty(out.sizes(), {DType::Int64, out.device()});
  int64_t beta = 0;
  if (bias.defined()) {
    const Tensor add = prepared(bias, DType::Int64);
    for (int64_t m = 0; m < M; ++m) std::copy_n(add.data_as<int64_t>(), N, y.data_as<int64_t>() + m * N);
    beta = 1;
  }
  gemm::gemm_int<int64_t>(false, true, M, N, K, 1, a.data_as<int64_t>(), std::max<int64_t>(K, 1), b.data_as<int64_t>(),
                          std::max<int64_t>(K, 1), beta, y.data_as<int64_t>(), std::max<int64_t>(N, 1));
  copy_values(out, y);
}

}  // namespace

TensorSpec linear_shape(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  FL_CHECK_SHAPE(input.dim() >= 1, "[linear] input must have at least one dimension, got a 0-d tensor; weight is ",
                 weight.sizes());
  FL_CHECK_SHAPE(weight.dim() == 1 || weight.dim() == 2, "[linear] weight must have one or two dimensions, got ",
                 weight.sizes());
  check_same_dtype("linear", input, "input", weight, "weight");
  check_same_dtype("linear", input, "input", bias, "bias");
  const int64_t K = input.sizes().back();
  FL_CHECK_SHAPE(weight.sizes().back() == K, "[linear] inner sizes differ: input is ", input.sizes(), ", weight is ",
                 weight.sizes(), "; their last sizes must be equal");
  std::vector<int64_t> sizes = input.sizes().vec();
  sizes.pop_back();
  const int64_t N = weight.dim() == 2 ? weight.sizes()[0] : 1;
  if (weight.dim() == 2) sizes.push_back(N);
  if (bias.defined()) {
    const bool fits = bias.dim() <= 1 && (bias.numel() == N || bias.numel() == 1);
    FL_CHECK_SHAPE(fits, "[linear] bias is ", bias.sizes(), ", it must be [", N, "] for weight ", weight.sizes());
  }
  checked_numel(sizes, "linear");
  return {std::move(sizes), input.dtype(), {}};
}

void linear_cpu(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& out) {
  if (out.numel() == 0) return;
  const int64_t K = input.sizes().back(), N = weight.dim() == 2 ? weight.sizes()[0] : 1, M = out.numel() / N;
  Tensor add = bias;
  if (bias.defined()) add = contiguous(bias.numel() == N ? bias : expand(bias.dim() ? bias : unsqueeze(bias, 0), {N}));
  const Output y(out, out.dtype());
  const Tensor& to = y.tensor();
  if (is_integral(out.dtype(), true)) {
    integer_product(input, weight, M, N, K, add, to);
  } else {
    FL_CHECK_NOT_IMPLEMENTED(out.dtype() != DType::Complex32 && !is_float8(out.dtype()),
                             "\"linear\" not implemented for '", dtype_name(out.dtype()), "'");
    const Matrix a = as_matrix(input, M, K), b = as_matrix(weight, N, K);
    if (out.dtype() == DType::Complex64)
      complex_product<float>(a, b, M, N, K, add, to);
    else if (out.dtype() == DType::Complex128)
      complex_product<double>(a, b, M, N, K, add, to);
    else
      product(a, b, true, M, N, K, add, to);
  }
  y.finish();
}

}  // namespace flambeau
