"""Exponentials and logarithms."""

from opgen.scalar import functions as fn
from opgen.scalar import scalar


@scalar(dtypes="float_complex", promote="int_to_float")
def exp(x):
    return fn.exp(x)
