#include "pointwise_conv.h"

#include "../gemm/gemm.h"
#include "flambeau/core/parallel.h"

namespace flambeau::conv {
namespace {

using gemm::GemmEpilogue;

void product(bool ta, bool tb, int64_t M, int64_t N, int64_t K, const float* A, int64_t lda, const float* B,
             int64_t ldb, float beta, float* C, int64_t ldc, const GemmEpilogue& e) {
  gemm::gemm_f32(ta, tb, M, N, K, 1, A, lda, B, ldb, beta, C, ldc, &e);
}
void product(bool ta, bool tb, int64_t M, int64_t N, int64_t K, const double* A, int64_t lda, const double* B,
             int64_t ldb, double beta, double* C, int64_t ldc, const GemmEpilogue& e) {
  gemm::gemm_f64(ta, tb, M, N, K, 1, A, lda, B, ldb, beta, C, ldc, &e);
}

template <class T>
bool is_linear(const Strides& s, const Correlation<T>& c) {  // pixel p of an image is p * s.d[2] away
  return (c.out[1] == 1 || s.d[1] == c.out[2] * s.d[2]) && (c.out[0] == 1 || s.d[0] == c.out[1] * c.out[2] * s.d[2]);
}

// Images as matrices [pixels, channels]; with one pixel each, the images themselves are the rows.
struct PixelRows {
  bool channels_side_by_side, is_one_matrix;
  int64_t x, y;  // leading dimensions
  template <class T> explicit PixelRows(const Correlation<T>& c) {
    const int64_t pixels = c.num_pixels();
    const bool single = pixels == 1 && c.xs.c == 1 && c.ys.c == 1;
    channels_side_by_side = single || !(c.xs.d[2] == 1 && c.ys.d[2] == 1);
    x = single ? c.xs.n : c.xs.d[2];
    y = single ? c.ys.n : c.ys.d[2];
    is_one_matrix = channels_side_by_side && (single || (c.xs.n == pixels * x && c.ys.n == pixels * y));
  }
};

// The weights as a matrix, [outputs, channels] or its transpose.
template <class T> bool is_matrix(const Correlation<T>& c) { return c.w_c == 1 || c.w_o == 1; }

}  // namespace

template <class T> bool is_pointwise(const Correlation<T>& c) {
  if (c.num_taps() != 1 || !is_matrix(c) || !is_linear(c.xs, c) || !is_linear(c.ys, c)) return false;
  for (int d = 0; d < 3; d++) {
    if (c.taps[d][0].at != 0 || c.out[d] > c.in[d] || (c.step[d] != 1 && c.out[d] > 1)) return false;
    if (c.out[d] != c.in[d] && d > 0) return false;
  }
  const bool planes = c.xs.d[2] == 1 && c.ys.d[2] == 1;
  const bool rows = c.xs.c == 1 && c.ys.c == 1;
  return planes || rows;
}

template <class T> void run_pointwise(const Correlation<T>& c) {
  const int64_t outputs = c.O / c.groups, channels = c.C / c.groups, pixels = c.num_pixels();
  const T* w = c.w + c.taps[0][0].weight + c.taps[1][0].weight + c.taps[2][0].weight;
  const bool transposed = c.w_c != 1;  // [channels, outputs]
  const int64_t ldw = transposed ? c.w_c : c.w_o;
  GemmEpilogue e;
  e.activation = c.relu ? gemm::Activation::kRelu : gemm::Activation::kNone;
  const PixelRows rows(c);
  const bool planes = !rows.channels_side_by_side;
  const bool one = rows.is_one_matrix;
  const int64_t count = one ? 1 : c.N, length = one ? c.N * pixels : pixels;
  e.bias_per_row = planes;
  const auto run = [&](int64_t task) {
    const int64_t image = task / c.groups, group = task % c.groups;
    const T* x = c.x + image * c.xs.n + group * channels * c.xs.c;
    T* y = c.y + image * c.ys.n + group * outputs * c.ys.c;
    GemmEpilogue of_group = e;
    if (c.bias != nullptr) of_group.bias = c.bias + group * outputs;
    if (planes) {
      product(transposed, false, outputs, length, channels, w + group * c.w_group, ldw, x, c.xs.c, 0, y, c.ys.c,
              of_group);
    } else {
      product(false, !transposed, length, outputs, channels, x, rows.x, w + group * c.w_group, ldw, 0, y, rows.y,
              of_group);
    }
  };
  if (count * c.groups >= 8) {  // whole products to each thread
    parallel_for(0, count * c.groups, 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; task++) run(task);
    });
  } else {
    for (int64_t task = 0; task < count * c.groups; task++) run(task);
  }
}

template <class T> void run_pointwise_weight_grad(const Correlation<T>& c, T* gw) {
  const int64_t pixels = c.num_pixels();
  const PixelRows rows(c);
  const bool planes = !rows.channels_side_by_side;
  T* w = gw + c.taps[0][0].weight + c.taps[1][0].weight + c.taps[2][0].weight;
  const bool turned = c.w_c != 1;  // gw is [channels, outputs]
  const bool one = rows.is_one_matrix;
  const int64_t count = one ? 1 : c.N, length = one ? c.N * pixels : pixels;
  const int64_t ldx = planes ? c.xs.c : rows.x, ldy = planes ? c.ys.c : rows.y;
  for (int64_t image = 0; image < count; image++) {  // in order: each adds to the one before
    const T* x = c.x + image * c.xs.n;
    const T* y = c.y + image * c.ys.n;
    const T beta = image == 0 ? T(0) : T(1);
    if (turned) {
      product(!planes, planes, c.C, c.O, length, x, ldx, y, ldy, beta, w, c.w_c, {});
    } else {
      product(!planes, planes, c.O, c.C, length, y, ldy, x, ldx, beta, w, c.w_o, {});
    }
  }
}

template void run_pointwise_weight_grad(const Correlation<float>&, float*);
template void run_pointwise_weight_grad(const Correlation<double>&, double*);
template bool is_pointwise(const Correlation<float>&);
template bool is_pointwise(const Correlation<double>&);
template void run_pointwise(const Correlation<float>&);
template void run_pointwise(const Correlation<double>&);

}  // namespace flambeau::conv
