// Largest error, in units in the last place, of each function of csrc/math for one instruction set; and whether a
// vectorised loop gives the bits that single calls give. Build once per FL_ISA with the flags of the kernels:
//   g++ -std=c++20 -O3 -fno-math-errno -fno-trapping-math -ffp-contract=off -march=x86-64-v3 -DFL_ISA=v3 ...
//   math_accuracy [stride] [name]
// float: every stride-th bit pattern and the special values against double (or long double); double: pseudo-random
// bit patterns and dense ranges against long double. Exit status 1 when a function is over its bar.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "math_cases.h"

namespace {

using flambeau::testing::Case;

template <typename T> struct Limits;
template <> struct Limits<float> {
  using Bits = uint32_t;
  static constexpr int digits = 24, least = -149;
};
template <> struct Limits<double> {
  using Bits = uint64_t;
  static constexpr int digits = 53, least = -1074;
};

constexpr double kWrong = 1e9;

// Distance of `got` from `want` in units in the last place of `want`; kWrong for a different kind of value.
template <typename T> double ulp_error(T got, long double want) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : kWrong;
  const T rounded = static_cast<T>(want);
  if (std::isinf(rounded) || std::isinf(got)) {
    if (got == rounded) return 0;
    // One step either side of the overflow threshold is an ordinary rounding error.
    const T other = std::isinf(got) ? rounded : got;
    return !std::isinf(want) && std::fabs(other) >= std::numeric_limits<T>::max() * T(0.9999999) ? 1 : kWrong;
  }
  if (want == 0) return got == 0 ? (std::signbit(got) == std::signbit(want) ? 0 : kWrong) : kWrong;
  int e;
  std::frexp(want, &e);
  const long double unit = std::ldexp(1.0L, std::max(e - Limits<T>::digits, Limits<T>::least));
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want) / unit);
}

template <typename T> T from_bits(typename Limits<T>::Bits b) {
  T x;
  std::memcpy(&x, &b, sizeof x);
  return x;
}

std::vector<float> float_inputs(int stride) {
  std::vector<float> x;
  for (uint32_t s : {0u, 0x80000000u, 0x7f800000u, 0xff800000u, 0x7fc00000u, 1u, 0x80000001u, 0x7fffffu, 0x800000u,
                     0x7f7fffffu, 0xff7fffffu, 0x3f800000u, 0xbf800000u, 0x3f7fffffu, 0x3f800001u, 0xbf7fffffu})
    x.push_back(from_bits<float>(s));
  for (uint64_t i = 0; i < (uint64_t{1} << 32); i += stride) x.push_back(from_bits<float>(static_cast<uint32_t>(i)));
  return x;
}

std::vector<double> double_inputs(int stride) {
  const double special[] = {0.0,
                            -0.0,
                            INFINITY,
                            -INFINITY,
                            NAN,
                            5e-324,
                            -5e-324,
                            2.2250738585072014e-308,
                            1.7976931348623157e308,
                            -1.7976931348623157e308,
                            1.0,
                            -1.0,
                            0.5,
                            0x1.fffffffffffffp-1,
                            0x1.0000000000001p+0,
                            709.78,
                            709.79,
                            -745.1,
                            -745.2,
                            1e-300,
                            2.0,
                            3.0};
  std::vector<double> x(std::begin(special), std::end(special));
  uint64_t state = 1;
  auto next = [&] {
    state += 0x9e3779b97f4a7c15u;  // splitmix64
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  };
  const int64_t n = 40000000 / stride;
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t r = next();
    const double u = static_cast<double>(r >> 11) * 0x1p-53 * 2 - 1;
    x.push_back(from_bits<double>(r));
    x.push_back(u);
    x.push_back(u * 8);
    x.push_back(u * 750);
    x.push_back(1 + u * 0x1p-4);
    x.push_back(from_bits<double>((r & 0x801fffffffffffffu) | 0x3fe0000000000000u));  // +-[0.5, 2)
  }
  return x;
}

// Compares a vectorised loop with single calls; returns the number of elements whose bits differ.
template <typename T> int64_t bit_mismatches(const Case<T>& c, const std::vector<T>& x, const std::vector<T>& y) {
  int64_t bad = 0;
  for (size_t i = 0; i < x.size(); i += 7) {
    const T one = c.single(x[i]);
    const bool both_nan = one != one && y[i] != y[i];
    if (!both_nan && std::memcmp(&one, &y[i], sizeof one) != 0) ++bad;
  }
  return bad;
}

template <typename T> bool run(const std::vector<Case<T>>& cases, const std::vector<T>& x, const char* only) {
  bool ok = true;
  std::vector<T> y(x.size());
  for (const Case<T>& c : cases) {
    if (only && c.name != std::string(only)) continue;
    c.loop(x.data(), y.data(), static_cast<int64_t>(x.size()));
    double worst = 0;
    T at = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double e = ulp_error(y[i], c.reference(x[i]));
      if (e > worst) worst = e, at = x[i];
    }
    const int64_t mismatches = bit_mismatches(c, x, y);
    const bool pass = worst <= c.bar && mismatches == 0;
    ok = ok && pass;
    std::printf("%-4s %-3s %-14s max %10.4g ulp at %.17g (bar %g)%s%s\n", pass ? "ok" : "FAIL",
                sizeof(T) == 4 ? "f32" : "f64", c.name, worst, static_cast<double>(at), c.bar,
                mismatches ? "  vector and single calls differ" : "", "");
    std::fflush(stdout);
  }
  return ok;
}

}  // namespace

int main(int argc, char** argv) {
  const int stride = argc > 1 ? std::atoi(argv[1]) : 401;
  const char* only = argc > 2 ? argv[2] : nullptr;
  const bool f = run(flambeau::testing::float_cases(), float_inputs(stride), only);
  const bool d = run(flambeau::testing::double_cases(), double_inputs(stride), only);
  return f && d ? 0 : 1;
}
