// Matrix products against naive loops. Run once per FLAMBEAU_CPU_CAPABILITY (v2, v3, v4): the choice is made once a
// process.
//
//     gemm_test            everything; prints each failure, exits with their number
#include "../../csrc/gemm/gemm.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "../../csrc/cpu/cpu_features.h"
#include "flambeau/core/half.h"
#include "flambeau/core/parallel.h"

using namespace flambeau::gemm;

namespace {

int failures = 0;
std::mt19937 rng(7);

struct Shape {
  int64_t M, N, K;
};

// Strides wider than the matrices, so that reading or writing between rows shows.
struct Layout {
  bool ta, tb;
  int64_t lda, ldb, ldc;
  Layout(bool a, bool b, const Shape& s, int64_t gap)
      : ta(a), tb(b), lda((a ? s.M : s.K) + gap), ldb((b ? s.K : s.N) + gap), ldc(s.N + gap) {}
};

template <class T> T random_value() {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(rng());
  else
    return static_cast<T>(std::uniform_real_distribution<double>(-1, 1)(rng));
}
template <> std::complex<float> random_value() { return {random_value<float>(), random_value<float>()}; }
template <> std::complex<double> random_value() { return {random_value<double>(), random_value<double>()}; }

template <class T> std::vector<T> random_matrix(int64_t rows, int64_t ld) {
  std::vector<T> x(static_cast<size_t>(rows * ld) + 1);
  for (T& v : x) v = random_value<T>();
  return x;
}

template <class T> T at(const std::vector<T>& x, bool transposed, int64_t ld, int64_t i, int64_t j) {
  return x[static_cast<size_t>(transposed ? j * ld + i : i * ld + j)];
}

template <class T, class Sum>
std::vector<Sum> naive(const Shape& s, const Layout& l, const std::vector<T>& A, const std::vector<T>& B) {
  std::vector<Sum> out(static_cast<size_t>(s.M * s.N));
  for (int64_t i = 0; i < s.M; i++) {
    for (int64_t j = 0; j < s.N; j++) {
      Sum sum{};
      for (int64_t k = 0; k < s.K; k++)
        sum += static_cast<Sum>(at(A, l.ta, l.lda, i, k)) * static_cast<Sum>(at(B, l.tb, l.ldb, k, j));
      out[static_cast<size_t>(i * s.N + j)] = sum;
    }
  }
  return out;
}

void fail(const char* what, const Shape& s, const Layout& l, int64_t i, int64_t j, double got, double want) {
  if (failures++ < 40) {
    std::printf("FAIL %s %ldx%ldx%ld %c%c ldc %ld at (%ld, %ld): got %.9g, want %.9g\n", what, s.M, s.N, s.K,
                l.ta ? 'T' : 'N', l.tb ? 'T' : 'N', l.ldc, i, j, got, want);
  }
}

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {
      {1, 1, 1},       {1, 1, 300},     {3, 5, 7},     {16, 16, 16},   {17, 33, 65},  {1, 129, 70},
      {70, 1, 129},    {2, 300, 90},    {300, 2, 90},  {8, 200, 200},  {200, 8, 200}, {32, 100, 300},
      {48, 50, 1000},  {100, 100, 100}, {64, 64, 0},   {0, 5, 3},      {5, 0, 3},     {31, 500, 401},
      {129, 257, 385}, {190, 520, 800}, {13, 31, 900}, {15, 700, 129}, {1, 1000, 1},  {90, 5, 400}};
  return all;
}

template <class F> void each_case(F&& f) {
  for (const Shape& s : shapes()) {
    for (int t = 0; t < 4; t++) {
      for (int64_t gap : {0, 5}) f(s, Layout(t & 1, t & 2, s, gap));
    }
  }
}

template <class T, class Gemm> void test_float(const char* name, Gemm gemm, double tolerance) {
  each_case([&](const Shape& s, const Layout& l) {
    const auto A = random_matrix<T>(l.ta ? s.K : s.M, l.lda), B = random_matrix<T>(l.tb ? s.N : s.K, l.ldb);
    const auto want = naive<T, double>(s, l, A, B);
    const auto bias_n = random_matrix<T>(1, s.N), bias_m = random_matrix<T>(1, s.M);
    for (int mode = 0; mode < 4; mode++) {
      // 0: C holds NaN and must not be read; 1: alpha, beta; 2: beta 1, bias per column, relu; 3: bias per row
      auto C = random_matrix<T>(s.M, l.ldc);
      if (mode == 0) std::fill(C.begin(), C.end(), std::numeric_limits<T>::quiet_NaN());
      const auto before = C;
      const T alpha = mode == 1 ? T(0.75) : T(1), beta = mode == 0 || mode == 3 ? T(0) : mode == 1 ? T(-0.5) : T(1);
      GemmEpilogue e;
      if (mode == 2) e = {bias_n.data(), false, Activation::kRelu};
      if (mode == 3) e = {bias_m.data(), true, Activation::kNone};
      gemm(l.ta, l.tb, s.M, s.N, s.K, alpha, A.data(), l.lda, B.data(), l.ldb, beta, C.data(), l.ldc, &e);
      for (int64_t i = 0; i < s.M; i++) {
        for (int64_t j = 0; j < l.ldc; j++) {
          const size_t at_c = static_cast<size_t>(i * l.ldc + j);
          if (j >= s.N) {
            if (std::memcmp(&C[at_c], &before[at_c], sizeof(T)) != 0)
              fail("gap written", s, l, i, j, C[at_c], before[at_c]);
            continue;
          }
          double x = static_cast<double>(alpha) * want[static_cast<size_t>(i * s.N + j)];
          if (beta != 0) x += static_cast<double>(beta) * before[at_c];
          if (mode == 2) x = std::max(0.0, x + bias_n[static_cast<size_t>(j)]);
          if (mode == 3) x += bias_m[static_cast<size_t>(i)];
          if (!(std::abs(C[at_c] - x) <= tolerance * (1 + std::sqrt(static_cast<double>(s.K)))))
            fail(name, s, l, i, j, C[at_c], x);
        }
      }
    }
  });
}

template <class Widen, class Narrow, class Gemm>
void test_half(const char* name, Widen widen, Narrow narrow, Gemm gemm, double epsilon) {
  each_case([&](const Shape& s, const Layout& l) {
    auto Af = random_matrix<float>(l.ta ? s.K : s.M, l.lda), Bf = random_matrix<float>(l.tb ? s.N : s.K, l.ldb);
    auto Cf = random_matrix<float>(s.M, l.ldc), bias_f = random_matrix<float>(1, s.N);
    std::vector<uint16_t> A, B, C, bias;
    const auto to_half = [&](std::vector<float>& from, std::vector<uint16_t>& to) {
      for (float& x : from) {
        to.push_back(narrow(x));
        x = widen(to.back());
      }
    };
    to_half(Af, A), to_half(Bf, B), to_half(Cf, C), to_half(bias_f, bias);
    const auto want = naive<float, double>(s, l, Af, Bf);
    const GemmEpilogue e{bias.data(), false, Activation::kNone};
    gemm(l.ta, l.tb, s.M, s.N, s.K, 0.5f, A.data(), l.lda, B.data(), l.ldb, 2.0f, C.data(), l.ldc, &e);
    for (int64_t i = 0; i < s.M; i++) {
      for (int64_t j = 0; j < s.N; j++) {
        const double x = 0.5 * want[static_cast<size_t>(i * s.N + j)] + 2.0 * Cf[static_cast<size_t>(i * l.ldc + j)] +
                         bias_f[static_cast<size_t>(j)];
        const double got = widen(C[static_cast<size_t>(i * l.ldc + j)]);
        if (!(std::abs(got - x) <= epsilon * std::abs(x) + 1e-6 * (1 + static_cast<double>(s.K))))
          fail(name, s, l, i, j, got, x);
      }
    }
  });
}

template <class T> void test_int(const char* name) {
  each_case([&](const Shape& s, const Layout& l) {
    if (s.M * s.N * s.K > 1000000) return;
    const auto A = random_matrix<T>(l.ta ? s.K : s.M, l.lda), B = random_matrix<T>(l.tb ? s.N : s.K, l.ldb);
    const auto want = naive<T, uint64_t>(s, l, A, B);
    auto C = random_matrix<T>(s.M, l.ldc);
    const auto before = C;
    gemm_int<T>(l.ta, l.tb, s.M, s.N, s.K, T(3), A.data(), l.lda, B.data(), l.ldb, T(2), C.data(), l.ldc);
    for (int64_t i = 0; i < s.M; i++) {
      for (int64_t j = 0; j < s.N; j++) {
        const size_t c = static_cast<size_t>(i * l.ldc + j);
        const T x = static_cast<T>(3 * want[static_cast<size_t>(i * s.N + j)] + 2 * static_cast<uint64_t>(before[c]));
        if (C[c] != x) fail(name, s, l, i, j, static_cast<double>(C[c]), static_cast<double>(x));
      }
    }
  });
}

void test_i8_i32() {
  each_case([&](const Shape& s, const Layout& l) {
    const auto A = random_matrix<int8_t>(l.ta ? s.K : s.M, l.lda), B = random_matrix<int8_t>(l.tb ? s.N : s.K, l.ldb);
    const auto want = naive<int8_t, int32_t>(s, l, A, B);
    auto C = random_matrix<int32_t>(s.M, l.ldc);
    gemm_i8_i32(l.ta, l.tb, s.M, s.N, s.K, A.data(), l.lda, B.data(), l.ldb, C.data(), l.ldc);
    for (int64_t i = 0; i < s.M; i++) {
      for (int64_t j = 0; j < s.N; j++) {
        const int32_t got = C[static_cast<size_t>(i * l.ldc + j)], x = want[static_cast<size_t>(i * s.N + j)];
        if (got != x) fail("i8_i32", s, l, i, j, got, x);
      }
    }
  });
}

template <class R, class Gemm> void test_complex(const char* name, Gemm gemm, double tolerance) {
  using T = std::complex<R>;
  each_case([&](const Shape& s, const Layout& l) {
    if (s.M * s.N * s.K > 3000000) return;
    const auto A = random_matrix<T>(l.ta ? s.K : s.M, l.lda), B = random_matrix<T>(l.tb ? s.N : s.K, l.ldb);
    auto conjugated = A;
    for (T& x : conjugated) x = std::conj(x);
    const auto want = naive<T, std::complex<double>>(s, l, conjugated, B);
    auto C = random_matrix<T>(s.M, l.ldc);
    const auto before = C;
    const T alpha(0.5, -1), beta(2, 0.25);
    gemm(l.ta, l.tb, s.M, s.N, s.K, alpha, A.data(), l.lda, B.data(), l.ldb, beta, C.data(), l.ldc, true, false);
    for (int64_t i = 0; i < s.M; i++) {
      for (int64_t j = 0; j < s.N; j++) {
        const size_t c = static_cast<size_t>(i * l.ldc + j);
        const std::complex<double> x = std::complex<double>(alpha) * want[static_cast<size_t>(i * s.N + j)] +
                                       std::complex<double>(beta) * std::complex<double>(before[c]);
        if (!(std::abs(std::complex<double>(C[c]) - x) <= tolerance * (4 + std::sqrt(static_cast<double>(s.K)))))
          fail(name, s, l, i, j, C[c].real(), x.real());
      }
    }
  });
}

// One product, a batch of it, prepacked weights and any number of threads give the same bits.
void test_same_bits() {
  each_case([&](const Shape& s, const Layout& l) {
    const int64_t batch = 3, a_size = (l.ta ? s.K : s.M) * l.lda, b_size = (l.tb ? s.N : s.K) * l.ldb;
    const auto A = random_matrix<float>(batch, a_size), B = random_matrix<float>(batch, b_size);
    std::vector<float> one(static_cast<size_t>(batch * s.M * l.ldc)), many = one, packed = one;
    const int threads = flambeau::get_num_threads();
    flambeau::set_num_threads(1);
    for (int64_t i = 0; i < batch; i++) {
      gemm_f32(l.ta, l.tb, s.M, s.N, s.K, 1, A.data() + i * a_size, l.lda, B.data() + i * b_size, l.ldb, 0,
               one.data() + i * s.M * l.ldc, l.ldc);
    }
    flambeau::set_num_threads(3);
    gemm_f32_batched(batch, l.ta, l.tb, s.M, s.N, s.K, 1, A.data(), l.lda, a_size, B.data(), l.ldb, b_size, 0,
                     many.data(), l.ldc, s.M * l.ldc);
    if (!one.empty() && std::memcmp(one.data(), many.data(), one.size() * sizeof(float)) != 0)
      fail("batch differs", s, l, 0, 0, 0, 0);
    const auto want = naive<float, double>(s, l, A, B);
    gemm_f32_packed(l.ta, s.M, 1, A.data(), l.lda, *pack_b_f32(l.tb, s.N, s.K, B.data(), l.ldb), 0, packed.data(),
                    l.ldc);
    for (int64_t i = 0; i < s.M; i++) {
      for (int64_t j = 0; j < s.N; j++) {
        const double got = packed[static_cast<size_t>(i * l.ldc + j)], x = want[static_cast<size_t>(i * s.N + j)];
        if (!(std::abs(got - x) <= 3e-6 * (1 + std::sqrt(static_cast<double>(s.K)))))
          fail("packed", s, l, i, j, got, x);
      }
    }
    flambeau::set_num_threads(threads);
  });
}

}  // namespace

int main() {
  using flambeau::half_detail::bfloat16_from_float;
  using flambeau::half_detail::bfloat16_to_float;
  using flambeau::half_detail::half_from_float_portable;
  using flambeau::half_detail::half_to_float_portable;
  test_float<float>("f32", gemm_f32, 3e-6);
  test_float<double>("f64", gemm_f64, 1e-14);
  test_half("bf16", bfloat16_to_float, bfloat16_from_float, gemm_bf16, 0.004);
  test_half("f16", half_to_float_portable, half_from_float_portable, gemm_f16, 0.0005);
  test_int<int8_t>("i8"), test_int<uint8_t>("u8"), test_int<int16_t>("i16"), test_int<int32_t>("i32"),
      test_int<int64_t>("i64");
  test_i8_i32();
  test_complex<float>("c64", gemm_c64, 2e-6);
  test_complex<double>("c128", gemm_c128, 2e-14);
  test_same_bits();
  std::printf("gemm_test: %s, %d failures\n", flambeau::cpu::cpu_capability_name(flambeau::cpu::cpu_capability()),
              failures);
  return failures > 255 ? 255 : failures;
}
