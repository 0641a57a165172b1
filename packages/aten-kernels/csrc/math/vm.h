#pragma once
// The whole scalar math library. See Note [Scalar math library] in isa.h.

#include "activation.h"
#include "arith.h"
#include "bessel.h"
#include "complex_math.h"
#include "convert.h"
#include "erf.h"
#include "explog.h"
#include "gamma.h"
#include "hyperbolic.h"
#include "igamma.h"
#include "integer.h"
#include "isa.h"
#include "logadd.h"
#include "polynomials.h"
#include "pow.h"
#include "trig.h"
