#include "fft/transform.h"

#include <cmath>
#include <deque>
#include <mutex>

namespace flambeau::fft {

namespace {

constexpr int64_t kLargestFactor = 31;  // a prime p costs p operations an element; beyond this Bluestein is quicker

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
  if (n > 1) factors.clear();  // a large prime is left
  return factors;
}

// exp(2 pi i k / n), the angle reduced to an eighth of a turn so that symmetric roots are exact mirrors.
template <class R>
std::complex<R> root(int64_t k, int64_t n, bool forward) {
  k %= n;
  const double turn = 2 * M_PI * static_cast<double>(k) / static_cast<double>(n);
  double c = std::cos(turn), s = std::sin(turn);
  if (8 * k == n || 8 * k == 3 * n || 8 * k == 5 * n || 8 * k == 7 * n) s = std::copysign(std::abs(c), s);
  if (4 * k == n || 4 * k == 3 * n) c = 0;
  if (2 * k == n) s = 0;
  return {static_cast<R>(c), static_cast<R>(forward ? -s : s)};
}

template <class R>
using C = std::complex<R>;

template <class R>
inline C<R> times(C<R> a, C<R> b) {  // without the branches on NaN of operator*
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// --- one stage: p-point transforms of elements r apart, each turned by its twiddle -------------------------------------

template <class R>
struct Stage {
  const C<R>* in;
  C<R>* out;
  int64_t r;        // length of the inner loop
  int64_t in_step;  // between the p inputs: r
  int64_t out_step; // between the p outputs: l * r
  const C<R>* w;    // p - 1 twiddles
  bool forward;
};

template <class R>
inline C<R> turn_quarter(C<R> a, bool forward) { return forward ? C<R>(a.imag(), -a.real()) : C<R>(-a.imag(), a.real()); }

template <class R>
void stage2(const Stage<R>& s) {
  for (int64_t k = 0; k < s.r; ++k) {
    const C<R> a = s.in[k], b = times(s.in[k + s.in_step], s.w[0]);
    s.out[k] = a + b;
    s.out[k + s.out_step] = a - b;
  }
}

template <class R>
void stage4(const Stage<R>& s) {
  for (int64_t k = 0; k < s.r; ++k) {
    const C<R> a = s.in[k], b = times(s.in[k + s.in_step], s.w[0]), c = times(s.in[k + 2 * s.in_step], s.w[1]), d = times(s.in[k + 3 * s.in_step], s.w[2]);
    const C<R> even = a + c, odd = a - c, sum = b + d, turned = turn_quarter(b - d, s.forward);
    s.out[k] = even + sum;
    s.out[k + s.out_step] = odd + turned;
    s.out[k + 2 * s.out_step] = even - sum;
    s.out[k + 3 * s.out_step] = odd - turned;
  }
}

template <class R>
void stage3(const Stage<R>& s) {
  const R half_root = static_cast<R>(0.86602540378443864676);
  for (int64_t k = 0; k < s.r; ++k) {
    const C<R> a = s.in[k], b = times(s.in[k + s.in_step], s.w[0]), c = times(s.in[k + 2 * s.in_step], s.w[1]);
    const C<R> sum = b + c, middle = a - sum * R(0.5), turned = turn_quarter(b - c, s.forward) * half_root;
    s.out[k] = a + sum;
    s.out[k + s.out_step] = middle + turned;
    s.out[k + 2 * s.out_step] = middle - turned;
  }
}

template <class R>
void stage_any(const Stage<R>& s, int64_t p, const C<R>* roots) {
  C<R> x[kLargestFactor];
  for (int64_t k = 0; k < s.r; ++k) {
    x[0] = s.in[k];
    for (int64_t b = 1; b < p; ++b) x[b] = times(s.in[k + b * s.in_step], s.w[b - 1]);
    for (int64_t q = 0; q < p; ++q) {
      C<R> sum = x[0];
      for (int64_t b = 1, at = q; b < p; ++b, at = (at + q) % p) sum += times(x[b], roots[at]);
      s.out[k + q * s.out_step] = sum;
    }
  }
}

template <class R>
void run_stage(const Stage<R>& s, int64_t p, const C<R>* roots) {
  switch (p) {
    case 2: return stage2(s);
    case 3: return stage3(s);
    case 4: return stage4(s);
    default: return stage_any(s, p, roots);
  }
}

int64_t power_of_two_from(int64_t n) {
  int64_t m = 1;
  while (m < n) m *= 2;
  return m;
}

}  // namespace

template <class R>
Transform<R>::Transform(int64_t n, bool forward) : n_(n), forward_(forward), factors_(small_factors(n)) {
  if (n <= 1) return;
  if (!factors_.empty()) {
    roots_.resize(static_cast<size_t>(n));
    for (int64_t k = 0; k < n; ++k) roots_[static_cast<size_t>(k)] = root<R>(k, n, forward);
    return;
  }
  // x_j w^(j^2/2) convolved with w^(-j^2/2), where j k = (j^2 + k^2 - (j - k)^2) / 2 (Bluestein 1970).
  const int64_t m = power_of_two_from(2 * n - 1);
  chirp_.resize(static_cast<size_t>(n));
  for (int64_t k = 0; k < n; ++k) chirp_[static_cast<size_t>(k)] = root<R>(static_cast<int64_t>(static_cast<unsigned __int128>(k) * static_cast<unsigned __int128>(k) % static_cast<unsigned __int128>(2 * n)), 2 * n, forward);
  inner_ = std::make_unique<Transform>(m, true);
  inner_back_ = std::make_unique<Transform>(m, false);
  kernel_.assign(static_cast<size_t>(m), C(0));
  for (int64_t k = 0; k < n; ++k) {
    const C value = std::conj(chirp_[static_cast<size_t>(k)]) / static_cast<R>(m);
    kernel_[static_cast<size_t>(k)] = value;
    if (k) kernel_[static_cast<size_t>(m - k)] = value;
  }
  std::vector<C> scratch(static_cast<size_t>(inner_->scratch_size()));
  inner_->run(kernel_.data(), scratch.data());
  extra_ = m + inner_->scratch_size();
}

template <class R>
void Transform<R>::run(C* line, C* scratch) const {
  if (n_ <= 1) return;
  if (factors_.empty()) run_bluestein(line, scratch);
  else run_factors(line, scratch);
}

// After factors of product l the array holds, at [j][k], the l-point transforms of the elements n / l apart (Stockham).
template <class R>
void Transform<R>::run_factors(C* line, C* scratch) const {
  C* from = line;
  C* to = scratch;
  int64_t l = 1;
  for (const int64_t p : factors_) {
    const int64_t r = n_ / (l * p);
    C small_roots[kLargestFactor];
    for (int64_t q = 0; q < p; ++q) small_roots[q] = roots_[static_cast<size_t>(q * (n_ / p))];
    for (int64_t j = 0; j < l; ++j) {
      C w[kLargestFactor];
      for (int64_t b = 1; b < p; ++b) w[b - 1] = roots_[static_cast<size_t>(b * j * r)];
      run_stage<R>({from + j * r * p, to + j * r, r, r, l * r, w, forward_}, p, small_roots);
    }
    std::swap(from, to);
    l *= p;
  }
  if (from != line) std::copy(from, from + n_, line);
}

template <class R>
void Transform<R>::run_bluestein(C* line, C* scratch) const {
  const int64_t m = inner_->size();
  C* padded = scratch;
  C* rest = scratch + m;
  for (int64_t k = 0; k < n_; ++k) padded[k] = times(line[k], chirp_[static_cast<size_t>(k)]);
  std::fill(padded + n_, padded + m, C(0));
  inner_->run(padded, rest);
  for (int64_t k = 0; k < m; ++k) padded[k] = times(padded[k], kernel_[static_cast<size_t>(k)]);
  inner_back_->run(padded, rest);
  for (int64_t k = 0; k < n_; ++k) line[k] = times(padded[k], chirp_[static_cast<size_t>(k)]);
}

template class Transform<float>;
template class Transform<double>;

template <class R>
std::shared_ptr<const Transform<R>> cached_transform(int64_t n, bool forward) {
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
