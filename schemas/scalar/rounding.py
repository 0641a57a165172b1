"""Rounding to whole numbers, and repair of values that are not finite."""

from opgen.scalar import functions as fn
from opgen.scalar import scalar
from opgen.scalar.lang import cast, make_complex, where
from opgen.scalar.types import F64


@scalar(dtypes="floating|any_integral")
def ceil(x):
    return fn.ceil(x) if x.is_floating else x


@scalar(dtypes="floating|any_integral")
def floor(x):
    return fn.floor(x) if x.is_floating else x


@scalar(dtypes="floating|any_integral")
def round(x):
    return fn.round_even(x) if x.is_floating else x


@scalar(dtypes="floating|any_integral")
def trunc(x):
    return fn.trunc(x) if x.is_floating else x


@scalar(dtypes="floating")
def frac(x):
    return x - fn.trunc(x)


@scalar(dtypes="floating", params=("decimals:int",))
def round_decimals(x, decimals):
    digits = cast(where(decimals < 0, -decimals, decimals), F64)
    scale = cast(fn.pow(digits.like(10), digits), x.type)
    return where(decimals < 0, fn.round_even(x / scale) * scale, fn.round_even(x * scale) / scale)


def repaired(x, nan, posinf, neginf):
    infinite = where(x == float("inf"), posinf, where(x == -float("inf"), neginf, x))
    return where(x != x, nan, infinite)


@scalar(dtypes="all", params=("nan:double", "posinf:double", "neginf:double", "has_posinf:bool", "has_neginf:bool"))
def nan_to_num(x, nan, posinf, neginf, has_posinf, has_neginf):
    """NaN and infinities replaced; an infinity without a given value becomes the largest finite one of its sign."""
    if not (x.is_floating or x.is_complex):
        return x
    real = x.type.real
    largest = (x.dtype if x.is_floating else real).max
    n = cast(nan, real)
    p = where(has_posinf, cast(posinf, real), largest)
    m = where(has_neginf, cast(neginf, real), -largest)
    if x.is_complex:
        return make_complex(repaired(x.real, n, p, m), repaired(x.imag, n, p, m))
    return repaired(x, n, p, m)
