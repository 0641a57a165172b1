"""Resizing, sampling on grids, and sliding blocks."""

from __future__ import annotations

import math
import warnings

import flambeau as torch
from flambeau.nn.modules.utils import _pair

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from flambeau import Tensor

__all__ = [
    "GRID_SAMPLE_INTERPOLATION_MODES", "GRID_SAMPLE_PADDING_MODES", "affine_grid", "fold", "grid_sample",
    "interpolate", "unfold", "upsample", "upsample_bilinear", "upsample_nearest",
]  # fmt: skip

_ALIGNABLE = ("linear", "bilinear", "bicubic", "trilinear")
_ANTIALIASED = ("bilinear", "bicubic", "lanczos")
_RANKS = {"linear": 3, "bilinear": 4, "bicubic": 4, "trilinear": 5}
# (mode, spatial dimensions) -> operator, whether it takes align_corners
_UPSAMPLERS = {
    ("nearest", 1): ("upsample_nearest1d", False),
    ("nearest", 2): ("upsample_nearest2d", False),
    ("nearest", 3): ("upsample_nearest3d", False),
    ("nearest-exact", 1): ("_upsample_nearest_exact1d", False),
    ("nearest-exact", 2): ("_upsample_nearest_exact2d", False),
    ("nearest-exact", 3): ("_upsample_nearest_exact3d", False),
    ("linear", 1): ("upsample_linear1d", True),
    ("bilinear", 2): ("upsample_bilinear2d", True),
    ("trilinear", 3): ("upsample_trilinear3d", True),
    ("bicubic", 2): ("upsample_bicubic2d", True),
}
_ANTIALIASED_UPSAMPLERS = {
    ("bilinear", 2): "_upsample_bilinear2d_aa",
    ("bicubic", 2): "_upsample_bicubic2d_aa",
    ("lanczos", 2): "_upsample_lanczos2d_aa",
}


def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resize the spatial dimensions of (N, C, d1, ...).

    Parameters
    ----------
    size, scale_factor : sizes of the result, or factors; a number or one per dimension
    mode : "nearest", "nearest-exact", "area" (1 to 3 spatial dimensions), "linear" (1),
        "bilinear", "bicubic" (2), "trilinear" (3), "lanczos" (2, with antialias)
    align_corners : for the linear and cubic modes, keep the values of the corner pixels in place
    recompute_scale_factor : use the ratio of the actual sizes, not scale_factor itself
    antialias : widen the filter when shrinking ("bilinear", "bicubic", "lanczos")

    Raises
    ------
    ValueError           if size and scale_factor do not fit, or the flags do not go with the mode
    NotImplementedError  if the mode does not go with the number of dimensions
    """
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: " + " | ".join(_ALIGNABLE)
            )
    elif align_corners is None:
        align_corners = False

    n = input.dim() - 2
    sizes, factors = _sizes_and_factors(input, n, size, scale_factor)
    if recompute_scale_factor:
        if size is not None:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        sizes = [math.floor(s * f) for s, f in zip(input.shape[2:], factors)]
        factors = None
    if antialias and not (mode in _ANTIALIASED and input.dim() == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
        )
    if mode == "area" and 1 <= n <= 3:
        if sizes is None:
            sizes = [math.floor(s * f) for s, f in zip(input.shape[2:], factors)]
        return _adaptive_avg_pool(input, n, sizes)
    return _upsample(input, n, mode, sizes, factors, align_corners, antialias)


def _sizes_and_factors(input: Tensor, n: int, size: Any, scale_factor: Any) -> tuple[Any, Any]:
    """One of (sizes, None) and (None, factors), with one entry per spatial dimension."""
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        return _per_dimension(input, n, size, "output size of", "output size in (o1, o2, ...,oK)"), None
    if scale_factor is not None:
        factors = _per_dimension(input, n, scale_factor, "scale_factor of shape", "scale_factor in (s1, s2, ...,sK)")
        return None, [float(f) for f in factors]
    raise ValueError("either size or scale_factor should be defined")


def _per_dimension(input: Tensor, n: int, given: Any, what: str, form: str) -> list:
    if not isinstance(given, (list, tuple)):
        return [given] * n
    if len(given) != n:
        subject = "output" if what.startswith("output") else "scale_factor"
        raise ValueError(
            f"Input and {subject} must have the same number of spatial dimensions, but got input "
            f"with spatial dimensions of {list(input.shape[2:])} and {what} {given}. Please "
            f"provide input tensor in (N, C, d1, d2, ...,dK) format and {form} format."
        )
    return list(given)


def _adaptive_avg_pool(input: Tensor, n: int, sizes: list[int]) -> Tensor:
    if n == 1:
        return torch.adaptive_avg_pool1d(input, sizes)
    f = torch._C._nn.adaptive_avg_pool2d if n == 2 else torch._C._nn.adaptive_avg_pool3d
    return f(input, sizes)


def _upsample(input: Tensor, n: int, mode: str, sizes: Any, factors: Any, align: Any, antialias: bool) -> Tensor:
    if antialias:
        f = getattr(torch._C._nn, _ANTIALIASED_UPSAMPLERS[mode, n])
        return f(input, sizes, align, factors)
    found = _UPSAMPLERS.get((mode, n))
    if found is None:
        rank = _RANKS.get(mode)
        if rank is not None and 3 <= input.dim() <= 5 and mode != "bicubic":
            raise NotImplementedError(f"Got {input.dim()}D input, but {mode} mode needs {rank}D input")
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.dim()}D) for "
            "the modes: nearest | linear | bilinear | bicubic | trilinear | lanczos | area | "
            f"nearest-exact (got {mode})"
        )
    name, takes_align = found
    f = getattr(torch._C._nn, name)
    return f(input, sizes, align, factors) if takes_align else f(input, sizes, factors)


def _deprecated(old: str) -> None:
    warnings.warn(f"`nn.functional.{old}` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=3)


def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Tensor:
    """Deprecated name of `interpolate`."""
    _deprecated("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """Deprecated: `interpolate(mode="nearest")`."""
    _deprecated("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """Deprecated: `interpolate(mode="bilinear", align_corners=True)`."""
    _deprecated("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


_GRID_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
_GRID_PADDINGS = {"zeros": 0, "border": 1, "reflection": 2}
GRID_SAMPLE_INTERPOLATION_MODES = _GRID_MODES
GRID_SAMPLE_PADDING_MODES = _GRID_PADDINGS


def _default_align_corners() -> bool:
    warnings.warn(
        "Default grid_sample and affine_grid behavior has changed to align_corners=False since "
        "1.3.0. Please specify align_corners=True if the old behavior is desired. See the "
        "documentation of grid_sample for details.",
        stacklevel=3,
    )
    return False


def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Tensor:
    """Values of `input` at the positions `grid`, which runs from -1 to 1 over each dimension.

    Parameters
    ----------
    input : Tensor (N, C, H, W) or (N, C, D, H, W)
    grid : Tensor (N, H', W', 2) of (x, y), or (N, D', H', W', 3) of (x, y, z)
    mode : "bilinear" (trilinear in 3D), "nearest" or "bicubic" (2D only)
    padding_mode : what lies outside: "zeros", "border" or "reflection"
    align_corners : -1 and 1 are the centres of the corner pixels, not their outer edges

    Raises
    ------
    ValueError  for an unknown mode or padding mode
    """
    if mode not in _GRID_MODES:
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in _GRID_PADDINGS:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or "
            f"'reflection', but got: '{padding_mode}'"
        )
    if align_corners is None:
        align_corners = _default_align_corners()
    return torch.grid_sampler(input, grid, _GRID_MODES[mode], _GRID_PADDINGS[padding_mode], align_corners)


def affine_grid(theta: Tensor, size: Any, align_corners: bool | None = None) -> Tensor:
    """The grid for grid_sample that applies affine maps.

    Parameters
    ----------
    theta : floating Tensor (N, 2, 3), or (N, 3, 4) in 3D
    size : (N, C, H, W) or (N, C, D, H, W) of the result of grid_sample

    Raises
    ------
    ValueError           if dtype, shapes or sizes do not fit
    NotImplementedError  for another number of dimensions
    """
    if align_corners is None:
        align_corners = _default_align_corners()
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    n = len(size) - 2
    if n not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
            f"respectively. Got size {size}."
        )
    if theta.dim() != 3 or theta.shape[-2:] != (n, n + 1):
        raise ValueError(
            f"Expected a batch of {n}D affine matrices of shape Nx{n}x{n + 1} for size {size}. Got {theta.shape}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return torch.affine_grid_generator(theta, size, align_corners)


def fold(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Add sliding blocks (N, C * prod(kernel_size), L) up to (N, C, *output_size)."""
    return torch._C._nn.col2im(
        input, _pair(output_size), _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride)
    )


def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Sliding blocks of (N, C, H, W) as columns: (N, C * prod(kernel_size), L)."""
    return torch._C._nn.im2col(input, _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride))
