"""Softmax variants composed of other operators."""

from __future__ import annotations

import flambeau as fl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from flambeau import Tensor


def safe_softmax(self: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """softmax along `dim`, with zeros instead of NaN where all scores are minus infinity."""
    masked = fl.all(self == float("-inf"), dim, keepdim=True)
    # Hidden rows are zeros going in as well, so that no NaN comes back as their gradient.
    out = fl.softmax(self.masked_fill(masked, 0.0), dim, dtype=dtype)
    return out.masked_fill(masked, 0.0)
