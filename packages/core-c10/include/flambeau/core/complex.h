#pragma once
// Complex numbers as two plain members. std::complex is not used because its operators branch on NaN (C99 Annex G),
// which keeps loops from being vectorised, and because torch does not follow Annex G either.

#include <type_traits>

#define FL_COMPLEX_INLINE inline __attribute__((always_inline))

namespace flambeau {

template <typename T> struct Complex {
  T re;
  T im;

  Complex() = default;
  FL_COMPLEX_INLINE constexpr Complex(T real, T imag = T(0)) : re(real), im(imag) {}
  template <typename U>
  FL_COMPLEX_INLINE constexpr explicit Complex(const Complex<U>& o)
      : re(static_cast<T>(o.re)), im(static_cast<T>(o.im)) {}

  FL_COMPLEX_INLINE constexpr Complex operator-() const { return {-re, -im}; }
  FL_COMPLEX_INLINE constexpr Complex operator+() const { return *this; }
  FL_COMPLEX_INLINE constexpr Complex& operator+=(Complex b) { return *this = *this + b; }
  FL_COMPLEX_INLINE constexpr Complex& operator-=(Complex b) { return *this = *this - b; }
  FL_COMPLEX_INLINE constexpr Complex& operator*=(Complex b) { return *this = *this * b; }
  FL_COMPLEX_INLINE constexpr Complex& operator/=(Complex b) { return *this = *this / b; }

  friend FL_COMPLEX_INLINE constexpr Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  friend FL_COMPLEX_INLINE constexpr Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
  friend FL_COMPLEX_INLINE constexpr Complex operator*(Complex a, Complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  /// Smith's division: the smaller part of the divisor is divided by the larger one, so that no square can overflow.
  /// A zero divisor divides each part, which gives infinities with the signs of the parts.
  friend FL_COMPLEX_INLINE constexpr Complex operator/(Complex a, Complex b) {
    const T br = b.re < T(0) ? -b.re : b.re;
    const T bi = b.im < T(0) ? -b.im : b.im;
    const bool real_larger = br >= bi;
    const T big = real_larger ? b.re : b.im;
    const T small = real_larger ? b.im : b.re;
    const T ratio = small / big;
    const T scale = T(1) / (big + small * ratio);
    const T x = real_larger ? a.re : a.im;
    const T y = real_larger ? a.im : a.re;
    const T re = (x + y * ratio) * scale;
    const T im = (real_larger ? y - x * ratio : x * ratio - y) * scale;
    const bool by_zero = (br == T(0)) & (bi == T(0));
    return {by_zero ? a.re / T(0) : re, by_zero ? a.im / T(0) : im};
  }
  friend FL_COMPLEX_INLINE constexpr bool operator==(Complex a, Complex b) { return a.re == b.re && a.im == b.im; }
  friend FL_COMPLEX_INLINE constexpr bool operator!=(Complex a, Complex b) { return !(a == b); }
};

static_assert(std::is_trivial_v<Complex<float>> && sizeof(Complex<float>) == 8);
static_assert(std::is_trivial_v<Complex<double>> && sizeof(Complex<double>) == 16);

template <typename T> FL_COMPLEX_INLINE constexpr Complex<T> conj(Complex<T> z) { return {z.re, -z.im}; }

template <typename T> inline constexpr bool is_complex_v = false;
template <typename T> inline constexpr bool is_complex_v<Complex<T>> = true;

}  // namespace flambeau
