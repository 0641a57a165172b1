"""What all convolutions share: arguments, parameters, printing, and the output_padding of the transposes."""

from __future__ import annotations

import math

import flambeau as torch
from flambeau.nn import functional as F
from flambeau.nn import init
from flambeau.nn.modules.module import Module
from flambeau.nn.modules.utils import _reverse_repeat_tuple, _single
from flambeau.nn.parameter import Parameter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from flambeau import Tensor

_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    __constants__ = [
        "stride",
        "padding",
        "dilation",
        "groups",
        "padding_mode",
        "output_padding",
        "in_channels",
        "out_channels",
        "kernel_size",
    ]
    in_channels: int
    out_channels: int
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: str | tuple[int, ...]
    dilation: tuple[int, ...]
    transposed: bool
    output_padding: tuple[int, ...]
    groups: int
    padding_mode: str
    weight: Tensor
    bias: Tensor | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: Any,
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check_arguments(in_channels, out_channels, kernel_size, stride, padding, groups, padding_mode)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = self._padding_for_pad()
        shape = (
            (in_channels, out_channels // groups, *kernel_size)
            if transposed
            else (out_channels, in_channels // groups, *kernel_size)
        )
        self.weight = Parameter(torch.empty(shape, device=device, dtype=dtype))
        self.register_parameter(
            "bias", Parameter(torch.empty(out_channels, device=device, dtype=dtype)) if bias else None
        )
        self.reset_parameters()

    def _padding_for_pad(self) -> list[int] | tuple[int, ...]:
        """The padding as `pad` takes it: (left, right) of the last dimension first."""
        if not isinstance(self.padding, str):
            return _reverse_repeat_tuple(self.padding, 2)
        sides = [0] * (2 * len(self.kernel_size))
        if self.padding == "same":
            for i, (d, k) in enumerate(zip(self.dilation, self.kernel_size)):
                total = d * (k - 1)
                at = 2 * (len(self.kernel_size) - 1 - i)
                sides[at] = total // 2
                # Where the total is odd the end gets the larger part.
                sides[at + 1] = total - total // 2
        return sides

    def reset_parameters(self) -> None:
        """Draw weight and bias anew, uniform in +-1 / sqrt(in_channels * prod(kernel_size))."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def _padded(self, input: Tensor) -> Tensor:
        return F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)

    def extra_repr(self) -> str:
        n = len(self.kernel_size)
        parts = [f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"]
        if self.padding != (0,) * len(self.padding):
            parts.append(f"padding={self.padding}")
        if self.dilation != (1,) * n:
            parts.append(f"dilation={self.dilation}")
        if self.output_padding != (0,) * n:
            parts.append(f"output_padding={self.output_padding}")
        if self.groups != 1:
            parts.append(f"groups={self.groups}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("padding_mode", "zeros")


def _check_arguments(
    in_channels: int, out_channels: int, kernel_size: Any, stride: Any, padding: Any, groups: int, padding_mode: str
) -> None:
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    if in_channels % groups:
        raise ValueError("in_channels must be divisible by groups")
    if out_channels % groups:
        raise ValueError("out_channels must be divisible by groups")
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'valid', 'same'}}")
        if padding == "same" and any(s != 1 for s in stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
    if padding_mode not in _PADDING_MODES:
        raise ValueError(
            f"padding_mode must be one of {{'zeros', 'reflect', 'replicate', 'circular'}}, but got "
            f"padding_mode='{padding_mode}'"
        )


class _DirectConvNd(_ConvNd):
    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        raise NotImplementedError

    def forward(self, input: Tensor) -> Tensor:
        params: dict[str, Any] = self._parameters  # see Note [Reading parameters] in module.py
        if "weight" in params and "bias" in params:
            return self._conv_forward(input, params["weight"], params["bias"])
        return self._conv_forward(input, self.weight, self.bias)


class _ConvTransposeNd(_ConvNd):
    _operator: str
    padding: tuple[int, ...]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        transposed: bool,
        output_padding: Any,
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}, got "{padding_mode}"')
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, transposed,
            output_padding, groups, bias, padding_mode, device, dtype,
        )  # fmt: skip

    def _output_padding(
        self,
        input: Tensor,
        output_size: Any,
        stride: tuple[int, ...],
        padding: tuple[int, ...],
        kernel_size: tuple[int, ...],
        num_spatial_dims: int,
        dilation: tuple[int, ...] | None = None,
    ) -> Any:
        """The output_padding that gives `output_size`; this layer's own without one.

        Raises
        ------
        ValueError  if the size has the wrong length or cannot be reached
        """
        if output_size is None:
            return _single(self.output_padding)
        n = num_spatial_dims
        has_batch = input.dim() == n + 2
        wanted = list(output_size)
        if len(wanted) == (n + 2 if has_batch else n + 1):
            wanted = wanted[-n:]
        if len(wanted) != n:
            raise ValueError(
                f"ConvTranspose{n}D: for {input.dim()}D input, output_size must have {n} or "
                f"{n + 2 if has_batch else n + 1} elements (got {len(output_size)})"
            )
        extra = []
        dilation = dilation or (1,) * n
        spatial = input.shape[-n:]
        low = [(spatial[d] - 1) * stride[d] - 2 * padding[d] + dilation[d] * (kernel_size[d] - 1) + 1 for d in range(n)]
        high = [m + stride[d] - 1 for d, m in enumerate(low)]
        for d in range(n):
            if not low[d] <= wanted[d] <= high[d]:
                raise ValueError(
                    f"requested an output size of {output_size}, but valid sizes range from {low} "
                    f"to {high} (for an input of {spatial})"
                )
            extra.append(wanted[d] - low[d])
        return extra

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        n = len(self.kernel_size)
        output_padding = self._output_padding(
            input, output_size, self.stride, self.padding, self.kernel_size, n, self.dilation
        )
        return getattr(F, self._operator)(
            input, self.weight, self.bias, self.stride, self.padding, output_padding, self.groups, self.dilation
        )
