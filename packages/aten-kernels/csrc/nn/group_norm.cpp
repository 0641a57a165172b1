// Group normalisation: groups of channels of each sample over channels of the group and positions.
#include <cmath>

#include "flambeau/ops/native_group_norm.h"
#include "nn/compute.h"
#include "nn/hot.h"
#include "nn/norm_common.h"

namespace flambeau {

using namespace nn;

namespace {

struct Groups {
  int64_t N, C, S, G;
  int64_t channels() const { return C / G; }
  int64_t count() const { return channels() * S; }
};

Groups check_groups(const char* op, const Tensor& input, const Tensor& weight, const Tensor& bias, int64_t N, int64_t C,
                    int64_t S, int64_t G) {
  FL_CHECK(G > 0, "[", op, "] Expected num groups to be greater than 0, got ", G);
  FL_CHECK(N >= 0 && C >= 0 && S >= 0, "[", op, "] N, C and HxW must not be negative, got ", N, ", ", C, ", ", S);
  FL_CHECK_SHAPE(C % G == 0,
                 "Expected number of channels in input to be divisible by num_groups, but got input of shape ",
                 input.sizes(), " and num_groups=", G);
  FL_CHECK_SHAPE(checked_numel({N, C, S}, op) == input.numel(), "[", op, "] input of sizes ", input.sizes(),
                 " has not N * C * HxW = ", N, " * ", C, " * ", S, " elements");
  const auto check = [&](const char* name, const Tensor& t) {
    if (t.defined())
      FL_CHECK_SHAPE(t.dim() == 1 && t.numel() == C, "Expected ", name,
                     " to be a vector of size equal to the number of channels in input, but got ", name, " of shape ",
                     t.sizes(), " and input of shape ", input.sizes());
  };
  check("weight", weight), check("bias", bias);
  compute_dtype(op, input.dtype());
  return {N, C, S, G};
}

}  // namespace

std::tuple<TensorSpec, TensorSpec, TensorSpec> group_norm_shape(const Tensor& input, const Tensor& weight,
                                                                const Tensor& bias, int64_t N, int64_t C, int64_t S,
                                                                int64_t group, double) {
  check_groups("group_norm", input, weight, bias, N, C, S, group);
  const DType stats = parameter_dtype("group_norm", input, {&weight, &bias});
  return {TensorSpec{input.sizes().vec(), input.dtype(), spec_strides(input.sizes(), format_of(input))},
          TensorSpec{{N, group}, stats, {}}, TensorSpec{{N, group}, stats, {}}};
}

void group_norm_cpu(const Tensor& input, const Tensor& weight, const Tensor& bias, int64_t N, int64_t C, int64_t S,
                    int64_t group, double eps, const Tensor& out, const Tensor& mean, const Tensor& rstd) {
  const Groups g = check_groups("group_norm", input, weight, bias, N, C, S, group);
  const DType d = compute_dtype("group_norm", input.dtype());
  const Tensor x = prepared(input, d), w = prepared(weight, d), b = prepared(bias, d);
  const Output y(out, d), m(mean, d), s(rstd, d);
  by_compute(d, [&](auto zero) {
    using T = decltype(zero);
    for_rows(g.N * g.G, g.count() * 3, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        const T* row = x.data_as<T>() + k * g.count();
        double centre = 0, squares = 0;
        if (g.count()) hot<T>().moments(row, 1, g.count(), 0, &centre, &squares);
        const double scale = 1 / std::sqrt((g.count() ? squares / static_cast<double>(g.count()) : 0) + eps);
        m.data<T>()[k] = static_cast<T>(centre);
        s.data<T>()[k] = static_cast<T>(scale);
        for (int64_t j = 0; j < g.channels(); ++j) {
          const int64_t c = k % g.G * g.channels() + j;
          const double a = scale * (w.defined() ? static_cast<double>(w.data_as<T>()[c]) : 1),
                       shift = (b.defined() ? static_cast<double>(b.data_as<T>()[c]) : 0) - centre * a;
          hot<T>().scale_shift(row + j * g.S, static_cast<T>(a), static_cast<T>(shift),
                               y.data<T>() + k * g.count() + j * g.S, g.S);
        }
      }
    });
  });
  y.finish(), m.finish(), s.finish();
}

std::tuple<Tensor, Tensor, Tensor> group_norm_backward(const Tensor& grad_out, const Tensor& input, const Tensor& mean,
                                                       const Tensor& rstd, const Tensor& weight, int64_t N, int64_t C,
                                                       int64_t S, int64_t group, const Value& output_mask) {
  const char* op = "native_group_norm_backward";
  const Groups g = check_groups(op, input, weight, {}, N, C, S, group);
  const DType d = compute_dtype(op, input.dtype()), parameters = weight.defined() ? weight.dtype() : input.dtype();
  const Tensor gy = prepared(grad_out, d), x = prepared(input, d), m = prepared(mean, d), s = prepared(rstd, d),
               w = prepared(weight, d);
  const auto make = [&](bool wanted) { return wanted ? empty({C}, {parameters, input.device()}) : Tensor(); };
  const Tensor gx = output_mask.bools[0] ? empty_in(input.sizes(), input.options(), format_of(input)) : Tensor(),
               gw = make(output_mask.bools[1]), gb = make(output_mask.bools[2]);
  std::vector<double> sums(static_cast<size_t>(N * C)), products(sums.size());
  by_compute(d, [&](auto zero) {
    using T = decltype(zero);
    for_rows(N * C, S * 2, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        const T centre = m.data_as<T>()[k / g.channels()];
        hot<T>().gradient_sums(gy.data_as<T>() + k * S, x.data_as<T>() + k * S, centre, 1, S, 0,
                               &sums[static_cast<size_t>(k)], &products[static_cast<size_t>(k)]);
      }
    });
    const auto factor = [&](int64_t c) { return w.defined() ? static_cast<double>(w.data_as<T>()[c]) : 1.0; };
    if (gx.defined()) {
      const Output out(gx, d);
      for_rows(N * group, g.count() * 2, [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; ++k) {
          const double scale = static_cast<double>(s.data_as<T>()[k]), centre = static_cast<double>(m.data_as<T>()[k]),
                       n = static_cast<double>(g.count());
          double sum = 0, product = 0;
          for (int64_t j = 0; j < g.channels(); ++j) {
            const size_t c = static_cast<size_t>(k * g.channels() + j);
            sum += sums[c] * factor(static_cast<int64_t>(c) % C),
                product += products[c] * factor(static_cast<int64_t>(c) % C);
          }
          const double slope = -product * scale * scale * scale / n, shift = -slope * centre - sum * scale / n;
          for (int64_t j = 0; j < g.channels(); ++j) {
            const int64_t at = k * g.count() + j * S, c = k % group * g.channels() + j;
            hot<T>().combine(gy.data_as<T>() + at, x.data_as<T>() + at, static_cast<T>(scale * factor(c)),
                             static_cast<T>(slope), static_cast<T>(shift), out.data<T>() + at, S);
          }
        }
      });
      out.finish();
    }
    const Tensor wide_w = empty({C}, {d, input.device()}), wide_b = empty({C}, {d, input.device()});
    for (int64_t c = 0; c < C; ++c) {
      double a = 0, b = 0;
      for (int64_t n = 0; n < N; ++n) {
        const size_t k = static_cast<size_t>(n * C + c);
        a += products[k] * static_cast<double>(s.data_as<T>()[n * group + c / g.channels()]), b += sums[k];
      }
      wide_w.data_as<T>()[c] = static_cast<T>(a), wide_b.data_as<T>()[c] = static_cast<T>(b);
    }
    if (gw.defined()) copy_values(gw, wide_w);
    if (gb.defined()) copy_values(gb, wide_b);
  });
  return {gx, gw, gb};
}

Tensor group_norm_op(const Tensor& input, int64_t num_groups, const Tensor& weight, const Tensor& bias, double eps,
                     bool) {
  FL_CHECK_SHAPE(input.dim() >= 2, "Expected at least 2 dimensions for input tensor but received ", input.dim());
  FL_CHECK(num_groups > 0, "Expected num groups to be greater than 0, got ", num_groups);
  int64_t S = 1;
  for (int64_t d = 2; d < input.dim(); ++d) S *= input.sizes()[d];
  return std::get<0>(
      ops::native_group_norm(input, weight, bias, input.sizes()[0], input.sizes()[1], S, num_groups, eps));
}

}  // namespace flambeau
