// The upsample_* operators.
#include "flambeau/ops/_upsample_bicubic2d_aa.h"
#include "flambeau/ops/_upsample_bilinear2d_aa.h"
#include "flambeau/ops/_upsample_lanczos2d_aa.h"
#include "flambeau/ops/_upsample_nearest_exact1d.h"
#include "flambeau/ops/_upsample_nearest_exact2d.h"
#include "flambeau/ops/_upsample_nearest_exact3d.h"
#include "flambeau/ops/upsample_bicubic2d.h"
#include "flambeau/ops/upsample_bilinear2d.h"
#include "flambeau/ops/upsample_linear1d.h"
#include "flambeau/ops/upsample_nearest1d.h"
#include "flambeau/ops/upsample_nearest2d.h"
#include "flambeau/ops/upsample_nearest3d.h"
#include "flambeau/ops/upsample_trilinear3d.h"
#include "nn/resample.h"

namespace flambeau {

using namespace nn;

namespace {

using Factor = std::optional<double>;

TensorSpec forward_spec(const char* op, int64_t spatial, const Tensor& self, IntList output_size) {
  FL_CHECK(static_cast<int64_t>(output_size.size()) == spatial, "It is expected output_size equals to ", spatial,
           ", but got size ", output_size.size());
  std::vector<int64_t> sizes = resampled_sizes(op, self.sizes(), output_size);
  if (self.dtype() != DType::UInt8) compute_dtype(op, self.dtype());
  std::vector<int64_t> strides = spec_strides(sizes, format_of(self));
  return {std::move(sizes), self.dtype(), std::move(strides)};
}

TensorSpec backward_spec(const char* op, int64_t spatial, const Tensor& grad, IntList output_size, IntList input_size) {
  FL_CHECK(
      static_cast<int64_t>(output_size.size()) == spatial && static_cast<int64_t>(input_size.size()) == spatial + 2,
      "[", op, "] output_size needs ", spatial, " numbers and input_size ", spatial + 2, ", got ", output_size, " and ",
      input_size);
  check_sizes(op, "grad_output", grad, resampled_sizes(op, input_size, output_size));
  compute_dtype(op, grad.dtype());
  return {input_size.vec(), grad.dtype(), spec_strides(input_size, format_of(grad))};
}

struct Target {
  std::vector<int64_t> size;
  std::vector<Factor> factors;
};

// Sizes from sizes or from factors, exactly one of which is given.
Target target_of(const char* op, size_t spatial, const Tensor& input, const std::optional<IntList>& output_size,
                 const std::optional<std::span<const double>>& scale_factors) {
  FL_CHECK(output_size.has_value() != scale_factors.has_value(), "[", op,
           "] Must specify exactly one of output_size and scale_factors");
  FL_CHECK_SHAPE(input.dim() == static_cast<int64_t>(spatial) + 2, "[", op, "] input must have ", spatial + 2,
                 " dimensions, got ", input.sizes());
  if (output_size) {
    FL_CHECK(output_size->size() == spatial, "[", op, "] output_size needs ", spatial, " numbers, got ", *output_size);
    return {output_size->vec(), std::vector<Factor>(spatial)};
  }
  FL_CHECK(scale_factors->size() == spatial, "[", op, "] scale_factors needs ", spatial, " numbers, got ",
           scale_factors->size());
  Target t;
  for (size_t d = 0; d < spatial; ++d) {
    const double size = static_cast<double>(input.sizes()[d + 2]) * (*scale_factors)[d];
    FL_CHECK(size > -1 && size < 9e18, "[", op, "] scale factor ", (*scale_factors)[d], " gives no size for dimension ",
             d + 2);
    t.size.push_back(static_cast<int64_t>(size));
    t.factors.push_back((*scale_factors)[d]);
  }
  return t;
}

}  // namespace

#define FL_SCALES1 Factor s0
#define FL_SCALES2 Factor s0, Factor s1
#define FL_SCALES3 Factor s0, Factor s1, Factor s2
#define FL_LIST1 {s0}
#define FL_LIST2 {s0, s1}
#define FL_LIST3 {s0, s1, s2}
#define FL_GIVEN1 t.factors[0]
#define FL_GIVEN2 t.factors[0], t.factors[1]
#define FL_GIVEN3 t.factors[0], t.factors[1], t.factors[2]

#define FL_NEAREST(NAME, N, MODE)                                                                               \
  TensorSpec NAME##_shape(const Tensor& self, IntList output_size, FL_SCALES##N) {                              \
    return forward_spec(#NAME, N, self, output_size);                                                           \
  }                                                                                                             \
  void NAME##_cpu(const Tensor& self, IntList, FL_SCALES##N, const Tensor& out) {                               \
    resample({Resample::MODE, false, FL_LIST##N}, self, out);                                                   \
  }                                                                                                             \
  TensorSpec NAME##_backward_shape(const Tensor& grad, IntList output_size, IntList input_size, FL_SCALES##N) { \
    return backward_spec(#NAME "_backward", N, grad, output_size, input_size);                                  \
  }                                                                                                             \
  void NAME##_backward_cpu(const Tensor& grad, IntList, IntList, FL_SCALES##N, const Tensor& out) {             \
    resample_backward({Resample::MODE, false, FL_LIST##N}, grad, out);                                          \
  }                                                                                                             \
  Tensor NAME##_vec(const Tensor& input, std::optional<IntList> output_size,                                    \
                    std::optional<std::span<const double>> scale_factors) {                                     \
    const Target t = target_of(#NAME, N, input, output_size, scale_factors);                                    \
    return ops::NAME(input, t.size, FL_GIVEN##N);                                                               \
  }

#define FL_INTERPOLATE(NAME, N, MODE)                                                                                 \
  TensorSpec NAME##_shape(const Tensor& self, IntList output_size, bool, FL_SCALES##N) {                              \
    return forward_spec(#NAME, N, self, output_size);                                                                 \
  }                                                                                                                   \
  void NAME##_cpu(const Tensor& self, IntList, bool align_corners, FL_SCALES##N, const Tensor& out) {                 \
    resample({Resample::MODE, align_corners, FL_LIST##N}, self, out);                                                 \
  }                                                                                                                   \
  TensorSpec NAME##_backward_shape(const Tensor& grad, IntList output_size, IntList input_size, bool, FL_SCALES##N) { \
    return backward_spec(#NAME "_backward", N, grad, output_size, input_size);                                        \
  }                                                                                                                   \
  void NAME##_backward_cpu(const Tensor& grad, IntList, IntList, bool align_corners, FL_SCALES##N,                    \
                           const Tensor& out) {                                                                       \
    resample_backward({Resample::MODE, align_corners, FL_LIST##N}, grad, out);                                        \
  }                                                                                                                   \
  Tensor NAME##_vec(const Tensor& input, std::optional<IntList> output_size, bool align_corners,                      \
                    std::optional<std::span<const double>> scale_factors) {                                           \
    const Target t = target_of(#NAME, N, input, output_size, scale_factors);                                          \
    return ops::NAME(input, t.size, align_corners, FL_GIVEN##N);                                                      \
  }

FL_NEAREST(upsample_nearest1d, 1, Nearest)
FL_NEAREST(upsample_nearest2d, 2, Nearest)
FL_NEAREST(upsample_nearest3d, 3, Nearest)
FL_NEAREST(_upsample_nearest_exact1d, 1, NearestExact)
FL_NEAREST(_upsample_nearest_exact2d, 2, NearestExact)
FL_NEAREST(_upsample_nearest_exact3d, 3, NearestExact)
FL_INTERPOLATE(upsample_linear1d, 1, Linear)
FL_INTERPOLATE(upsample_bilinear2d, 2, Linear)
FL_INTERPOLATE(upsample_trilinear3d, 3, Linear)
FL_INTERPOLATE(upsample_bicubic2d, 2, Cubic)
FL_INTERPOLATE(_upsample_bilinear2d_aa, 2, LinearAntialias)
FL_INTERPOLATE(_upsample_bicubic2d_aa, 2, CubicAntialias)
FL_INTERPOLATE(_upsample_lanczos2d_aa, 2, LanczosAntialias)

}  // namespace flambeau
