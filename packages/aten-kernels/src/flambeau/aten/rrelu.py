"""Rectifiers with random slopes."""

from __future__ import annotations

import flambeau as fl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from flambeau import Tensor


def rrelu(
    self: Tensor, lower: float = 0.125, upper: float = 1 / 3, training: bool = False, generator: Any = None
) -> Tensor:
    """self where positive; elsewhere times a slope: uniform in lower..upper in training, their mean else.

    Raises
    ------
    RuntimeError         if lower is above upper
    NotImplementedError  unless self is floating point
    """
    if lower > upper:
        raise RuntimeError(
            f"[rrelu] Lower bound should be less than or equal to the upper bound, got {lower} and {upper}"
        )
    if not self.is_floating_point():
        raise NotImplementedError(f"[rrelu] takes floating dtypes, got {self.dtype}")
    if not training:
        return fl._C._nn.leaky_relu(self, (lower + upper) / 2)
    negative = self.detach() <= 0
    slopes = fl.ones_like(self.detach(), memory_format=fl.contiguous_format)
    # Slopes are drawn for those elements that need one, in row-major order.
    count = int(negative.sum())
    slopes[negative] = fl.empty(count, dtype=fl.float64).uniform_(lower, upper, generator=generator).to(self.dtype)
    return self * slopes
