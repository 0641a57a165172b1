"""Exponentials and logarithms."""

from opgen.scalar import functions as fn
from opgen.scalar import scalar
from opgen.scalar.lang import cast, make_complex, where


@scalar(dtypes="float_complex", promote="int_to_float")
def exp(x):
    return fn.exp(x)


@scalar(dtypes="float_complex", promote="int_to_float")
def exp2(x):
    return fn.exp2(x)


@scalar(dtypes="float_complex", promote="int_to_float")
def expm1(x):
    return fn.expm1(x)


@scalar(dtypes="float_complex", promote="int_to_float")
def log(x):
    return fn.log(x)


@scalar(dtypes="float_complex", promote="int_to_float")
def log2(x):
    return fn.log2(x)


@scalar(dtypes="float_complex", promote="int_to_float")
def log10(x):
    return fn.log10(x)


@scalar(dtypes="float_complex", promote="int_to_float")
def log1p(x):
    return fn.log1p(x)


def complex_logaddexp(x, y):
    """The part of larger modulus is taken out; sums of two infinities have no angle unless both are real."""
    x_larger = x.real > y.real
    largest, other = where(x_larger, x, y), where(x_larger, y, x)
    same_infinity = (x.real == y.real) & (fn.fabs(x.real) == float("inf"))
    no_angle = (x.real > 0) & ((x.imag != 0) | (y.imag != 0))
    infinite = make_complex(largest.real, where(no_angle, float("nan"), largest.imag))
    r = where(same_infinity, infinite, largest + fn.log1p(fn.exp(other - largest)))
    nan = x.real.like(float("nan"))
    return where((x != x) | (y != y), make_complex(nan, nan), r)


@scalar(dtypes="float_complex")
def logaddexp(x, y):
    if x.is_complex:
        return complex_logaddexp(x, y)
    largest = where(x < y, y, x)
    same_infinity = (x == y) & (fn.fabs(x) == float("inf"))
    r = largest + fn.log1p(fn.exp(-fn.fabs(x - y)))
    return where(same_infinity, x, where(x != x, x, r))


@scalar(dtypes="floating")
def logaddexp2(x, y):
    largest = where(x < y, y, x)
    same_infinity = (x == y) & (fn.fabs(x) == float("inf"))
    r = largest + fn.log1p(fn.exp2(-fn.fabs(x - y))) * 1.4426950408889634
    return where(same_infinity, x, where(x != x, x, r))


def product_with(x, y, logarithm):
    """x * logarithm, 0 where x is 0, NaN where y is NaN."""
    return where(y != y, y, where(x == 0, 0, x * logarithm))


@scalar(dtypes="floating", promote="int_to_float")
def xlogy(x, y):
    return product_with(x, y, fn.log(y))


@scalar(dtypes="floating", promote="int_to_float")
def special_xlog1py(x, y):
    return product_with(x, y, fn.log1p(y))


@scalar(dtypes="floating", promote="int_to_float", params=("eps:double",))
def logit(x, eps):
    """log(p / (1 - p)), p clamped to [eps, 1 - eps]; a negative eps means no clamp."""
    e = cast(eps, x.type)
    p = where(e < 0, x, where(x < e, e, where(x > 1 - e, 1 - e, x)))
    return fn.log(p / (1 - p))


@scalar(dtypes="floating", params=("eps:double",))
def logit_backward(grad, x, eps):
    e = cast(eps, x.type)
    inside = where(e < 0, (x >= 0) & (x <= 1), (x >= e) & (x <= 1 - e))
    outside = where(e < 0, x.like(float("nan")), 0)
    value = grad / (x * (1 - x))
    return where(inside, value, where(x != x, x, outside))
