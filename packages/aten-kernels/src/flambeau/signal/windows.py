"""Window functions of M points: symmetric ones for filters, periodic ones (`sym=False`) for spectra.

Each returns a vector of `dtype` (float32 or float64; by default the default dtype). A periodic window is the symmetric
one of M + 1 points without the last. No points give an empty window, a single one is 1 (where its formula would divide by
zero). ValueError for a negative M, another dtype, or a layout that is not strided.
"""

from __future__ import annotations

import math

import flambeau
from flambeau import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming", "hann",
    "kaiser", "nuttall",
]  # fmt: skip


def _asked(window: Tensor, requires_grad: bool) -> Tensor:
    """Only a window that shall require a gradient needs autograd to be there."""
    return window.requires_grad_() if requires_grad else window


def _check(name: str, M: int, dtype: flambeau.dtype | None, layout: flambeau.layout) -> flambeau.dtype:
    dtype = flambeau.get_default_dtype() if dtype is None else dtype
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not flambeau.strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if dtype not in (flambeau.float32, flambeau.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    return dtype


def _intervals(M: int, sym: bool) -> int:
    """Between the first point and the one that a symmetric window would end with; at least 1."""
    return max(M - 1 if sym else M, 1)


def _positions(
    M: int, dtype: flambeau.dtype, device: flambeau.device | None, first: float = 0.0, step: float = 1.0
) -> Tensor:
    return flambeau.linspace(first, first + (M - 1) * step, M, dtype=dtype, device=device)


def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype: flambeau.dtype | None = None,
    layout: flambeau.layout = flambeau.strided,
    device: flambeau.device | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """exp(-|n - center| / tau); a symmetric window has its center in the middle."""
    dtype = _check("exponential", M, dtype, layout)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    middle = (M if not sym and M > 1 else M - 1) / 2.0 if center is None else center
    distance = (_positions(M, dtype, device) - middle).abs()
    return _asked(flambeau.exp(distance / -tau), requires_grad)


def gaussian(
    M: int,
    *,
    std: float = 1.0,
    sym: bool = True,
    dtype: flambeau.dtype | None = None,
    layout: flambeau.layout = flambeau.strided,
    device: flambeau.device | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """exp(-((n - center) / std) ** 2 / 2)."""
    dtype = _check("gaussian", M, dtype, layout)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    middle = (M if not sym and M > 1 else M - 1) / 2.0
    scaled = (_positions(M, dtype, device) - middle) / (std * math.sqrt(2))
    return _asked(flambeau.exp(-(scaled * scaled)), requires_grad)


def kaiser(
    M: int,
    *,
    beta: float = 12.0,
    sym: bool = True,
    dtype: flambeau.dtype | None = None,
    layout: flambeau.layout = flambeau.strided,
    device: flambeau.device | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """i0(beta * sqrt(1 - t * t)) / i0(beta) for t from -1 to 1."""
    dtype = _check("kaiser", M, dtype, layout)
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    if M == 1:
        return flambeau.ones(1, dtype=dtype, device=device, requires_grad=requires_grad)
    t = _positions(M, dtype, device, -1.0, 2.0 / _intervals(M, sym))
    root = flambeau.sqrt(flambeau.clamp_min(1.0 - t * t, 0.0))
    peak = flambeau.i0(flambeau.tensor(beta, dtype=dtype, device=device))
    return _asked(flambeau.i0(beta * root) / peak, requires_grad)


def cosine(
    M: int,
    *,
    sym: bool = True,
    dtype: flambeau.dtype | None = None,
    layout: flambeau.layout = flambeau.strided,
    device: flambeau.device | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Half a period of a sine, its zeros half a step outside."""
    dtype = _check("cosine", M, dtype, layout)
    step = math.pi / (M + 1 if not sym and M > 1 else max(M, 1))
    return _asked(flambeau.sin(_positions(M, dtype, device, 0.5 * step, step)), requires_grad)


def bartlett(
    M: int,
    *,
    sym: bool = True,
    dtype: flambeau.dtype | None = None,
    layout: flambeau.layout = flambeau.strided,
    device: flambeau.device | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A triangle that is zero at its ends."""
    dtype = _check("bartlett", M, dtype, layout)
    if M == 1:
        return flambeau.ones(1, dtype=dtype, device=device, requires_grad=requires_grad)
    t = _positions(M, dtype, device, -1.0, 2.0 / _intervals(M, sym))
    return _asked(1.0 - t.abs(), requires_grad)


def general_cosine(
    M: int,
    *,
    a: Iterable[float],
    sym: bool = True,
    dtype: flambeau.dtype | None = None,
    layout: flambeau.layout = flambeau.strided,
    device: flambeau.device | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """a[0] - a[1] cos(x) + a[2] cos(2 x) - ... for x over one period."""
    return _cosine_sum("general_cosine", M, a, sym, dtype, layout, device, requires_grad)


def _cosine_sum(
    name: str,
    M: int,
    a: Iterable[float],
    sym: bool,
    dtype: flambeau.dtype | None,
    layout: flambeau.layout,
    device: flambeau.device | None,
    requires_grad: bool,
) -> Tensor:
    dtype = _check(name, M, dtype, layout)
    if not isinstance(a, (list, tuple)):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    if M == 1:
        return flambeau.ones(1, dtype=dtype, device=device, requires_grad=requires_grad)
    angle = _positions(M, dtype, device, 0.0, 2 * math.pi / _intervals(M, sym))
    total = flambeau.full((M,), float(a[0]), dtype=dtype, device=device)
    for k, factor in enumerate(a[1:], 1):
        total = total + flambeau.cos(angle * k) * ((-1) ** k * factor)
    return _asked(total, requires_grad)


def general_hamming(
    M: int,
    *,
    alpha: float = 0.54,
    sym: bool = True,
    dtype: flambeau.dtype | None = None,
    layout: flambeau.layout = flambeau.strided,
    device: flambeau.device | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """alpha - (1 - alpha) cos(x)."""
    return _cosine_sum("general_hamming", M, [alpha, 1.0 - alpha], sym, dtype, layout, device, requires_grad)


def hamming(
    M: int,
    *,
    sym: bool = True,
    dtype: flambeau.dtype | None = None,
    layout: flambeau.layout = flambeau.strided,
    device: flambeau.device | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """0.54 - 0.46 cos(x)."""
    return _cosine_sum("hamming", M, [0.54, 0.46], sym, dtype, layout, device, requires_grad)


def hann(
    M: int,
    *,
    sym: bool = True,
    dtype: flambeau.dtype | None = None,
    layout: flambeau.layout = flambeau.strided,
    device: flambeau.device | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """0.5 - 0.5 cos(x)."""
    return _cosine_sum("hann", M, [0.5, 0.5], sym, dtype, layout, device, requires_grad)


def blackman(
    M: int,
    *,
    sym: bool = True,
    dtype: flambeau.dtype | None = None,
    layout: flambeau.layout = flambeau.strided,
    device: flambeau.device | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """0.42 - 0.5 cos(x) + 0.08 cos(2 x)."""
    return _cosine_sum("blackman", M, [0.42, 0.5, 0.08], sym, dtype, layout, device, requires_grad)


def nuttall(
    M: int,
    *,
    sym: bool = True,
    dtype: flambeau.dtype | None = None,
    layout: flambeau.layout = flambeau.strided,
    device: flambeau.device | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Blackman's sum with four terms, for the lowest side lobes."""
    terms = [0.3635819, 0.4891775, 0.1365995, 0.0106411]
    return _cosine_sum("nuttall", M, terms, sym, dtype, layout, device, requires_grad)
