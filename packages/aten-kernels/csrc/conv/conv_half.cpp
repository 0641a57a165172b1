// 16-bit floats: operands become f32 with the strides they have, results are rounded once.
#include <algorithm>

#include "../gemm/kernel_table.h"
#include "../gemm/scratch.h"
#include "conv.h"
#include "flambeau/core/parallel.h"

namespace flambeau::conv {
namespace {

using gemm::Scratch;

// A tensor of any strides as a compact f32 one: dimensions in the order of their strides, so a dense tensor is one run.
struct Compact {
  int64_t size[5];  // n, c, d0, d1, d2
  int64_t from[5];  // strides of the 16-bit tensor
  int64_t to[5];    // strides of the compact one
  int order[5];     // widest stride first
  int64_t count = 1;

  Compact(int64_t n, int64_t c, const int64_t (&d)[3], const Strides& s)
      : size{n, c, d[0], d[1], d[2]}, from{s.n, s.c, s.d[0], s.d[1], s.d[2]}, order{0, 1, 2, 3, 4} {
    std::stable_sort(order, order + 5, [&](int a, int b) { return from[a] > from[b]; });
    for (int i = 4; i >= 0; i--) {
      to[order[i]] = count;
      count *= size[order[i]];
    }
  }
  Strides strides() const { return {to[0], to[1], {to[2], to[3], to[4]}}; }

  // f(16-bit offset, f32 offset, length) for runs of neighbours in both; length 1 where the 16-bit tensor has none.
  template <class F> void each_run(F&& f) const {
    if (count == 0) return;
    int64_t run = 1;
    int outer = 5;
    while (outer > 0 && (size[order[outer - 1]] == 1 || from[order[outer - 1]] == run)) run *= size[order[--outer]];
    const int64_t runs = count / run;
    parallel_for(0, runs, std::max<int64_t>(1, 16384 / run), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; r++) {
        int64_t at = 0, rest = r;
        for (int i = outer - 1; i >= 0; i--) {
          at += rest % size[order[i]] * from[order[i]];
          rest /= size[order[i]];
        }
        f(at, r * run, run);
      }
    });
  }
};

class Half {
 public:
  explicit Half(HalfType type) : bf16_(type == HalfType::kBf16) {}

  void widen(const Compact& c, const uint16_t* from, float* to) const {
    const auto row = bf16_ ? gemm::convert_kernels().bf16_to_f32 : gemm::convert_kernels().f16_to_f32;
    c.each_run([&](int64_t at, int64_t out, int64_t n) { row(from + at, to + out, n); });
  }
  void narrow(const Compact& c, const float* from, uint16_t* to) const {
    const auto row = bf16_ ? gemm::convert_kernels().f32_to_bf16 : gemm::convert_kernels().f32_to_f16;
    c.each_run([&](int64_t at, int64_t in, int64_t n) { row(from + in, to + at, n); });
  }

 private:
  bool bf16_;
};

struct Layouts {
  Compact x, w, y;
  Layouts(const ConvShape& s, const Strides& xs, const Strides& ws, const Strides& ys)
      : x(s.N, s.Cin, s.in, xs), w(s.Cout, s.Cin / s.groups, s.k, ws), y(s.N, s.Cout, s.out, ys) {}
};

Compact vector_layout(int64_t n) { return Compact(1, n, {1, 1, 1}, {n, 1, {1, 1, 1}}); }

}  // namespace

void conv_forward_half(HalfType type, const ConvShape& s, const uint16_t* x, const Strides& xs, const uint16_t* w,
                       const Strides& ws, const uint16_t* bias, uint16_t* y, const Strides& ys, bool relu) {
  const Half half(type);
  const Layouts l(s, xs, ws, ys);
  const Scratch<float> fx(l.x.count), fw(l.w.count), fy(l.y.count), fb(bias != nullptr ? s.Cout : 0);
  half.widen(l.x, x, fx.get());
  half.widen(l.w, w, fw.get());
  if (bias != nullptr) half.widen(vector_layout(s.Cout), bias, fb.get());
  conv_forward_f32(s, fx.get(), l.x.strides(), fw.get(), l.w.strides(), fb.get(), fy.get(), l.y.strides(), relu);
  half.narrow(l.y, fy.get(), y);
}

void conv_backward_input_half(HalfType type, const ConvShape& s, const uint16_t* gy, const Strides& ys,
                              const uint16_t* w, const Strides& ws, const uint16_t* bias, uint16_t* gx,
                              const Strides& xs) {
  const Half half(type);
  const Layouts l(s, xs, ws, ys);
  const Scratch<float> fx(l.x.count), fw(l.w.count), fy(l.y.count), fb(bias != nullptr ? s.Cin : 0);
  half.widen(l.y, gy, fy.get());
  half.widen(l.w, w, fw.get());
  if (bias != nullptr) half.widen(vector_layout(s.Cin), bias, fb.get());
  conv_backward_input_f32(s, fy.get(), l.y.strides(), fw.get(), l.w.strides(), fb.get(), fx.get(), l.x.strides());
  half.narrow(l.x, fx.get(), gx);
}

void conv_backward_weight_half(HalfType type, const ConvShape& s, const uint16_t* x, const Strides& xs,
                               const uint16_t* gy, const Strides& ys, uint16_t* gw, const Strides& ws) {
  const Half half(type);
  const Layouts l(s, xs, ws, ys);
  const Scratch<float> fx(l.x.count), fw(l.w.count), fy(l.y.count);
  half.widen(l.x, x, fx.get());
  half.widen(l.y, gy, fy.get());
  conv_backward_weight_f32(s, fx.get(), l.x.strides(), fy.get(), l.y.strides(), fw.get(), l.w.strides());
  half.narrow(l.w, fw.get(), gw);
}

}  // namespace flambeau::conv
