"""What the masked operations share: identities, dims, and filling in for what is masked out."""

from __future__ import annotations

import math

import flambeau
from flambeau import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def lowest(name: str, dtype: flambeau.dtype) -> float:
    """The identity of a maximum."""
    return _extreme(name, dtype, -math.inf)


def highest(name: str, dtype: flambeau.dtype) -> float:
    """The identity of a minimum."""
    return _extreme(name, dtype, math.inf)


def _extreme(name: str, dtype: flambeau.dtype, infinity: float) -> float:
    if dtype.is_floating_point:
        return infinity
    if dtype is flambeau.bool or dtype.is_complex:
        raise NotImplementedError(f"identity of {name} on {dtype} input")
    info = flambeau.iinfo(dtype)
    return info.max if infinity > 0 else info.min


def reduced_dims(input: Tensor, dim: int | Sequence[int] | None) -> tuple[int, ...]:
    """The dims as numbers from 0, ascending; None and none are all. RuntimeError for one that comes twice."""
    n = input.dim()
    given = (dim,) if isinstance(dim, int) else tuple(dim or ())
    dims: set[int] = set()
    for d in given:
        if not -max(n, 1) <= d < max(n, 1):
            low, high = -max(n, 1), max(n, 1) - 1
            raise IndexError(f"Dimension out of range (expected to be in range of [{low}, {high}], but got {d})")
        if d % max(n, 1) in dims:
            raise RuntimeError(f"dim={d % max(n, 1)} appears multiple times in the list of dims")
        dims.add(d % max(n, 1))
    return tuple(sorted(dims)) if dims and n else tuple(range(n))


def full_mask(input: Tensor, mask: Tensor | None) -> Tensor | None:
    """The mask in the shape of the input. IndexError if it has more dims."""
    if mask is None:
        return None
    if mask.dim() > input.dim():
        raise IndexError(
            f"[masked] expected a mask that broadcasts to the input: it has {mask.dim()} dims, the input {input.dim()}"
        )
    return mask.to(flambeau.bool).expand(input.shape)


def filled(input: Tensor, mask: Tensor | None, value: complex) -> Tensor:
    """The input with `value` where it is masked out."""
    return input if mask is None else flambeau.where(mask, input, flambeau.tensor(value, dtype=input.dtype))


def converted(input: Tensor, dtype: flambeau.dtype | None) -> Tensor:
    return input if dtype is None else input.to(dtype)


def summed_dtype(input: Tensor, dtype: flambeau.dtype | None) -> flambeau.dtype:
    """Sums and products of integers are int64."""
    if dtype is not None:
        return dtype
    return input.dtype if input.dtype.is_floating_point or input.dtype.is_complex else flambeau.int64


def needs_floating(name: str, dtype: flambeau.dtype) -> None:
    if not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(
            f"{name}(): Could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: {dtype}"
        )


def counted(mask: Tensor | None, input: Tensor, dims: tuple[int, ...], keepdim: bool) -> Tensor:
    """How many elements go into each result, as int64."""
    ones = flambeau.ones(input.shape, dtype=flambeau.int64) if mask is None else mask.to(flambeau.int64)
    return flambeau.sum(ones, dims, keepdim=keepdim)
