"""Window functions, computed in float64 and rounded once."""

import math
from collections.abc import Callable
from typing import Any

import flambeau
from flambeau import Tensor, dtype


def _window(name: str, length: int, periodic: bool, options: dict, weight: Callable[[int, int], float]) -> Tensor:
    if length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={length}")
    kind: dtype = options.pop("dtype", None) or flambeau.get_default_dtype()
    if not kind.is_floating_point:
        raise RuntimeError(f"{name} expects floating point dtypes, got: {kind}")
    last = length if periodic else length - 1
    values = [1.0] if length == 1 else [weight(i, last) for i in range(length)]
    return flambeau.tensor(values, dtype=flambeau.float64).to(
        dtype=kind, device=options.get("device") or flambeau.get_default_device()
    )


def hann_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """A raised cosine."""
    return hamming_window(window_length, periodic, 0.5, 0.5, **options)


def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, **options: Any
) -> Tensor:
    """A raised cosine on a pedestal."""
    return _window(
        "hamming_window", window_length, periodic, options, lambda i, n: alpha - beta * math.cos(2 * math.pi * i / n)
    )


def blackman_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """Three terms of a cosine series."""

    def weight(i: int, n: int) -> float:
        x = math.pi * i / n
        return 0.42 - 0.5 * math.cos(2 * x) + 0.08 * math.cos(4 * x)

    return _window("blackman_window", window_length, periodic, options, weight)


def bartlett_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """A triangle."""
    return _window("bartlett_window", window_length, periodic, options, lambda i, n: 1 - abs(2 * i / n - 1))


def _bessel_i0(x: float) -> float:
    """Modified Bessel function of order 0, by its power series: all terms are positive."""
    term = total = 1.0
    k = 1
    while term > total * 1e-17:
        term *= (x / (2 * k)) ** 2
        total += term
        k += 1
    return total


def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, **options: Any) -> Tensor:
    """The window whose energy is most concentrated for its width."""

    def weight(i: int, n: int) -> float:
        x = 2 * i / n - 1
        return _bessel_i0(beta * math.sqrt(max(1 - x * x, 0.0))) / _bessel_i0(beta)

    return _window("kaiser_window", window_length, periodic, options, weight)
