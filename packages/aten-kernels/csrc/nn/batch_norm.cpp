// Batch normalisation: each channel of (N, C, ...) over all other dimensions.
#include <cmath>

#include "flambeau/ops/_batch_norm_core.h"
#include "flambeau/ops/add.h"
#include "flambeau/ops/clone.h"
#include "flambeau/ops/mul.h"
#include "flambeau/ops/select.h"
#include "nn/compute.h"
#include "nn/hot.h"
#include "nn/norm_common.h"

namespace flambeau {

using namespace nn;

namespace {

// Memory as [N, C, S] (row-major) or [rows, C] (channels-last).
struct Channels {
  int64_t N, C, S;
  bool last;
  int64_t count() const { return N * S; }

  Channels(const Tensor& x, MemoryFormat format)
      : N(x.sizes()[0]), C(x.sizes()[1]), S(1), last(format != MemoryFormat::Contiguous) {
    for (int64_t d = 2; d < x.dim(); ++d) S *= x.sizes()[d];
    if (S == 1 && x.dim() == 2) last = true;  // (N, C) is channels-last already
    if (last) N *= S, S = 1;
  }
};

constexpr int64_t kBlock = 64;  // channels a task takes

// per_channel(c) for row-major memory, per_block(first, width) for channels-last.
template <class One, class Block> void each_channel(const Channels& c, One&& one, Block&& block) {
  if (!c.last)
    return for_rows(c.C, c.count() * 2, [&](int64_t b, int64_t e) {
      for (int64_t k = b; k < e; ++k) one(k);
    });
  const int64_t blocks = (c.C + kBlock - 1) / kBlock;
  for_rows(blocks, c.N * std::min(c.C, kBlock) * 2, [&](int64_t b, int64_t e) {
    for (int64_t k = b; k < e; ++k) block(k * kBlock, std::min(kBlock, c.C - k * kBlock));
  });
}

// f(offset, length, channel) over row-major memory; f(offset, C, -1) over rows of channels-last memory.
template <class F> void each_run(const Channels& c, F&& f) {
  if (c.last)
    return for_rows(c.N, c.C, [&](int64_t b, int64_t e) {
      for (int64_t r = b; r < e; ++r) f(r * c.C, c.C, int64_t{-1});
    });
  for_rows(c.N * c.C, c.S, [&](int64_t b, int64_t e) {
    for (int64_t r = b; r < e; ++r) f(r * c.S, c.S, r % c.C);
  });
}

template <class T> void batch_stats(const Channels& c, const T* x, double* mean, double* squares) {
  each_channel(
      c, [&](int64_t k) { hot<T>().moments(x + k * c.S, c.N, c.S, c.C * c.S, mean + k, squares + k); },
      [&](int64_t at, int64_t width) { hot<T>().column_moments(x + at, c.N, width, c.C, mean + at, squares + at); });
}

void move_running(const Tensor& running, const std::vector<double>& stat, double scale, double momentum) {
  if (!running.defined()) return;
  const Tensor now = prepared(running, DType::Float64);
  Tensor next = empty(running.sizes(), {DType::Float64, running.device()});
  for (int64_t k = 0; k < running.numel(); ++k)
    next.data_as<double>()[k] =
        (1 - momentum) * now.data_as<double>()[k] + momentum * stat[static_cast<size_t>(k)] * scale;
  copy_values(running, next);
  running.bump_version();
}

void check_inputs(const char* op, const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& mean,
                  const Tensor& var, bool training) {
  FL_CHECK_INDEX(input.dim() >= 2, "[", op, "] input needs at least 2 dimensions (N, C, ...), got sizes ",
                 input.sizes());
  if (!training)
    FL_CHECK(mean.defined() && var.defined(), "running_mean must be defined in evaluation mode; so must running_var");
  const int64_t C = input.sizes()[1];
  const auto check = [&](const char* name, const Tensor& t) {
    if (t.defined())
      FL_CHECK_SHAPE(t.numel() == C && t.dim() == 1, name, " should contain ", C, " elements not ", t.numel());
  };
  check("running_mean", mean), check("running_var", var), check("weight", weight), check("bias", bias);
  compute_dtype("batch_norm", input.dtype());
  parameter_dtype(op, input, {&weight, &bias, &mean, &var});
}

}  // namespace

// The statistics that were used come second and third, in evaluation too.
std::tuple<Tensor, Tensor, Tensor> batch_norm_core(const Tensor& input, const Tensor& weight, const Tensor& bias,
                                                   const Tensor& running_mean, const Tensor& running_var, bool training,
                                                   double momentum, double eps) {
  check_inputs("batch_norm", input, weight, bias, running_mean, running_var, training);
  const DType d = compute_dtype("batch_norm", input.dtype()),
              stats = parameter_dtype("batch_norm", input, {&weight, &bias, &running_mean, &running_var});
  const MemoryFormat format = format_of(input);
  const Channels c(input, format);
  const Tensor x = prepared_in(input, d, format), w = prepared(weight, d), b = prepared(bias, d);
  Tensor result = empty_in(input.sizes(), input.options(), format), save_mean = empty({c.C}, {stats, input.device()}),
         save_invstd = empty({c.C}, {stats, input.device()});
  const Output y(result, d, format), mean_out(save_mean, d), invstd_out(save_invstd, d);
  const size_t C = static_cast<size_t>(c.C);
  std::vector<double> mean(C), var(C);
  by_compute(d, [&](auto zero) {
    using T = decltype(zero);
    if (training) {
      const double count = static_cast<double>(c.count());
      if (input.numel()) batch_stats(c, x.data_as<T>(), mean.data(), var.data());
      for (double& v : var) v /= count;
      if (c.count() > 0) {
        move_running(running_mean, mean, 1, momentum);
        move_running(running_var, var, count / (count - 1), momentum);
      }
    } else {
      const Tensor m = prepared(running_mean, DType::Float64), v = prepared(running_var, DType::Float64);
      std::copy_n(m.data_as<double>(), C, mean.begin());
      std::copy_n(v.data_as<double>(), C, var.begin());
    }
    std::vector<T> scale(C), shift(C);
    for (size_t k = 0; k < C; ++k) {
      const double invstd = 1 / std::sqrt(var[k] + eps);
      mean_out.data<T>()[k] = static_cast<T>(mean[k]);
      invstd_out.data<T>()[k] = static_cast<T>(invstd);
      const double a = invstd * (w.defined() ? static_cast<double>(w.data_as<T>()[k]) : 1);
      scale[k] = static_cast<T>(a);
      shift[k] = static_cast<T>((b.defined() ? static_cast<double>(b.data_as<T>()[k]) : 0) - mean[k] * a);
    }
    const T* from = x.data_as<T>();
    T* to = y.data<T>();
    if (input.numel())
      each_run(c, [&](int64_t at, int64_t n, int64_t k) {
        if (k >= 0)
          hot<T>().scale_shift(from + at, scale[static_cast<size_t>(k)], shift[static_cast<size_t>(k)], to + at, n);
        else
          hot<T>().scale_shift_each(from + at, scale.data(), shift.data(), to + at, n);
      });
  });
  y.finish(), mean_out.finish(), invstd_out.finish();
  return {std::move(result), std::move(save_mean), std::move(save_invstd)};
}

std::tuple<Tensor, Tensor, Tensor> batch_norm_backward(const Tensor& grad_out, const Tensor& input,
                                                       const Tensor& weight, const Tensor& running_mean,
                                                       const Tensor& running_var, const Tensor& save_mean,
                                                       const Tensor& save_invstd, bool train, double eps,
                                                       const Value& output_mask) {
  const char* op = "native_batch_norm_backward";
  const DType d = compute_dtype(op, input.dtype());
  const MemoryFormat format = format_of(input);
  const Channels c(input, format);
  const bool saved =
      save_mean.defined() && save_mean.numel() == c.C && save_invstd.defined() && save_invstd.numel() == c.C;
  const Tensor g = prepared_in(grad_out, d, format), x = prepared_in(input, d, format), w = prepared(weight, d);
  const Tensor mean = prepared(saved ? save_mean : running_mean, d),
               spread = prepared(saved ? save_invstd : running_var, d);
  const DType stats = parameter_dtype(op, input, {&weight, &running_mean});
  Tensor gx, gw, gb;
  const size_t C = static_cast<size_t>(c.C);
  std::vector<double> sum(C), product(C);
  by_compute(d, [&](auto zero) {
    using T = decltype(zero);
    const T *from = g.data_as<T>(), *values = x.data_as<T>(), *m = mean.data_as<T>();
    if (input.numel() && (train || output_mask.bools[1] || output_mask.bools[2]))
      each_channel(
          c,
          [&](int64_t k) {
            hot<T>().gradient_sums(from + k * c.S, values + k * c.S, m[k], c.N, c.S, c.C * c.S,
                                   &sum[static_cast<size_t>(k)], &product[static_cast<size_t>(k)]);
          },
          [&](int64_t at, int64_t width) {
            hot<T>().column_gradient_sums(from + at, values + at, m + at, c.N, width, c.C, sum.data() + at,
                                          product.data() + at);
          });
    std::vector<T> scale(C), slope(C, T(0)), shift(C, T(0));
    const double count = static_cast<double>(c.count());
    const auto make = [&](bool wanted) {
      return wanted ? empty({c.C}, {weight.defined() ? weight.dtype() : stats, input.device()}) : Tensor();
    };
    gw = make(output_mask.bools[1]), gb = make(output_mask.bools[2]);
    const Tensor wide_w = empty({c.C}, {d, input.device()}), wide_b = empty({c.C}, {d, input.device()});
    for (size_t k = 0; k < C; ++k) {
      const double r = static_cast<double>(spread.data_as<T>()[k]), invstd = saved ? r : 1 / std::sqrt(r + eps),
                   a = invstd * (w.defined() ? static_cast<double>(w.data_as<T>()[k]) : 1);
      scale[k] = static_cast<T>(a);
      if (train) {
        const double b = -a * invstd * invstd * product[k] / count;
        slope[k] = static_cast<T>(b);
        shift[k] = static_cast<T>(-a * sum[k] / count - b * static_cast<double>(m[k]));
      }
      wide_w.data_as<T>()[k] = static_cast<T>(product[k] * invstd);
      wide_b.data_as<T>()[k] = static_cast<T>(sum[k]);
    }
    if (gw.defined()) copy_values(gw, wide_w);
    if (gb.defined()) copy_values(gb, wide_b);
    if (!output_mask.bools[0]) return;
    gx = empty_in(input.sizes(), input.options(), format);
    const Output out(gx, d, format);
    T* to = out.data<T>();
    if (input.numel())
      each_run(c, [&](int64_t at, int64_t n, int64_t k) {
        const size_t j = static_cast<size_t>(k);
        if (k >= 0)
          hot<T>().combine(from + at, values + at, scale[j], slope[j], shift[j], to + at, n);
        else
          hot<T>().combine_each(from + at, values + at, scale.data(), slope.data(), shift.data(), to + at, n);
      });
    out.finish();
  });
  return {std::move(gx), std::move(gw), std::move(gb)};
}

Tensor batch_norm_op(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                     const Tensor& running_var, bool training, double momentum, double eps, bool) {
  if (input.numel() == 0) {  // nothing to normalise, whatever the rank; weight and bias get gradients of zeros
    Tensor out = ops::clone(input, std::nullopt);
    if (weight.defined() && weight.numel()) out = ops::mul(out, ops::select(weight, 0, 0));
    if (bias.defined() && bias.numel()) out = ops::add(out, ops::select(bias, 0, 0));
    return out;
  }
  return std::get<0>(ops::_batch_norm_core(input, weight, bias, running_mean, running_var, training, momentum, eps));
}

std::tuple<Tensor, Tensor, Tensor> native_batch_norm_op(const Tensor& input, const Tensor& weight, const Tensor& bias,
                                                        const Tensor& running_mean, const Tensor& running_var,
                                                        bool training, double momentum, double eps) {
  auto results = ops::_batch_norm_core(input, weight, bias, running_mean, running_var, training, momentum, eps);
  if (!training)
    std::get<1>(results) = empty({0}, std::get<1>(results).options()),
    std::get<2>(results) = empty({0}, std::get<2>(results).options());
  return results;
}

std::tuple<Tensor, Tensor, Tensor> batch_norm_no_stats(const Tensor& input, const Tensor& weight, const Tensor& bias,
                                                       bool training, double momentum, double eps) {
  return native_batch_norm_op(input, weight, bias, {}, {}, training, momentum, eps);
}

std::tuple<Tensor, Tensor, Tensor, Tensor> batch_norm_with_update(const Tensor& input, const Tensor& weight,
                                                                  const Tensor& bias, const Tensor& running_mean,
                                                                  const Tensor& running_var, double momentum,
                                                                  double eps) {
  auto [out, mean, invstd] = ops::_batch_norm_core(input, weight, bias, running_mean, running_var, true, momentum, eps);
  return {out, mean, invstd, empty({0}, {DType::UInt8, input.device()})};
}

}  // namespace flambeau
