"""Causal masks for queries and keys of different lengths."""

from __future__ import annotations

import flambeau as torch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from flambeau import Tensor

__all__ = ["causal_lower_right", "causal_upper_left"]


def causal_upper_left(*size: int) -> Tensor:
    """Bool mask (L, S), True where attended: position i sees 0..i, counted from the start."""
    return torch.ones(_checked(size), dtype=torch.bool).tril()


def causal_lower_right(*size: int) -> Tensor:
    """Bool mask (L, S), True where attended: the last query sees all keys."""
    length, source = _checked(size)
    return torch.ones((length, source), dtype=torch.bool).tril(diagonal=source - length)


def _checked(size: tuple[int, ...]) -> tuple[int, int]:
    if len(size) != 2:
        raise AssertionError(f"causal masks only support 2D tensors, got size {size}")
    return size[0], size[1]
