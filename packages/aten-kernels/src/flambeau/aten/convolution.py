"""Convolutions composed of other operators."""

from __future__ import annotations

import flambeau as fl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from flambeau import Tensor


def conv_tbc(self: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """Convolution over time with time first: (T, B, C) and weight (k, C, O) give (T + 2 pad - k + 1, B, O).

    Raises
    ------
    RuntimeError  where shapes do not fit
    """
    if self.dim() != 3 or weight.dim() != 3 or bias.dim() != 1:
        raise RuntimeError(
            "[conv_tbc] input and weight must have 3 dimensions and bias 1, got "
            f"{tuple(self.shape)}, {tuple(weight.shape)}, {tuple(bias.shape)}"
        )
    out = fl.conv1d(self.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad)
    return out.permute(2, 0, 1).contiguous()
