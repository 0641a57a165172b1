"""Softmax variants composed of other operators."""

from __future__ import annotations

import flambeau as fl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from flambeau import Tensor


def safe_softmax(self: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """softmax along `dim`, with zeros instead of NaN where all scores are minus infinity."""
    out = fl.softmax(self, dim, dtype=dtype)
    masked = fl.all(self == float("-inf"), dim, keepdim=True)
    return fl.where(masked, fl.zeros((), dtype=out.dtype), out)
