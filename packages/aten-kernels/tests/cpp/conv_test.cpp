// Convolutions and their gradients against naive loops. Run once per FLAMBEAU_CPU_CAPABILITY, as gemm_test.
#include "../../csrc/conv/conv.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "../../csrc/cpu/cpu_features.h"
#include "flambeau/core/half.h"
#include "flambeau/core/parallel.h"

using namespace flambeau::conv;

namespace {

int failures = 0;
std::mt19937 rng(11);

enum class Order { kPlanar, kChannelsLast, kScattered };

struct Array {
  Strides s;
  int64_t size;
};

Array layout(Order order, int64_t n, int64_t c, const int64_t (&d)[3]) {
  const int64_t pixels = d[0] * d[1] * d[2];
  switch (order) {
    case Order::kPlanar: return {{c * pixels, pixels, {d[1] * d[2], d[2], 1}}, n * c * pixels};
    case Order::kChannelsLast: return {{c * pixels, 1, {d[1] * d[2] * c, d[2] * c, c}}, n * c * pixels};
    case Order::kScattered: break;  // innermost dimension strided, gaps everywhere
  }
  return {{2 * c * pixels + 3, 2 * pixels, {2 * d[1] * d[2], 2 * d[2], 2}}, 2 * n * c * pixels + 3 * n};
}

template <class T> std::vector<T> random_values(int64_t n) {
  std::vector<T> x(static_cast<size_t>(n));
  std::uniform_real_distribution<double> u(-1, 1);
  for (T& v : x) v = static_cast<T>(u(rng));
  return x;
}

int64_t at(const Strides& s, int64_t n, int64_t c, const int64_t (&p)[3]) {
  return n * s.n + c * s.c + p[0] * s.d[0] + p[1] * s.d[1] + p[2] * s.d[2];
}

template <class F> void each_position(const int64_t (&size)[3], F&& f) {
  for (int64_t i = 0; i < size[0]; i++) {
    for (int64_t j = 0; j < size[1]; j++) {
      for (int64_t k = 0; k < size[2]; k++) f({i, j, k});
    }
  }
}

// f(n, group, input channel, output channel, channel within the group, output position, tap, input position)
template <class F> void each_product(const ConvShape& s, F&& f) {
  const int64_t in_group = s.Cin / s.groups, out_group = s.Cout / s.groups;
  for (int64_t n = 0; n < s.N; n++) {
    for (int64_t o = 0; o < s.Cout; o++) {
      for (int64_t c = 0; c < in_group; c++) {
        each_position(s.out, [&](const int64_t (&p)[3]) {
          each_position(s.k, [&](const int64_t (&t)[3]) {
            int64_t q[3];
            for (int d = 0; d < 3; d++) {
              q[d] = p[d] * s.stride[d] - s.pad[d] + t[d] * s.dil[d];
              if (q[d] < 0 || q[d] >= s.in[d]) return;
            }
            f(n, o / out_group * in_group + c, o, c, p, t, q);
          });
        });
      }
    }
  }
}

template <class T>
void compare(const char* what, const ConvShape& s, int order, const std::vector<double>& want, const T* got,
             const std::vector<bool>& written, const std::vector<T>& before, double tolerance) {
  for (size_t i = 0; i < want.size(); i++) {
    const double g = static_cast<double>(got[i]);
    const bool right = written[i] ? std::abs(g - want[i]) <= tolerance * (1 + std::abs(want[i]))
                                  : std::memcmp(&got[i], &before[i], sizeof(T)) == 0;
    if (!right && failures++ < 30) {
      std::printf(
          "FAIL %s order %d N%ld C%ld->%ld g%ld in %ldx%ldx%ld k %ldx%ldx%ld stride %ld pad %ld dil %ld: [%zu] got "
          "%.8g want %.8g\n",
          what, order, s.N, s.Cin, s.Cout, s.groups, s.in[0], s.in[1], s.in[2], s.k[0], s.k[1], s.k[2], s.stride[2],
          s.pad[2], s.dil[2], i, g, want[i]);
    }
  }
}

std::vector<bool> mask(const Array& a, int64_t n, int64_t c, const int64_t (&d)[3]) {
  std::vector<bool> m(static_cast<size_t>(a.size));
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < c; j++)
      each_position(d, [&](const int64_t (&p)[3]) { m[static_cast<size_t>(at(a.s, i, j, p))] = true; });
  }
  return m;
}

template <class T> struct Functions {
  void (*forward)(const ConvShape&, const T*, const Strides&, const T*, const Strides&, const T*, T*, const Strides&,
                  bool);
  void (*input)(const ConvShape&, const T*, const Strides&, const T*, const Strides&, const T*, T*, const Strides&);
  void (*weight)(const ConvShape&, const T*, const Strides&, const T*, const Strides&, T*, const Strides&);
};

template <class T> void test_shape(const ConvShape& s, const Functions<T>& f, double epsilon) {
  const double taps = static_cast<double>(s.k[0] * s.k[1] * s.k[2]) / static_cast<double>(s.groups);
  const auto tolerance = [&](double terms) { return epsilon * (10 + std::sqrt(terms)); };
  for (int order = 0; order < 9; order++) {
    const Order xo = static_cast<Order>(order % 3), yo = static_cast<Order>(order / 3);
    const Array xa = layout(xo, s.N, s.Cin, s.in), ya = layout(yo, s.N, s.Cout, s.out),
                wa = layout(xo, s.Cout, s.Cin / s.groups, s.k);
    const auto x = random_values<T>(xa.size), y0 = random_values<T>(ya.size), w = random_values<T>(wa.size);
    const auto bias = random_values<T>(s.Cout), bias_in = random_values<T>(s.Cin);
    const auto ym = mask(ya, s.N, s.Cout, s.out), xm = mask(xa, s.N, s.Cin, s.in),
               wm = mask(wa, s.Cout, s.Cin / s.groups, s.k);

    std::vector<double> y(y0.size()), gx(x.size()), gw(w.size());
    each_product(s, [&](int64_t n, int64_t c, int64_t o, int64_t within, const int64_t (&p)[3], const int64_t (&t)[3],
                        const int64_t (&q)[3]) {
      const size_t xi = static_cast<size_t>(at(xa.s, n, c, q)), wi = static_cast<size_t>(at(wa.s, o, within, t)),
                   yi = static_cast<size_t>(at(ya.s, n, o, p));
      y[yi] += static_cast<double>(x[xi]) * w[wi];
      gx[xi] += static_cast<double>(y0[yi]) * w[wi];
      gw[wi] += static_cast<double>(y0[yi]) * x[xi];
    });
    for (int64_t n = 0; n < s.N; n++) {
      for (int64_t o = 0; o < s.Cout; o++) {
        each_position(s.out, [&](const int64_t (&p)[3]) {
          double& v = y[static_cast<size_t>(at(ya.s, n, o, p))];
          v = std::max(0.0, v + bias[static_cast<size_t>(o)]);
        });
      }
      for (int64_t c = 0; c < s.Cin; c++) {
        each_position(s.in, [&](const int64_t (&p)[3]) {
          gx[static_cast<size_t>(at(xa.s, n, c, p))] += bias_in[static_cast<size_t>(c)];
        });
      }
    }
    const std::vector<T> nan_y(y.size(), std::numeric_limits<T>::quiet_NaN()),
        nan_x(x.size(), nan_y.empty() ? T(0) : nan_y[0]), nan_w(w.size(), nan_x.empty() ? T(0) : nan_x[0]);
    auto got_y = nan_y, got_x = nan_x, got_w = nan_w;
    f.forward(s, x.data(), xa.s, w.data(), wa.s, bias.data(), got_y.data(), ya.s, true);
    compare("forward", s, order, y, got_y.data(), ym, nan_y, tolerance(taps * static_cast<double>(s.Cin)));
    f.input(s, y0.data(), ya.s, w.data(), wa.s, bias_in.data(), got_x.data(), xa.s);
    compare("input gradient", s, order, gx, got_x.data(), xm, nan_x, tolerance(taps * static_cast<double>(s.Cout)));
    f.weight(s, x.data(), xa.s, y0.data(), ya.s, got_w.data(), wa.s);
    compare("weight gradient", s, order, gw, got_w.data(), wm, nan_w,
            tolerance(static_cast<double>(s.N * s.out[0] * s.out[1] * s.out[2])));

    const int threads = flambeau::get_num_threads();
    flambeau::set_num_threads(threads == 1 ? 2 : 1);
    auto again_y = nan_y, again_w = nan_w;
    f.forward(s, x.data(), xa.s, w.data(), wa.s, bias.data(), again_y.data(), ya.s, true);
    f.weight(s, x.data(), xa.s, y0.data(), ya.s, again_w.data(), wa.s);
    flambeau::set_num_threads(threads);
    const bool some = !again_y.empty() && !again_w.empty();
    if (some && (std::memcmp(again_y.data(), got_y.data(), y.size() * sizeof(T)) != 0 ||
                 std::memcmp(again_w.data(), got_w.data(), w.size() * sizeof(T)) != 0)) {
      failures++;
      std::printf("FAIL bits depend on the number of threads\n");
    }
  }
}

ConvShape shape(int64_t N, int64_t Cin, int64_t Cout, int64_t groups, std::vector<int64_t> in, std::vector<int64_t> k,
                int64_t stride, int64_t pad, int64_t dil) {
  ConvShape s{N, Cin, Cout, groups, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}};
  const size_t skip = 3 - in.size();
  for (size_t i = 0; i < in.size(); i++) {
    const size_t d = skip + i;
    s.in[d] = in[i], s.k[d] = k[i], s.stride[d] = stride, s.pad[d] = pad, s.dil[d] = dil;
    s.out[d] = (in[i] + 2 * pad - dil * (k[i] - 1) - 1) / stride + 1;
  }
  return s;
}

std::vector<ConvShape> shapes() {
  return {
      shape(2, 1, 32, 1, {8, 8}, {3, 3}, 1, 1, 1),
      shape(3, 32, 20, 1, {8, 8}, {3, 3}, 1, 1, 1),
      shape(2, 3, 17, 1, {15, 13}, {7, 7}, 2, 3, 1),
      shape(1, 70, 40, 1, {7, 7}, {3, 3}, 1, 1, 1),
      shape(2, 8, 12, 2, {9, 10}, {3, 2}, 2, 1, 2),
      shape(2, 6, 6, 6, {19, 21}, {3, 3}, 1, 1, 1),
      shape(2, 5, 5, 5, {12, 37}, {5, 5}, 2, 2, 1),
      shape(1, 4, 8, 4, {9, 9}, {3, 3}, 1, 0, 1),
      shape(2, 10, 33, 1, {6, 6}, {1, 1}, 1, 0, 1),
      shape(2, 10, 12, 1, {9, 9}, {1, 1}, 2, 0, 1),
      shape(2, 3, 4, 1, {40}, {5}, 1, 2, 1),
      shape(2, 3, 4, 1, {40}, {4}, 3, 1, 2),
      shape(1, 2, 5, 1, {5, 6, 7}, {3, 2, 3}, 2, 1, 1),
      shape(1, 3, 3, 3, {5, 6, 7}, {3, 2, 3}, 1, 1, 1),
      shape(1, 2, 3, 1, {5, 5}, {2, 2}, 3, 0, 1),
      shape(1, 2, 3, 1, {4, 4}, {3, 3}, 1, 4, 1),
      shape(3, 32, 48, 1, {8, 8}, {3, 3}, 1, 1, 1),
      shape(2, 16, 144, 1, {9, 11}, {3, 3}, 1, 0, 1),
      shape(1, 48, 16, 1, {21, 14}, {3, 3}, 1, 2, 1),
      shape(0, 2, 3, 1, {4, 4}, {3, 3}, 1, 1, 1),
      shape(5, 4, 300, 1, {4, 4}, {3, 3}, 1, 1, 1),
  };
}

using H = HalfType;

// Half results are the f32 results of the widened operands, rounded.
void test_half(const ConvShape& s, HalfType type) {
  const auto widen = [&](uint16_t v) {
    return type == H::kBf16 ? flambeau::half_detail::bfloat16_to_float(v)
                            : flambeau::half_detail::half_to_float_portable(v);
  };
  const auto narrow = [&](float v) {
    return type == H::kBf16 ? flambeau::half_detail::bfloat16_from_float(v)
                            : flambeau::half_detail::half_from_float_portable(v);
  };
  for (Order order : {Order::kPlanar, Order::kChannelsLast, Order::kScattered}) {
    const Array xa = layout(order, s.N, s.Cin, s.in), ya = layout(order, s.N, s.Cout, s.out),
                wa = layout(order, s.Cout, s.Cin / s.groups, s.k);
    auto xf = random_values<float>(xa.size), yf = random_values<float>(ya.size), wf = random_values<float>(wa.size),
         bf = random_values<float>(s.Cout);
    std::vector<uint16_t> x, y, w, b;
    const auto round = [&](std::vector<float>& from, std::vector<uint16_t>& to) {
      for (float& v : from) to.push_back(narrow(v)), v = widen(to.back());
    };
    round(xf, x), round(yf, y), round(wf, w), round(bf, b);
    std::vector<float> fy(yf.size()), fx(xf.size()), fw(wf.size());
    conv_forward_f32(s, xf.data(), xa.s, wf.data(), wa.s, bf.data(), fy.data(), ya.s);
    conv_backward_input_f32(s, yf.data(), ya.s, wf.data(), wa.s, nullptr, fx.data(), xa.s);
    conv_backward_weight_f32(s, xf.data(), xa.s, yf.data(), ya.s, fw.data(), wa.s);
    std::vector<uint16_t> hy(y.size()), hx(x.size()), hw(w.size());
    conv_forward_half(type, s, x.data(), xa.s, w.data(), wa.s, b.data(), hy.data(), ya.s);
    conv_backward_input_half(type, s, y.data(), ya.s, w.data(), wa.s, nullptr, hx.data(), xa.s);
    conv_backward_weight_half(type, s, x.data(), xa.s, y.data(), ya.s, hw.data(), wa.s);
    const auto check = [&](const char* what, const std::vector<float>& f, const std::vector<uint16_t>& h,
                           const std::vector<bool>& m) {
      std::vector<double> want;
      std::vector<float> got;
      for (size_t i = 0; i < f.size(); i++) want.push_back(f[i]), got.push_back(widen(h[i]));
      compare<float>(what, s, static_cast<int>(order), want, got.data(), m, std::vector<float>(h.size()),
                     type == H::kBf16 ? 0.008 : 0.001);
    };
    check("half forward", fy, hy, mask(ya, s.N, s.Cout, s.out));
    check("half input gradient", fx, hx, mask(xa, s.N, s.Cin, s.in));
    check("half weight gradient", fw, hw, mask(wa, s.Cout, s.Cin / s.groups, s.k));
  }
}

}  // namespace

int main() {
  for (const ConvShape& s : shapes()) {
    test_shape<float>(s, {conv_forward_f32, conv_backward_input_f32, conv_backward_weight_f32}, 1e-6);
    test_shape<double>(s, {conv_forward_f64, conv_backward_input_f64, conv_backward_weight_f64}, 1e-14);
    test_half(s, H::kBf16);
    test_half(s, H::kF16);
  }
  std::printf("conv_test: %s, %d failures\n", flambeau::cpu::cpu_capability_name(flambeau::cpu::cpu_capability()),
              failures);
  return failures > 255 ? 255 : failures;
}
