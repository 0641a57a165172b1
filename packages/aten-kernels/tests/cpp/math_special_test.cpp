// Facts about csrc/math that are not a matter of accuracy: special values, casts, integers that must not trap, 16-bit
// floats, complex division. Build once per FL_ISA, as math_accuracy.cpp.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

#include "vm.h"

using namespace flambeau;

namespace {

int failures = 0;
#define CHECK(...)                                                  \
  do {                                                              \
    if (!(__VA_ARGS__)) {                                           \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, #__VA_ARGS__); \
      ++failures;                                                   \
    }                                                               \
  } while (false)

constexpr float kInf = INFINITY, kNan = NAN;

template <typename T> bool same(T a, T b) {
  return (a != a && b != b) || (a == b && std::signbit(a) == std::signbit(b));
}

void test_powf_of_every_pair_of_special_values_is_that_of_the_c_library() {
  const float v[] = {0.0f, -0.0f, 1, -1, 2, -2, 0.5f, -0.5f, 3, -3, kInf, -kInf, kNan, 1e38f, -1e-40f, 16777217.0f};
  for (float x : v)
    for (float y : v) {
      const float got = vm::pow(x, y), want = std::pow(x, y);
      CHECK(same(got, want) || std::fabs(got - want) <= 1e-7f * std::fabs(want));
    }
}

void test_atan2_of_every_pair_of_special_values_is_that_of_the_c_library() {
  const double v[] = {0.0, -0.0, 1, -1, 5e-324, 1e300, INFINITY, -INFINITY, NAN, 0.3};
  for (double y : v)
    for (double x : v) {
      const double got = vm::atan2(y, x), want = std::atan2(y, x);
      CHECK(same(got, want) || std::fabs(got - want) <= 4e-16 * std::fabs(want));
      const float gf = vm::atan2(float(y), float(x)), wf = std::atan2(float(y), float(x));
      CHECK(same(gf, wf) || std::fabs(gf - wf) <= 2e-7f * std::fabs(wf));
    }
}

void test_remainders_take_the_signs_python_gives_them() {
  CHECK(vm::fmod(-5.0f, 3.0f) == -2 && vm::remainder(-5.0f, 3.0f) == 1 && vm::remainder(5.0f, -3.0f) == -1);
  CHECK(vm::fmod(5.0f, kInf) == 5 && vm::remainder(-1.0f, kInf) == kInf && std::isnan(vm::fmod(kInf, 2.0f)));
  CHECK(vm::fmod(1e20f, 0.3f) == std::fmod(1e20f, 0.3f) && vm::fmod(1e300, 0.3) == std::fmod(1e300, 0.3));
  CHECK(vm::floor_divide(-5.0, 3.0) == -2 && vm::floor_divide(7.5f, 0.0f) == kInf);
  CHECK(vm::floor_divide(1.0f, -0.0f) == -kInf);
  CHECK(same(vm::remainder(-0.0f, 3.0f), -0.0f) && same(vm::floor_divide(5.0f, kInf), 0.0f));
}

void test_rounding_and_selection_follow_torch_at_nan_and_ties() {
  CHECK(vm::round(2.5f) == 2 && vm::round(-0.5) == 0 && std::signbit(vm::round(-0.5)));
  CHECK(vm::sign(kNan) == 0 && vm::heaviside(kNan, 1.0f) == 0 && vm::heaviside(-0.0f, 0.5f) == 0.5f);
  CHECK(std::isnan(vm::maximum(1.0f, kNan)) && std::isnan(vm::minimum(kNan, 1.0f)));
  CHECK(vm::fmax(1.0f, kNan) == 1 && vm::fmin(kNan, 1.0f) == 1);
  CHECK(std::isnan(vm::xlogy(0.0f, kNan)) && vm::xlogy(0.0f, -1.0f) == 0 && vm::entr(-1.0f) == -kInf);
  CHECK(vm::logaddexp(kInf, kInf) == kInf && vm::logaddexp(-kInf, -kInf) == -kInf);
  CHECK(vm::nextafter(0.0f, -1.0f) == -1e-45f && vm::nextafter(1.0, 2.0) == 1.0 + 0x1p-52);
  CHECK(vm::ldexp(1e-40f, 150.0f) == std::ldexp(1e-40f, 150) && vm::ldexp(0x1p100, -1170.0) == 0x1p-1070);
  CHECK(vm::hypot(kInf, kNan) == kInf && vm::hypot(1e300, 1e300) == std::hypot(1e300, 1e300));
}

void test_special_functions_at_their_poles() {
  CHECK(vm::digamma(0.0f) == -kInf && vm::digamma(-0.0f) == kInf && std::isnan(vm::digamma(-1.0f)));
  CHECK(vm::lgamma(-2.0) == INFINITY && vm::trigamma(0.0f) == kInf && vm::zeta(1.0, 2.0) == INFINITY);
  CHECK(vm::erfinv(1.0f) == kInf && vm::erfinv(-1.0) == -INFINITY && std::isnan(vm::erfinv(2.0f)));
  CHECK(vm::ndtri(0.0) == -INFINITY && vm::ndtri(1.0f) == kInf && vm::log_ndtr(-kInf) == -kInf);
  CHECK(std::fabs(vm::polygamma(2, -3.499) - 0.133233590810431) < 1e-13);
  CHECK(std::fabs(vm::zeta(2.0, 1.0) - 1.6449340668482264) < 1e-15);
  CHECK(vm::igamma(0.0, 1.0) == 1 && vm::igamma(1.0, 0.0) == 0 && std::isnan(vm::igamma(-1.0, 1.0)));
}

template <typename T> void check_integers_do_not_trap() {
  const T low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  for (T a : {low, high, T(0), T(1), T(-1), T(7)})
    for (T b : {low, high, T(0), T(1), T(-1), T(7)}) {
      if (b == 0) {
        CHECK(vm::trunc_div(a, b) == 0 && vm::floor_div(a, b) == 0);
        CHECK(vm::trunc_mod(a, b) == 0 && vm::floor_mod(a, b) == 0);
      } else if (!(std::is_signed_v<T> && b == T(-1))) {
        CHECK(vm::trunc_div(a, b) == T(a / b) && vm::trunc_mod(a, b) == T(a % b));
      }
      (void)vm::gcd(a, b), (void)vm::lcm(a, b), (void)vm::ipow(a, b);
    }
  if constexpr (std::is_signed_v<T>) {
    CHECK(vm::trunc_div(low, T(-1)) == low && vm::floor_div(low, T(-1)) == low && vm::floor_mod(low, T(-1)) == 0);
    CHECK(vm::floor_div(T(-7), T(2)) == -4 && vm::floor_mod(T(-7), T(2)) == 1 && vm::floor_mod(T(7), T(-2)) == -1);
    CHECK(vm::ipow(T(-1), T(-3)) == -1 && vm::ipow(T(2), T(-1)) == 0 && vm::ipow(T(0), T(-1)) == 0);
    CHECK(vm::shift_right(T(-100), T(100)) == -1 && vm::shift_right(T(-100), T(-1)) == -1);
  }
  CHECK(vm::shift_left(T(1), T(sizeof(T) * 8)) == 0 && vm::shift_left(T(3), T(1)) == 6);
  CHECK(vm::shift_right(T(100), T(3)) == 12);
}

// Read at run time: g++ folds a conversion that is out of range into something else than the instruction gives.
template <typename To, typename From> To cast(From x) {
  volatile From v = x;
  return vm::convert<To>(static_cast<From>(v));
}

void test_casts_of_floats_to_integers_are_those_of_x86() {
  CHECK(cast<uint8_t>(-1.5f) == 255 && cast<uint8_t>(300.0f) == 44 && cast<int8_t>(200.0) == -56);
  CHECK(cast<int16_t>(40000.0f) == -25536 && cast<uint8_t>(3e9f) == 0 && cast<int8_t>(kNan) == 0);
  CHECK(cast<int32_t>(3e9f) == INT32_MIN && cast<int64_t>(kNan) == INT64_MIN);
  CHECK(cast<uint32_t>(3e9f) == 3000000000u && cast<uint32_t>(-1.0) == 4294967295u);
  CHECK(cast<uint64_t>(1e19) == 10000000000000000000u && cast<uint64_t>(-1.0f) == UINT64_MAX);
  CHECK(vm::convert<bool>(kNan) && !vm::convert<bool>(-0.0f) && vm::convert<bool>(Complex<float>{0, 1}));
  CHECK(vm::convert<float>(true) == 1 && vm::convert<int8_t>(int64_t{511}) == -1);
  CHECK(float(vm::convert<Half>(65520.0)) == kInf && float(vm::convert<BFloat16>(int64_t{257})) == 256);
  CHECK((vm::convert<Complex<double>>(Half(2.5f)) == Complex<double>{2.5, 0}));
}

void test_halves_survive_a_round_trip_and_arrays_convert_as_single_numbers() {
  std::vector<Half> h(65536);
  for (int i = 0; i < 65536; ++i) h[i] = Half::from_bits(static_cast<uint16_t>(i));
  std::vector<float> wide(h.size()), again(h.size());
  widen(h.data(), wide.data(), static_cast<int64_t>(h.size()) - 3);
  std::vector<Half> back(h.size());
  narrow(wide.data(), back.data(), static_cast<int64_t>(h.size()) - 3);
  for (int i = 0; i < 65533; ++i) {
    const float f = h[i];
    CHECK(std::memcmp(&f, &wide[i], 4) == 0);
    CHECK(Half(f).bits == back[i].bits && (f != f || back[i].bits == h[i].bits));
    const BFloat16 b = BFloat16::from_bits(static_cast<uint16_t>(i));
    CHECK(float(b) != float(b) || BFloat16(float(b)).bits == i);
  }
  for (uint64_t u = 0; u < (uint64_t{1} << 32); u += 9973) {
    const uint32_t bits = static_cast<uint32_t>(u);
    float f;
    std::memcpy(&f, &bits, 4);
    const std::vector<float> sixteen(16, f);
    std::vector<Half> out(16);
    narrow(sixteen.data(), out.data(), 16);
    CHECK(Half(f).bits == out[3].bits);
  }
}

void test_complex_division_is_scaled_and_divides_each_part_by_zero() {
  using C = Complex<float>;
  CHECK(C(1, 2) / C(1, 2) == C(1, 0) && C(2, 4) / C(0, 2) == C(2, -1));
  CHECK(C(1, 2) / C(kInf, 0) == C(0, 0) && vm::abs(C(3e38f, 3e38f) / C(3e38f, 1) - C(1, 1)) < 1e-6f);
  const C z = C(1, -2) / C(-0.0f, 0);
  CHECK(z.re == kInf && z.im == -kInf);
  CHECK(vm::sgn(C(0, 0)) == C(0, 0) && vm::sgn(C(3, 4)) == C(0.6f, 0.8f) && vm::abs(C(3, 4)) == 5);
  CHECK(vm::angle(-1.0f) == 3.14159265f && vm::angle(0.0f) == 0);
}

// Position independence for functions of two arguments and of complex numbers; math_accuracy.cpp has those of one.
template <typename T, typename F> [[gnu::noinline]] void run_loop(F f, const T* x, const T* y, T* out, int n) {
  for (int i = 0; i < n; ++i) out[i] = f(x[i], y[i]);
}
template <typename T, typename F> [[gnu::noinline, gnu::optimize("no-tree-vectorize")]] T run_single(F f, T x, T y) {
  return f(x, y);
}
template <typename T, typename F>
void check_loop(const char* name, F f, const std::vector<T>& x, const std::vector<T>& y) {
  std::vector<T> out(x.size());
  run_loop(f, x.data(), y.data(), out.data(), static_cast<int>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    const T one = run_single(f, x[i], y[i]);
    bool equal = std::memcmp(&one, &out[i], sizeof one) == 0;
    if constexpr (is_complex_v<T>) {
      equal = same(one.re, out[i].re) && same(one.im, out[i].im);
    } else {
      equal = equal || (one != one && out[i] != out[i]);
    }
    if (!equal) {
      std::printf("%s: element %zu of a loop differs from the single call\n", name, i);
      ++failures;
      return;
    }
  }
}

template <typename T> void check_loops_of_two_arguments() {
  std::vector<T> x, y;
  uint32_t state = 1;
  auto next = [&] { return static_cast<T>(static_cast<int32_t>(state = state * 1664525u + 1013904223u)) * T(0x1p-28); };
  for (int i = 0; i < 1003; ++i) x.push_back(next()), y.push_back(next());
#define CHECK_LOOP(NAME) check_loop(#NAME, [](T a, T b) { return vm::NAME(a, b); }, x, y)
  CHECK_LOOP(pow);
  CHECK_LOOP(atan2);
  CHECK_LOOP(hypot);
  CHECK_LOOP(ldexp);
  CHECK_LOOP(logaddexp);
  CHECK_LOOP(logaddexp2);
  CHECK_LOOP(xlogy);
  CHECK_LOOP(fmod_narrow);
  CHECK_LOOP(remainder_narrow);
  CHECK_LOOP(floor_divide_narrow);
  CHECK_LOOP(nextafter);
#undef CHECK_LOOP
}
void check_loops_of_complex_numbers() {
  using C = Complex<float>;
  std::vector<C> x;
  for (int i = 0; i < 1003; ++i) x.push_back({std::sin(i * 1.7f) * 20, std::cos(i * 2.3f) * 30});
  check_loop("exp", [](C a, C) { return vm::exp(a); }, x, x);
  check_loop("log", [](C a, C) { return vm::log(a); }, x, x);
  check_loop("sqrt", [](C a, C) { return vm::sqrt(a); }, x, x);
  check_loop("divide", [](C a, C b) { return a / (b + C(1, 2)); }, x, x);
}

}  // namespace

int main() {
  check_loops_of_two_arguments<float>();
  check_loops_of_two_arguments<double>();
  check_loops_of_complex_numbers();
  test_powf_of_every_pair_of_special_values_is_that_of_the_c_library();
  test_atan2_of_every_pair_of_special_values_is_that_of_the_c_library();
  test_remainders_take_the_signs_python_gives_them();
  test_rounding_and_selection_follow_torch_at_nan_and_ties();
  test_special_functions_at_their_poles();
  check_integers_do_not_trap<int8_t>();
  check_integers_do_not_trap<int16_t>();
  check_integers_do_not_trap<int32_t>();
  check_integers_do_not_trap<int64_t>();
  check_integers_do_not_trap<uint8_t>();
  check_integers_do_not_trap<uint64_t>();
  test_casts_of_floats_to_integers_are_those_of_x86();
  test_halves_survive_a_round_trip_and_arrays_convert_as_single_numbers();
  test_complex_division_is_scaled_and_divides_each_part_by_zero();
  std::printf(failures ? "%d failures\n" : "all passed\n", failures);
  return failures != 0;
}
