// Compiled once per instruction set. The stages of transform.cpp on whole vectors of lines.
#include <utility>

#include "fft/lines.h"

#ifndef FL_ISA
#define FL_ISA v2
#endif

namespace flambeau::fft::FL_ISA {

namespace {

template <class R> using C = std::complex<R>;

// One butterfly: inputs r apart, outputs l * r apart, both counted in rows of kWidth.
template <class R> struct Butterfly {
  const R* in_re;
  const R* in_im;
  R* out_re;
  R* out_im;
  int64_t in_step, out_step;
  const C<R>* w;
  R sign;  // 1 forward, -1 backward: exp(-+i pi / 2) turns (x, y) into (sign * y, -sign * x)
};

template <class R> struct Number {
  R re, im;
  Number operator+(Number b) const { return {re + b.re, im + b.im}; }
  Number operator-(Number b) const { return {re - b.re, im - b.im}; }
  Number operator*(R b) const { return {re * b, im * b}; }
  Number operator*(C<R> w) const { return {re * w.real() - im * w.imag(), re * w.imag() + im * w.real()}; }
  Number turned(R sign) const { return {sign * im, -sign * re}; }
};

template <class R>
__attribute__((always_inline)) inline Number<R> load(const Butterfly<R>& b, int64_t which, int64_t v) {
  return {b.in_re[which * b.in_step + v], b.in_im[which * b.in_step + v]};
}
template <class R>
__attribute__((always_inline)) inline void store(const Butterfly<R>& b, int64_t which, int64_t v, Number<R> x) {
  b.out_re[which * b.out_step + v] = x.re;
  b.out_im[which * b.out_step + v] = x.im;
}

// `each(v)` for every line of the vector.
template <class R, class F> __attribute__((always_inline)) inline void for_lines(F&& each) {
#pragma GCC ivdep
  for (int64_t v = 0; v < kWidth<R>; ++v) each(v);
}

template <class R> struct Radix2 {
  static void run(const Butterfly<R> t) {
    const C<R> w1 = t.w[0];  // not read again after every store
    for_lines<R>([&](int64_t v) __attribute__((always_inline)) {
      const Number<R> a = load(t, 0, v), b = load(t, 1, v) * w1;
      store(t, 0, v, a + b);
      store(t, 1, v, a - b);
    });
  }
};

template <class R> struct Radix3 {
  static void run(const Butterfly<R> t) {
    const C<R> w1 = t.w[0], w2 = t.w[1];  // not read again after every store
    const R half_root = static_cast<R>(0.86602540378443864676);
    for_lines<R>([&](int64_t v) __attribute__((always_inline)) {
      const Number<R> a = load(t, 0, v), b = load(t, 1, v) * w1, c = load(t, 2, v) * w2;
      const Number<R> sum = b + c, middle = a - sum * R(0.5), turned = (b - c).turned(t.sign) * half_root;
      store(t, 0, v, a + sum);
      store(t, 1, v, middle + turned);
      store(t, 2, v, middle - turned);
    });
  }
};

template <class R> struct Radix4 {
  static void run(const Butterfly<R> t) {
    const C<R> w1 = t.w[0], w2 = t.w[1], w3 = t.w[2];  // not read again after every store
    for_lines<R>([&](int64_t v) __attribute__((always_inline)) {
      const Number<R> a = load(t, 0, v), b = load(t, 1, v) * w1, c = load(t, 2, v) * w2, d = load(t, 3, v) * w3;
      const Number<R> even = a + c, odd = a - c, sum = b + d, turned = (b - d).turned(t.sign);
      store(t, 0, v, even + sum);
      store(t, 1, v, odd + turned);
      store(t, 2, v, even - sum);
      store(t, 3, v, odd - turned);
    });
  }
};

template <class R> struct Radix5 {
  static void run(const Butterfly<R> t) {
    const C<R> w1 = t.w[0], w2 = t.w[1], w3 = t.w[2], w4 = t.w[3];  // not read again after every store
    const R c1 = static_cast<R>(0.30901699437494742410), c2 = static_cast<R>(-0.80901699437494742410);
    const R s1 = static_cast<R>(0.95105651629515357212), s2 = static_cast<R>(0.58778525229247312917);
    for_lines<R>([&](int64_t v) __attribute__((always_inline)) {
      const Number<R> a = load(t, 0, v), b = load(t, 1, v) * w1, c = load(t, 2, v) * w2, d = load(t, 3, v) * w3,
                      e = load(t, 4, v) * w4;
      const Number<R> be = b + e, cd = c + d, b_e = b - e, c_d = c - d;
      const Number<R> m1 = a + be * c1 + cd * c2, m2 = a + be * c2 + cd * c1;
      const Number<R> t1 = (b_e * s1 + c_d * s2).turned(t.sign), t2 = (b_e * s2 - c_d * s1).turned(t.sign);
      store(t, 0, v, a + be + cd);
      store(t, 1, v, m1 + t1);
      store(t, 2, v, m2 + t2);
      store(t, 3, v, m2 - t2);
      store(t, 4, v, m1 - t1);
    });
  }
};

template <class R> void any_radix(const Butterfly<R>& t, int64_t p, const C<R>* roots) {
  constexpr int64_t W = kWidth<R>;
  R re[kLargestFactor * W], im[kLargestFactor * W];
  for (int64_t b = 0; b < p; ++b) {
    const C<R> w = b ? t.w[b - 1] : C<R>(1);
    for_lines<R>([&](int64_t v) __attribute__((always_inline)) {
      const Number<R> x = load(t, b, v) * w;
      re[b * W + v] = x.re;
      im[b * W + v] = x.im;
    });
  }
  for (int64_t q = 0; q < p; ++q) {
    R sum_re[W], sum_im[W];
    for_lines<R>([&](int64_t v) __attribute__((always_inline)) { sum_re[v] = re[v], sum_im[v] = im[v]; });
    for (int64_t b = 1, at = q; b < p; ++b, at = at + q >= p ? at + q - p : at + q) {
      const C<R> root = roots[at];
      for_lines<R>([&](int64_t v) __attribute__((always_inline)) {
        const Number<R> x = Number<R>{re[b * W + v], im[b * W + v]} * root;
        sum_re[v] += x.re;
        sum_im[v] += x.im;
      });
    }
    for_lines<R>([&](int64_t v) __attribute__((always_inline)) { store(t, q, v, Number<R>{sum_re[v], sum_im[v]}); });
  }
}

template <class R, class F>
inline void for_each_butterfly(SplitLines<R> in, SplitLines<R> out, int64_t l, int64_t r, int64_t p, const C<R>* w,
                               bool forward, F&& run) {
  constexpr int64_t W = kWidth<R>;
  for (int64_t j = 0; j < l; ++j) {
    for (int64_t k = 0; k < r; ++k) {
      const int64_t from = (j * p * r + k) * W, to = (j * r + k) * W;
      run(Butterfly<R>{in.re + from, in.im + from, out.re + to, out.im + to, r * W, l * r * W, w + j * (p - 1),
                       forward ? R(1) : R(-1)});
    }
  }
}

template <class R> SplitLines<R> run_lines(const Stages<R>& s, SplitLines<R> data, SplitLines<R> scratch) {
  SplitLines<R> from = data, to = scratch;
  const C<R>* w = s.twiddles.data();
  const C<R>* roots = s.small_roots.data();
  int64_t l = 1;
  for (const int64_t p : s.factors) {
    const int64_t r = s.n / (l * p);
    const auto each = [&](auto&& run) { for_each_butterfly(from, to, l, r, p, w, s.forward, run); };
    switch (p) {
      case 2: each([](const Butterfly<R>& t) __attribute__((always_inline)) { Radix2<R>::run(t); }); break;
      case 3: each([](const Butterfly<R>& t) __attribute__((always_inline)) { Radix3<R>::run(t); }); break;
      case 4: each([](const Butterfly<R>& t) __attribute__((always_inline)) { Radix4<R>::run(t); }); break;
      case 5: each([](const Butterfly<R>& t) __attribute__((always_inline)) { Radix5<R>::run(t); }); break;
      default: each([&](const Butterfly<R>& t) { any_radix(t, p, roots); });
    }
    std::swap(from, to);
    w += l * (p - 1);
    roots += p;
    l *= p;
  }
  return from;
}

}  // namespace

SplitLines<float> run_lines_f32(const Stages<float>& s, SplitLines<float> data, SplitLines<float> scratch);
SplitLines<double> run_lines_f64(const Stages<double>& s, SplitLines<double> data, SplitLines<double> scratch);

SplitLines<float> run_lines_f32(const Stages<float>& s, SplitLines<float> data, SplitLines<float> scratch) {
  return run_lines(s, data, scratch);
}
SplitLines<double> run_lines_f64(const Stages<double>& s, SplitLines<double> data, SplitLines<double> scratch) {
  return run_lines(s, data, scratch);
}

}  // namespace flambeau::fft::FL_ISA
