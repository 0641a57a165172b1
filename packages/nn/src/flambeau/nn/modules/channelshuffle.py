"""ChannelShuffle."""

from __future__ import annotations

from flambeau.nn import functional as F
from flambeau.nn.modules.module import Module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from flambeau import Tensor

__all__ = ["ChannelShuffle"]


class ChannelShuffle(Module):
    """Interleave `groups` groups of channels of (N, C, *)."""

    __constants__ = ["groups"]

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
