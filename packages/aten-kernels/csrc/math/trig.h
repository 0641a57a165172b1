#pragma once
#include "arith.h"
#include "isa.h"

FL_VM_BEGIN

FL_VM float sin(float x) { return std::sin(x); }
FL_VM double sin(double x) { return std::sin(x); }
FL_VM float cos(float x) { return std::cos(x); }
FL_VM double cos(double x) { return std::cos(x); }
FL_VM float tan(float x) { return std::tan(x); }
FL_VM double tan(double x) { return std::tan(x); }
FL_VM float asin(float x) { return std::asin(x); }
FL_VM double asin(double x) { return std::asin(x); }
FL_VM float acos(float x) { return std::acos(x); }
FL_VM double acos(double x) { return std::acos(x); }
FL_VM float atan(float x) { return std::atan(x); }
FL_VM double atan(double x) { return std::atan(x); }
FL_VM float atan2(float y, float x) { return std::atan2(y, x); }
FL_VM double atan2(double y, double x) { return std::atan2(y, x); }

/// sin(pi x) / (pi x), 1 at zero.
template <typename T>
FL_VM Real<T> sinc(T x) {
  const T p = T(3.14159265358979323846) * x;
  return x == T(0) ? T(1) : sin(p) / p;
}

FL_VM_END
