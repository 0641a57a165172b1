// Convolutions on raw memory, one to three spatial dimensions. The callers check shapes and pick the dtype.
//
//   y[n, o, p] = act(bias[o] + sum over c, t of w[o, c, t] * x[n, c, p * stride - pad + t * dil])
// where c runs over the channels of o's group. Positions outside of x count as zeros, on both sides, so `out` alone
// decides how much is computed (uneven padding needs nothing more). With fewer than three dimensions the leading
// ones have size 1, stride 1, pad 0, dil 1.
// Any strides are right; planar (NCHW) and channels-last (NHWC) ones are fast. A transposed convolution is
// conv_backward_input. Sums over c and t are never split between threads; the weight gradient is split over images
// by shape alone. Results are the same bits for any number of threads.
#pragma once

#include <cstdint>

namespace flambeau::conv {

struct ConvShape {
  int64_t N, Cin, Cout, groups;
  int64_t in[3], k[3], out[3];
  int64_t stride[3], pad[3], dil[3];
};

// In elements. For weights n is the stride of the output channel and c of the input channel within its group.
struct Strides {
  int64_t n, c, d[3];
};

// bias: Cout values, or null.
void conv_forward_f32(const ConvShape& s, const float* x, const Strides& xs, const float* w, const Strides& ws,
                      const float* bias, float* y, const Strides& ys, bool relu = false);
void conv_forward_f64(const ConvShape& s, const double* x, const Strides& xs, const double* w, const Strides& ws,
                      const double* bias, double* y, const Strides& ys, bool relu = false);

// Writes all of gx. bias: Cin values added to gx (a transposed convolution's), or null.
void conv_backward_input_f32(const ConvShape& s, const float* gy, const Strides& ys, const float* w, const Strides& ws,
                             const float* bias, float* gx, const Strides& xs);
void conv_backward_input_f64(const ConvShape& s, const double* gy, const Strides& ys, const double* w,
                             const Strides& ws, const double* bias, double* gx, const Strides& xs);

// Writes all of gw.
void conv_backward_weight_f32(const ConvShape& s, const float* x, const Strides& xs, const float* gy, const Strides& ys,
                              float* gw, const Strides& ws);
void conv_backward_weight_f64(const ConvShape& s, const double* x, const Strides& xs, const double* gy,
                              const Strides& ys, double* gw, const Strides& ws);

// 16-bit floats as bits: computed in f32, rounded once.
enum class HalfType { kBf16, kF16 };
void conv_forward_half(HalfType type, const ConvShape& s, const uint16_t* x, const Strides& xs, const uint16_t* w,
                       const Strides& ws, const uint16_t* bias, uint16_t* y, const Strides& ys, bool relu = false);
void conv_backward_input_half(HalfType type, const ConvShape& s, const uint16_t* gy, const Strides& ys,
                              const uint16_t* w, const Strides& ws, const uint16_t* bias, uint16_t* gx,
                              const Strides& xs);
void conv_backward_weight_half(HalfType type, const ConvShape& s, const uint16_t* x, const Strides& xs,
                               const uint16_t* gy, const Strides& ys, uint16_t* gw, const Strides& ws);

}  // namespace flambeau::conv
