"""Complex numbers and their parts."""

from opgen.scalar import functions as fn
from opgen.scalar import scalar
from opgen.scalar.lang import make_complex, where


@scalar(dtypes="all")
def conj_physical(z):
    return fn.conj(z) if z.is_complex else z


@scalar(dtypes="float_complex", promote="real_result")
def angle(x):
    """The angle of a complex number; of a real one, 0 or pi. Integers are promoted by the caller."""
    if x.is_complex:
        return fn.arg(x)
    return where(x != x, x, where(x < 0, x.like(3.141592653589793), 0))


@scalar(dtypes="full_floating", promote="complex_result")
def complex(real, imag):
    return make_complex(real, imag)


@scalar(dtypes="full_floating", promote="complex_result")
def polar(modulus, angle):
    return make_complex(modulus * fn.cos(angle), modulus * fn.sin(angle))
