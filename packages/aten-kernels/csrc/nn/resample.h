#pragma once
/// Resizing of spatial dimensions: every mode is a weighted sum along each dimension in turn.
#include <optional>
#include <vector>

#include "nn/compute.h"

namespace flambeau::nn {

enum class Resample { Nearest, NearestExact, Linear, Cubic, LinearAntialias, CubicAntialias, LanczosAntialias };

struct ResamplePlan {
  Resample mode;
  bool align_corners;
  std::vector<std::optional<double>> scales;  ///< factor that each dimension was asked to grow by, if it was
};

/// Sizes (N, C, ...) with the spatial ones replaced; checks ranks and signs. Throws RuntimeError.
std::vector<int64_t> resampled_sizes(const char* op, IntList input, IntList output_size);

void resample(const ResamplePlan& p, const Tensor& self, const Tensor& out);
/// The adjoint: grad has the resized sizes, out the original ones.
void resample_backward(const ResamplePlan& p, const Tensor& grad, const Tensor& out);

}  // namespace flambeau::nn
