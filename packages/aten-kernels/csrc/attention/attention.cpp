// Attention without the matrix of all scores: keys are taken block by block, with a running maximum and sum a query.
#include "attention/attention_block.h"

#include "gemm/scratch.h"

namespace flambeau {

namespace nn {

// The record's checks have seen that the sizes fit.
AttentionShape shape_of(const char* op, const Tensor& q, const Tensor& k, const Tensor& v) {
  compute_dtype(op, q.dtype());
  return {q.sizes()[0], q.sizes()[1], q.sizes()[2], k.sizes()[2], q.sizes()[3], v.sizes()[3]};
}

Tensor additive_mask(const char* op, const Tensor& mask, const AttentionShape& s, DType dtype) {
  if (!mask.defined()) return {};
  const std::vector<int64_t> shape{s.B, s.H, s.L, s.S};
  const auto together = broadcast_shapes(mask.sizes(), shape, op);
  FL_CHECK_SHAPE(IntList(together) == IntList(shape), "[", op, "] attn_mask of sizes ", mask.sizes(),
                 " does not broadcast to ", shape);
  Tensor numbers = prepared(mask, dtype);
  if (is_bool(mask.dtype()))
    by_compute(dtype, [&](auto zero) {
      using T = decltype(zero);
      for (int64_t i = 0; i < numbers.numel(); ++i)
        numbers.data_as<T>()[i] = numbers.data_as<T>()[i] != 0 ? T(0) : -std::numeric_limits<T>::infinity();
    });
  return expand(numbers, shape);
}

}  // namespace nn

using namespace nn;

namespace {

double scale_of(std::optional<double> scale, int64_t E) {
  return scale ? *scale : 1 / std::sqrt(static_cast<double>(std::max<int64_t>(E, 1)));
}

// One block of queries: out rows and the logarithms of their sums.
template <class T>
void attend(const Scores<T>& scores, const Heads<T>& v, int64_t i, int64_t j, int64_t row, int64_t rows, T* block,
            T* out, int64_t ld_out, T* lse) {
  const AttentionShape& s = scores.s;
  T top[kQueryBlock], sum[kQueryBlock];
  for (int64_t r = 0; r < rows; ++r) {
    top[r] = -std::numeric_limits<T>::infinity(), sum[r] = 0;
    std::fill_n(out + r * ld_out, s.V, T(0));
  }
  const int64_t last = scores.causal ? std::min(s.S, row + rows) : s.S;
  for (int64_t column = 0; column < last; column += kKeyBlock) {
    const int64_t columns = std::min(kKeyBlock, last - column);
    scores.fill(i, j, row, rows, column, columns, block);
    for (int64_t r = 0; r < rows; ++r) {
      T* p = block + r * columns;
      const T best = std::max(top[r], hot<T>().largest(p, columns));
      const T shift = std::isinf(best) && best < 0 ? T(0) : best;  // nothing seen yet: exp(-inf) is 0
      const T keep = std::exp(top[r] - shift);
      sum[r] = sum[r] * keep + hot<T>().exp_shifted(p, T(1), shift, p, columns);
      if (keep != 1)
        for (int64_t c = 0; c < s.V; ++c) out[r * ld_out + c] *= keep;
      top[r] = best;
    }
    product(false, false, rows, s.V, columns, T(1), block, columns, v.at(i, j, column), v.ld(), T(1), out, ld_out);
  }
  for (int64_t r = 0; r < rows; ++r) {
    const T scale = sum[r] == 0 ? T(0) : 1 / sum[r];  // a query that sees no key gives zeros
    for (int64_t c = 0; c < s.V; ++c) out[r * ld_out + c] *= scale;
    lse[r] = sum[r] == 0 ? -std::numeric_limits<T>::infinity() : top[r] + std::log(sum[r]);
  }
}

}  // namespace

// The result has the layout of the queries where it has their sizes and they are dense: heads that lie side by side
// stay so.
std::tuple<TensorSpec, TensorSpec> attention_shape(const Tensor& query, const Tensor& key, const Tensor& value,
                                                   double dropout_p, bool, const Tensor&, std::optional<double>) {
  const char* op = "scaled_dot_product_attention";
  const AttentionShape s = shape_of(op, query, key, value);
  std::vector<int64_t> sizes{s.B, s.H, s.L, s.V};
  checked_numel(sizes, op);
  const bool like_query = s.V == s.E && query.strides().back() == 1 && query.is_non_overlapping_and_dense();
  return {TensorSpec{sizes, query.dtype(), like_query ? query.strides().vec() : std::vector<int64_t>{}},
          TensorSpec{{s.B, s.H, s.L}, compute_dtype(op, query.dtype()), {}}};
}

void attention_cpu(const Tensor& query, const Tensor& key, const Tensor& value, double, bool is_causal,
                   const Tensor& attn_mask, std::optional<double> scale, const Tensor& out, const Tensor& logsumexp) {
  const char* op = "scaled_dot_product_attention";
  const AttentionShape s = shape_of(op, query, key, value);
  const DType d = compute_dtype(op, query.dtype());
  const Tensor mask = additive_mask(op, attn_mask, s, d);
  const int64_t blocks = (s.L + kQueryBlock - 1) / kQueryBlock;
  ReleaseInterpreter long_work(s.B * s.H * s.L * s.S * s.E > (1 << 18));
  by_compute(d, [&](auto zero) {
    using T = decltype(zero);
    const Heads<T> q(query, d), k(key, d), v(value, d);
    const bool direct = Heads<T>::fits(out, d);
    const Tensor result = direct ? out : empty(out.sizes(), {d, out.device()});
    const Output sums(logsumexp, d);
    const Heads<T> y(result, d);
    const Scores<T> scores{s, q, k, mask, is_causal, static_cast<T>(scale_of(scale, s.E))};
    parallel_for(
        0, s.B * s.H * blocks, row_grain(kQueryBlock * s.S * (s.E + s.V) / 4), [&](int64_t begin, int64_t end) {
          const gemm::Scratch<T> block(kQueryBlock * kKeyBlock);
          for (int64_t t = begin; t < end; ++t) {
            const int64_t head = t / blocks, row = t % blocks * kQueryBlock, rows = std::min(kQueryBlock, s.L - row),
                          i = head / s.H, j = head % s.H;
            attend(scores, v, i, j, row, rows, block.get(), y.at(i, j, row), y.ld(), sums.data<T>() + head * s.L + row);
          }
        });
    sums.finish();
    if (!direct) copy_values(out, result);
  });
}

std::tuple<Tensor, Tensor, Tensor> attention_backward(const Tensor& grad_out, const Tensor& query, const Tensor& key,
                                                      const Tensor& value, const Tensor& out, const Tensor& logsumexp,
                                                      double dropout_p, bool is_causal, const Tensor& attn_mask,
                                                      std::optional<double> scale) {
  const char* op = "_scaled_dot_product_flash_attention_for_cpu_backward";
  const AttentionShape s = shape_of(op, query, key, value);
  const DType d = compute_dtype(op, query.dtype());
  const Tensor mask = additive_mask(op, attn_mask, s, d);
  std::tuple<Tensor, Tensor, Tensor> grads;
  ReleaseInterpreter long_work(s.B * s.H * s.L * s.S * s.E > (1 << 18));
  by_compute(d, [&](auto zero) {
    using T = decltype(zero);
    const Heads<T> q(query, d), k(key, d), v(value, d), g(grad_out, d), y(out, d);
    const Tensor sums = prepared(logsumexp, d);
    const auto fresh = [&](const Tensor& like) {
      Tensor t = empty(like.sizes(), {d, like.device()});
      std::fill_n(t.data_as<T>(), t.numel(), T(0));
      return t;
    };
    const Tensor gq = fresh(query), gk = fresh(key), gv = fresh(value);
    const Heads<T> dq(gq, d), dk(gk, d), dv(gv, d);
    const T factor = static_cast<T>(scale_of(scale, s.E));
    const Scores<T> scores{s, q, k, mask, is_causal, factor};
    parallel_for(0, s.B * s.H, 1, [&](int64_t begin, int64_t end) {
      const gemm::Scratch<T> block(kQueryBlock * kKeyBlock), slope(kQueryBlock * kKeyBlock);
      T *p = block.get(), *ds = slope.get();
      for (int64_t head = begin; head < end; ++head) {
        const int64_t i = head / s.H, j = head % s.H;
        for (int64_t row = 0; row < s.L; row += kQueryBlock) {
          const int64_t rows = std::min(kQueryBlock, s.L - row), last = is_causal ? std::min(s.S, row + rows) : s.S;
          T dots[kQueryBlock];
          for (int64_t r = 0; r < rows; ++r) {
            double dot = 0;
            for (int64_t c = 0; c < s.V; ++c)
              dot += static_cast<double>(g.at(i, j, row + r)[c]) * static_cast<double>(y.at(i, j, row + r)[c]);
            dots[r] = static_cast<T>(dot);
          }
          for (int64_t column = 0; column < last; column += kKeyBlock) {
            const int64_t columns = std::min(kKeyBlock, last - column);
            scores.fill(i, j, row, rows, column, columns, p);
            for (int64_t r = 0; r < rows; ++r) {
              const T lse = sums.data_as<T>()[head * s.L + row + r];
              if (std::isinf(lse) && lse < 0)
                std::fill_n(p + r * columns, columns, T(0));
              else
                hot<T>().exp_shifted(p + r * columns, T(1), lse, p + r * columns, columns);
            }
            product(true, false, columns, s.V, rows, T(1), p, columns, g.at(i, j, row), g.ld(), T(1),
                    dv.at(i, j, column), dv.ld());
            product(false, true, rows, columns, s.V, T(1), g.at(i, j, row), g.ld(), v.at(i, j, column), v.ld(), T(0),
                    ds, columns);
            for (int64_t r = 0; r < rows; ++r)
              for (int64_t c = 0; c < columns; ++c)
                ds[r * columns + c] = (ds[r * columns + c] - dots[r]) * p[r * columns + c];
            product(false, false, rows, s.E, columns, factor, ds, columns, k.at(i, j, column), k.ld(), T(1),
                    dq.at(i, j, row), dq.ld());
            product(true, false, columns, s.E, rows, factor, ds, columns, q.at(i, j, row), q.ld(), T(1),
                    dk.at(i, j, column), dk.ld());
          }
        }
      }
    });
    grads = {prepared(gq, query.dtype()), prepared(gk, key.dtype()), prepared(gv, value.dtype())};
  });
  return grads;
}

}  // namespace flambeau
