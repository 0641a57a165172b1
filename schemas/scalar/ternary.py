"""Selection and interpolation."""

from opgen.scalar import scalar
from opgen.scalar.functions import fabs
from opgen.scalar.lang import where as choose


@scalar(dtypes="anything", name="where")
def where_(condition: "bool", x, y):
    return choose(condition, x, y)


@scalar(dtypes="anything", promote="none", params=("value",))
def masked_fill(x, mask: "bool", value):
    return choose(mask, value, x)


def interpolate(start, end, weight):
    """Both ends are exact: the formula starts from the nearer one."""
    if start.is_complex:
        near = weight.real * weight.real + weight.imag * weight.imag < 0.25
    else:
        near = fabs(weight) < 0.5
    step = end - start
    return choose(near, start + weight * step, end - step * (1 - weight))


@scalar(dtypes="float_complex", params=("weight",))
def lerp_scalar(start, end, weight):
    return interpolate(start, end, weight)


@scalar(dtypes="float_complex")
def lerp(start, end, weight):
    return interpolate(start, end, weight)
