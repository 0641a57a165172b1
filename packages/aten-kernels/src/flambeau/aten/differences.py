"""Finite differences along dimensions."""

from collections.abc import Sequence
from typing import TypeAlias

import flambeau
from flambeau import Tensor

_Spacing: TypeAlias = complex | Tensor | Sequence[complex] | Sequence[Tensor]


def diff(
    self: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """n-th difference of neighbours along a dimension; booleans differ where they are not equal."""
    if self.dim() == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    parts = [t for t in (prepend, self, append) if t is not None]
    out = flambeau.cat(parts, dim) if len(parts) > 1 else self
    if n == 0:
        return out.clone() if out is self else out
    for _ in range(min(n, out.size(dim))):
        size = out.size(dim)
        if size == 0:
            break
        late, early = out.narrow(dim, 1, size - 1), out.narrow(dim, 0, size - 1)
        out = flambeau.logical_xor(late, early) if out.dtype is flambeau.bool else late - early
    return out


def _steps(input: Tensor, spacing: _Spacing | None, dims: list[int]) -> Sequence[complex | Tensor]:
    """For every dimension the distance of neighbours, or the coordinates."""
    if spacing is None:
        return [1] * len(dims)
    if isinstance(spacing, (int, float, complex)):
        return [spacing] * len(dims)
    steps: list[complex | Tensor] = [spacing] if isinstance(spacing, Tensor) else list(spacing)
    if len(steps) != len(dims):
        raise RuntimeError(
            f"torch.gradient expected spacing to be unspecified, a scalar or a list of length {len(dims)}, but got a list of length {len(steps)}"
        )
    for step, d in zip(steps, dims):
        if isinstance(step, Tensor) and step.dim() != 0 and step.numel() != input.size(d):
            raise RuntimeError(
                f"torch.gradient expected coordinates of length {input.size(d)} for dim {d}, got {step.numel()}"
            )
    return steps


def _slope(f: Tensor, step: complex | Tensor, dim: int, edge_order: int) -> Tensor:
    """Derivative along one dimension: central inside, one-sided of edge_order at both ends."""
    n = f.size(dim)

    def at(start: int, length: int) -> Tensor:
        return f.narrow(dim, start, length)

    if isinstance(step, Tensor) and step.dim():
        gaps = (step[1:] - step[:-1]).reshape([-1 if d == dim else 1 for d in range(f.dim())])
        before, after = gaps.narrow(dim, 0, n - 2), gaps.narrow(dim, 1, n - 2)
    else:
        value = step.item() if isinstance(step, Tensor) else step
        gaps = flambeau.full(
            [n - 1 if d == dim else 1 for d in range(f.dim())],
            value,
            dtype=None if isinstance(value, complex) else flambeau.float64,
        )
        gaps = gaps.to(f.dtype if f.is_floating_point() or f.is_complex() else flambeau.get_default_dtype())
        before, after = gaps.narrow(dim, 0, n - 2), gaps.narrow(dim, 1, n - 2)
    inner = (
        at(2, n - 2) * (before / after)
        + at(1, n - 2) * (after / before - before / after)
        - at(0, n - 2) * (after / before)
    ) / (before + after)
    first_gap, last_gap = gaps.narrow(dim, 0, 1), gaps.narrow(dim, n - 2, 1)
    if edge_order == 1:
        low, high = (at(1, 1) - at(0, 1)) / first_gap, (at(n - 1, 1) - at(n - 2, 1)) / last_gap
    else:
        low, high = (
            _edge(at(0, 1), at(1, 1), at(2, 1), first_gap, gaps.narrow(dim, 1, 1)),
            _edge(at(n - 1, 1), at(n - 2, 1), at(n - 3, 1), -last_gap, -gaps.narrow(dim, n - 3, 1)),
        )
    return flambeau.cat([low, inner, high], dim)


def _edge(f0: Tensor, f1: Tensor, f2: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """Slope at the first of three points that lie `a` and then `b` apart."""
    return -(2 * a + b) / (a * (a + b)) * f0 + (a + b) / (a * b) * f1 - a / (b * (a + b)) * f2


def gradient(
    input: Tensor, *, spacing: _Spacing | None = None, dim: int | Sequence[int] | None = None, edge_order: int = 1
) -> tuple[Tensor, ...]:
    """Slopes of samples along dimensions: `spacing` is a distance, one a dimension, or coordinates."""
    n = input.dim()
    if edge_order not in (1, 2):
        raise RuntimeError(f"torch.gradient only supports edge_order=1 and edge_order=2, got {edge_order}.")
    dims = list(range(n)) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    for d in dims:
        if not -n <= d < n:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {d})")
    dims = [d % n for d in dims]
    for d in dims:
        if dims.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
        if input.size(d) < edge_order + 1:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    return tuple(_slope(input, step, d, edge_order) for step, d in zip(_steps(input, spacing, dims), dims))
