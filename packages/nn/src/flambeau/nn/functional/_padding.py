"""Padding."""

from __future__ import annotations

import flambeau as torch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from flambeau import Tensor

__all__ = [
    "pad",
]


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Pad the last dimensions of `input`.

    Parameters
    ----------
    pad : (left, right) of the last dimension, then of the one before it, ...; negative crops
    mode : "constant", "reflect", "replicate" or "circular"
    value : fill of "constant" (0 by default); the other modes take none

    Raises
    ------
    RuntimeError         if `pad` has an odd length, or `value` is given to another mode
    NotImplementedError  for an unknown mode, or a number of dimensions that it does not support
    """
    return torch._C._nn.pad(input, pad, mode, value)
