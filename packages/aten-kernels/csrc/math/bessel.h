#pragma once
// Modified Bessel functions, spherical j0 and Airy's Ai (J and Y are in bessel_jy.h). Computed in double for both
// types; plain branching code but for i0 ... i1e of float.

#include <math.h>

#include <cmath>

#include "arith.h"
#include "mid.h"

FL_VM_BEGIN

namespace detail {

// I_v(x) e^-x for x >= 0 and v = 0 or 1. The power series has positive terms only, so nothing cancels; from x = 30 on
// the asymptotic series is exact to double before it starts to diverge.
inline double scaled_bessel_i(int v, double x) {
  if (x == kInf<double>) return 0.0;
  if (x < 30.0) {
    const double q = 0.25 * x * x;
    double term = v ? 0.5 * x : 1.0, sum = term;
    for (int k = 1; term > 1e-17 * sum; ++k) sum += term *= q / (static_cast<double>(k) * (k + v));
    return sum * std::exp(-x);
  }
  const double mu = 4.0 * v * v;
  double term = 1.0, sum = 1.0;
  for (int k = 1; k < 40; ++k) {
    const double odd = 2.0 * k - 1.0;
    term *= (odd * odd - mu) / (8.0 * k * x);
    sum += term;
    if (std::fabs(term) < 1e-17) break;
  }
  return sum / std::sqrt(6.28318530717958647693 * x);
}

}  // namespace detail

/// Modified Bessel functions of the first kind; the `e` forms are multiplied by exp(-|x|).
inline double i0e(double x) { return x != x ? x : detail::scaled_bessel_i(0, std::fabs(x)); }
inline double i1e(double x) { return x != x ? x : std::copysign(detail::scaled_bessel_i(1, std::fabs(x)), x); }
// exp(|x|) in two halves: the product may be finite when exp(|x|) is not.
inline double i0(double x) {
  const double h = std::exp(0.5 * std::fabs(x));
  return x != x ? x : (std::isinf(x) ? kInf<double> : i0e(x) * h * h);
}
inline double i1(double x) {
  const double h = std::exp(0.5 * std::fabs(x));
  return x != x ? x : (std::isinf(x) ? x : i1e(x) * h * h);
}

namespace detail {

// I_v(x) e^-x for x >= 0, in double for results of float: one polynomial up to 8, one in 1/x beyond.
FL_VM double i0e_mid(double x) {
  const bool near = x < 8.0;
  const double u = (near ? x : 8.0) * 0.25 - 1.0;
  const double p = horner(u, 0.20700192121949168, -0.11300432665138808, 0.09451562943901741, -0.089043459513478238,
                          0.087343387574193132, -0.08496297051742667, 0.079275561040270878, -0.069545420722180382,
                          0.056775203260250387, -0.042962208893210327, 0.03018266100074718, -0.019762216754753724,
                          0.011956642793709834, -0.0066268708371281879, 0.0036055142504517463, -0.0020263870815027201,
                          0.0008898670618285074, -0.00021652153297070886, 0.00012492445045615572,
                          -0.00013372653494951923, 4.4578813603636698e-05);  // i0e_near_mid
  const double a = near ? 8.0 : x;
  const double t = 16.0 / a - 1.0;
  const double q = horner(t, 0.4021765094188996, 0.0033605522154580036, 0.00013621717340846578, 1.1140023487397137e-05,
                          1.4760700755007533e-06, 3.0691884141321129e-07, 1.0875323343154487e-07, 3.18554387170923e-08,
                          -3.7414566910203331e-11);  // i0e_far_mid
  return near ? p : q / vm::sqrt(a);
}
FL_VM double i1e_mid(double x) {
  const bool near = x < 8.0;
  const double u = (near ? x : 8.0) * 0.25 - 1.0;
  const double p = horner(u, 0.044687709874583953, -0.06112433801974046, 0.068057600135845928, -0.068482607173812216,
                          0.063767395687029854, -0.055280013242038364, 0.044674680140054893, -0.033671661059377543,
                          0.023685306459618173, -0.015569400117112128, 0.0095865609883407695, -0.0055415481028502642,
                          0.003000295842155852, -0.0015232496299837743, 0.00075086981062957761, -0.00036274411196960782,
                          0.00014526318477344196, -4.3715117314841365e-05, 2.3461825388019394e-05,
                          -1.6817588628672401e-05, 4.7618764092642323e-06);  // i1e_near_mid
  const double a = near ? 8.0 : x;
  const double t = 16.0 / a - 1.0;
  const double q = horner(t, 0.38939845905470694, -0.0097495774261368382, -0.00021923696922349347,
                          -1.5035517463750097e-05, -1.8264642347384707e-06, -3.5793298600562378e-07,
                          -1.2150285991411363e-07, -3.6057697804108875e-08, -6.1150480031981024e-10);  // i1e_far_mid
  return near ? p * x : q / vm::sqrt(a);
}

}  // namespace detail

FL_VM float i0e(float x) { return static_cast<float>(detail::i0e_mid(abs(static_cast<double>(x)))); }
FL_VM float i1e(float x) { return copysign(static_cast<float>(detail::i1e_mid(abs(static_cast<double>(x)))), x); }
FL_VM float i0(float x) {
  const double a = abs(static_cast<double>(x));
  return static_cast<float>(a == kInf<double> ? a : detail::i0e_mid(a) * detail::exp_mid(a > 300.0 ? 300.0 : a));
}
FL_VM float i1(float x) {
  const double a = abs(static_cast<double>(x));
  const double y = a == kInf<double> ? a : detail::i1e_mid(a) * detail::exp_mid(a > 300.0 ? 300.0 : a);
  return copysign(static_cast<float>(y), x);
}

namespace detail {

// K_v(x) e^x for v = 0 or 1: infinite at 0, NaN below. From x = 30 on the asymptotic series, as for I.
inline double scaled_bessel_k(int v, double x) {
  if (x == 0.0) return kInf<double>;
  if (!(x > 0.0)) return kNaN<double>;
  if (x < 30.0) return std::cyl_bessel_k(static_cast<double>(v), x) * std::exp(x);
  const double mu = 4.0 * v * v;
  double term = 1.0, sum = 1.0;
  for (int k = 1; k < 40 && std::fabs(term) > 1e-17; ++k) {
    const double odd = 2.0 * k - 1.0;
    term *= (mu - odd * odd) / (8.0 * k * x);
    sum += term;
  }
  return sum * std::sqrt(1.57079632679489661923 / x);
}

}  // namespace detail

/// Modified Bessel functions of the second kind, plain and multiplied by e^x.
inline double scaled_modified_bessel_k0(double x) { return detail::scaled_bessel_k(0, x); }
inline double scaled_modified_bessel_k1(double x) { return detail::scaled_bessel_k(1, x); }
inline double modified_bessel_k0(double x) { return detail::scaled_bessel_k(0, x) * std::exp(-x); }
inline double modified_bessel_k1(double x) { return detail::scaled_bessel_k(1, x) * std::exp(-x); }

/// sin(x) / x.
inline double spherical_bessel_j0(double x) {
  if (std::isinf(x)) return 0.0;
  const double z = x * x;
  return z < 1e-4 ? 1.0 - z / 6.0 * (1.0 - z / 20.0) : std::sin(x) / x;
}

/// Airy's function Ai, through Bessel functions of order 1/3; NaN at infinities, as in torch.
inline double airy_ai(double x) {
  if (x != x || std::isinf(x)) return kNaN<double>;
  constexpr double kThird = 1.0 / 3.0, kRootThree = 1.73205080756887729353;
  if (x == 0.0) return 0.35502805388781723926;
  const double a = std::fabs(x);
  const double zeta = 2.0 * kThird * a * std::sqrt(a);
  if (x > 0.0) {
    const double k = zeta > 740.0 ? 0.0 : std::cyl_bessel_k(kThird, zeta);
    return std::sqrt(a * kThird) * k * 0.31830988618379067154;
  }
  // J_-v = cos(v pi) J_v - sin(v pi) Y_v.
  const double j = std::cyl_bessel_j(kThird, zeta), y = std::cyl_neumann(kThird, zeta);
  return std::sqrt(a) * kThird * (1.5 * j - 0.5 * kRootThree * y);
}

#define FL_VM_FLOAT_FROM_DOUBLE(NAME) \
  inline float NAME(float x) { return static_cast<float>(NAME(static_cast<double>(x))); }
FL_VM_FLOAT_FROM_DOUBLE(scaled_modified_bessel_k0)
FL_VM_FLOAT_FROM_DOUBLE(scaled_modified_bessel_k1)
FL_VM_FLOAT_FROM_DOUBLE(modified_bessel_k0)
FL_VM_FLOAT_FROM_DOUBLE(modified_bessel_k1)
FL_VM_FLOAT_FROM_DOUBLE(spherical_bessel_j0)
FL_VM_FLOAT_FROM_DOUBLE(airy_ai)
#undef FL_VM_FLOAT_FROM_DOUBLE

FL_VM_END
