"""Sums, products, quotients, powers and their relatives."""

from opgen.scalar import functions as fn
from opgen.scalar import scalar
from opgen.scalar.lang import cast, error_if, idiv, irem, make_complex, where


def times(factor, y):
    """factor * y; for complex, a factor of 1 leaves y as it is (the product would turn (inf, 0) into (inf, nan))."""
    return where(factor == 1, y, factor * y) if y.is_complex else factor * y


@scalar(dtypes="all", params=("alpha",))
def add(x, y, alpha):
    return x | (alpha & y) if x.is_bool else x + times(alpha, y)


@scalar(dtypes="numeric", params=("alpha",))
def sub(x, y, alpha):
    return x - times(alpha, y)


@scalar(dtypes="numeric", params=("alpha",))
def rsub(x, y, alpha):
    return y - times(alpha, x)


@scalar(dtypes="anything")
def mul(x, y):
    return x & y if x.is_bool else x * y


@scalar(dtypes="float_complex", promote="int_to_float")
def div(x, y):
    return x / y


def check_divisor(y):
    if y.is_integral:
        error_if(y == 0, "RuntimeError", "ZeroDivisionError")


@scalar(dtypes="real_numeric")
def div_trunc(x, y):
    check_divisor(y)
    return idiv(x, y) if x.is_integral else fn.trunc(x / y)


def small_quotient(function):
    """`function` where x / y is small enough for one exact step."""

    def narrow(x, y):
        return (fn.fmod_is_narrow(x, y), function(x, y)) if x.is_floating else None

    return narrow


@scalar(dtypes="real_numeric", narrow=small_quotient(fn.floor_divide_narrow))
def div_floor(x, y):
    check_divisor(y)
    return fn.floor_div(x, y) if x.is_integral else fn.floor_divide(x, y)


@scalar(dtypes="real_numeric", narrow=small_quotient(fn.remainder_narrow))
def remainder(x, y):
    check_divisor(y)
    return fn.floor_mod(x, y) if x.is_integral else fn.remainder(x, y)


@scalar(dtypes="real_numeric", narrow=small_quotient(fn.fmod_narrow))
def fmod(x, y):
    check_divisor(y)
    return irem(x, y) if x.is_integral else fn.fmod(x, y)


@scalar(dtypes="numeric")
def pow(x, y):
    return fn.ipow(x, y) if x.is_integral else fn.pow(x, y)


@scalar(dtypes="numeric")
def neg(x):
    return -x


@scalar(dtypes="numeric", promote="real_result")
def abs(x):
    if x.is_complex:
        return fn.cabs(x)
    if x.is_floating:
        return fn.fabs(x)
    return where(x < 0, -x, x)


@scalar(dtypes="real")
def sign(x):
    if x.is_bool:
        return x
    positive = where(x > 0, x.like(1), 0)
    return where(x < 0, -1, positive) if x.is_signed else positive


@scalar(dtypes="complex", promote="none")
def sgn_complex(z):
    r = fn.cabs(z)
    return make_complex(where(r == 0, 0, z.real / r), where(r == 0, 0, z.imag / r))


@scalar(dtypes="float_complex", promote="int_to_float")
def reciprocal(x):
    return 1 / x


@scalar(dtypes="numeric", promote="bool_to_int")
def square(x):
    return x * x


@scalar(dtypes="numeric")
def cube(x):
    return x * x * x


@scalar(dtypes="floating", promote="int_to_float")
def reciprocal_square(x):
    return 1 / (x * x)


@scalar(dtypes="float_complex", promote="int_to_float")
def sqrt(x):
    return fn.sqrt(x)


@scalar(dtypes="float_complex", promote="int_to_float")
def rsqrt(x):
    return 1 / fn.sqrt(x)


@scalar(dtypes="floating")
def hypot(x, y):
    return fn.hypot(x, y)


@scalar(dtypes="integral")
def gcd(x, y):
    return fn.gcd(x, y)


@scalar(dtypes="integral")
def lcm(x, y):
    return fn.lcm(x, y)


@scalar(dtypes="float_complex", promote="int_to_float")
def ldexp(x, exponent):
    if x.is_complex:
        return x * fn.pow(x.like(2), exponent)
    half = fn.trunc(exponent * 0.5)  # in two steps: 2^exponent may overflow or vanish where the product does not
    rest = where(half == exponent, 0, exponent - half)  # infinity - infinity is not wanted
    return x * fn.exp2(half) * fn.exp2(rest)


@scalar(dtypes="floating", promote="int_to_float")
def copysign(x, y):
    return fn.copysign(x, y)


@scalar(dtypes="floating")
def nextafter(x, y):
    return fn.nextafter(x, y) if x.dtype is x.type else fn.nextafter_half(x, y)


@scalar(dtypes="numeric", params=("value",))
def addcmul(x, y, z, value):
    return x + times(value, y) * z


@scalar(dtypes="float_complex", params=("value",))
def addcdiv(x, y, z, value):
    return x + times(value, y) / z


@scalar(dtypes="floating", promote="int_to_float")
def deg2rad(x):
    return x * 0.017453292519943295


@scalar(dtypes="floating", promote="int_to_float")
def rad2deg(x):
    return x * 57.29577951308232


@scalar(dtypes="float_complex", promote="int_to_float", params=("scale:double",))
def masked_scale(x, mask: "bool", scale):
    """Dropout: the kept elements, scaled."""
    factor = cast(scale, x.type.real)
    if x.is_complex:
        return where(mask, make_complex(x.real * factor, x.imag * factor), 0)
    return x * where(mask, factor, 0)


@scalar(dtypes="floating", promote="none", result=("compute", "int32"))
def frexp(x):
    return fn.frexp_mantissa(x), fn.frexp_exponent(x)
