#include "fft/transform.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <mutex>

namespace flambeau::fft {

namespace {

// Empty when a prime above kLargestFactor is left.
std::vector<int64_t> small_factors(int64_t n) {
  std::vector<int64_t> factors;
  for (const int64_t p : {4, 2, 3, 5}) {
    while (n % p == 0) {
      factors.push_back(p);
      n /= p;
    }
  }
  for (int64_t p = 7; p <= kLargestFactor; p += 2) {
    while (n % p == 0) {
      factors.push_back(p);
      n /= p;
    }
  }
  if (n > 1) factors.clear();
  return factors;
}

// exp(-+2 pi i k / n), exact where an angle is a multiple of a quarter turn.
template <class R> std::complex<R> root(int64_t k, int64_t n, bool forward) {
  k %= n;
  const double turn = 2 * M_PI * static_cast<double>(k) / static_cast<double>(n);
  double c = std::cos(turn), s = std::sin(turn);
  if (4 * k == n || 4 * k == 3 * n) c = 0;
  if (2 * k == n) s = 0;
  return {static_cast<R>(c), static_cast<R>(forward ? -s : s)};
}

int64_t power_of_two_from(int64_t n) {
  int64_t m = 1;
  while (m < n) m *= 2;
  return m;
}

constexpr int64_t kStagger = 16;  // rows between two arrays, so that they do not meet in the same cache sets

template <class R> void multiply_row(SplitLines<R> x, int64_t row, std::complex<R> w) {
  R* re = x.re + row * kWidth<R>;
  R* im = x.im + row * kWidth<R>;
  for (int64_t v = 0; v < kWidth<R>; ++v) {
    const R a = re[v], b = im[v];
    re[v] = a * w.real() - b * w.imag();
    im[v] = a * w.imag() + b * w.real();
  }
}

template <class R> SplitLines<R> rows_from(SplitLines<R> x, int64_t row) {
  return {x.re + row * kWidth<R>, x.im + row * kWidth<R>};
}

// exp(-+pi i k^2 / n); the square is reduced first, so that large k lose nothing.
template <class R> std::complex<R> chirp(int64_t k, int64_t n, bool forward) {
  const auto wide = static_cast<unsigned __int128>(k);
  return root<R>(static_cast<int64_t>(wide * wide % static_cast<unsigned __int128>(2 * n)), 2 * n, forward);
}

}  // namespace

template <class R> Transform<R>::Transform(int64_t n, bool forward) {
  stages_.n = n;
  stages_.forward = forward;
  stages_.factors = small_factors(n);
  if (n <= 1) return;
  int64_t l = 1;
  for (const int64_t p : stages_.factors) {
    for (int64_t j = 0; j < l; ++j)
      for (int64_t b = 1; b < p; ++b) stages_.twiddles.push_back(root<R>(b * j, l * p, forward));
    for (int64_t q = 0; q < p; ++q) stages_.small_roots.push_back(root<R>(q, p, forward));
    l *= p;
  }
  if (!stages_.factors.empty()) return;
  // x_j w^(j^2/2) convolved with w^(-j^2/2), where j k = (j^2 + k^2 - (j - k)^2) / 2 (Bluestein 1970).
  const int64_t m = power_of_two_from(2 * n - 1);
  for (int64_t k = 0; k < n; ++k) chirp_.push_back(chirp<R>(k, n, forward));
  inner_ = std::make_unique<Transform>(m, true);
  inner_back_ = std::make_unique<Transform>(m, false);
  const size_t rows = static_cast<size_t>(m * kWidth<R>);
  std::vector<R> re(rows), im(rows), scratch_re(rows), scratch_im(rows);
  for (int64_t k = 0; k < n; ++k) {
    const C value = std::conj(chirp_[static_cast<size_t>(k)]) / static_cast<R>(m);
    for (const int64_t at : {k, (m - k) % m}) {
      re[static_cast<size_t>(at * kWidth<R>)] = value.real();
      im[static_cast<size_t>(at * kWidth<R>)] = value.imag();
    }
  }
  const SplitLines<R> out = inner_->run({re.data(), im.data()}, {scratch_re.data(), scratch_im.data()});
  for (int64_t k = 0; k < m; ++k) kernel_.push_back({out.re[k * kWidth<R>], out.im[k * kWidth<R>]});
  extra_ = 2 * m + kStagger - n;
}

template <class R> SplitLines<R> Transform<R>::run(SplitLines<R> data, SplitLines<R> scratch) const {
  if (stages_.n <= 1) return data;
  if (stages_.factors.empty()) return run_bluestein(data, scratch);
  static const LineKernel<R> kernel = line_kernel<R>();
  return kernel(stages_, data, scratch);
}

template <class R> SplitLines<R> Transform<R>::run_bluestein(SplitLines<R> data, SplitLines<R> scratch) const {
  const int64_t n = stages_.n, m = inner_->size(), width = kWidth<R>;
  SplitLines<R> padded = scratch, rest = rows_from(scratch, m + kStagger);
  for (int64_t k = 0; k < n; ++k) multiply_row(data, k, chirp_[static_cast<size_t>(k)]);
  std::copy(data.re, data.re + n * width, padded.re);
  std::copy(data.im, data.im + n * width, padded.im);
  std::fill(padded.re + n * width, padded.re + m * width, R(0));
  std::fill(padded.im + n * width, padded.im + m * width, R(0));
  SplitLines<R> x = inner_->run(padded, rest);
  if (x.re == rest.re) std::swap(padded, rest);
  for (int64_t k = 0; k < m; ++k) multiply_row(x, k, kernel_[static_cast<size_t>(k)]);
  x = inner_back_->run(padded, rest);
  for (int64_t k = 0; k < n; ++k) multiply_row(x, k, chirp_[static_cast<size_t>(k)]);
  return x;
}

template class Transform<float>;
template class Transform<double>;

template <class R> std::shared_ptr<const Transform<R>> cached_transform(int64_t n, bool forward) {
  struct Entry {
    int64_t n;
    bool forward;
    std::shared_ptr<const Transform<R>> transform;
  };
  static std::mutex mutex;
  static std::deque<Entry> recent;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    for (const Entry& e : recent)
      if (e.n == n && e.forward == forward) return e.transform;
  }
  auto made = std::make_shared<const Transform<R>>(n, forward);
  const std::lock_guard<std::mutex> lock(mutex);
  recent.push_front({n, forward, made});
  if (recent.size() > 16) recent.pop_back();
  return made;
}
template std::shared_ptr<const Transform<float>> cached_transform(int64_t, bool);
template std::shared_ptr<const Transform<double>> cached_transform(int64_t, bool);

}  // namespace flambeau::fft
