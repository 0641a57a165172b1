// Entry points in f32 and f64: each pass as correlations.
#include "conv.h"

#include <algorithm>
#include <type_traits>

#include "correlation.h"
#include "depthwise_last.h"
#include "pointwise_conv.h"
#include "shallow.h"
#include "turned.h"
#include "weight_grad.h"
#include "winograd.h"

namespace flambeau::conv {
namespace {

bool is_empty(const ConvShape& s) {
  return s.N <= 0 || s.Cin <= 0 || s.Cout <= 0 || s.out[0] <= 0 || s.out[1] <= 0 || s.out[2] <= 0;
}

template <class T> void run(const Correlation<T>& c) {
  if (c.num_pixels() == 0 || c.N == 0) return;
  if (is_pointwise(c) && c.groups == 1) return run_pointwise(c);
  if (is_depthwise_last(c)) return run_depthwise_last(c);
  if (has_few_outputs(c)) return run_planes(c);
  if (is_shallow(c)) return run_shallow(c);
  if constexpr (std::is_same_v<T, float>) {
    if (is_winograd(c)) return run_winograd(c);
  }
  run_dense(c);
}

template <class T> void fill_constant(const Correlation<T>& c) {
  for (int64_t n = 0; n < c.N; n++) {
    for (int64_t o = 0; o < c.O; o++) {
      T value = c.bias != nullptr ? c.bias[o] : T(0);
      if (c.relu && value < T(0)) value = T(0);
      for (int64_t i = 0; i < c.out[0]; i++) {
        for (int64_t j = 0; j < c.out[1]; j++) {
          T* y = c.y + n * c.ys.n + o * c.ys.c + i * c.ys.d[0] + j * c.ys.d[1];
          for (int64_t k = 0; k < c.out[2]; k++) y[k * c.ys.d[2]] = value;
        }
      }
    }
  }
}

template <class T>
Correlation<T> forward_correlation(const ConvShape& s, const T* x, const Strides& xs, const T* w, const Strides& ws,
                                   const T* bias, T* y, const Strides& ys, bool relu) {
  Correlation<T> c{};
  c.N = s.N, c.C = s.Cin, c.O = s.Cout, c.groups = s.groups;
  c.x = x, c.xs = xs, c.y = y, c.ys = ys;
  c.w = w, c.w_o = ws.n, c.w_c = ws.c, c.w_group = s.Cout / s.groups * ws.n;
  c.bias = bias, c.relu = relu;
  for (int d = 0; d < 3; d++) {
    c.in[d] = s.in[d], c.out[d] = s.out[d], c.step[d] = s.stride[d];
    for (int64_t t = 0; t < s.k[d]; t++) c.taps[d].push_back({t * s.dil[d] - s.pad[d], t * ws.d[d]});
  }
  return c;
}

template <class T>
void forward(const ConvShape& s, const T* x, const Strides& xs, const T* w, const Strides& ws, const T* bias, T* y,
             const Strides& ys, bool relu) {
  if (s.N <= 0 || s.Cout <= 0) return;
  if (prefers_turning<T>(s, xs, ys) && !is_empty(s)) {
    const Turned<T> tx(s.N, s.Cin, s.in), ty(s.N, s.Cout, s.out);
    tx.read(x, xs);
    forward(s, static_cast<const T*>(tx.data()), tx.strides(), w, ws, bias, ty.data(), ty.strides(), relu);
    return ty.write(y, ys);
  }
  const Correlation<T> c = forward_correlation(s, x, xs, w, ws, bias, y, ys, relu);
  if (c.num_pixels() <= 0) return;
  s.Cin <= 0 || c.num_taps() == 0 ? fill_constant(c) : run(c);
}

// The taps of dimension d that reach input positions p with (p + pad) % stride == phase. With p = q * stride + phase -
// pad the output position is q - (t * dil - phase) / stride.
std::vector<Tap> taps_of_phase(const ConvShape& s, const Strides& ws, int d, int64_t phase, int64_t first) {
  std::vector<Tap> taps;
  for (int64_t t = 0; t < s.k[d]; t++) {
    const int64_t at = t * s.dil[d];
    if (at % s.stride[d] == phase) taps.push_back({first - (at - phase) / s.stride[d], t * ws.d[d]});
  }
  return taps;
}

template <class T>
void backward_input(const ConvShape& s, const T* gy, const Strides& ys, const T* w, const Strides& ws, const T* bias,
                    T* gx, const Strides& xs) {
  if (s.N <= 0 || s.Cin <= 0 || s.in[0] * s.in[1] * s.in[2] <= 0) return;
  if (prefers_turning<T>(s, xs, ys) && !is_empty(s)) {
    const Turned<T> tx(s.N, s.Cin, s.in), ty(s.N, s.Cout, s.out);
    ty.read(gy, ys);
    backward_input(s, static_cast<const T*>(ty.data()), ty.strides(), w, ws, bias, tx.data(), tx.strides());
    return tx.write(gx, xs);
  }
  Correlation<T> c{};
  c.N = s.N, c.C = s.Cout, c.O = s.Cin, c.groups = s.groups;
  c.x = gy, c.xs = ys, c.ys = xs;
  c.w = w, c.w_o = ws.c, c.w_c = ws.n, c.w_group = s.Cout / s.groups * ws.n;
  c.bias = bias;
  for (int d = 0; d < 3; d++) c.in[d] = s.out[d], c.step[d] = 1;
  for (int64_t i = 0; i < s.stride[0]; i++) {
    for (int64_t j = 0; j < s.stride[1]; j++) {
      for (int64_t k = 0; k < s.stride[2]; k++) {
        const int64_t phase[3] = {i, j, k};
        c.y = gx;
        for (int d = 0; d < 3; d++) {
          // Positions p = q * stride + phase - pad, from the first q with p >= 0.
          const int64_t first = std::max<int64_t>(0, (s.pad[d] - phase[d] + s.stride[d] - 1) / s.stride[d]);
          const int64_t start = first * s.stride[d] + phase[d] - s.pad[d];
          c.out[d] = start >= s.in[d] ? 0 : (s.in[d] - start - 1) / s.stride[d] + 1;
          c.y += start * xs.d[d];
          c.ys.d[d] = xs.d[d] * s.stride[d];
          c.taps[d] = taps_of_phase(s, ws, d, phase[d], first);
        }
        if (c.num_pixels() == 0) continue;
        is_empty(s) || c.num_taps() == 0 ? fill_constant(c) : run(c);
      }
    }
  }
}

template <class T>
void backward_weight(const ConvShape& s, const T* x, const Strides& xs, const T* gy, const Strides& ys, T* gw,
                     const Strides& ws) {
  if (prefers_turning<T>(s, xs, ys) && !is_empty(s)) {
    const Turned<T> tx(s.N, s.Cin, s.in), ty(s.N, s.Cout, s.out);
    tx.read(x, xs);
    ty.read(gy, ys);
    return backward_weight(s, static_cast<const T*>(tx.data()), tx.strides(), static_cast<const T*>(ty.data()),
                           ty.strides(), gw, ws);
  }
  // gy is read, not written: the same description serves both.
  Correlation<T> c = forward_correlation<T>(s, x, xs, gw, ws, nullptr, const_cast<T*>(gy), ys, false);
  if (is_empty(s)) {
    for (int64_t o = 0; o < s.Cout; o++) {
      for (int64_t i = 0; i < s.Cin / s.groups; i++) {
        for (const Tap& a : c.taps[0]) {
          for (const Tap& b : c.taps[1]) {
            for (const Tap& d : c.taps[2]) gw[o * ws.n + i * ws.c + a.weight + b.weight + d.weight] = T(0);
          }
        }
      }
    }
    return;
  }
  if (c.num_taps() == 0) return;
  if (c.groups == 1 && is_pointwise(c)) return run_pointwise_weight_grad(c, gw);
  if (is_depthwise_last(c)) return run_depthwise_last_weight_grad(c, gw);
  if constexpr (std::is_same_v<T, float>) {
    if (is_winograd_weight_grad(c)) return run_winograd_weight_grad(c, gw);
  }
  has_few_outputs(c) ? run_planes_weight_grad(c, gw) : run_weight_grad(c, gw);
}

}  // namespace

void conv_forward_f32(const ConvShape& s, const float* x, const Strides& xs, const float* w, const Strides& ws,
                      const float* bias, float* y, const Strides& ys, bool relu) {
  forward(s, x, xs, w, ws, bias, y, ys, relu);
}
void conv_forward_f64(const ConvShape& s, const double* x, const Strides& xs, const double* w, const Strides& ws,
                      const double* bias, double* y, const Strides& ys, bool relu) {
  forward(s, x, xs, w, ws, bias, y, ys, relu);
}
void conv_backward_input_f32(const ConvShape& s, const float* gy, const Strides& ys, const float* w, const Strides& ws,
                             const float* bias, float* gx, const Strides& xs) {
  backward_input(s, gy, ys, w, ws, bias, gx, xs);
}
void conv_backward_input_f64(const ConvShape& s, const double* gy, const Strides& ys, const double* w,
                             const Strides& ws, const double* bias, double* gx, const Strides& xs) {
  backward_input(s, gy, ys, w, ws, bias, gx, xs);
}
void conv_backward_weight_f32(const ConvShape& s, const float* x, const Strides& xs, const float* gy, const Strides& ys,
                              float* gw, const Strides& ws) {
  backward_weight(s, x, xs, gy, ys, gw, ws);
}
void conv_backward_weight_f64(const ConvShape& s, const double* x, const Strides& xs, const double* gy,
                              const Strides& ys, double* gw, const Strides& ws) {
  backward_weight(s, x, xs, gy, ys, gw, ws);
}

}  // namespace flambeau::conv
