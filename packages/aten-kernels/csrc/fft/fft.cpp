// _fft_c2c: complex transforms over several dims; the real ones are made of it in Python.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "fft/transform.h"
#include "flambeau/core/kernel.h"
#include "flambeau/core/parallel.h"
#include "flambeau/core/python_hook.h"
#include "flambeau/core/views.h"
#include "pointwise/convert.h"

namespace flambeau {

namespace {

constexpr int64_t kStagger = 16;  // rows of 64 bytes

struct Lines {
  int64_t n, outer, inner;  // element (o, k, i) of a row-major tensor lies at (o * n + k) * inner + i
};

Lines lines_of(const Tensor& t, int64_t dim) {
  Lines s{t.sizes()[static_cast<size_t>(dim)], 1, 1};
  for (int64_t d = 0; d < t.dim(); ++d) {
    if (d < dim) s.outer *= t.sizes()[static_cast<size_t>(d)];
    if (d > dim) s.inner *= t.sizes()[static_cast<size_t>(d)];
  }
  return s;
}

// Where line `i` begins; its elements are `inner` apart.
int64_t start_of(const Lines& s, int64_t i) { return i / s.inner * s.n * s.inner + i % s.inner; }

// Lines [first, first + count) to or from vectors.
template <class R>
void gather(const std::complex<R>* data, const Lines& s, const int64_t* starts, int64_t count, fft::SplitLines<R> x) {
  constexpr int64_t W = fft::kWidth<R>;
  for (int64_t v = 0; v < W; ++v) {
    const std::complex<R>* line = data + starts[v < count ? v : 0];
    for (int64_t k = 0; k < s.n; ++k) {
      x.re[k * W + v] = line[k * s.inner].real();
      x.im[k * W + v] = line[k * s.inner].imag();
    }
  }
}

template <class R>
void scatter(std::complex<R>* data, const Lines& s, const int64_t* starts, int64_t count, fft::SplitLines<R> x) {
  constexpr int64_t W = fft::kWidth<R>;
  for (int64_t v = 0; v < count; ++v) {
    std::complex<R>* line = data + starts[v];
    for (int64_t k = 0; k < s.n; ++k) line[k * s.inner] = {x.re[k * W + v], x.im[k * W + v]};
  }
}

template <class R> void transform_lines(std::complex<R>* data, const Lines& s, const fft::Transform<R>& transform) {
  constexpr int64_t W = fft::kWidth<R>;
  const int64_t lines = s.outer * s.inner, groups = (lines + W - 1) / W;
  const double work = static_cast<double>(s.n) * std::log2(static_cast<double>(s.n) + 1);
  parallel_for(0, groups, static_cast<int64_t>(std::max(1.0, 1e4 / work)), [&](int64_t begin, int64_t end) {
    // The four arrays lie a quarter of a page apart modulo pages: powers of two would meet in the same cache sets.
    const int64_t rows = s.n + kStagger, scratch_rows = transform.scratch_rows() + kStagger;
    const std::unique_ptr<R[]> memory(new R[static_cast<size_t>(2 * (rows + scratch_rows) * W + W)]);
    R* base = memory.get() + (64 - reinterpret_cast<uintptr_t>(memory.get()) % 64) % 64 / sizeof(R);
    const fft::SplitLines<R> x{base, base + rows * W};
    const fft::SplitLines<R> scratch{base + 2 * rows * W, base + (2 * rows + scratch_rows) * W};
    for (int64_t g = begin; g < end; ++g) {
      const int64_t count = std::min(W, lines - g * W);
      int64_t starts[W];
      for (int64_t v = 0; v < count; ++v) starts[v] = start_of(s, g * W + v);
      gather(data, s, starts, count, x);
      scatter(data, s, starts, count, transform.run(x, scratch));
    }
  });
}

template <class R> void transform_all(const Tensor& out, IntList dims, int64_t normalization, bool forward) {
  double points = 1;
  for (const int64_t d : dims) {
    const Lines s = lines_of(out, wrap_dim(d, out.dim()));
    points *= static_cast<double>(s.n);
    transform_lines(out.data_as<std::complex<R>>(), s, *fft::cached_transform<R>(s.n, forward));
  }
  const R scale = static_cast<R>(normalization == 0   ? 1.0
                                 : normalization == 1 ? 1.0 / std::sqrt(points)
                                                      : 1.0 / points);
  if (scale == R(1)) return;
  R* values = out.data_as<R>();
  parallel_for(0, 2 * out.numel(), 32768, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) values[i] *= scale;
  });
}

// Dims in the order in which the result's strides fall: those that stay, then the transformed ones, each group in the
// order of the input's strides.
std::vector<int64_t> result_order(const Tensor& self, IntList dims) {
  const size_t n = self.sizes().size();
  std::vector<bool> transformed(n, false);
  for (const int64_t d : dims) transformed[static_cast<size_t>(wrap_dim(d, self.dim()))] = true;
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const auto i = static_cast<size_t>(a), j = static_cast<size_t>(b);
    if (transformed[i] != transformed[j]) return !transformed[i];
    return self.strides()[i] > self.strides()[j];
  });
  return order;
}

std::vector<int64_t> result_strides(const Tensor& self, IntList dims) {
  const std::vector<int64_t> order = result_order(self, dims);
  std::vector<int64_t> strides(order.size());
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const auto d = static_cast<size_t>(order[i]);
    strides[d] = step;
    step *= std::max<int64_t>(self.sizes()[d], 1);
  }
  return strides;
}

}  // namespace

TensorSpec fft_c2c_shape(const Tensor& self, IntList dim, int64_t normalization, bool) {
  FL_CHECK(self.dtype() == DType::Complex64 || self.dtype() == DType::Complex128, "[fft] not implemented for ",
           dtype_name(self.dtype()), "; allowed: complex64, complex128");
  FL_CHECK(normalization >= 0 && normalization <= 2, "[fft] normalization is 0 (none), 1 (by root n) or 2 (by n), got ",
           normalization);
  for (const int64_t d : dim)
    FL_CHECK(self.sizes()[static_cast<size_t>(wrap_dim(d, self.dim()))] > 0,
             "[fft] Invalid number of data points (0) specified");
  return {self.sizes().vec(), self.dtype(), result_strides(self, dim)};
}

void fft_c2c_cpu(const Tensor& self, IntList dim, int64_t normalization, bool forward, const Tensor& out) {
  if (!out.numel()) return;
  copy_values(out, self);
  const std::vector<int64_t> order = result_order(self, dim);
  const Tensor rows = permute(out, order);  // row-major
  std::vector<int64_t> places;
  for (const int64_t d : dim)
    places.push_back(std::find(order.begin(), order.end(), wrap_dim(d, self.dim())) - order.begin());
  ReleaseInterpreter long_work(out.numel() > 2048);
  if (self.dtype() == DType::Complex64)
    transform_all<float>(rows, places, normalization, forward);
  else
    transform_all<double>(rows, places, normalization, forward);
}

}  // namespace flambeau
