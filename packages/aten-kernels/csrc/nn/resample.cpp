#include "nn/resample.h"

#include <cmath>
#include <cstring>

namespace flambeau::nn {

namespace {

/// Output position o is the sum over k < count[o] of weight[o * width + k] * input[first[o] + k], or of
/// input[index[...]] where `index` is not empty (clamped cubic taps repeat positions).
template <class T> struct Taps {
  int64_t in, out, width;
  std::vector<int64_t> index;  // out * width
  std::vector<T> weight;
  std::vector<int64_t> count;
};

template <class T> T pixel_scale(int64_t in, int64_t out, bool align_corners, const std::optional<double>& factor) {
  if (align_corners) return out > 1 ? static_cast<T>(in - 1) / static_cast<T>(out - 1) : T(0);
  return factor && *factor > 0 ? static_cast<T>(1.0 / *factor) : static_cast<T>(in) / static_cast<T>(out);
}

/// x as a whole number from low to high, also where it is huge, infinite or NaN: scales may be as small as they like.
template <class T> int64_t between(T x, int64_t low, int64_t high) {
  if (!(x > static_cast<T>(low))) return low;
  return x < static_cast<T>(high) ? static_cast<int64_t>(x) : high;
}

template <class T> T cubic(T x, T a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

template <class T> T lanczos(T x) {
  constexpr T pi = T(3.14159265358979323846), a = 3;
  if (x <= -a || x >= a) return 0;
  if (x == 0) return 1;
  return a * std::sin(pi * x) * std::sin(pi * x / a) / (pi * pi * x * x);
}

template <class T> Taps<T> nearest_taps(int64_t in, int64_t out, const std::optional<double>& factor, bool exact) {
  Taps<T> t{in, out, 1, {}, {}, {}};
  // Positions are computed in f32 whatever the dtype, so that all dtypes pick the same pixels.
  const float scale = pixel_scale<float>(in, out, false, factor);
  for (int64_t o = 0; o < out; ++o) {
    const float at = std::floor((static_cast<float>(o) + (exact ? 0.5f : 0.0f)) * scale);
    t.index.push_back(between(at, 0, in - 1));
    t.weight.push_back(T(1));
    t.count.push_back(1);
  }
  return t;
}

template <class T>
Taps<T> point_taps(int64_t in, int64_t out, bool align_corners, const std::optional<double>& factor, bool is_cubic) {
  const int64_t width = is_cubic ? 4 : 2;
  Taps<T> t{in, out, width, {}, {}, std::vector<int64_t>(static_cast<size_t>(out), width)};
  const T scale = pixel_scale<T>(in, out, align_corners, factor);
  for (int64_t o = 0; o < out; ++o) {
    T at = align_corners ? scale * static_cast<T>(o) : scale * (static_cast<T>(o) + T(0.5)) - T(0.5);
    if (!is_cubic && at < 0) at = 0;
    if (!(at < static_cast<T>(in + 4))) at = static_cast<T>(in + 4);  // every tap is the last element
    if (in == out && !align_corners && (!factor || *factor == 1)) at = static_cast<T>(o);
    const int64_t floor = static_cast<int64_t>(std::floor(at));
    if (is_cubic) {
      const T f = at - static_cast<T>(floor);
      for (int64_t k = -1; k < 3; ++k) {
        t.index.push_back(std::clamp<int64_t>(floor + k, 0, in - 1));
        t.weight.push_back(cubic<T>(f - static_cast<T>(k), T(-0.75)));
      }
    } else {
      const int64_t i = std::min(floor, in - 1);
      const T f = std::clamp<T>(at - static_cast<T>(i), 0, 1);
      t.index.push_back(i), t.index.push_back(std::min(i + 1, in - 1));
      t.weight.push_back(1 - f), t.weight.push_back(f);
    }
  }
  return t;
}

template <class T>
Taps<T> antialias_taps(int64_t in, int64_t out, bool align_corners, const std::optional<double>& factor,
                       Resample mode) {
  const T scale = pixel_scale<T>(in, out, align_corners, factor);
  const T half = mode == Resample::LinearAntialias ? T(1) : mode == Resample::CubicAntialias ? T(2) : T(3);
  const T support = scale >= 1 ? half * scale : half, inverse = scale >= 1 ? 1 / scale : T(1);
  const int64_t width = between(std::ceil(support) * 2 + 1, 3, std::max<int64_t>(in, 3));
  Taps<T> t{in,
            out,
            width,
            std::vector<int64_t>(static_cast<size_t>(out * width), 0),
            std::vector<T>(static_cast<size_t>(out * width), T(0)),
            {}};
  for (int64_t o = 0; o < out; ++o) {
    const T centre = scale * (static_cast<T>(o) + T(0.5));
    const int64_t first = between(centre - support + T(0.5), 0, in), last = between(centre + support + T(0.5), 0, in);
    const int64_t n = std::clamp<int64_t>(last - first, 0, width);
    T total = 0;
    for (int64_t k = 0; k < n; ++k) {
      const T x = (static_cast<T>(k + first) - centre + T(0.5)) * inverse;
      const T w = mode == Resample::LinearAntialias  ? std::max(T(0), 1 - std::abs(x))
                  : mode == Resample::CubicAntialias ? cubic<T>(x, T(-0.5))
                                                     : lanczos<T>(x);
      t.index[static_cast<size_t>(o * width + k)] = first + k;
      t.weight[static_cast<size_t>(o * width + k)] = w;
      total += w;
    }
    for (int64_t k = 0; k < n; ++k)
      if (total != 0) t.weight[static_cast<size_t>(o * width + k)] /= total;
    t.count.push_back(n);
  }
  return t;
}

template <class T> Taps<T> make_taps(const ResamplePlan& p, size_t d, int64_t in, int64_t out) {
  const auto& factor = p.scales[d];
  switch (p.mode) {
    case Resample::Nearest: return nearest_taps<T>(in, out, factor, false);
    case Resample::NearestExact: return nearest_taps<T>(in, out, factor, true);
    case Resample::Linear: return point_taps<T>(in, out, p.align_corners, factor, false);
    case Resample::Cubic: return point_taps<T>(in, out, p.align_corners, factor, true);
    default: return antialias_taps<T>(in, out, p.align_corners, factor, p.mode);
  }
}

// One row of numbers (inner == 1).
template <class T> void row_along(const Taps<T>& t, const T* __restrict from, T* __restrict to) {
  const int64_t *index = t.index.data(), *count = t.count.data();
  const T* weight = t.weight.data();
  if (t.width == 1) {
    for (int64_t o = 0; o < t.out; ++o) to[o] = from[index[o]];
  } else if (t.width == 2) {
    for (int64_t o = 0; o < t.out; ++o)
      to[o] = from[index[2 * o]] * weight[2 * o] + from[index[2 * o + 1]] * weight[2 * o + 1];
  } else {
    for (int64_t o = 0; o < t.out; ++o) {
      T sum = 0;
      for (int64_t k = 0; k < count[o]; ++k) sum += from[index[o * t.width + k]] * weight[o * t.width + k];
      to[o] = sum;
    }
  }
}

// Rows of `inner` numbers: one of the result is a weighted sum of rows of x.
template <class T> void rows_along(const Taps<T>& t, int64_t o, int64_t inner, const T* x, T* __restrict to) {
  const int64_t* index = t.index.data() + o * t.width;
  const T* weight = t.weight.data() + o * t.width;
  const int64_t count = t.count[static_cast<size_t>(o)];
  if (t.width == 1) {
    std::memcpy(to, x + index[0] * inner, static_cast<size_t>(inner) * sizeof(T));
    return;
  }
  if (t.width == 2) {
    const T *a = x + index[0] * inner, *b = x + index[1] * inner, wa = weight[0], wb = weight[1];
    for (int64_t i = 0; i < inner; ++i) to[i] = a[i] * wa + b[i] * wb;
    return;
  }
  std::fill_n(to, inner, T(0));
  for (int64_t k = 0; k < count; ++k) {
    const T *row = x + index[k] * inner, w = weight[k];
    for (int64_t i = 0; i < inner; ++i) to[i] += row[i] * w;
  }
}

// y[outer, out, inner] from x[outer, in, inner]
template <class T> void along(const Taps<T>& t, int64_t outer, int64_t inner, const T* x, T* y) {
  if (inner == 1)
    return for_rows(outer, t.out * t.width, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) row_along(t, x + r * t.in, y + r * t.out);
    });
  for_rows(outer * t.out, inner * t.width, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) rows_along(t, r % t.out, inner, x + r / t.out * t.in * inner, y + r * inner);
  });
}

template <class T> void along_backward(const Taps<T>& t, int64_t outer, int64_t inner, const T* gy, T* gx) {
  for_rows(outer, (t.out * t.width + t.in) * inner, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      T* to = gx + r * t.in * inner;
      std::fill_n(to, t.in * inner, T(0));
      for (int64_t o = 0; o < t.out; ++o)
        for (int64_t k = 0; k < t.count[static_cast<size_t>(o)]; ++k) {
          const T w = t.weight[static_cast<size_t>(o * t.width + k)];
          T* row = to + t.index[static_cast<size_t>(o * t.width + k)] * inner;
          const T* from = gy + (r * t.out + o) * inner;
          for (int64_t i = 0; i < inner; ++i) row[i] += from[i] * w;
        }
    }
  });
}

// Walks over the spatial dimensions: the last one first going forward.
template <class T>
void run(const ResamplePlan& p, bool backward, IntList from_sizes, IntList to_sizes, bool channels_last, const T* from,
         T* to) {
  const size_t n = p.scales.size();
  std::vector<int64_t> now(from_sizes.begin() + 2, from_sizes.end()), goal(to_sizes.begin() + 2, to_sizes.end());
  const int64_t lead = channels_last ? from_sizes[0] : from_sizes[0] * from_sizes[1],
                tail = channels_last ? from_sizes[1] : 1;
  std::vector<T> a, b;
  const T* source = from;
  for (size_t step = 0; step < n; ++step) {
    const size_t d = n - 1 - step;
    int64_t outer = lead, inner = tail;
    for (size_t i = 0; i < d; ++i) outer *= now[i];
    for (size_t i = d + 1; i < n; ++i) inner *= now[i];
    const Taps<T> taps = backward ? make_taps<T>(p, d, goal[d], now[d]) : make_taps<T>(p, d, now[d], goal[d]);
    T* target = to;
    if (step + 1 < n) {
      std::vector<T>& buffer = step % 2 ? b : a;
      buffer.resize(static_cast<size_t>(outer * inner * goal[d]));
      target = buffer.data();
    }
    backward ? along_backward(taps, outer, inner, source, target) : along(taps, outer, inner, source, target);
    now[d] = goal[d];
    source = target;
  }
}

DType resample_dtype(DType t) { return t == DType::UInt8 ? DType::Float32 : compute_dtype("upsample", t); }

void execute(const ResamplePlan& p, bool backward, const Tensor& from, const Tensor& out) {
  if (out.numel() == 0) return;
  const DType d = resample_dtype(out.dtype());
  const MemoryFormat format = format_of(backward ? out : from);
  const Tensor x = prepared_in(from, d, format);
  const Output y(out, d, format);
  by_compute(d, [&](auto zero) {
    using T = decltype(zero);
    run<T>(p, backward, from.sizes(), out.sizes(), format != MemoryFormat::Contiguous, x.data_as<T>(), y.data<T>());
    if (out.dtype() == DType::UInt8)
      for (int64_t i = 0; i < out.numel(); ++i) y.data<T>()[i] = std::clamp<T>(std::nearbyint(y.data<T>()[i]), 0, 255);
  });
  y.finish();
}

}  // namespace

std::vector<int64_t> resampled_sizes(const char* op, IntList input, IntList output_size) {
  const size_t n = output_size.size();
  FL_CHECK_SHAPE(input.size() == n + 2, "[", op, "] It is expected input_size equals to ", n + 2, ", but got size ",
                 input.size(), ": ", input);
  std::vector<int64_t> sizes{input[0], input[1]};
  for (size_t d = 0; d < n; ++d) {
    FL_CHECK_SHAPE(input[d + 2] > 0 && output_size[d] > 0, "[", op,
                   "] Input and output sizes should be greater than 0, but got input ", input, " and output size ",
                   output_size);
    sizes.push_back(output_size[d]);
  }
  FL_CHECK_SHAPE(input[1] > 0, "[", op, "] Non-empty ", n + 2, "D data tensor expected but got a tensor with sizes ",
                 input);
  checked_numel(sizes, op);
  return sizes;
}

void resample(const ResamplePlan& p, const Tensor& self, const Tensor& out) { execute(p, false, self, out); }
void resample_backward(const ResamplePlan& p, const Tensor& grad, const Tensor& out) { execute(p, true, grad, out); }

}  // namespace flambeau::nn
