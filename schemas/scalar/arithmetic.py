"""Sums, products and their relatives."""

from opgen.scalar import scalar
from opgen.scalar.lang import where


@scalar(dtypes="all", params=("alpha",))
def add(x, y, alpha):
    if x.is_bool:
        return x | (alpha & y)
    if x.is_complex:
        return x + where(alpha == 1, y, alpha * y)  # 1 * y would turn (inf, 0) into (inf, nan)
    return x + alpha * y


@scalar(dtypes="all")
def mul(x, y):
    return x & y if x.is_bool else x * y
