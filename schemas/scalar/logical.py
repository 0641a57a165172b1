"""Logic on truth values and on bits."""

from opgen.scalar import scalar
from opgen.scalar.lang import cast
from opgen.scalar.types import BOOL


def truth(x):
    return cast(x, BOOL)


@scalar(dtypes="all", promote="bool_result")
def logical_not(x):
    return ~truth(x)


@scalar(dtypes="all", promote="bool_result")
def logical_and(x, y):
    return truth(x) & truth(y)


@scalar(dtypes="all", promote="bool_result")
def logical_or(x, y):
    return truth(x) | truth(y)


@scalar(dtypes="all", promote="bool_result")
def logical_xor(x, y):
    return truth(x) ^ truth(y)


@scalar(dtypes="bool|any_integral")
def bitwise_not(x):
    return ~x


@scalar(dtypes="bool|any_integral")
def bitwise_and(x, y):
    return x & y


@scalar(dtypes="bool|any_integral")
def bitwise_or(x, y):
    return x | y


@scalar(dtypes="bool|any_integral")
def bitwise_xor(x, y):
    return x ^ y


@scalar(dtypes="any_integral")
def bitwise_left_shift(x, y):
    return x << y


@scalar(dtypes="any_integral")
def bitwise_right_shift(x, y):
    return x >> y
