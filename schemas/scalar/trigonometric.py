"""Circular and hyperbolic functions."""

from opgen.scalar import functions as fn
from opgen.scalar import scalar
from opgen.scalar.lang import where
from opgen.scalar.types import F32, F64


def narrow_range(function):
    """`function` where its argument is small enough for a short reduction; there is one for real types."""

    def narrow(x):
        return (fn.trig_is_narrow(x), function(x)) if x.type in (F32, F64) else None

    return narrow


@scalar(dtypes="float_complex", promote="int_to_float", narrow=narrow_range(fn.sin_narrow))
def sin(x):
    return fn.sin(x)


@scalar(dtypes="float_complex", promote="int_to_float", narrow=narrow_range(fn.cos_narrow))
def cos(x):
    return fn.cos(x)


@scalar(dtypes="float_complex", promote="int_to_float", narrow=narrow_range(fn.tan_narrow))
def tan(x):
    return fn.tan(x)


@scalar(dtypes="float_complex", promote="int_to_float")
def asin(x):
    return fn.asin(x)


@scalar(dtypes="float_complex", promote="int_to_float")
def acos(x):
    return fn.acos(x)


@scalar(dtypes="float_complex", promote="int_to_float")
def atan(x):
    return fn.atan(x)


@scalar(dtypes="float_complex", promote="int_to_float")
def sinh(x):
    return fn.sinh(x)


@scalar(dtypes="float_complex", promote="int_to_float")
def cosh(x):
    return fn.cosh(x)


@scalar(dtypes="float_complex", promote="int_to_float")
def tanh(x):
    return fn.tanh(x)


@scalar(dtypes="float_complex", promote="int_to_float")
def asinh(x):
    return fn.asinh(x)


@scalar(dtypes="float_complex", promote="int_to_float")
def acosh(x):
    return fn.acosh(x)


@scalar(dtypes="float_complex", promote="int_to_float")
def atanh(x):
    return fn.atanh(x)


@scalar(dtypes="floating", promote="int_to_float")
def atan2(x, y):
    return fn.atan2(x, y)


@scalar(dtypes="float_complex", promote="int_to_float")
def sinc(x):
    product = x * 3.141592653589793
    return where(x == 0, 1, fn.sin(product) / product)


@scalar(dtypes="float_complex")
def tanh_backward(grad, output):
    if output.is_complex:
        return grad * fn.conj(1 - output * output)
    return grad * (1 - output * output)
