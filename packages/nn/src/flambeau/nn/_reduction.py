"""The names and numbers of a loss's reduction."""

from __future__ import annotations

import warnings

_NUMBERS = {"none": 0, "mean": 1, "sum": 2}


def get_enum(reduction: str) -> int:
    """Number of a reduction's name, as operators take it.

    Raises
    ------
    ValueError  if it is not "none", "mean" or "sum"
    """
    number = _NUMBERS.get(reduction)
    if number is not None:
        return number
    if reduction == "elementwise_mean":
        warnings.warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.", stacklevel=3)
        return 1
    raise ValueError(f"{reduction} is not a valid value for reduction")


def legacy_get_string(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> str:
    """Name of the reduction that the two flags of old programs ask for."""
    size_average = True if size_average is None else size_average
    reduce = True if reduce is None else reduce
    name = ("mean" if size_average else "sum") if reduce else "none"
    if emit_warning:
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{name}' instead.", stacklevel=4
        )
    return name


def legacy_get_enum(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> int:
    """Number of the reduction that the two flags of old programs ask for."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
