"""Masked operations that keep the shape of their input."""

from __future__ import annotations

import math

import flambeau
from flambeau import Tensor
from flambeau.masked._mask import converted, filled, full_mask
from flambeau.masked._reductions import norm


def cumsum(input: Tensor, dim: int, *, dtype: flambeau.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """Running sum along `dim`; what is masked out adds nothing."""
    x = converted(input, dtype)
    return flambeau.cumsum(filled(x, full_mask(x, mask), 0), dim)


def cumprod(input: Tensor, dim: int, *, dtype: flambeau.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """Running product along `dim`; what is masked out multiplies by 1."""
    x = converted(input, dtype)
    return flambeau.cumprod(filled(x, full_mask(x, mask), 1), dim)


def softmax(input: Tensor, dim: int, *, dtype: flambeau.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """Softmax along `dim` with zeros where it is masked out; NaN where everything is."""
    x = converted(input, dtype)
    return flambeau.softmax(filled(x, full_mask(x, mask), -math.inf), dim)


def log_softmax(input: Tensor, dim: int, *, dtype: flambeau.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """Logarithm of softmax, -inf where it is masked out."""
    x = converted(input, dtype)
    return flambeau.log_softmax(filled(x, full_mask(x, mask), -math.inf), dim)


def softmin(input: Tensor, dim: int, *, dtype: flambeau.dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """Softmax of -input."""
    x = converted(input, dtype)
    return flambeau.softmax(-filled(x, full_mask(x, mask), math.inf), dim)


def normalize(
    input: Tensor,
    ord: float,
    dim: int,
    *,
    eps: float = 1e-12,
    dtype: flambeau.dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The input over its norm along `dim` (at least `eps`); 0 where it is masked out."""
    x = converted(input, dtype)
    length = norm(x, ord, dim, keepdim=True, mask=mask)
    return filled(x, full_mask(x, mask), 0) / flambeau.clamp_min(length, eps)


def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: flambeau.dtype | None = None,
    input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Tensor:
    """log(exp(input) + exp(other)), of the one alone where the other is masked out; -inf of neither."""
    x, y = converted(input, dtype), converted(other, dtype)
    return flambeau.logaddexp(
        filled(x, full_mask(x, input_mask), -math.inf), filled(y, full_mask(y, other_mask), -math.inf)
    )
