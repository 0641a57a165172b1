"""Masked reductions: what is masked out becomes the identity of the operation."""

from __future__ import annotations

import math

import flambeau
from flambeau import Tensor
from flambeau.masked._mask import (
    converted,
    counted,
    filled,
    full_mask,
    highest,
    lowest,
    needs_floating,
    reduced_dims,
    summed_dtype,
)  # fmt: skip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Dims = int | Sequence[int] | None


def sum(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: flambeau.dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Sum over `dim` of what the mask lets through; 0 of nothing."""
    x = converted(input, summed_dtype(input, dtype))
    return flambeau.sum(filled(x, full_mask(x, mask), 0), reduced_dims(x, dim), keepdim=bool(keepdim))


def prod(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: flambeau.dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Product over `dim` of what the mask lets through; 1 of nothing."""
    x = converted(input, summed_dtype(input, dtype))
    result = filled(x, full_mask(x, mask), 1)
    for d in reversed(reduced_dims(x, dim)):
        result = flambeau.prod(result, d, keepdim=bool(keepdim))
    return result


def mean(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: flambeau.dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Mean over `dim` of what the mask lets through; NaN of nothing. ValueError for integers without a `dtype`."""
    x = converted(input, dtype)
    needs_floating("mean", x.dtype)
    m, dims = full_mask(x, mask), reduced_dims(x, dim)
    if m is None:
        return flambeau.mean(x, dims, keepdim=bool(keepdim))
    return flambeau.sum(filled(x, m, 0), dims, keepdim=bool(keepdim)) / counted(m, x, dims, bool(keepdim))


def amax(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: flambeau.dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Largest element over `dim` of what the mask lets through."""
    x = converted(input, dtype)
    filler = lowest("amax", x.dtype)
    return flambeau.amax(filled(x, full_mask(x, mask), filler), reduced_dims(x, dim), bool(keepdim))


def amin(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: flambeau.dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Smallest element over `dim` of what the mask lets through."""
    x = converted(input, dtype)
    filler = highest("amin", x.dtype)
    return flambeau.amin(filled(x, full_mask(x, mask), filler), reduced_dims(x, dim), bool(keepdim))


def argmax(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: flambeau.dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Where the largest element that the mask lets through is first, in the dtype of the input as PyTorch has it."""
    x = converted(input, dtype)
    return flambeau.argmax(filled(x, full_mask(x, mask), lowest("argmax", x.dtype)), dim, bool(keepdim)).to(x.dtype)


def argmin(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: flambeau.dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Where the smallest element that the mask lets through is first, in the dtype of the input as PyTorch has it."""
    x = converted(input, dtype)
    return flambeau.argmin(filled(x, full_mask(x, mask), highest("argmin", x.dtype)), dim, bool(keepdim)).to(x.dtype)


def median(
    input: Tensor,
    dim: int = -1,
    *,
    keepdim: bool = False,
    dtype: flambeau.dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The lower middle of what the mask lets through along `dim`; NaN of nothing. ValueError for integers with no element."""
    x = converted(input, dtype)
    m = full_mask(x, mask)
    if m is None:
        return flambeau.median(x, dim, keepdim)[0]
    if x.dtype.is_floating_point:
        return flambeau.nanmedian(filled(x, m, math.nan), dim, keepdim)[0]
    if not bool(m.any(dim).all()):
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    middle = flambeau.nanmedian(filled(x.to(flambeau.float64), m, math.nan), dim, keepdim)[0]
    return middle.to(x.dtype)


def norm(
    input: Tensor,
    ord: float | None = 2.0,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: flambeau.dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Vector norm over `dim` of what the mask lets through."""
    x = converted(input, dtype)
    order = 2.0 if ord is None else ord
    filler = math.inf if order < 0 else 0.0
    filled_x = filled(x, full_mask(x, mask), filler)
    return flambeau.linalg.vector_norm(filled_x, order, reduced_dims(x, dim), bool(keepdim))


def _variance(
    finish: Callable[[Tensor], Tensor],
    input: Tensor,
    dim: Dims,
    unbiased: bool | None,
    correction: float | None,
    keepdim: bool,
    dtype: flambeau.dtype | None,
    mask: Tensor | None,
) -> Tensor:
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    if correction is None:
        correction = 1 if unbiased is None or unbiased else 0
    x = converted(input, dtype)
    if not (x.dtype.is_floating_point or x.dtype.is_complex):
        x = x.to(flambeau.float32)
    m, dims = full_mask(x, mask), reduced_dims(x, dim)
    count = counted(m, x, dims, True)
    deviation = filled(x - flambeau.sum(filled(x, m, 0), dims, keepdim=True) / count, m, 0)
    if x.dtype.is_complex:
        deviation = flambeau.view_as_real(deviation)
        squares = flambeau.sum(deviation * deviation, -1)
    else:
        squares = deviation * deviation
    total = flambeau.sum(squares, dims, keepdim=bool(keepdim))
    free = flambeau.clamp_min(count - correction, 0).reshape(total.shape)
    return finish(total / free.to(total.dtype)).to(x.dtype)


def var(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: flambeau.dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Variance over `dim` of what the mask lets through, with `correction` taken from the count (1 by default).

    In the dtype of the input, complex included; float32 for integers.
    """
    return _variance(lambda v: v, input, dim, unbiased, correction, keepdim, dtype, mask)


def std(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: flambeau.dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The root of var."""
    return _variance(flambeau.sqrt, input, dim, unbiased, correction, keepdim, dtype, mask)


def logsumexp(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: flambeau.dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Logarithm of the sum of exponentials of what the mask lets through, in the dtype of the input."""
    x = converted(input, dtype)
    floating = x if x.dtype.is_floating_point or x.dtype.is_complex else x.to(flambeau.get_default_dtype())
    result = flambeau.logsumexp(filled(floating, full_mask(x, mask), -math.inf), reduced_dims(x, dim), bool(keepdim))
    return result.to(x.dtype)
