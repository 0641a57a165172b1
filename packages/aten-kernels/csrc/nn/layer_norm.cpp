// Layer and root-mean-square normalisation over the last dimensions.
#include <cmath>
#include <limits>

#include "flambeau/ops/_fused_rms_norm.h"
#include "flambeau/ops/_rms_norm_complex.h"
#include "flambeau/ops/native_layer_norm.h"
#include "nn/compute.h"
#include "nn/hot.h"
#include "nn/norm_common.h"

namespace flambeau {

using namespace nn;

namespace {

struct Rows {
  int64_t rows = 1, n = 1;
  std::vector<int64_t> stat_sizes;  // the sizes with 1 in place of the normalised ones
};

Rows check_rows(const char* op, const Tensor& input, IntList normalized_shape, const Tensor& weight,
                const Tensor& bias) {
  const int64_t k = static_cast<int64_t>(normalized_shape.size()), first = input.dim() - k;
  FL_CHECK(k >= 1,
           "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
           "normalized_shape = ",
           normalized_shape);
  const auto check = [&](const char* name, const Tensor& t) {
    if (t.defined())
      FL_CHECK_SHAPE(t.sizes() == normalized_shape, "Expected ", name,
                     " to be of same shape as normalized_shape, but got ", name, " of shape ", t.sizes(),
                     " and normalized_shape = ", normalized_shape);
  };
  check("weight", weight), check("bias", bias);
  FL_CHECK_SHAPE(
      first >= 0 &&
          input.sizes().subspan(static_cast<size_t>(std::max<int64_t>(first, 0))).size() == normalized_shape.size() &&
          IntList(input.sizes().subspan(static_cast<size_t>(std::max<int64_t>(first, 0)))) == normalized_shape,
      "[", op, "] Given normalized_shape=", normalized_shape,
      ", expected input whose last sizes are these, but got input of size ", input.sizes());
  Rows r;
  r.stat_sizes = input.sizes().vec();
  for (int64_t d = 0; d < input.dim(); ++d) {
    (d < first ? r.rows : r.n) *= input.sizes()[d];
    if (d >= first) r.stat_sizes[static_cast<size_t>(d)] = 1;
  }
  compute_dtype(op, input.dtype());
  return r;
}

template <class T> const T* pointer(const Tensor& t) { return t.defined() ? t.data_as<T>() : nullptr; }

// Gradients of weight and bias: partial sums over runs of rows that shape alone decides, added in order.
template <class T>
void parameter_grads(const Rows& r, const T* g, const T* x, const T* mean, const T* rstd, T* gw, T* gb) {
  const int64_t grain = std::max<int64_t>((r.rows + 15) / 16, row_grain(r.n * 2)),
                chunks = num_chunks(0, r.rows, grain), step = chunk_size(0, r.rows, grain);
  std::vector<T> partial(static_cast<size_t>(2 * r.n * std::max<int64_t>(chunks, 1)), T(0));
  parallel_for(0, r.rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; b += step) {
      T* to = partial.data() + b / step * 2 * r.n;
      for (int64_t row = b; row < std::min(end, b + step); ++row)
        hot<T>().add_parameter_grads(g + row * r.n, x + row * r.n, mean ? mean[row] : T(0), rstd[row], to, to + r.n,
                                     r.n);
    }
  });
  for (int64_t i = 0; i < r.n; ++i) {
    double a = 0, b = 0;
    for (int64_t k = 0; k < chunks; ++k)
      a += static_cast<double>(partial[static_cast<size_t>(k * 2 * r.n + i)]),
          b += static_cast<double>(partial[static_cast<size_t>(k * 2 * r.n + r.n + i)]);
    if (gw) gw[i] = static_cast<T>(a);
    if (gb) gb[i] = static_cast<T>(b);
  }
}

// Shared by both: RMS normalisation is the one without a mean.
void run_backward(const char* op, const Rows& r, const Tensor& grad, const Tensor& input, const Tensor& mean,
                  const Tensor& rstd, const Tensor& weight, const Tensor& gx, const Tensor& gw, const Tensor& gb) {
  const DType d = compute_dtype(op, input.dtype());
  const Tensor g = prepared(grad, d), x = prepared(input, d), m = prepared(mean, d), s = prepared(rstd, d),
               w = prepared(weight, d);
  by_compute(d, [&](auto zero) {
    using T = decltype(zero);
    const T *from = g.data_as<T>(), *values = x.data_as<T>(), *centre = pointer<T>(m), *scale = s.data_as<T>();
    if (gx.defined()) {
      const Output out(gx, d);
      T* to = out.data<T>();
      for_rows(r.rows, r.n * 4, [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; ++k) {
          const T c = centre ? centre[k] : T(0);
          double sum, product;
          hot<T>().weighted_sums(from + k * r.n, values + k * r.n, pointer<T>(w), c, scale[k], r.n, &sum, &product);
          const double n = static_cast<double>(r.n);
          hot<T>().normalise_grad(from + k * r.n, values + k * r.n, pointer<T>(w), c, scale[k],
                                  centre ? static_cast<T>(sum / n) : T(0), static_cast<T>(product / n), to + k * r.n,
                                  r.n);
        }
      });
      out.finish();
    }
    if (!gw.defined() && !gb.defined()) return;
    const Tensor wide_w = empty({r.n}, {d, input.device()}), wide_b = empty({r.n}, {d, input.device()});
    parameter_grads<T>(r, from, values, centre, scale, wide_w.data_as<T>(), wide_b.data_as<T>());
    const auto give = [&](const Tensor& to, const Tensor& sums) {
      if (to.defined() && to.numel())
        copy_values(
            to, tensor_on_storage(Storage::borrow(&sums.storage()), d, to.sizes(), contiguous_strides(to.sizes()), 0));
    };
    give(gw, wide_w), give(gb, wide_b);
  });
}

Tensor like_if(bool wanted, IntList sizes, DType dtype, Device device) {
  return wanted ? empty(sizes, {dtype, device}) : Tensor();
}

}  // namespace

std::tuple<TensorSpec, TensorSpec, TensorSpec> layer_norm_shape(const Tensor& input, IntList normalized_shape,
                                                                const Tensor& weight, const Tensor& bias, double) {
  const Rows r = check_rows("layer_norm", input, normalized_shape, weight, bias);
  const DType stats = parameter_dtype("layer_norm", input, {&weight, &bias});
  return {TensorSpec{input.sizes().vec(), input.dtype(), {}}, TensorSpec{r.stat_sizes, stats, {}},
          TensorSpec{r.stat_sizes, stats, {}}};
}

void layer_norm_cpu(const Tensor& input, IntList normalized_shape, const Tensor& weight, const Tensor& bias, double eps,
                    const Tensor& out, const Tensor& mean, const Tensor& rstd) {
  const Rows r = check_rows("layer_norm", input, normalized_shape, weight, bias);
  const DType d = compute_dtype("layer_norm", input.dtype());
  const Tensor x = prepared(input, d), w = prepared(weight, d), b = prepared(bias, d);
  const Output y(out, d), m(mean, d), s(rstd, d);
  by_compute(d, [&](auto zero) {
    using T = decltype(zero);
    for_rows(r.rows, r.n * 3, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        double centre, squares;
        hot<T>().moments(x.data_as<T>() + k * r.n, 1, r.n, 0, &centre, &squares);
        const T c = static_cast<T>(centre),
                scale = static_cast<T>(1 / std::sqrt(squares / static_cast<double>(r.n) + eps));
        m.data<T>()[k] = c;
        s.data<T>()[k] = scale;
        hot<T>().normalise(x.data_as<T>() + k * r.n, c, scale, pointer<T>(w), pointer<T>(b), y.data<T>() + k * r.n,
                           r.n);
      }
    });
  });
  y.finish(), m.finish(), s.finish();
}

std::tuple<Tensor, Tensor, Tensor> layer_norm_backward(const Tensor& grad_out, const Tensor& input,
                                                       IntList normalized_shape, const Tensor& mean, const Tensor& rstd,
                                                       const Tensor& weight, const Tensor& bias,
                                                       const Value& output_mask) {
  const char* op = "native_layer_norm_backward";
  const Rows r = check_rows(op, input, normalized_shape, weight, bias);
  const DType parameters = parameter_dtype(op, input, {&weight, &bias});
  const Tensor gx = like_if(output_mask.bools[0], input.sizes(), input.dtype(), input.device()),
               gw = like_if(output_mask.bools[1], normalized_shape, parameters, input.device()),
               gb = like_if(output_mask.bools[2], normalized_shape, parameters, input.device());
  run_backward(op, r, grad_out, input, mean, rstd, weight, gx, gw, gb);
  return {gx, gw, gb};
}

Tensor layer_norm_op(const Tensor& input, IntList normalized_shape, const Tensor& weight, const Tensor& bias,
                     double eps, bool) {
  return std::get<0>(ops::native_layer_norm(input, normalized_shape, weight, bias, eps));
}

std::tuple<TensorSpec, TensorSpec> rms_norm_shape(const Tensor& input, IntList normalized_shape, const Tensor& weight,
                                                  std::optional<double>) {
  const Rows r = check_rows("rms_norm", input, normalized_shape, weight, {});
  parameter_dtype("rms_norm", input, {&weight});
  return {TensorSpec{input.sizes().vec(), input.dtype(), {}},
          TensorSpec{r.stat_sizes, compute_dtype("rms_norm", input.dtype()), {}}};
}

void rms_norm_cpu(const Tensor& input, IntList normalized_shape, const Tensor& weight, std::optional<double> eps,
                  const Tensor& out, const Tensor& rstd) {
  const Rows r = check_rows("rms_norm", input, normalized_shape, weight, {});
  const DType d = compute_dtype("rms_norm", input.dtype());
  const double floor = eps                   ? *eps
                       : d == DType::Float64 ? std::numeric_limits<double>::epsilon()
                                             : static_cast<double>(std::numeric_limits<float>::epsilon());
  const Tensor x = prepared(input, d), w = prepared(weight, d);
  const Output y(out, d), s(rstd, d);
  by_compute(d, [&](auto zero) {
    using T = decltype(zero);
    for_rows(r.rows, r.n * 2, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        const T* row = x.data_as<T>() + k * r.n;
        const T scale =
            static_cast<T>(1 / std::sqrt(hot<T>().sum_squares(row, r.n) / static_cast<double>(r.n) + floor));
        s.data<T>()[k] = scale;
        hot<T>().normalise(row, T(0), scale, pointer<T>(w), nullptr, y.data<T>() + k * r.n, r.n);
      }
    });
  });
  y.finish(), s.finish();
}

std::tuple<Tensor, Tensor> rms_norm_backward(const Tensor& grad_out, const Tensor& input, IntList normalized_shape,
                                             const Tensor& rstd, const Tensor& weight, const Value& output_mask) {
  const char* op = "_fused_rms_norm_backward";
  const Rows r = check_rows(op, input, normalized_shape, weight, {});
  const Tensor gx = like_if(output_mask.bools[0], input.sizes(), input.dtype(), input.device()),
               gw = like_if(output_mask.bools[1], normalized_shape, weight.defined() ? weight.dtype() : input.dtype(),
                            input.device());
  run_backward(op, r, grad_out, input, {}, rstd, weight, gx, gw, {});
  return {gx, gw};
}

Tensor rms_norm_op(const Tensor& input, IntList normalized_shape, const Tensor& weight, std::optional<double> eps) {
  if (input.is_complex()) return ops::_rms_norm_complex(input, normalized_shape, weight, eps);
  return std::get<0>(ops::_fused_rms_norm(input, normalized_shape, weight, eps));
}

}  // namespace flambeau
