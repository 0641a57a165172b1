"""Convolutions, their transposes, and the lazy forms of both."""

from __future__ import annotations

from flambeau.nn import functional as F
from flambeau.nn.modules._conv_base import _ConvNd, _ConvTransposeNd, _DirectConvNd  # noqa: F401
from flambeau.nn.modules.utils import _pair, _single, _triple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from flambeau import Tensor

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
]


def _conv_arguments(expand: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any) -> tuple:
    padding = padding if isinstance(padding, str) else expand(padding)
    return expand(kernel_size), expand(stride), padding, expand(dilation)


class Conv1d(_DirectConvNd):
    """Cross-correlation over L: (N, C_in, L) or (C_in, L) -> (N, C_out, L').

    Parameters
    ----------
    stride, padding, dilation : one per spatial dimension, or one for all; padding may also be
        "same" (keeps the size; stride 1 only) or "valid" (none)
    groups : channels are split into that many independent convolutions
    padding_mode : "zeros", "reflect", "replicate" or "circular"

    weight is (C_out, C_in / groups, k).
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int],
        stride: int | tuple[int] = 1,
        padding: str | int | tuple[int] = 0,
        dilation: int | tuple[int] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        k, s, p, d = _conv_arguments(_single, kernel_size, stride, padding, dilation)
        super().__init__(
            in_channels, out_channels, k, s, p, d, False, (0,), groups, bias, padding_mode,
            device, dtype,
        )  # fmt: skip

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        if self.padding_mode == "zeros":
            return F.conv1d(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)
        return F.conv1d(self._padded(input), weight, bias, self.stride, (0,), self.dilation, self.groups)


class Conv2d(_DirectConvNd):
    """Cross-correlation over H and W: (N, C_in, H, W) or (C_in, H, W) -> (N, C_out, H', W').

    Parameters as for Conv1d. weight is (C_out, C_in / groups, kH, kW).
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, int],
        stride: int | tuple[int, int] = 1,
        padding: str | int | tuple[int, int] = 0,
        dilation: int | tuple[int, int] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        k, s, p, d = _conv_arguments(_pair, kernel_size, stride, padding, dilation)
        super().__init__(
            in_channels, out_channels, k, s, p, d, False, (0, 0), groups, bias, padding_mode,
            device, dtype,
        )  # fmt: skip

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        if self.padding_mode == "zeros":
            return F.conv2d(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)
        return F.conv2d(self._padded(input), weight, bias, self.stride, (0, 0), self.dilation, self.groups)


class Conv3d(_DirectConvNd):
    """Cross-correlation over D, H and W: (N, C_in, D, H, W) -> (N, C_out, D', H', W').

    Parameters as for Conv1d. weight is (C_out, C_in / groups, kD, kH, kW).
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, int, int],
        stride: int | tuple[int, int, int] = 1,
        padding: str | int | tuple[int, int, int] = 0,
        dilation: int | tuple[int, int, int] = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        k, s, p, d = _conv_arguments(_triple, kernel_size, stride, padding, dilation)
        super().__init__(
            in_channels, out_channels, k, s, p, d, False, (0, 0, 0), groups, bias, padding_mode,
            device, dtype,
        )  # fmt: skip

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        if self.padding_mode == "zeros":
            return F.conv3d(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)
        return F.conv3d(self._padded(input), weight, bias, self.stride, (0, 0, 0), self.dilation, self.groups)


class ConvTranspose1d(_ConvTransposeNd):
    """The transpose of Conv1d: (N, C_in, L) or (C_in, L) -> (N, C_out, L').

    Parameters
    ----------
    output_padding : added to one side of the result, to choose among the sizes that a strided
        convolution maps to the same one
    others : those of the convolution that this is the transpose of

    weight is (C_in, C_out / groups, k). `forward(input, output_size)` works output_padding out.
    """

    _operator = "conv_transpose1d"

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int],
        stride: int | tuple[int] = 1,
        padding: int | tuple[int] = 0,
        output_padding: int | tuple[int] = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: int | tuple[int] = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, _single(kernel_size), _single(stride), _single(padding),
            _single(dilation), True, _single(output_padding), groups, bias, padding_mode,
            device, dtype,
        )  # fmt: skip


class ConvTranspose2d(_ConvTransposeNd):
    """The transpose of Conv2d; parameters as for ConvTranspose1d.

    weight is (C_in, C_out / groups, kH, kW).
    """

    _operator = "conv_transpose2d"

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, int],
        stride: int | tuple[int, int] = 1,
        padding: int | tuple[int, int] = 0,
        output_padding: int | tuple[int, int] = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: int | tuple[int, int] = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, _pair(kernel_size), _pair(stride), _pair(padding),
            _pair(dilation), True, _pair(output_padding), groups, bias, padding_mode,
            device, dtype,
        )  # fmt: skip


class ConvTranspose3d(_ConvTransposeNd):
    """The transpose of Conv3d; parameters as for ConvTranspose1d.

    weight is (C_in, C_out / groups, kD, kH, kW).
    """

    _operator = "conv_transpose3d"

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | tuple[int, int, int],
        stride: int | tuple[int, int, int] = 1,
        padding: int | tuple[int, int, int] = 0,
        output_padding: int | tuple[int, int, int] = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: int | tuple[int, int, int] = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, _triple(kernel_size), _triple(stride), _triple(padding),
            _triple(dilation), True, _triple(output_padding), groups, bias, padding_mode,
            device, dtype,
        )  # fmt: skip


# The lazy forms build on the classes above.
from flambeau.nn.modules._lazy_conv import (  # noqa: E402
    LazyConv1d,
    LazyConv2d,
    LazyConv3d,
    LazyConvTranspose1d,
    LazyConvTranspose2d,
    LazyConvTranspose3d,
)
