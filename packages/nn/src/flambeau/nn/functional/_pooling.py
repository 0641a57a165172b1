"""Pooling."""

from __future__ import annotations

import math

import flambeau as torch
from flambeau.nn.modules.utils import _list_with_default, _pair, _single, _triple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from flambeau import Tensor

__all__ = [
    "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d", "adaptive_max_pool2d_with_indices", "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices", "fractional_max_pool2d", "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d", "fractional_max_pool3d_with_indices", "lp_pool1d", "lp_pool2d", "lp_pool3d",
    "max_pool1d", "max_pool1d_with_indices", "max_pool2d", "max_pool2d_with_indices", "max_pool3d",
    "max_pool3d_with_indices", "max_unpool1d", "max_unpool2d", "max_unpool3d",
]  # fmt: skip

# ---- max ----


def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """Largest value of each window of (N, C, L), and its position along L."""
    if stride is None:
        stride = kernel_size
    return torch.max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Largest value of each window of (N, C, L) or (C, L); positions too if return_indices.

    `stride` defaults to `kernel_size`; `ceil_mode` keeps a last, partial window.
    """
    if stride is None:
        stride = kernel_size
    f = torch.max_pool1d_with_indices if return_indices else torch.max_pool1d
    return f(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """Largest value of each window of (N, C, H, W), and its position in the flattened plane."""
    if stride is None:
        stride = kernel_size
    return torch._C._nn.max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Largest value of each window of (N, C, H, W) or (C, H, W); positions if return_indices."""
    if stride is None:
        stride = kernel_size
    f = torch._C._nn.max_pool2d_with_indices if return_indices else torch.max_pool2d
    return f(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """Largest value of each window of (N, C, D, H, W), and its position in the volume."""
    if stride is None:
        stride = kernel_size
    return torch._C._nn.max_pool3d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Largest value of each window of (N, C, D, H, W) or (C, D, H, W)."""
    if stride is None:
        stride = kernel_size
    f = torch._C._nn.max_pool3d_with_indices if return_indices else torch.max_pool3d
    return f(input, kernel_size, stride, padding, dilation, ceil_mode)


# ---- unpool ----


def _unpool_output_size(
    input: Tensor, kernel_size: Sequence[int], stride: Sequence[int], padding: Sequence[int], output_size: Any
) -> list[int]:
    """Sizes of the unpooled plane; a given one may differ by less than a stride.

    Raises
    ------
    ValueError  if `output_size` has the wrong length or a size out of that range
    """
    n = len(kernel_size)
    spatial = input.shape[-n:]
    default = [(spatial[d] - 1) * stride[d] + kernel_size[d] - 2 * padding[d] for d in range(n)]
    if output_size is None:
        return default
    given = list(output_size)
    if len(given) == n + 2:
        given = given[2:]
    if len(given) != n:
        raise ValueError(
            f"output_size should be a sequence containing {n} or {n + 2} elements, but it has a "
            f"length of '{len(given)}'"
        )
    for d, size in enumerate(given):
        low, high = default[d] - stride[d], default[d] + stride[d]
        if not low < size < high:
            raise ValueError(f'invalid output_size "{output_size}" (dim {d} must be between {low} and {high})')
    return given


def _unpool_geometry(
    input: Tensor, expand: Callable[[Any], tuple], kernel_size: Any, stride: Any, padding: Any, output_size: Any
) -> tuple[list[int], tuple, tuple]:
    """Sizes of the unpooled plane, stride and padding, one number per dimension."""
    kernel, padding = expand(kernel_size), expand(padding)
    stride = kernel if stride is None else expand(stride)
    return _unpool_output_size(input, kernel, stride, padding, output_size), stride, padding


def max_unpool1d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Put the values of a max_pool1d back where `indices` says; zeros elsewhere."""
    size, _, _ = _unpool_geometry(input, _single, kernel_size, stride, padding, output_size)
    out = torch._C._nn.max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), [*size, 1])
    return out.squeeze(-1)


def max_unpool2d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Put the values of a max_pool2d back where `indices` says; zeros elsewhere."""
    size, _, _ = _unpool_geometry(input, _pair, kernel_size, stride, padding, output_size)
    return torch._C._nn.max_unpool2d(input, indices, size)


def max_unpool3d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Put the values of a max_pool3d back where `indices` says; zeros elsewhere."""
    size, stride, padding = _unpool_geometry(input, _triple, kernel_size, stride, padding, output_size)
    return torch._C._nn.max_unpool3d(input, indices, size, stride, padding)


# ---- adaptive ----


def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """Largest values of `output_size` windows that cover L, and their positions."""
    return torch.adaptive_max_pool1d(input, output_size)


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Largest values of `output_size` windows that cover L of (N, C, L)."""
    out = adaptive_max_pool1d_with_indices(input, output_size)
    return out if return_indices else out[0]


def adaptive_max_pool2d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """Largest values of a grid of windows that covers (H, W), and their positions."""
    return torch._C._nn.adaptive_max_pool2d(input, _list_with_default(output_size, input.size()))


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Largest values of a grid of windows that covers (H, W) of (N, C, H, W).

    None in `output_size` keeps the input's size.
    """
    out = adaptive_max_pool2d_with_indices(input, output_size)
    return out if return_indices else out[0]


def adaptive_max_pool3d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """Largest values of a grid of windows that covers (D, H, W), and their positions."""
    return torch._C._nn.adaptive_max_pool3d(input, _list_with_default(output_size, input.size()))


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Largest values of a grid of windows that covers (D, H, W) of (N, C, D, H, W)."""
    out = adaptive_max_pool3d_with_indices(input, output_size)
    return out if return_indices else out[0]


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Means of a grid of windows that covers (H, W) of (N, C, H, W).

    None in `output_size` keeps the input's size.
    """
    return torch._C._nn.adaptive_avg_pool2d(input, _list_with_default(output_size, input.size()))


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Means of a grid of windows that covers (D, H, W) of (N, C, D, H, W)."""
    return torch._C._nn.adaptive_avg_pool3d(input, _list_with_default(output_size, input.size()))


# ---- power mean ----


def _lp_pool(
    avg_pool: Callable[..., Tensor],
    kernel: tuple[int, ...],
    input: Tensor,
    norm_type: float,
    stride: Any,
    ceil_mode: bool,
) -> Tensor:
    """From means of x^p to norms; a negative sum counts as zero, as it has no real root."""
    means = avg_pool(input.pow(norm_type), kernel, kernel if stride is None else stride, 0, ceil_mode)
    return (torch.sign(means) * torch.relu(torch.abs(means))).mul(math.prod(kernel)).pow(1.0 / norm_type)


def lp_pool1d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """(sum of x^p)^(1/p) of each window of (N, C, L), p = norm_type."""
    return _lp_pool(torch.avg_pool1d, _single(kernel_size), input, norm_type, stride, ceil_mode)


def lp_pool2d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """(sum of x^p)^(1/p) of each window of (N, C, H, W), p = norm_type."""
    return _lp_pool(torch._C._nn.avg_pool2d, _pair(kernel_size), input, norm_type, stride, ceil_mode)


def lp_pool3d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """(sum of x^p)^(1/p) of each window of (N, C, D, H, W), p = norm_type."""
    return _lp_pool(torch._C._nn.avg_pool3d, _triple(kernel_size), input, norm_type, stride, ceil_mode)


# ---- fractional ----


def _fractional(
    name: str,
    expand: Callable[[Any], tuple],
    input: Tensor,
    kernel_size: Any,
    output_size: Any,
    output_ratio: Any,
    random_samples: Tensor | None,
) -> tuple[Tensor, Tensor]:
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    n = len(expand(0))
    if output_size is None:
        ratios = expand(output_ratio)
        output_size = [int(s * r) for s, r in zip(input.shape[-n:], ratios)]
    if random_samples is None:
        batch = 1 if input.dim() == n + 1 else input.size(0)
        random_samples = torch.rand(batch, input.size(-n - 1), n, dtype=input.dtype, device=input.device)
    f = getattr(torch._C._nn, name)
    return f(input, expand(kernel_size), expand(output_size), random_samples)


def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """fractional_max_pool2d and the positions of its values in the flattened plane."""
    return _fractional("fractional_max_pool2d", _pair, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Largest values of windows at random positions, so that any output size is possible.

    Parameters
    ----------
    output_size, output_ratio : sizes of the result, or their shares of the input's; one of them
    _random_samples : Tensor (N, C, 2) in 0..1 that fixes the positions (Graham 2014)
    """
    out = fractional_max_pool2d_with_indices(
        input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )
    return out if return_indices else out[0]


def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """fractional_max_pool3d and the positions of its values in the flattened volume."""
    return _fractional("fractional_max_pool3d", _triple, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """fractional_max_pool2d for (N, C, D, H, W); _random_samples is (N, C, 3)."""
    out = fractional_max_pool3d_with_indices(
        input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )
    return out if return_indices else out[0]
