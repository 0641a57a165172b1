#pragma once
#include "isa.h"

FL_VM_BEGIN

FL_VM float exp(float x) { return std::exp(x); }
FL_VM double exp(double x) { return std::exp(x); }
FL_VM float exp2(float x) { return std::exp2(x); }
FL_VM double exp2(double x) { return std::exp2(x); }
FL_VM float expm1(float x) { return std::expm1(x); }
FL_VM double expm1(double x) { return std::expm1(x); }
FL_VM float log(float x) { return std::log(x); }
FL_VM double log(double x) { return std::log(x); }
FL_VM float log2(float x) { return std::log2(x); }
FL_VM double log2(double x) { return std::log2(x); }
FL_VM float log10(float x) { return std::log10(x); }
FL_VM double log10(double x) { return std::log10(x); }
FL_VM float log1p(float x) { return std::log1p(x); }
FL_VM double log1p(double x) { return std::log1p(x); }
FL_VM float pow(float x, float y) { return std::pow(x, y); }
FL_VM double pow(double x, double y) { return std::pow(x, y); }

FL_VM_END
