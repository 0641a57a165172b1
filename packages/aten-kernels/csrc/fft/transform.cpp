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

// --- one stage: p-point transforms of elements r apart, each turned by its twiddle
// -------------------------------------

template <class R>
struct Stage {
  const C<R>* in;
  C<R>* out;
  int64_t l, r;   // groups of earlier stages, and elements still apart
  const C<R>* w;  // p - 1 twiddles a group
  bool forward;
};

template <class R>
inline C<R> turn_quarter(C<R> a, bool forward) {
  return forward ? C<R>(a.imag(), -a.real()) : C<R>(-a.imag(), a.real());
}

// `butterfly(in, in_step, twiddles, out, out_step)` for every element; `kOne` where only one is left in a group.
template <bool kOne, class R, class F>
inline void for_each_butterfly(const Stage<R>& s, int64_t p, F&& butterfly) {
  const int64_t r = kOne ? 1 : s.r, out_step = s.l * r;
  for (int64_t j = 0; j < s.l; ++j) {
    const C<R>* in = s.in + j * p * r;
    C<R>* out = s.out + j * r;
    const C<R>* w = s.w + j * (p - 1);
    for (int64_t k = 0; k < r; ++k) butterfly(in + k, r, w, out + k, out_step);
  }
}

template <class R, class F>
inline void run_butterflies(const Stage<R>& s, int64_t p, F&& butterfly) {
  if (s.r == 1)
    for_each_butterfly<true>(s, p, butterfly);
  else
    for_each_butterfly<false>(s, p, butterfly);
}

template <class R>
void stage2(const Stage<R>& s) {
  run_butterflies(s, 2, [](const C<R>* in, int64_t step, const C<R>* w, C<R>* out, int64_t out_step) {
    const C<R> a = in[0], b = times(in[step], w[0]);
    out[0] = a + b;
    out[out_step] = a - b;
  });
}

template <class R>
void stage3(const Stage<R>& s) {
  const R half_root = static_cast<R>(0.86602540378443864676);
  run_butterflies(s, 3, [=](const C<R>* in, int64_t step, const C<R>* w, C<R>* out, int64_t out_step) {
    const C<R> a = in[0], b = times(in[step], w[0]), c = times(in[2 * step], w[1]);
    const C<R> sum = b + c, middle = a - sum * R(0.5), turned = turn_quarter(b - c, s.forward) * half_root;
    out[0] = a + sum;
    out[out_step] = middle + turned;
    out[2 * out_step] = middle - turned;
  });
}

template <class R>
void stage4(const Stage<R>& s) {
  run_butterflies(s, 4, [&](const C<R>* in, int64_t step, const C<R>* w, C<R>* out, int64_t out_step) {
    const C<R> a = in[0], b = times(in[step], w[0]), c = times(in[2 * step], w[1]), d = times(in[3 * step], w[2]);
    const C<R> even = a + c, odd = a - c, sum = b + d, turned = turn_quarter(b - d, s.forward);
    out[0] = even + sum;
    out[out_step] = odd + turned;
    out[2 * out_step] = even - sum;
    out[3 * out_step] = odd - turned;
  });
}

template <class R>
void stage5(const Stage<R>& s) {
  const R c1 = static_cast<R>(0.30901699437494742410), c2 = static_cast<R>(-0.80901699437494742410);
  const R s1 = static_cast<R>(0.95105651629515357212), s2 = static_cast<R>(0.58778525229247312917);
  run_butterflies(s, 5, [=](const C<R>* in, int64_t step, const C<R>* w, C<R>* out, int64_t out_step) {
    const C<R> a = in[0], b = times(in[step], w[0]), c = times(in[2 * step], w[1]), d = times(in[3 * step], w[2]),
               e = times(in[4 * step], w[3]);
    const C<R> be = b + e, cd = c + d, b_e = b - e, c_d = c - d;
    const C<R> m1 = a + be * c1 + cd * c2, m2 = a + be * c2 + cd * c1;
    const C<R> t1 = turn_quarter(b_e * s1 + c_d * s2, s.forward), t2 = turn_quarter(b_e * s2 - c_d * s1, s.forward);
    out[0] = a + be + cd;
    out[out_step] = m1 + t1;
    out[2 * out_step] = m2 + t2;
    out[3 * out_step] = m2 - t2;
    out[4 * out_step] = m1 - t1;
  });
}

template <class R>
void stage_any(const Stage<R>& s, int64_t p, const C<R>* roots) {
  run_butterflies(s, p, [=](const C<R>* in, int64_t step, const C<R>* w, C<R>* out, int64_t out_step) {
    C<R> x[kLargestFactor];
    x[0] = in[0];
    for (int64_t b = 1; b < p; ++b) x[b] = times(in[b * step], w[b - 1]);
    for (int64_t q = 0; q < p; ++q) {
      C<R> sum = x[0];
      for (int64_t b = 1, at = q; b < p; ++b, at = at + q >= p ? at + q - p : at + q) sum += times(x[b], roots[at]);
      out[q * out_step] = sum;
    }
  });
}

template <class R>
void run_stage(const Stage<R>& s, int64_t p, const C<R>* roots) {
  switch (p) {
    case 2:
      return stage2(s);
    case 3:
      return stage3(s);
    case 4:
      return stage4(s);
    case 5:
      return stage5(s);
    default:
      return stage_any(s, p, roots);
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
    int64_t l = 1;
    for (const int64_t p : factors_) {
      for (int64_t j = 0; j < l; ++j)
        for (int64_t b = 1; b < p; ++b) twiddles_.push_back(root<R>(b * j, l * p, forward));
      for (int64_t q = 0; q < p; ++q) small_roots_.push_back(root<R>(q, p, forward));
      l *= p;
    }
    return;
  }
  // x_j w^(j^2/2) convolved with w^(-j^2/2), where j k = (j^2 + k^2 - (j - k)^2) / 2 (Bluestein 1970).
  const int64_t m = power_of_two_from(2 * n - 1);
  chirp_.resize(static_cast<size_t>(n));
  for (int64_t k = 0; k < n; ++k)
    chirp_[static_cast<size_t>(k)] =
        root<R>(static_cast<int64_t>(static_cast<unsigned __int128>(k) * static_cast<unsigned __int128>(k) %
                                     static_cast<unsigned __int128>(2 * n)),
                2 * n, forward);
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
  if (factors_.empty())
    run_bluestein(line, scratch);
  else
    run_factors(line, scratch);
}

// After factors of product l the array holds, at [j][k], the l-point transforms of the elements n / l apart (Stockham).
template <class R>
void Transform<R>::run_factors(C* line, C* scratch) const {
  C* from = line;
  C* to = scratch;
  const C* w = twiddles_.data();
  const C* roots = small_roots_.data();
  int64_t l = 1;
  for (const int64_t p : factors_) {
    run_stage<R>({from, to, l, n_ / (l * p), w, forward_}, p, roots);
    std::swap(from, to);
    w += l * (p - 1);
    roots += p;
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
