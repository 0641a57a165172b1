#pragma once
// Bessel functions J and Y of orders 0 and 1, in double for both types.
//
// Below 8 one polynomial in x^2 (for Y the rest after 2/pi log(x) J); from 8 on Hankel's form, with two polynomials in
// (8/x)^2. The coefficients are those of tools/fits/bessel.py; errors are absolute, 2^-53 and less. The short reduction
// of the sine bounds the range: beyond trig_is_narrow the C library is called, and a kernel that scans its block may
// use the _narrow forms, which vectorise.

#include <math.h>

#include "trig.h"

FL_VM_BEGIN

namespace detail {

inline constexpr double kTwoOverPi = 0.63661977236758134308;

// Over t = x^2 / 32 - 1; those of order 1 are of J1(x) / x and of the rest of Y1 over x.
FL_VM double j0_near(double t) {
  return horner(t, 0.045829664859813768, 0.93030124729585717, -0.64846928308718366, -0.80808880766968705,
                1.0383794611437211, -0.50746804584710203, 0.14598884856759273, -0.028472718610869575,
                0.0040580789891404897, -0.00044354592247272207, 3.8473197857391436e-05, -2.717749145023612e-06,
                1.5956108858985028e-07, -7.9154077382447942e-09, 3.3634718653752786e-10, -1.2384637259797295e-11,
                3.9908104544026795e-13, -1.1382224187369458e-14, 2.8784054803601349e-16);
}
FL_VM double j1_near(double t) {
  return horner(t, -0.058143827955991073, 0.081058660385897957, 0.15151665143806634, -0.25959486528593029,
                0.15858376432721938, -0.054745818212847276, 0.012456814392255438, -0.0020290394945702448,
                0.00024949458139090992, -2.40457486608698e-05, 1.8684525371950775e-06, -1.1967081644209239e-07,
                6.4312687983325589e-09, -2.9430378854379158e-10, 1.161059017640219e-11, -3.9908085807676602e-13,
                1.2095547023509684e-14, -3.2386520404556592e-16);
}
FL_VM double y0_near(double t) {
  return horner(t, -0.38225065445942502, -0.82843589036045873, 1.6470964788745466, 0.14412632369302442,
                -1.0775477338215995, 0.67217707834317231, -0.2189574709617165, 0.046367047681347098,
                -0.0070257410572698254, 0.00080615860605506439, -7.2795418827846926e-05, 5.3213186337351224e-06,
                -3.2185077884955939e-07, 1.6391065268253219e-08, -7.1305169468747032e-10, 2.6818221382926751e-11,
                -8.8105219711876678e-13, 2.5580393198299514e-14, -6.5755812378155209e-16);
}
FL_VM double y1_near(double t) {
  return horner(t, 0.070759858821180049, -0.24337743079193114, 0.023367571720993584, 0.23507209206669755,
                -0.19639839859930425, 0.078547869222425445, -0.019628756833099423, 0.0034224907399180455,
                -0.00044381734351149876, 4.4674330129144419e-05, -3.6009998743578245e-06, 2.380492991360424e-07,
                -1.3153322551097407e-08, 6.169742619374596e-10, -2.4887509931894179e-11, 8.7288066893150848e-13,
                -2.6951380172448268e-14, 7.3398683211240355e-16);
}
// Over t = 2 (8/x)^2 - 1; q is multiplied by x / 8.
FL_VM double p0_far(double t) {
  return horner(t, 0.99945727578825194, -0.00053636731921296731, 6.1374160800700985e-06, -2.05274482610003e-07,
                1.2803761899651952e-08, -1.2121098290109587e-09, 1.5500370110344239e-10, -2.4911435012912062e-11,
                4.790755185527712e-12, -1.0157842382548782e-12, 2.4198470186414378e-13, -1.0250287212349291e-13,
                3.4502479941393706e-14);
}
FL_VM double q0_far(double t) {
  return horner(t, -0.01555511387951352, 6.8331490993400512e-05, -1.4771388325445289e-06, 7.1062149651893949e-08,
                -5.6687175411638543e-09, 6.4326990895574456e-10, -9.4696075969174717e-11, 1.7060376450483215e-11,
                -3.6093355497444904e-12, 8.1728661345667579e-13, -2.0599135782838432e-13, 9.8925301103933391e-14,
                -3.5438263431094646e-14);
}
FL_VM double p1_far(double t) {
  return horner(t, 1.0009070262780821, 0.00089880494167051837, -7.9596946983967234e-06, 2.4536766333484777e-07,
                -1.4708513475464238e-08, 1.3602969372503197e-09, -1.7130868682118516e-10, 2.7234480372825676e-11,
                -5.1951248339208106e-12, 1.0955206422841587e-12, -2.5984065833391813e-13, 1.0922117597973586e-13,
                -3.6624709271350907e-14);
}
FL_VM double q1_far(double t) {
  return horner(t, 0.046776874027448977, -9.6214588220503743e-05, 1.8212018511201824e-06, -8.2919608206804839e-08,
                6.4201340708741529e-09, -7.1510181003661643e-10, 1.0394247957275804e-10, -1.8553488355180492e-11,
                3.8975138961551032e-12, -8.7853781011238523e-13, 2.2061187041502839e-13, -1.0514037490276335e-13,
                3.7533809948922298e-14);
}

// What the functions share at |x|: a clamped argument for each range, and sine and cosine of x times sqrt(1 / (pi x)).
struct BesselArgument {
  double x, small, t_near, t_far, ratio, sine, cosine;
};
FL_VM BesselArgument bessel_argument(double x) {
  const double a = abs(x);
  const double small = a < 8.0 ? a : 8.0, large = a < 8.0 ? 8.0 : a;
  const double ratio = 8.0 / large;
  const auto r = trig_reduce_double(large);
  const double s = sin_poly(r.hi, r.lo), c = cos_poly(r.hi, r.lo);
  const bool odd = r.quadrant & 1;
  const double amplitude = sqrt(0.31830988618379067154 / large);
  const double sine = flip_sign(odd ? c : s, (r.quadrant & 2) << 62);
  const double cosine = flip_sign(odd ? s : c, ((r.quadrant + 1) & 2) << 62);
  const double t_near = small * small * 0.03125 - 1.0, t_far = 2.0 * ratio * ratio - 1.0;
  return {a, small, t_near, t_far, ratio, amplitude * sine, amplitude * cosine};
}

// Phases x - pi/4 and x - 3 pi/4 as sums of the sine and cosine of x; the 1/sqrt(2) is in the amplitude.
FL_VM double j0(double x) {
  const auto b = bessel_argument(x);
  const double p = p0_far(b.t_far), q = b.ratio * q0_far(b.t_far);
  const double far = p * (b.cosine + b.sine) - q * (b.sine - b.cosine);
  return b.x < 8.0 ? j0_near(b.t_near) : far;
}
FL_VM double j1(double x) {
  const auto b = bessel_argument(x);
  const double p = p1_far(b.t_far), q = b.ratio * q1_far(b.t_far);
  const double far = p * (b.sine - b.cosine) + q * (b.sine + b.cosine);
  const double y = b.x < 8.0 ? b.x * j1_near(b.t_near) : far;
  return signbit(x) ? -y : y;
}
FL_VM double y0(double x) {
  const auto b = bessel_argument(x);
  const double p = p0_far(b.t_far), q = b.ratio * q0_far(b.t_far);
  const double far = p * (b.sine - b.cosine) + q * (b.cosine + b.sine);
  const double near = fma_(kTwoOverPi * vm::log(b.small), j0_near(b.t_near), y0_near(b.t_near));
  return x < 0.0 ? kNaN<double> : (x < 8.0 ? near : far);
}
FL_VM double y1(double x) {
  const auto b = bessel_argument(x);
  const double p = p1_far(b.t_far), q = b.ratio * q1_far(b.t_far);
  const double far = q * (b.sine - b.cosine) - p * (b.sine + b.cosine);
  const double j = b.small * j1_near(b.t_near);
  const double near = fma_(b.small, y1_near(b.t_near), kTwoOverPi * (vm::log(b.small) * j - 1.0 / b.small));
  const double y = x < 8.0 ? near : far;
  return x < 0.0 ? kNaN<double> : (x == 0.0 ? -kInf<double> : y);
}

}  // namespace detail

#define FL_VM_BESSEL(NAME)                                                                                 \
  template <typename T> FL_VM Real<T> bessel_##NAME##_narrow(T x) {                                        \
    return static_cast<T>(detail::NAME(static_cast<double>(x)));                                           \
  }                                                                                                        \
  template <typename T> inline Real<T> bessel_##NAME(T x) {                                                \
    return trig_is_narrow(static_cast<double>(x)) ? bessel_##NAME##_narrow(x) : static_cast<T>(::NAME(x)); \
  }
/// J is even for order 0 and odd for order 1; Y is -inf at 0 and NaN below.
FL_VM_BESSEL(j0)
FL_VM_BESSEL(j1)
FL_VM_BESSEL(y0)
FL_VM_BESSEL(y1)
#undef FL_VM_BESSEL

FL_VM_END
