"""Integrals along a dimension by the trapezoidal rule."""

import flambeau
from flambeau import Tensor

__all__ = ["cumulative_trapezoid", "trapezoid"]


def _areas(name: str, y: Tensor, x: Tensor | None, dx: float | None, dim: int) -> Tensor:
    """Area over every step of `dim`."""
    if y.dim() == 0:
        raise RuntimeError(f"{name} needs a tensor with at least one dimension, got a scalar")
    size = y.shape[dim]
    if x is None:
        step: float | Tensor = 1 if dx is None else dx
    else:
        if x.dim() == 1 and x.shape[0] != size:
            raise RuntimeError("trapezoid: There must be one `x` value for each sample point")
        if x.dim() < y.dim():
            shape = [1] * y.dim()
            shape[dim] = x.shape[-1]
            x = x.reshape(shape) if x.dim() == 1 else x.reshape([1] * (y.dim() - x.dim()) + list(x.shape))
        step = x.narrow(dim, 1, x.shape[dim] - 1) - x.narrow(dim, 0, x.shape[dim] - 1)
    return (y.narrow(dim, 1, size - 1) + y.narrow(dim, 0, size - 1)) * step / 2


def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim: int = -1) -> Tensor:
    """Integral of samples `y` at points `x` (or `dx` apart) along `dim`."""
    if y.dim() and y.shape[dim] == 0:
        return flambeau.sum(y, [dim])
    return flambeau.sum(_areas("trapezoid", y, x, dx, dim), [dim])


def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim: int = -1) -> Tensor:
    """Running integral; one element fewer than `y` along `dim`."""
    if y.dim() and y.shape[dim] == 0:
        return y.clone()
    return flambeau.cumsum(_areas("cumulative_trapezoid", y, x, dx, dim), dim)
