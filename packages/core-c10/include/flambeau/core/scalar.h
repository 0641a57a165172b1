#pragma once
/// A Python number: bool, int, float or complex.
#include <cstdint>

#include "flambeau/core/dtype.h"
#include "flambeau/core/error.h"

namespace flambeau {

class Scalar {
 public:
  enum class Kind : uint8_t { Bool, Int, Double, Complex };

  constexpr Scalar() : Scalar(int64_t{0}) {}
  constexpr Scalar(bool v) : kind_(Kind::Bool) { u_.i = v; }
  constexpr Scalar(int v) : Scalar(int64_t{v}) {}
  constexpr Scalar(int64_t v) : kind_(Kind::Int) { u_.i = v; }
  constexpr Scalar(double v) : kind_(Kind::Double) { u_.d = v; }
  constexpr Scalar(double re, double im) : kind_(Kind::Complex), im_(im) { u_.d = re; }

  Kind kind() const { return kind_; }
  bool is_bool() const { return kind_ == Kind::Bool; }
  bool is_int() const { return kind_ == Kind::Int; }
  bool is_integral() const { return kind_ <= Kind::Int; }
  bool is_floating() const { return kind_ == Kind::Double; }
  bool is_complex() const { return kind_ == Kind::Complex; }
  /// Type a tensor made of this number has before any promotion.
  DType dtype() const;

  double real() const { return is_integral() ? static_cast<double>(u_.i) : u_.d; }
  double imag() const { return is_complex() ? im_ : 0.0; }
  /// The number as a double; a complex one must have no imaginary part.
  double to_double() const;
  /// The number as an integer; fractions are cut, as int() does.
  int64_t to_int() const;
  bool to_bool() const { return is_integral() ? u_.i != 0 : (u_.d != 0 || imag() != 0); }
  Scalar operator-() const {
    if (is_integral()) return Scalar(static_cast<int64_t>(-static_cast<uint64_t>(u_.i)));
    return is_complex() ? Scalar(-u_.d, -im_) : Scalar(-u_.d);
  }
  Scalar conj() const { return is_complex() ? Scalar(u_.d, -im_) : *this; }
  bool equals(double v) const { return real() == v && imag() == 0; }

 private:
  union {
    int64_t i;
    double d;
  } u_{};
  Kind kind_;
  double im_ = 0;
};

inline DType Scalar::dtype() const {
  switch (kind_) {
    case Kind::Bool: return DType::Bool;
    case Kind::Int: return DType::Int64;
    case Kind::Double: return DType::Float64;
    default: return DType::Complex128;
  }
}

inline double Scalar::to_double() const {
  FL_CHECK(!is_complex() || im_ == 0,
           "value cannot be converted to type double without overflow: the number is complex");
  return real();
}

inline int64_t Scalar::to_int() const {
  if (is_integral()) return u_.i;
  double v = to_double();
  FL_CHECK(v >= -9223372036854775808.0 && v < 9223372036854775808.0,
           "value cannot be converted to type int64_t without overflow: ", v);
  return static_cast<int64_t>(v);
}

}  // namespace flambeau
