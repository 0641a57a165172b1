// _fft_c2c: complex transforms over several dims; the real ones are made of it in Python.
#include <cmath>

#include "fft/transform.h"
#include "flambeau/core/kernel.h"
#include "flambeau/core/parallel.h"
#include "flambeau/core/python_hook.h"
#include "pointwise/convert.h"

namespace flambeau {

namespace {

// Lines handled side by side, so that reading a strided dim uses whole cache lines.
constexpr int64_t kLines = 8;

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

template <class R>
void transform_lines(std::complex<R>* data, const Lines& s, const fft::Transform<R>& transform) {
  using C = std::complex<R>;
  const int64_t groups = (s.inner + kLines - 1) / kLines;
  const double work = static_cast<double>(s.n) * 5 * std::log2(static_cast<double>(s.n) + 1) *
                      static_cast<double>(std::min(kLines, s.inner));
  parallel_for(0, s.outer * groups, static_cast<int64_t>(std::max(1.0, 2e4 / work)), [&](int64_t begin, int64_t end) {
    std::vector<C> scratch(static_cast<size_t>(transform.scratch_size())),
        buffer(s.inner > 1 ? static_cast<size_t>(kLines * s.n) : 0);
    for (int64_t g = begin; g < end; ++g) {
      const int64_t first = g % groups * kLines, count = std::min(kLines, s.inner - first);
      C* base = data + g / groups * s.n * s.inner + first;
      if (s.inner == 1) {
        transform.run(base, scratch.data());
        continue;
      }
      for (int64_t k = 0; k < s.n; ++k)
        for (int64_t i = 0; i < count; ++i) buffer[static_cast<size_t>(i * s.n + k)] = base[k * s.inner + i];
      for (int64_t i = 0; i < count; ++i) transform.run(buffer.data() + i * s.n, scratch.data());
      for (int64_t k = 0; k < s.n; ++k)
        for (int64_t i = 0; i < count; ++i) base[k * s.inner + i] = buffer[static_cast<size_t>(i * s.n + k)];
    }
  });
}

template <class R>
void transform_all(const Tensor& out, IntList dims, int64_t normalization, bool forward) {
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

}  // namespace

TensorSpec fft_c2c_shape(const Tensor& self, IntList dim, int64_t normalization, bool) {
  FL_CHECK(self.dtype() == DType::Complex64 || self.dtype() == DType::Complex128, "[fft] not implemented for ",
           dtype_name(self.dtype()), "; allowed: complex64, complex128");
  FL_CHECK(normalization >= 0 && normalization <= 2, "[fft] normalization is 0 (none), 1 (by root n) or 2 (by n), got ",
           normalization);
  for (const int64_t d : dim)
    FL_CHECK(self.sizes()[static_cast<size_t>(wrap_dim(d, self.dim()))] > 0,
             "[fft] Invalid number of data points (0) specified");
  return {self.sizes().vec(), self.dtype(), {}};
}

void fft_c2c_cpu(const Tensor& self, IntList dim, int64_t normalization, bool forward, const Tensor& out) {
  if (!out.numel()) return;
  copy_values(out, self);
  ReleaseInterpreter long_work(out.numel() > 2048);
  if (self.dtype() == DType::Complex64)
    transform_all<float>(out, dim, normalization, forward);
  else
    transform_all<double>(out, dim, normalization, forward);
}

}  // namespace flambeau
