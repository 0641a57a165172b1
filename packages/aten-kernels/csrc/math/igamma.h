#pragma once
// Incomplete gamma functions, in double for both types; plain branching code.

#include "gamma.h"

FL_VM_BEGIN

namespace detail {

// x^a e^-x / Gamma(a), through logarithms of ratios when a is large.
inline double igamma_prefix(double a, double x) {
  if (a < 20.0) return std::exp(a * std::log(x) - x - lgamma(a));
  const double d = (x - a) / a;
  // log Gamma(a) = (a - 1/2) log a - a + log(2 pi)/2 + stirling(a)
  const double z = 1.0 / (a * a);
  const double stirling = (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z * (1.0 / 1680 - z / 1188)))) / a;
  const double log_ratio = std::fabs(d) < 0.5 ? std::log1p(d) - d : std::log(x / a) - d;
  return std::exp(a * log_ratio - stirling) * std::sqrt(a / (2.0 * kPi));
}

inline double igamma_series(double a, double x, double precision) {
  double sum = 1.0, term = 1.0;
  for (double n = a + 1.0; term > precision * sum; n += 1.0) sum += term *= x / n;
  return igamma_prefix(a, x) * sum / a;
}

inline double igammac_fraction(double a, double x, double precision) {
  // Lentz's method on the continued fraction of Gamma(a, x).
  const double tiny = 1e-300;
  double b = x + 1.0 - a, c = 1.0 / tiny, d = 1.0 / b, h = d;
  for (int i = 1; i < 100000; ++i) {
    const double an = -i * (i - a);
    b += 2.0;
    d = an * d + b;
    d = std::fabs(d) < tiny ? tiny : d;
    c = b + an / c;
    c = std::fabs(c) < tiny ? tiny : c;
    d = 1.0 / d;
    const double delta = d * c;
    h *= delta;
    if (std::fabs(delta - 1.0) <= precision) break;
  }
  return igamma_prefix(a, x) * h;
}

// mu - log(1 + mu).
inline double mu_minus_log1p(double mu) {
  if (std::fabs(mu) > 0.1) return mu - std::log1p(mu);
  double sum = 0.0;
  for (int k = 16; k >= 2; --k) sum = (k % 2 ? -1.0 : 1.0) / k + mu * sum;
  return mu * mu * sum;
}

// P(a, x) and Q(a, x) = 1 - P.
struct Tails {
  double p, q;
};

// Both for a >= 1e4. Temme's uniform expansion, DLMF 8.12, with two terms
// in 1/a; beyond |eta| = 0.4 the result is 0 or 1 to the last place.
inline Tails igamma_temme(double a, double x) {
  const double mu = (x - a) / a;
  const double half_eta2 = mu_minus_log1p(mu);
  if (!(half_eta2 < 0.08)) return mu < 0.0 ? Tails{0.0, 1.0} : Tails{1.0, 0.0};
  const double eta = std::copysign(std::sqrt(2.0 * half_eta2), mu);
  const double c0 = horner(eta, -0.3333333333333333, 0.08333333333333333, -0.014814814814814815, 0.0011574074074074073,
                           0.0003527336860670194, -0.0001787551440329218, 3.919263178522438e-05, -2.185448510679992e-06,
                           -1.85406221071516e-06, 8.296711340953087e-07, -1.7665952736826078e-07, 6.707853543401498e-09,
                           1.0261809784240309e-08, -4.382036018453353e-09, 9.14769958223679e-10);
  const double c1 = horner(eta, -0.001851851851851852, -0.003472222222222222, 0.0026455026455026454,
                           -0.0009902263374485596, 0.00020576131687242798, -4.018775720164609e-07);
  const double r = std::exp(-a * half_eta2) / std::sqrt(2.0 * kPi * a) * (c0 + c1 / a);
  const double z = eta * std::sqrt(0.5 * a);
  return {0.5 * std::erfc(-z) - r, 0.5 * std::erfc(z) + r};
}

// Which of P and Q is known without computing: NaN when neither.
inline double igamma_edge(double a, double x) {
  if (!(a >= 0.0) || !(x >= 0.0)) return kNaN<double>;
  if (a == 0.0) return x > 0.0 ? 1.0 : kNaN<double>;
  if (x == 0.0) return 0.0;
  if (a == kInf<double>) return x == kInf<double> ? kNaN<double> : 0.0;
  return 1.0;  // x is infinite
}
inline bool igamma_is_edge(double a, double x) {
  return !(a > 0.0) || !(x > 0.0) || a == kInf<double> || x == kInf<double>;
}

}  // namespace detail

namespace detail {
inline constexpr double kIgammaDouble = 1e-16, kIgammaFloat = 1e-10;  // where a series or fraction is cut

inline Tails igamma_tails(double a, double x, double precision) {
  if (igamma_is_edge(a, x)) return {igamma_edge(a, x), 1.0 - igamma_edge(a, x)};
  if (a >= 1e4) return igamma_temme(a, x);
  if (x < a + 1.0) {
    const double p = igamma_series(a, x, precision);
    return {p, 1.0 - p};
  }
  const double q = igammac_fraction(a, x, precision);
  return {1.0 - q, q};
}
}  // namespace detail

/// Regularised lower incomplete gamma function P(a, x); igammac is 1 - P.
inline double igamma(double a, double x) { return detail::igamma_tails(a, x, detail::kIgammaDouble).p; }
inline double igammac(double a, double x) { return detail::igamma_tails(a, x, detail::kIgammaDouble).q; }
inline float igamma(float a, float x) { return static_cast<float>(detail::igamma_tails(a, x, detail::kIgammaFloat).p); }
inline float igammac(float a, float x) {
  return static_cast<float>(detail::igamma_tails(a, x, detail::kIgammaFloat).q);
}

FL_VM_END
