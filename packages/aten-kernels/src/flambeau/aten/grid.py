"""Sampling on grids: affine grids, and values of images at arbitrary positions."""

from __future__ import annotations

import functools
import itertools
import operator

import flambeau as fl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from flambeau import Tensor

BILINEAR, NEAREST, BICUBIC = 0, 1, 2
ZEROS, BORDER, REFLECTION = 0, 1, 2


def affine_grid_generator(theta: Tensor, size: Sequence[int], align_corners: bool) -> Tensor:
    """Positions (N, H, W, 2) or (N, D, H, W, 3) in -1..1, x first, mapped by theta (N, 2, 3) or (N, 3, 4).

    Raises
    ------
    RuntimeError  where theta does not fit the size
    """
    spatial = tuple(size)[2:]
    n = len(spatial)
    if n not in (2, 3) or theta.dim() != 3 or tuple(theta.shape) != (size[0], n, n + 1):
        raise RuntimeError(
            f"[affine_grid_generator] theta must be (N, 2, 3) for a size of 4 numbers or (N, 3, 4) for 5, got "
            f"{tuple(theta.shape)} for {tuple(size)}"
        )
    axes = []
    for d in range(n - 1, -1, -1):
        steps = spatial[d]
        kind, device = theta.dtype, theta.device
        line = (
            fl.linspace(-1, 1, steps, dtype=kind, device=device)
            if steps > 1
            else fl.zeros(steps, dtype=kind, device=device)
        )
        if not align_corners:
            line = line * ((steps - 1) / steps)
        axes.append(line.reshape([-1 if i == d else 1 for i in range(n)]).expand(spatial))
    base = fl.stack([*axes, fl.ones(spatial, dtype=theta.dtype, device=theta.device)], -1).reshape(1, -1, n + 1)
    return fl.matmul(base, theta.transpose(1, 2)).reshape(size[0], *spatial, n)


def _unnormalised(x: Tensor, size: int, align_corners: bool) -> Tensor:
    return (x + 1) * ((size - 1) / 2) if align_corners else ((x + 1) * size - 1) / 2


def _reflected(x: Tensor, low: float, high: float) -> Tensor:
    """x folded back at both ends until it lies within."""
    span = high - low
    if span <= 0:
        return fl.zeros_like(x)
    distance = (x - low).abs()
    turns = (distance / span).floor()
    rest = distance - turns * span
    return fl.where(fl.remainder(turns, 2) == 0, rest + low, high - rest)


def _within(x: Tensor, size: int, padding: int, align_corners: bool) -> Tensor:
    if padding == REFLECTION:
        x = _reflected(x, 0, size - 1) if align_corners else _reflected(x, -0.5, size - 0.5)
    if padding in (BORDER, REFLECTION):
        x = x.clamp(0, size - 1)
    return x


def _inside(p: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """Whether whole numbers are indices of a dimension, and the indices, 0 where they are not."""
    ok = (p >= 0) & (p <= size - 1)
    return ok, fl.where(ok, p, fl.zeros_like(p)).to(fl.int64)


class _Planes:
    """Values of input (N, C, *spatial) at integer positions (N, *out): zeros outside."""

    def __init__(self, input: Tensor) -> None:
        self.sizes = tuple(input.shape[2:])
        self.n, self.c = input.shape[:2]
        self.flat = input.flatten(2)

    def at(self, places: list[Tensor]) -> Tensor:
        """places: whole numbers as floats, slowest dimension first. Returns (N, C, *out)."""
        inside, index = _inside(places[0], self.sizes[0])
        for p, size in zip(places[1:], self.sizes[1:]):
            ok, i = _inside(p, size)
            inside, index = inside & ok, index * size + i
        out = tuple(index.shape[1:])
        flat = index.flatten(1).unsqueeze(1)
        picked = self.flat.gather(2, flat.expand(self.n, self.c, flat.shape[2]))
        return picked.reshape(self.n, self.c, *out) * inside.unsqueeze(1).to(picked.dtype)


def _linear(planes: _Planes, coordinates: list[Tensor]) -> Tensor:
    low = [x.detach().floor() for x in coordinates]

    def part(corner: tuple[int, ...]) -> Tensor:
        weights = (x - f if side else 1 - (x - f) for side, x, f in zip(corner, coordinates, low))
        return planes.at([f + s for f, s in zip(low, corner)]) * functools.reduce(operator.mul, weights).unsqueeze(1)

    corners = itertools.product((0, 1), repeat=len(coordinates))
    return functools.reduce(operator.add, (part(c) for c in corners))


def _cubic_weights(t: Tensor) -> list[Tensor]:
    a = -0.75

    def near(x: Tensor) -> Tensor:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Tensor) -> Tensor:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


def _cubic(planes: _Planes, coordinates: list[Tensor], padding: int, align_corners: bool) -> Tensor:
    low = [x.detach().floor() for x in coordinates]
    weights = [_cubic_weights(x - f) for x, f in zip(coordinates, low)]

    def part(i: int, j: int) -> Tensor:
        places = [_within(f + (k - 1), size, padding, align_corners) for f, k, size in zip(low, (i, j), planes.sizes)]
        return planes.at(places) * (weights[0][i] * weights[1][j]).unsqueeze(1)

    return functools.reduce(operator.add, (part(i, j) for i, j in itertools.product(range(4), repeat=2)))


def _check(input: Tensor, grid: Tensor, mode: int, padding: int) -> None:
    n = input.dim() - 2
    if n not in (2, 3) or grid.dim() != input.dim():
        raise RuntimeError(
            "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got input with sizes "
            f"{list(input.shape)} and grid with sizes {list(grid.shape)}"
        )
    if input.shape[0] != grid.shape[0]:
        raise RuntimeError(
            "grid_sampler(): expected grid and input to have same batch size, but got input with sizes "
            f"{list(input.shape)} and grid with sizes {list(grid.shape)}"
        )
    if grid.shape[-1] != n:
        raise RuntimeError(f"grid_sampler(): expected grid to have size {n} in last dimension, got {list(grid.shape)}")
    if 0 in tuple(input.shape[2:]):
        raise RuntimeError(
            f"grid_sampler(): expected input to have non-empty spatial dimensions, got {list(input.shape)}"
        )
    if input.dtype != grid.dtype:
        raise RuntimeError(
            f"grid_sampler(): expected input and grid to have same dtype, but input has {input.dtype} and grid {grid.dtype}"
        )
    if mode not in (BILINEAR, NEAREST, BICUBIC) or padding not in (ZEROS, BORDER, REFLECTION):
        raise RuntimeError(
            f"grid_sampler(): unknown interpolation mode {mode} or padding mode {padding}; both are 0 to 2"
        )
    if mode == BICUBIC and n == 3:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")


def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """Values of input (N, C, H, W) or (N, C, D, H, W) at positions grid (..., 2 or 3), x first.

    Raises
    ------
    RuntimeError  where shapes, dtypes or modes do not fit
    """
    _check(input, grid, interpolation_mode, padding_mode)
    planes = _Planes(input)
    n = len(planes.sizes)
    coordinates = [_unnormalised(grid[..., n - 1 - d], planes.sizes[d], align_corners) for d in range(n)]
    if interpolation_mode == BICUBIC:
        return _cubic(planes, coordinates, padding_mode, align_corners)
    coordinates = [_within(x, size, padding_mode, align_corners) for x, size in zip(coordinates, planes.sizes)]
    if interpolation_mode == NEAREST:
        return planes.at([x.detach().round() for x in coordinates])
    return _linear(planes, coordinates)
