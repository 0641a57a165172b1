#pragma once
// Kernels in double for functions of float: 2^-32 to 2^-39 relative, so that the one rounding to float decides the
// result. Used where a float-only evaluation would need as many operations to stay accurate.

#include "explog.h"

FL_VM_BEGIN

namespace detail {

// e^x for |x| < 700.
FL_VM double exp_mid(double x) {
  const double shifted = fma_(x, 1.44269504088896340736, kRoundMagic<double>);
  const double r = fma_(shifted - kRoundMagic<double>, -0.69314718055994530942, x);
  const double q = horner(r, 0.50000000004620593, 0.1666666679164788, 0.041666664266437392, 0.0083332797244086779,
                          0.0013889209596722304, 0.00019910295531703538, 2.4706429007542598e-05);  // exp_mid
  return (1.0 + fma_(q, r * r, r)) * pow2_bits(shifted);
}

// log(x) for x positive, finite and not subnormal.
FL_VM double log_mid(double x) {
  const auto [k, f] = log_reduce_normal(x);
  const double p = horner(f, 0.33333333399193338, -0.25000001125702626, 0.19999989259199277, -0.16666532459523517,
                          0.14286179176912164, -0.12505713589231915, 0.11105470150075702, -0.098893837614047436,
                          0.090402065220073768, -0.092869722256359574, 0.091158019470872806,
                          -0.048226604852266465);  // log_mid
  const double f2 = f * f;
  return fma_(k, 0.69314718055994530942, fma_(p * f, f2, fma_(-0.5, f2, f)));
}

// sin and cos for |r| <= pi/4.
FL_VM double sin_mid(double r) {
  const double s = r * r;
  const double p =
      horner(s, -0.16666666639553213, 0.0083333291607145775, -0.00019839265942337195, 2.7176804199030024e-06);
  return fma_(p * s, r, r);
}
FL_VM double cos_mid(double r) {
  const double s = r * r;
  const double p = horner(s, 0.041666644920713446, -0.0013887278552586332, 2.4428787055465151e-05);
  return fma_(p * s, s, fma_(-0.5, s, 1.0));
}

// atan(q) for q in [0, 1].
FL_VM double atan_mid(double q) {
  return q * horner(q * q, 0.99999999994123701, -0.33333331571276464, 0.19999912054250518, -0.14283980807198812,
                    0.11093241665421215, -0.089802410574963604, 0.0724572406782205, -0.054279214511186578,
                    0.034209734850338132, -0.016111772779624632, 0.0048509714725299899, -0.00068479913722126098);
}

// erfc(a) e^(a^2) for a in [0, 10.5].
FL_VM double erfcx_mid(double a) {
  const double p = horner(a, 55.66307042718881, 80.01682839244492, 55.93046240067456, 22.537747702477287,
                          5.21178835440853, 0.5641889226202492);
  const double q = horner(a, 55.66307043199561, 142.82587678919168, 161.42915018207245, 103.7377383559547,
                          40.44831933412222, 9.237598064970555, 1.0);
  return p / q;
}

}  // namespace detail

FL_VM_END
