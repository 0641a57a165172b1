// convolution: forward, and its adjoints with respect to input, weight and bias.
#include "flambeau/core/views.h"
#include "nn/compute.h"
#include "nn/convolution_plan.h"

namespace flambeau {

using namespace nn;

namespace {

using conv::ConvShape;
using conv::HalfType;

HalfType half_type(DType t) { return t == DType::BFloat16 ? HalfType::kBf16 : HalfType::kF16; }
const uint16_t* bits(const Tensor& t) { return t.defined() ? t.data_as<uint16_t>() : nullptr; }
template <class T> const T* pointer(const Tensor& t) { return t.defined() ? t.data_as<T>() : nullptr; }

// y = x * w + bias
void correlate(const ConvShape& s, const Tensor& x, const Tensor& w, const Tensor& bias, const Tensor& y) {
  const auto xs = conv_strides_of(x), ws = conv_strides_of(w), ys = conv_strides_of(y);
  switch (x.dtype()) {
    case DType::Float32:
      return conv::conv_forward_f32(s, x.data_as<float>(), xs, w.data_as<float>(), ws, pointer<float>(bias),
                                    y.data_as<float>(), ys);
    case DType::Float64:
      return conv::conv_forward_f64(s, x.data_as<double>(), xs, w.data_as<double>(), ws, pointer<double>(bias),
                                    y.data_as<double>(), ys);
    default:
      return conv::conv_forward_half(half_type(x.dtype()), s, bits(x), xs, bits(w), ws, bits(bias),
                                     y.data_as<uint16_t>(), ys);
  }
}

// gx = gradient of correlate's x (plus bias, for transposed convolutions)
void correlate_input(const ConvShape& s, const Tensor& gy, const Tensor& w, const Tensor& bias, const Tensor& gx) {
  const auto xs = conv_strides_of(gx), ws = conv_strides_of(w), ys = conv_strides_of(gy);
  switch (gy.dtype()) {
    case DType::Float32:
      return conv::conv_backward_input_f32(s, gy.data_as<float>(), ys, w.data_as<float>(), ws, pointer<float>(bias),
                                           gx.data_as<float>(), xs);
    case DType::Float64:
      return conv::conv_backward_input_f64(s, gy.data_as<double>(), ys, w.data_as<double>(), ws, pointer<double>(bias),
                                           gx.data_as<double>(), xs);
    default:
      return conv::conv_backward_input_half(half_type(gy.dtype()), s, bits(gy), ys, bits(w), ws, bits(bias),
                                            gx.data_as<uint16_t>(), xs);
  }
}

void correlate_weight(const ConvShape& s, const Tensor& x, const Tensor& gy, const Tensor& gw) {
  const auto xs = conv_strides_of(x), ws = conv_strides_of(gw), ys = conv_strides_of(gy);
  switch (x.dtype()) {
    case DType::Float32:
      return conv::conv_backward_weight_f32(s, x.data_as<float>(), xs, gy.data_as<float>(), ys, gw.data_as<float>(),
                                            ws);
    case DType::Float64:
      return conv::conv_backward_weight_f64(s, x.data_as<double>(), xs, gy.data_as<double>(), ys, gw.data_as<double>(),
                                            ws);
    default:
      return conv::conv_backward_weight_half(half_type(x.dtype()), s, bits(x), xs, bits(gy), ys, gw.data_as<uint16_t>(),
                                             ws);
  }
}

using Pass = void (*)(const ConvShape&, const Tensor&, const Tensor&, const Tensor&, const Tensor&);

// Integers wrap in int64; nobody needs them fast.
template <class F>
void each_term(const ConvShape& s, const conv::Strides& xs, const conv::Strides& ws, const conv::Strides& ys, F&& f) {
  const int64_t per_in = s.Cin / s.groups, per_out = s.Cout / s.groups;
  for (int64_t n = 0; n < s.N; ++n)
    for (int64_t o = 0; o < s.Cout; ++o)
      for (int64_t c = 0; c < per_in; ++c)
        for (int64_t t = 0; t < s.k[0] * s.k[1] * s.k[2]; ++t) {
          const int64_t tap[3] = {t / (s.k[1] * s.k[2]), t / s.k[2] % s.k[1], t % s.k[2]};
          for (int64_t q = 0; q < s.out[0] * s.out[1] * s.out[2]; ++q) {
            const int64_t out[3] = {q / (s.out[1] * s.out[2]), q / s.out[2] % s.out[1], q % s.out[2]};
            int64_t x = n * xs.n + (o / per_out * per_in + c) * xs.c, w = o * ws.n + c * ws.c, y = n * ys.n + o * ys.c;
            bool inside = true;
            for (int d = 0; d < 3; ++d) {
              const int64_t in = out[d] * s.stride[d] - s.pad[d] + tap[d] * s.dil[d];
              inside = inside && in >= 0 && in < s.in[d];
              x += in * xs.d[d], w += tap[d] * ws.d[d], y += out[d] * ys.d[d];
            }
            if (inside) f(x, w, y);
          }
        }
}

void correlate_integers(const ConvShape& s, const Tensor& x, const Tensor& w, const Tensor& bias, const Tensor& y,
                        bool transposed) {
  const Tensor xi = prepared(x, DType::Int64), wi = prepared(w, DType::Int64);
  const Tensor yi = empty(y.sizes(), {DType::Int64, y.device()});
  if (bias.defined()) {
    std::vector<int64_t> shape(static_cast<size_t>(y.dim()), 1);
    shape[1] = bias.numel();
    copy_values(yi, view(prepared(bias, DType::Int64), shape));
  } else {
    std::fill_n(yi.data_as<uint64_t>(), yi.numel(), 0);
  }
  const Tensor &wide = transposed ? yi : xi, &narrow = transposed ? xi : yi;
  each_term(s, conv_strides_of(wide), conv_strides_of(wi), conv_strides_of(narrow),
            [&](int64_t a, int64_t b, int64_t c) {
              yi.data_as<uint64_t>()[transposed ? a : c] +=
                  xi.data_as<uint64_t>()[transposed ? c : a] * wi.data_as<uint64_t>()[b];
            });
  copy_values(y, yi);
}

Tensor part(const Tensor& t, int64_t which) {
  return t.defined() ? contiguous(select(view_as_real(t), t.dim(), which)) : t;
}

// (a + ib)(c + id) by four real passes; `conjugate` takes the second operand's conjugate, for adjoints.
template <class F>
void by_parts(const Tensor& a, const Tensor& b, const Tensor& bias, bool conjugate, const Tensor& out, F&& pass) {
  const DType real = to_real(a.dtype());
  const auto term = [&](int64_t i, int64_t j, const Tensor& add) {
    Tensor r = empty(out.sizes(), {real, out.device()});
    pass(part(a, i), part(b, j), add, r);
    return r;
  };
  const double sign = conjugate ? -1 : 1;
  const Tensor pairs = view_as_real(out);
  const Tensor rr = term(0, 0, part(bias, 0)), ii = term(1, 1, {}), ri = term(0, 1, {}), ir = term(1, 0, part(bias, 1));
  by_compute(real, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < rr.numel(); ++i) {
      rr.data_as<T>()[i] -= static_cast<T>(sign) * ii.data_as<T>()[i];
      ir.data_as<T>()[i] += static_cast<T>(sign) * ri.data_as<T>()[i];
    }
  });
  copy_values(select(pairs, pairs.dim() - 1, 0), rr);
  copy_values(select(pairs, pairs.dim() - 1, 1), ir);
}

void check_complex(DType t) {
  FL_CHECK_NOT_IMPLEMENTED(t != DType::Complex32, "\"convolution\" not implemented for 'ComplexHalf'; use complex64");
}

bool work_is_long(const ConvShape& s) {
  return s.N * s.Cout * s.out[0] * s.out[1] * s.out[2] * (s.Cin / s.groups) * s.k[0] * s.k[1] * s.k[2] > (1 << 19);
}

}  // namespace

TensorSpec convolution_shape(const Tensor& input, const Tensor& weight, const Tensor& bias, IntList stride,
                             IntList padding, IntList dilation, bool transposed, IntList output_padding,
                             int64_t groups) {
  const ConvParams p = conv_params(stride, padding, dilation, transposed, output_padding, groups);
  std::vector<int64_t> sizes = conv_output_sizes(input, weight, bias, p);
  std::vector<int64_t> strides = spec_strides(sizes, conv_format(input, weight));
  return {std::move(sizes), input.dtype(), std::move(strides)};
}

void convolution_cpu(const Tensor& input, const Tensor& weight, const Tensor& bias, IntList stride, IntList padding,
                     IntList dilation, bool transposed, IntList output_padding, int64_t groups, const Tensor& out) {
  if (out.numel() == 0) return;
  const ConvParams p = conv_params(stride, padding, dilation, transposed, output_padding, groups);
  const ConvShape s = transposed ? conv_shape_of(out.sizes(), weight.sizes(), input.sizes(), p)
                                 : conv_shape_of(input.sizes(), weight.sizes(), out.sizes(), p);
  ReleaseInterpreter long_work(work_is_long(s));
  const Pass pass = transposed ? correlate_input : correlate;
  if (input.is_floating_point()) return pass(s, input, weight, bias.defined() ? contiguous(bias) : bias, out);
  check_complex(input.dtype());
  if (input.is_complex())
    return by_parts(
        input, weight, bias, false, out,
        [&](const Tensor& a, const Tensor& b, const Tensor& add, const Tensor& r) { pass(s, a, b, add, r); });
  FL_CHECK_NOT_IMPLEMENTED(input.dtype() != DType::Bool, "\"convolution\" not implemented for 'Bool'");
  correlate_integers(s, input, weight, bias, out, transposed);
}

namespace {

Tensor channel_sums(const Tensor& grad) {
  Tensor out = empty({grad.sizes()[1]}, grad.options());
  const Tensor g = contiguous(grad);
  const int64_t N = g.sizes()[0], C = g.sizes()[1], P = N * C > 0 ? g.numel() / (N * C) : 0;
  const DType d = is_half_kind(g.dtype()) ? DType::Float32 : g.dtype();
  const Tensor x = prepared(view(g, {N, C, P}), to_real(d));
  const Output sums(out, d);
  by_compute(d, [&](auto zero) {
    using T = decltype(zero);
    const T* from = x.data_as<T>();
    for_rows(C, N * P, [&](int64_t b, int64_t e) {
      for (int64_t c = b; c < e; ++c) {
        double total = 0;
        for (int64_t n = 0; n < N; ++n) {
          const T* row = from + (n * C + c) * P;
          T lanes[16] = {};
          int64_t i = 0;
          for (; i + 16 <= P; i += 16)
            for (int j = 0; j < 16; ++j) lanes[j] += row[i + j];
          for (; i < P; ++i) lanes[i & 15] += row[i];
          for (const T v : lanes) total += v;
        }
        sums.data<T>()[c] = static_cast<T>(total);
      }
    });
  });
  sums.finish();
  return out;
}

Tensor bias_gradient(const Tensor& grad) {
  if (!grad.is_complex()) return channel_sums(grad);
  Tensor out = empty({grad.sizes()[1]}, grad.options());
  const Tensor pairs = view_as_real(out);
  for (int64_t i = 0; i < 2; ++i) copy_values(select(pairs, 1, i), channel_sums(part(grad, i)));
  return out;
}

Tensor zeros(const Tensor& t) {
  if (t.numel()) std::fill_n(static_cast<char*>(t.data()), static_cast<size_t>(t.numel() * t.itemsize()), 0);
  return t;
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> convolution_backward_cpu(const Tensor& grad_output, const Tensor& input,
                                                            const Tensor& weight, std::optional<IntList> bias_sizes,
                                                            IntList stride, IntList padding, IntList dilation,
                                                            bool transposed, IntList output_padding, int64_t groups,
                                                            const Value& output_mask) {
  const ConvParams p = conv_params(stride, padding, dilation, transposed, output_padding, groups);
  const std::vector<int64_t> sizes = conv_output_sizes(input, weight, {}, p);
  check_sizes("convolution_backward", "grad_output", grad_output, sizes);
  check_same_dtype("convolution_backward", grad_output, "grad_output", input, "input");
  FL_CHECK(output_mask.size == 3, "[convolution_backward] output_mask needs 3 entries, got ", output_mask.size);
  FL_CHECK_NOT_IMPLEMENTED(input.is_floating_point() || input.is_complex(),
                           "\"convolution_backward\" not implemented for '", dtype_name(input.dtype()), "'");
  check_complex(input.dtype());
  if (output_mask.bools[2] && bias_sizes)
    FL_CHECK_SHAPE(bias_sizes->size() == 1 && (*bias_sizes)[0] == sizes[1], "[convolution_backward] bias_sizes is ",
                   *bias_sizes, ", expected [", sizes[1], "]");
  const ConvShape s = transposed ? conv_shape_of(grad_output.sizes(), weight.sizes(), input.sizes(), p)
                                 : conv_shape_of(input.sizes(), weight.sizes(), grad_output.sizes(), p);
  ReleaseInterpreter long_work(work_is_long(s));
  const MemoryFormat format = conv_format(input, weight);
  const bool complex = input.is_complex(), no_work = grad_output.numel() == 0;
  std::tuple<Tensor, Tensor, Tensor> grads;
  if (output_mask.bools[0]) {
    Tensor g = empty_in(input.sizes(), input.options(), format);
    const Pass pass = transposed ? correlate : correlate_input;
    if (no_work)
      zeros(g);
    else if (complex)
      by_parts(grad_output, weight, {}, true, g,
               [&](const Tensor& a, const Tensor& b, const Tensor& add, const Tensor& r) { pass(s, a, b, add, r); });
    else
      pass(s, grad_output, weight, {}, g);
    std::get<0>(grads) = std::move(g);
  }
  if (output_mask.bools[1]) {
    Tensor g = empty_in(weight.sizes(), weight.options(), format);
    const auto pass = [&](const Tensor& grad, const Tensor& x, const Tensor&, const Tensor& gw) {
      transposed ? correlate_weight(s, grad, x, gw) : correlate_weight(s, x, grad, gw);
    };
    if (no_work || input.numel() == 0)
      zeros(g);
    else if (complex)
      by_parts(grad_output, input, {}, true, g, pass);
    else
      pass(grad_output, input, {}, g);
    std::get<1>(grads) = std::move(g);
  }
  if (output_mask.bools[2]) std::get<2>(grads) = bias_gradient(grad_output);
  return grads;
}

}  // namespace flambeau
