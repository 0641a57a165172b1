"""Mathematical functions that bodies may call, by their names in the aten-kernels math headers (csrc/math)."""

from __future__ import annotations

from collections.abc import Callable

from opgen.scalar.lang import Value, call
from opgen.scalar.types import BOOL, I32, I64


def _function(name: str, kinds: str = "fc") -> Callable[..., Value]:
    def function(*args: object) -> Value:
        return call("vm::" + name, *args, kinds=kinds)

    function.__name__ = name
    function.__doc__ = f"`{name}`, by the C++ function vm::{name} of the aten-kernels math headers."
    return function


exp = _function("exp")
exp2 = _function("exp2")
expm1 = _function("expm1")
log = _function("log")
log2 = _function("log2")
log10 = _function("log10")
log1p = _function("log1p")
sqrt = _function("sqrt")
rsqrt = _function("rsqrt")
pow = _function("pow")
ipow = _function("ipow", "i")
sin = _function("sin")
cos = _function("cos")
tan = _function("tan")
asin = _function("asin")
acos = _function("acos")
atan = _function("atan")
sinh = _function("sinh")
cosh = _function("cosh")
tanh = _function("tanh")
asinh = _function("asinh")
acosh = _function("acosh")
atanh = _function("atanh")
atan2 = _function("atan2", "f")
hypot = _function("hypot", "f")
sigmoid = _function("sigmoid")
erf = _function("erf", "f")
erfc = _function("erfc", "f")
erfinv = _function("erfinv", "f")
erfcx = _function("erfcx", "f")
lgamma = _function("lgamma", "f")
digamma = _function("digamma", "f")
trigamma = _function("trigamma", "f")
zeta = _function("zeta", "f")
ndtri = _function("ndtri", "f")
log_ndtr = _function("log_ndtr", "f")
igamma = _function("igamma", "f")
igammac = _function("igammac", "f")
bessel_i0 = _function("i0", "f")
bessel_i0e = _function("i0e", "f")
bessel_i1 = _function("i1", "f")
bessel_i1e = _function("i1e", "f")
bessel_j0 = _function("bessel_j0", "f")
bessel_j1 = _function("bessel_j1", "f")
bessel_y0 = _function("bessel_y0", "f")
bessel_y1 = _function("bessel_y1", "f")
bessel_j0_narrow = _function("bessel_j0_narrow", "f")  # where trig_is_narrow
bessel_j1_narrow = _function("bessel_j1_narrow", "f")  # where trig_is_narrow
bessel_y0_narrow = _function("bessel_y0_narrow", "f")  # where trig_is_narrow
bessel_y1_narrow = _function("bessel_y1_narrow", "f")  # where trig_is_narrow
modified_bessel_k0 = _function("modified_bessel_k0", "f")
modified_bessel_k1 = _function("modified_bessel_k1", "f")
scaled_modified_bessel_k0 = _function("scaled_modified_bessel_k0", "f")
scaled_modified_bessel_k1 = _function("scaled_modified_bessel_k1", "f")
spherical_bessel_j0 = _function("spherical_bessel_j0", "f")
airy_ai = _function("airy_ai", "f")
chebyshev_polynomial_t = _function("chebyshev_polynomial_t", "f")
chebyshev_polynomial_u = _function("chebyshev_polynomial_u", "f")
chebyshev_polynomial_v = _function("chebyshev_polynomial_v", "f")
chebyshev_polynomial_w = _function("chebyshev_polynomial_w", "f")
shifted_chebyshev_polynomial_t = _function("shifted_chebyshev_polynomial_t", "f")
shifted_chebyshev_polynomial_u = _function("shifted_chebyshev_polynomial_u", "f")
shifted_chebyshev_polynomial_v = _function("shifted_chebyshev_polynomial_v", "f")
shifted_chebyshev_polynomial_w = _function("shifted_chebyshev_polynomial_w", "f")
hermite_polynomial_h = _function("hermite_polynomial_h", "f")
hermite_polynomial_he = _function("hermite_polynomial_he", "f")
laguerre_polynomial_l = _function("laguerre_polynomial_l", "f")
legendre_polynomial_p = _function("legendre_polynomial_p", "f")
floor = _function("floor", "f")
ceil = _function("ceil", "f")
trunc = _function("trunc", "f")
round_even = _function("round", "f")
fabs = _function("abs", "f")
copysign = _function("copysign", "f")
nextafter = _function("nextafter", "f")
fmod = _function("fmod", "f")
remainder = _function("remainder", "f")
floor_divide = _function("floor_divide", "f")
gcd = _function("gcd", "i")
lcm = _function("lcm", "i")
floor_div = _function("floor_div", "i")
floor_mod = _function("floor_mod", "i")
conj = _function("conj", "c")


def cabs(z: Value) -> Value:
    """Modulus of a complex value, of its real type."""
    return call("vm::abs", z, kinds="c", result=z.type.real)


def arg(z: Value) -> Value:
    """Angle of a complex value, of its real type."""
    return call("vm::angle", z, kinds="c", result=z.type.real)


def polygamma(n: Value, x: Value) -> Value:
    """Derivative of order `n` (int64) of digamma."""
    if n.type is not I64 or not x.is_floating:
        raise x.trace.error(f"polygamma takes an int64 order and a floating value, got {n.type} and {x.type}")
    return Value(x.trace, x.trace.builder.make("call", x.type, n.node, x.node, attr="vm::polygamma"))


def nextafter_half(x: Value, y: Value) -> Value:
    """The float16 or bfloat16 next to `x` towards `y`, both widened to float32."""
    return call(f"nextafter_{x.dtype}", x, y)


def frexp_mantissa(x: Value) -> Value:
    """m of x = m * 2^e, in [0.5, 1)."""
    return call("frexp_mantissa", x, kinds="f")


def frexp_exponent(x: Value) -> Value:
    """e of x = m * 2^e, int32."""
    return call("frexp_exponent", x, kinds="f", result=I32)


def trig_is_narrow(x: Value) -> Value:
    """Whether sin_narrow and its like give what sin gives."""
    return call("vm::trig_is_narrow", x, kinds="f", result=BOOL)


def fmod_is_narrow(x: Value, y: Value) -> Value:
    """Whether fmod_narrow and its like give what fmod gives: the quotient is small and y finite."""
    return call("vm::fmod_is_narrow", x, y, kinds="f", result=BOOL)


fmod_narrow = _function("fmod_narrow", "f")
remainder_narrow = _function("remainder_narrow", "f")
floor_divide_narrow = _function("floor_divide_narrow", "f")
sin_narrow = _function("sin_narrow", "f")
cos_narrow = _function("cos_narrow", "f")
tan_narrow = _function("tan_narrow", "f")
