"""Padding layers."""

from __future__ import annotations

from flambeau.nn import functional as F
from flambeau.nn.modules.module import Module
from flambeau.nn.modules.utils import _ntuple, _pair, _quadruple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from flambeau import Tensor

__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]

# `padding` of all layers here: (left, right) of the last dimension, then (top, bottom), then
# (front, back); one number stands for all.
_sextuple = _ntuple(6)


class _PadNd(Module):
    __constants__ = ["padding"]
    _mode = "constant"
    padding: tuple[int, ...]

    def extra_repr(self) -> str:
        return f"{self.padding}"

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self._mode)


class _Pad1d(_PadNd):
    def __init__(self, padding: int | tuple[int, int]) -> None:
        super().__init__()
        self.padding = _pair(padding)


class _Pad2d(_PadNd):
    def __init__(self, padding: int | tuple[int, int, int, int]) -> None:
        super().__init__()
        self.padding = _quadruple(padding)


class _Pad3d(_PadNd):
    def __init__(self, padding: int | tuple[int, int, int, int, int, int]) -> None:
        super().__init__()
        self.padding = _sextuple(padding)


class _CircularPadNd(_PadNd):
    _mode = "circular"

    def _check_input_dim(self, input: Tensor) -> None:
        n = len(self.padding) // 2
        if input.dim() not in (n + 1, n + 2):
            raise ValueError(f"expected {n + 1}D or {n + 2}D input (got {input.dim()}D input)")

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        return F.pad(input, self.padding, "circular")


class CircularPad1d(_CircularPadNd, _Pad1d):
    """Pad the last dimension of (N, C, W) or (C, W) as if the input were periodic."""


class CircularPad2d(_CircularPadNd, _Pad2d):
    """Pad the last two dimensions of (N, C, H, W) or (C, H, W) as if periodic."""


class CircularPad3d(_CircularPadNd, _Pad3d):
    """Pad the last three dimensions of (N, C, D, H, W) or (C, D, H, W) as if periodic."""


class _ConstantPadNd(_PadNd):
    __constants__ = ["padding", "value"]
    value: float

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """Pad the last dimension with `value`."""

    def __init__(self, padding: int | tuple[int, int], value: float) -> None:
        super().__init__()
        self.padding = _pair(padding)
        self.value = value


class ConstantPad2d(_ConstantPadNd):
    """Pad the last two dimensions with `value`."""

    def __init__(self, padding: int | tuple[int, int, int, int], value: float) -> None:
        super().__init__()
        self.padding = _quadruple(padding)
        self.value = value


class ConstantPad3d(_ConstantPadNd):
    """Pad the last three dimensions with `value`."""

    def __init__(self, padding: int | tuple[int, int, int, int, int, int], value: float) -> None:
        super().__init__()
        self.padding = _sextuple(padding)
        self.value = value


class ZeroPad1d(ConstantPad1d):
    """Pad the last dimension with zeros."""

    def __init__(self, padding: int | tuple[int, int]) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad2d(ConstantPad2d):
    """Pad the last two dimensions with zeros."""

    def __init__(self, padding: int | tuple[int, int, int, int]) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad3d(ConstantPad3d):
    """Pad the last three dimensions with zeros."""

    def __init__(self, padding: int | tuple[int, int, int, int, int, int]) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ReflectionPadNd(_PadNd):
    _mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd, _Pad1d):
    """Pad the last dimension by mirroring, the edge itself not repeated."""


class ReflectionPad2d(_ReflectionPadNd, _Pad2d):
    """Pad the last two dimensions by mirroring, the edge itself not repeated."""


class ReflectionPad3d(_ReflectionPadNd, _Pad3d):
    """Pad the last three dimensions by mirroring, the edge itself not repeated."""


class _ReplicationPadNd(_PadNd):
    _mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd, _Pad1d):
    """Pad the last dimension by repeating the edge."""


class ReplicationPad2d(_ReplicationPadNd, _Pad2d):
    """Pad the last two dimensions by repeating the edge."""


class ReplicationPad3d(_ReplicationPadNd, _Pad3d):
    """Pad the last three dimensions by repeating the edge."""
