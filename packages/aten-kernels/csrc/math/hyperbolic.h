#pragma once
#include "explog.h"

FL_VM_BEGIN

FL_VM float sinh(float x) { return std::sinh(x); }
FL_VM double sinh(double x) { return std::sinh(x); }
FL_VM float cosh(float x) { return std::cosh(x); }
FL_VM double cosh(double x) { return std::cosh(x); }
FL_VM float tanh(float x) { return std::tanh(x); }
FL_VM double tanh(double x) { return std::tanh(x); }
FL_VM float asinh(float x) { return std::asinh(x); }
FL_VM double asinh(double x) { return std::asinh(x); }
FL_VM float acosh(float x) { return std::acosh(x); }
FL_VM double acosh(double x) { return std::acosh(x); }
FL_VM float atanh(float x) { return std::atanh(x); }
FL_VM double atanh(double x) { return std::atanh(x); }

FL_VM_END
