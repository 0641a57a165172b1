"""Flatten and Unflatten."""

from __future__ import annotations

from flambeau.nn.modules.module import Module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from flambeau import Tensor

__all__ = ["Flatten", "Unflatten"]


class Flatten(Module):
    """Join the dimensions start_dim..end_dim: by default (N, *) -> (N, prod(*))."""

    __constants__ = ["start_dim", "end_dim"]

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Split dimension `dim` into `unflattened_size`, one of which may be -1.

    Raises
    ------
    TypeError  if the size is not a tuple or list of ints, or of (name, int) for a named `dim`
    """

    __constants__ = ["dim", "unflattened_size"]

    def __init__(self, dim: int | str, unflattened_size: Any) -> None:
        super().__init__()
        if isinstance(dim, int):
            _require_ints(unflattened_size)
        elif isinstance(dim, str):
            _require_pairs(unflattened_size)
        else:
            raise TypeError("invalid argument type for dim parameter")
        self.dim: Any = dim
        self.unflattened_size = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


def _require_ints(size: Any) -> None:
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"unflattened_size must be a tuple of ints, but found type {type(size).__name__}")
    for i, elem in enumerate(size):
        if not isinstance(elem, int):
            raise TypeError(
                f"unflattened_size must be tuple of ints, but found element of type {type(elem).__name__} at pos {i}"
            )


def _require_pairs(size: Any) -> None:
    if not isinstance(size, tuple):
        raise TypeError(f"unflattened_size must be a tuple of tuples, but found type {type(size).__name__}")
    for i, elem in enumerate(size):
        if not isinstance(elem, tuple):
            raise TypeError(
                f"unflattened_size must be tuple of tuples, but found element of type {type(elem).__name__} at pos {i}"
            )
