// 16-bit floats. With AVX512-BF16 the f32 paths run on pairs of bf16 (kernels_bf16_isa.cpp); otherwise operands become
// f32 first. Sums are f32 either way and are rounded once, at the end.
#include <optional>

#include "flambeau/core/parallel.h"
#include "problem.h"
#include "scratch.h"

namespace flambeau::gemm {
namespace {

constexpr int64_t kConvertGrain = 32768;   // elements
constexpr int64_t kStripElements = 65536;  // of a strip of B, 256 KB as f32
constexpr int64_t kFewRows = 48;

enum class Half { kBf16, kF16 };

auto widen_row(Half type) { return type == Half::kBf16 ? convert_kernels().bf16_to_f32 : convert_kernels().f16_to_f32; }
auto narrow_row(Half type) {
  return type == Half::kBf16 ? convert_kernels().f32_to_bf16 : convert_kernels().f32_to_f16;
}

template <class F> void for_rows(int64_t rows, int64_t row_length, F&& f) {
  parallel_for(0, rows, std::max<int64_t>(1, kConvertGrain / std::max<int64_t>(1, row_length)), f);
}

void widen(Half type, const uint16_t* in, int64_t ld, int64_t rows, int64_t columns, float* out) {
  const auto row = widen_row(type);
  for_rows(rows, columns, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) row(in + i * ld, out + i * columns, columns);
  });
}

void narrow(Half type, const float* in, int64_t rows, int64_t columns, uint16_t* out, int64_t ld) {
  const auto row = narrow_row(type);
  for_rows(rows, columns, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) row(in + i * columns, out + i * ld, columns);
  });
}

struct HalfOperand {
  const uint16_t* data;
  int64_t ld;
  bool k_is_contiguous;
  int64_t outer;  // extent of the dimension that is not k
  int64_t k;
};

// An operand as f32, copied in the order it has.
struct Widened {
  Scratch<float> copy;
  int64_t ld;
  Widened(Half type, const HalfOperand& x) : copy(x.outer * x.k), ld(x.k_is_contiguous ? x.k : x.outer) {
    const int64_t rows = x.k_is_contiguous ? x.outer : x.k;
    widen(type, x.data, x.ld, rows, ld, copy.get());
  }
};

// An operand as units of two elements along k; in place when the pairs lie together already.
struct Paired {
  std::optional<Scratch<uint32_t>> copy;
  const float* data;
  int64_t ld;

  explicit Paired(const HalfOperand& x) {
    const int64_t units = (x.k + 1) / 2;
    const bool aligned = reinterpret_cast<uintptr_t>(x.data) % alignof(float) == 0;
    if (x.k_is_contiguous && x.k % 2 == 0 && x.ld % 2 == 0 && aligned) {
      data = reinterpret_cast<const float*>(x.data);
      ld = x.ld / 2;
      return;
    }
    copy.emplace(x.outer * units);
    data = reinterpret_cast<const float*>(copy->get());
    ld = x.k_is_contiguous ? units : x.outer;
    x.k_is_contiguous ? pad_rows(x, units) : pair_rows(x, units);
  }

  void pad_rows(const HalfOperand& x, int64_t units) {
    for_rows(x.outer, x.k, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) {
        const uint16_t* in = x.data + i * x.ld;
        uint32_t* out = copy->get() + i * units;
        for (int64_t u = 0; u < x.k / 2; u++) out[u] = in[2 * u] | static_cast<uint32_t>(in[2 * u + 1]) << 16;
        if (x.k % 2 != 0) out[units - 1] = in[x.k - 1];
      }
    });
  }

  void pair_rows(const HalfOperand& x, int64_t units) {
    for_rows(units, x.outer, [&](int64_t begin, int64_t end) {
      for (int64_t u = begin; u < end; u++) {
        const uint16_t* even = x.data + 2 * u * x.ld;
        uint32_t* out = copy->get() + u * x.outer;
        if (2 * u + 1 < x.k) {
          const uint16_t* odd = even + x.ld;
          for (int64_t j = 0; j < x.outer; j++) out[j] = even[j] | static_cast<uint32_t>(odd[j]) << 16;
        } else {
          for (int64_t j = 0; j < x.outer; j++) out[j] = even[j];
        }
      }
    });
  }
};

// Few rows use each element of B so few times that B must not travel through memory as f32: strips of columns that fit
// the caches are widened by the thread that uses them.
void multiply_few_rows(Half type, const Problem<float>& p, const HalfOperand& a, const HalfOperand& b) {
  const Widened wa(type, a);
  const int64_t columns = round_up(std::max<int64_t>(1, kStripElements / p.K), 32);
  parallel_for(0, (p.N + columns - 1) / columns, 1, [&](int64_t begin, int64_t end) {
    for (int64_t strip = begin; strip < end; strip++) {
      const int64_t column = strip * columns, n = std::min(columns, p.N - column);
      HalfOperand part = b;
      part.data = b.k_is_contiguous ? b.data + column * b.ld : b.data + column;
      part.outer = n;
      const Widened wb(type, part);
      Problem<float> q = p;
      q.A = wa.copy.get();
      q.lda = wa.ld;
      q.B = wb.copy.get();
      q.ldb = wb.ld;
      q.N = n;
      q.C = p.C + column;
      if (q.epilogue.bias != nullptr && !q.epilogue.bias_per_row) {
        q.epilogue.bias = static_cast<const float*>(q.epilogue.bias) + column;
      }
      run_problem(q);
    }
  });
}

// C is f32, [M, N], with beta and bias of p already f32.
void multiply(Half type, Problem<float> p, HalfOperand a, HalfOperand b) {
  a.k = b.k = p.K;
  const FloatKernels<float>* pairs = type == Half::kBf16 ? bf16_pair_kernels() : nullptr;
  if (pairs != nullptr) {
    const Paired pa(a), pb(b);
    p.A = pa.data;
    p.lda = pa.ld;
    p.B = pb.data;
    p.ldb = pb.ld;
    p.K = (p.K + 1) / 2;
    p.kernels = pairs;
    run_problem(p);
  } else if (p.M <= kFewRows && p.K > 0) {
    multiply_few_rows(type, p, a, b);
  } else {
    const Widened wa(type, a), wb(type, b);
    p.A = wa.copy.get();
    p.lda = wa.ld;
    p.B = wb.copy.get();
    p.ldb = wb.ld;
    run_problem(p);
  }
}

struct Call {
  bool ta, tb;
  int64_t M, N, K;
  float alpha;
  const uint16_t* A;
  int64_t lda;
  const uint16_t* B;
  int64_t ldb;
  HalfOperand a() const { return {A, lda, !ta, M, K}; }
  HalfOperand b() const { return {B, ldb, tb, N, K}; }
};

void gemm_to_half(Half type, const Call& c, float beta, uint16_t* C, int64_t ldc, const GemmEpilogue* epilogue) {
  if (c.M <= 0 || c.N <= 0) return;
  Scratch<float> out(c.M * c.N);
  if (beta != 0) widen(type, C, ldc, c.M, c.N, out.get());
  GemmEpilogue ep = epilogue != nullptr ? *epilogue : GemmEpilogue{};
  const int64_t num_bias = ep.bias == nullptr ? 0 : ep.bias_per_row ? c.M : c.N;
  Scratch<float> bias(num_bias);
  if (num_bias > 0) {
    widen_row(type)(static_cast<const uint16_t*>(ep.bias), bias.get(), num_bias);
    ep.bias = bias.get();
  }
  multiply(type,
           make_problem<float>(c.ta, c.tb, c.M, c.N, c.K, c.alpha, nullptr, 0, nullptr, 0, beta, out.get(), c.N, &ep),
           c.a(), c.b());
  narrow(type, out.get(), c.M, c.N, C, ldc);
}

}  // namespace

void gemm_bf16(bool ta, bool tb, int64_t M, int64_t N, int64_t K, float alpha, const uint16_t* A, int64_t lda,
               const uint16_t* B, int64_t ldb, float beta, uint16_t* C, int64_t ldc, const GemmEpilogue* epilogue) {
  gemm_to_half(Half::kBf16, {ta, tb, M, N, K, alpha, A, lda, B, ldb}, beta, C, ldc, epilogue);
}

void gemm_f16(bool ta, bool tb, int64_t M, int64_t N, int64_t K, float alpha, const uint16_t* A, int64_t lda,
              const uint16_t* B, int64_t ldb, float beta, uint16_t* C, int64_t ldc, const GemmEpilogue* epilogue) {
  gemm_to_half(Half::kF16, {ta, tb, M, N, K, alpha, A, lda, B, ldb}, beta, C, ldc, epilogue);
}

}  // namespace flambeau::gemm
