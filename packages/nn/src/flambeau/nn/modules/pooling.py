"""Pooling layers."""

from __future__ import annotations

from flambeau.nn import functional as F
from flambeau.nn.modules.module import Module
from flambeau.nn.modules.utils import _pair, _single, _triple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from flambeau import Tensor

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]


class _MaxPoolNd(Module):
    __constants__ = ["kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"]
    _function: str

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )

    def forward(self, input: Tensor) -> Any:
        return getattr(F, self._function)(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )


class MaxPool1d(_MaxPoolNd):
    """Largest value of each window of (N, C, L) or (C, L).

    Parameters
    ----------
    stride : kernel_size by default
    padding : of -inf on both sides, at most half the kernel
    return_indices : give the positions too, for MaxUnpool1d
    ceil_mode : keep a last, partial window
    """

    _function = "max_pool1d"


class MaxPool2d(_MaxPoolNd):
    """Largest value of each window of (N, C, H, W) or (C, H, W); see MaxPool1d."""

    _function = "max_pool2d"


class MaxPool3d(_MaxPoolNd):
    """Largest value of each window of (N, C, D, H, W) or (C, D, H, W); see MaxPool1d."""

    _function = "max_pool3d"


class _MaxUnpoolNd(Module):
    _expand: Any
    _function: str

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        expand = type(self)._expand
        self.kernel_size = expand(kernel_size)
        self.stride = expand(kernel_size if stride is None else stride)
        self.padding = expand(padding)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        unpool = getattr(F, self._function)
        return unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool1d(_MaxUnpoolNd):
    """Put the values of a MaxPool1d back where `indices` says; zeros elsewhere.

    `forward(input, indices, output_size)` takes the size of the unpooled tensor where stride
    and kernel leave a choice.
    """

    _expand = staticmethod(_single)
    _function = "max_unpool1d"


class MaxUnpool2d(_MaxUnpoolNd):
    """Put the values of a MaxPool2d back where `indices` says; see MaxUnpool1d."""

    _expand = staticmethod(_pair)
    _function = "max_unpool2d"


class MaxUnpool3d(_MaxUnpoolNd):
    """Put the values of a MaxPool3d back where `indices` says; see MaxUnpool1d."""

    _expand = staticmethod(_triple)
    _function = "max_unpool3d"


class _AvgPoolNd(Module):
    __constants__ = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"]

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPoolNd):
    """Mean of each window of (N, C, L) or (C, L).

    Parameters
    ----------
    stride : kernel_size by default
    padding : of zeros on both sides, at most half the kernel
    ceil_mode : keep a last, partial window
    count_include_pad : count the padding in the mean
    """

    def __init__(
        self,
        kernel_size: int | tuple[int],
        stride: Any = None,
        padding: int | tuple[int] = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = _single(kernel_size)
        self.stride = _single(kernel_size if stride is None else stride)
        self.padding = _single(padding)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class _AvgPoolWithDivisor(_AvgPoolNd):
    __constants__ = [*_AvgPoolNd.__constants__, "divisor_override"]
    _function: str

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        return getattr(F, self._function)(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class AvgPool2d(_AvgPoolWithDivisor):
    """Mean of each window of (N, C, H, W) or (C, H, W); see AvgPool1d.

    `divisor_override` divides the sum by that in place of the window's size.
    """

    _function = "avg_pool2d"


class AvgPool3d(_AvgPoolWithDivisor):
    """Mean of each window of (N, C, D, H, W) or (C, D, H, W); see AvgPool2d."""

    _function = "avg_pool3d"

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        for name, value in (("padding", 0), ("ceil_mode", False), ("count_include_pad", True)):
            self.__dict__.setdefault(name, value)


class _FractionalMaxPoolNd(Module):
    __constants__ = ["kernel_size", "return_indices", "output_size", "output_ratio"]
    _expand: Any
    _function: str

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        expand = type(self)._expand
        name = type(self).__name__
        self.kernel_size = expand(kernel_size)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = expand(output_size) if output_size is not None else None
        self.output_ratio = expand(output_ratio) if output_ratio is not None else None
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Any:
        pool = getattr(F, self._function)
        return pool(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """Largest values of windows at random positions, so that any output size is possible.

    Parameters
    ----------
    output_size, output_ratio : sizes of the result, or their shares of the input's; one of them

    Raises
    ------
    ValueError  if both or neither are given, or a ratio is not within 0..1
    """

    _expand = staticmethod(_pair)
    _function = "fractional_max_pool2d"


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """FractionalMaxPool2d of (N, C, D, H, W) or (C, D, H, W)."""

    _expand = staticmethod(_triple)
    _function = "fractional_max_pool3d"


class _LPPoolNd(Module):
    __constants__ = ["norm_type", "kernel_size", "stride", "ceil_mode"]

    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPoolNd):
    """(sum of x^p)^(1/p) of each window of (N, C, L) or (C, L), p = norm_type."""

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool1d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool2d(_LPPoolNd):
    """(sum of x^p)^(1/p) of each window of (N, C, H, W) or (C, H, W), p = norm_type."""

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool2d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool3d(_LPPoolNd):
    """(sum of x^p)^(1/p) of each window of (N, C, D, H, W) or (C, D, H, W), p = norm_type."""

    def forward(self, input: Tensor) -> Tensor:
        return F.lp_pool3d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class _AdaptiveMaxPoolNd(Module):
    __constants__ = ["output_size", "return_indices"]

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """Largest values of `output_size` windows that cover L of (N, C, L) or (C, L)."""

    def forward(self, input: Tensor) -> Any:
        return F.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """Largest values of a grid of windows that covers (H, W); None keeps a size."""

    def forward(self, input: Tensor) -> Any:
        return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """Largest values of a grid of windows that covers (D, H, W); None keeps a size."""

    def forward(self, input: Tensor) -> Any:
        return F.adaptive_max_pool3d(input, self.output_size, self.return_indices)


class _AdaptiveAvgPoolNd(Module):
    __constants__ = ["output_size"]

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """Means of `output_size` windows that cover L of (N, C, L) or (C, L)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """Means of a grid of windows that covers (H, W); None keeps a size."""

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """Means of a grid of windows that covers (D, H, W); None keeps a size."""

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool3d(input, self.output_size)
