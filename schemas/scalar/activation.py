"""Activations and their derivatives."""

from opgen.scalar import scalar
from opgen.scalar.lang import where


@scalar(dtypes="real_numeric")
def relu(x):
    return where(x < 0, 0, x)  # NaN stays
