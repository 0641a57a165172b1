"""Window functions, computed in float64 and rounded once."""

import math
from collections.abc import Callable
from typing import Any

import flambeau
from flambeau import Tensor, dtype


def _window(name: str, length: int, periodic: bool, options: dict, weight: Callable[[Tensor, int], Tensor]) -> Tensor:
    """`weight` of the positions 0, 1, ... of a window whose last position, or period, is its second argument."""
    if length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={length}")
    kind: dtype = options.pop("dtype", None) or flambeau.get_default_dtype()
    if not kind.is_floating_point:
        raise RuntimeError(f"{name} expects floating point dtypes, got: {kind}")
    device = options.get("device") or flambeau.get_default_device()
    if length <= 1:
        return flambeau.ones(length, dtype=kind, device=device)
    places = flambeau.arange(length, dtype=flambeau.float64, device=device)
    return weight(places, length if periodic else length - 1).to(kind)


def hann_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """A raised cosine."""
    return _cosines("hann_window", window_length, periodic, options, 0.5, 0.5)


def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, **options: Any
) -> Tensor:
    """A raised cosine on a pedestal."""
    return _cosines("hamming_window", window_length, periodic, options, alpha, beta)


def blackman_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """Three terms of a cosine series."""
    return _cosines("blackman_window", window_length, periodic, options, 0.42, 0.5, 0.08)


def _cosines(
    name: str, length: int, periodic: bool, options: dict, mean: float, first: float, second: float = 0.0
) -> Tensor:
    """mean - first * cos(x) + second * cos(2 x), x once round over the window."""

    def weight(i: Tensor, last: int) -> Tensor:
        x = i * (2 * math.pi) / last
        values = mean - first * x.cos()
        return values + second * (2 * x).cos() if second else values

    return _window(name, length, periodic, options, weight)


def bartlett_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """A triangle."""
    return _window("bartlett_window", window_length, periodic, options, lambda i, last: 1 - (2 * i / last - 1).abs())


def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, **options: Any) -> Tensor:
    """The window whose energy is most concentrated for its width."""

    def weight(i: Tensor, last: int) -> Tensor:
        x = 2 * i / last - 1
        height = flambeau.tensor(float(beta), dtype=flambeau.float64, device=i.device)
        return flambeau.i0(beta * (1 - x * x).clamp_min(0).sqrt()) / flambeau.i0(height)

    return _window("kaiser_window", window_length, periodic, options, weight)
