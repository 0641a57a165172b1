"""Operators on lists of tensors, one tensor after the other."""

from __future__ import annotations

from collections.abc import Sequence

import flambeau
from flambeau import Tensor, dtype

Tensors = Sequence[Tensor]
Number = bool | int | float | complex


def add_list_(self: Tensors, other: Tensors, *, alpha: Number = 1) -> None:
    for a, b in _pairs(self, other):
        a.add_(b, alpha=alpha)


def mul_(self: Tensors, scalar: Number | Tensor) -> None:
    for a in self:
        a.mul_(scalar)


def mul_list_(self: Tensors, other: Tensors) -> None:
    for a, b in _pairs(self, other):
        a.mul_(b)


def clamp_min_(self: Tensors, scalar: Number) -> None:
    for a in self:
        a.clamp_min_(scalar)


def clamp_max_(self: Tensors, scalar: Number) -> None:
    for a in self:
        a.clamp_max_(scalar)


def norm(self: Tensors, ord: Number = 2, dtype: dtype | None = None) -> list[Tensor]:
    return [flambeau.linalg.vector_norm(a, ord, dtype=dtype) for a in self]


def _pairs(self: Tensors, other: Tensors) -> list[tuple[Tensor, Tensor]]:
    if len(self) != len(other):
        raise RuntimeError(f"lists must have the same number of tensors, got {len(self)} and {len(other)}")
    return list(zip(self, other))
