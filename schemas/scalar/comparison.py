"""Comparisons, extrema, and questions about one value."""

from opgen.scalar import functions as fn
from opgen.scalar import scalar
from opgen.scalar.lang import bitcast, cast, where
from opgen.scalar.types import I32, I64


@scalar(dtypes="anything", promote="bool_result")
def eq(x, y):
    return x == y


@scalar(dtypes="anything", promote="bool_result")
def ne(x, y):
    return x != y


@scalar(dtypes="any_real", promote="bool_result")
def lt(x, y):
    return x < y


@scalar(dtypes="any_real", promote="bool_result")
def le(x, y):
    return x <= y


@scalar(dtypes="any_real", promote="bool_result")
def gt(x, y):
    return x > y


@scalar(dtypes="any_real", promote="bool_result")
def ge(x, y):
    return x >= y


def larger(x, y):
    """The larger of two; NaN in either wins."""
    if x.is_bool:
        return x | y
    r = where(x > y, x, y)
    return where(x != x, x, r) if x.is_floating else r


def smaller(x, y):
    """The smaller of two; NaN in either wins."""
    if x.is_bool:
        return x & y
    r = where(x < y, x, y)
    return where(x != x, x, r) if x.is_floating else r


@scalar(dtypes="any_real")
def maximum(x, y):
    return larger(x, y)


@scalar(dtypes="any_real")
def minimum(x, y):
    return smaller(x, y)


@scalar(dtypes="real")
def fmax(x, y):
    return where(y != y, x, where(x > y, x, y)) if x.is_floating else larger(x, y)


@scalar(dtypes="real")
def fmin(x, y):
    return where(y != y, x, where(x < y, x, y)) if x.is_floating else smaller(x, y)


def at_least(x, low):
    """The larger of x and a bound that is not NaN; a NaN in x stays. One instruction."""
    return where(low > x, low, x)


def at_most(x, high):
    return where(high < x, high, x)


def unless_nan(bound, result):
    """`result`, or NaN where the bound is: that does not vary within the loop."""
    return where(bound != bound, bound, result) if bound.is_floating else result


@scalar(dtypes="real_numeric", params=("low", "high"))
def clamp(x, low, high):
    return unless_nan(high, unless_nan(low, at_most(at_least(x, low), high)))


@scalar(dtypes="real_numeric", params=("low",))
def clamp_min(x, low):
    return unless_nan(low, at_least(x, low))


@scalar(dtypes="real_numeric", params=("high",))
def clamp_max(x, high):
    return unless_nan(high, at_most(x, high))


@scalar(dtypes="real_numeric")
def clamp_tensor(x, low, high):
    return smaller(larger(x, low), high)


def is_infinite(x):
    return fn.fabs(x) == float("inf") if x.is_floating else x != x


def is_finite(x):
    return fn.fabs(x) < float("inf") if x.is_floating else x == x


@scalar(dtypes="all", promote="bool_result")
def isnan(x):
    return x != x


@scalar(dtypes="all", promote="bool_result")
def isinf(x):
    return is_infinite(x.real) | is_infinite(x.imag) if x.is_complex else is_infinite(x)


@scalar(dtypes="all", promote="bool_result")
def isfinite(x):
    return is_finite(x.real) & is_finite(x.imag) if x.is_complex else is_finite(x)


@scalar(dtypes="real", promote="bool_result")
def isposinf(x):
    return x == float("inf") if x.is_floating else x != x


@scalar(dtypes="real", promote="bool_result")
def isneginf(x):
    return x == -float("inf") if x.is_floating else x != x


@scalar(dtypes="any_real", promote="bool_result")
def signbit(x):
    if x.is_floating:
        bits = bitcast(x, I32 if x.type.bits == 32 else I64)
        return bits < 0
    return x < 0 if x.is_integral else x & ~x


@scalar(dtypes="real")
def heaviside(x, at_zero):
    if x.is_bool:
        return x | at_zero
    return where(x == 0, at_zero, where(x > 0, x.like(1), 0))


@scalar(dtypes="all", promote="bool_result", params=("rtol:double", "atol:double", "equal_nan:bool"))
def isclose(x, y, rtol, atol, equal_nan):
    same = x == y
    if x.is_bool:
        return same
    if x.is_floating or x.is_complex:
        same = same | (equal_nan & (x != x) & (y != y))
    if x.is_complex:
        modulus = fn.cabs
        real = x.type.real
    elif x.is_floating:
        modulus = fn.fabs
        real = x.type
    else:
        modulus = lambda v: v  # noqa: E731
        real = None
    if real is None:
        a, b = cast(x, rtol.type), cast(y, rtol.type)
        return same | (fn.fabs(a - b) <= atol + fn.fabs(rtol * b))
    allowed = cast(atol, real) + cast(rtol, real) * modulus(y)
    distance = modulus(x - y)
    return same | ((distance <= allowed) & is_finite(distance))
