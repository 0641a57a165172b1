"""Random operators that others make up."""

import math
from collections.abc import Callable

import flambeau
from flambeau import Tensor

_ALPHA = 1.7580993408473766  # -scale * alpha of selu: the value that a dropped unit takes


def _check(p: float) -> None:
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p}")


def _noise_shape(input: Tensor) -> tuple[int, ...]:
    if input.dim() < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return (*input.shape[:2], *(1,) * (input.dim() - 2))


def _dropped(
    input: Tensor, p: float, train: bool, by_channel: bool, combine: Callable[[Tensor, Tensor, float], Tensor]
) -> Tensor:
    """combine(input, noise, p), where noise is 1 with probability 1 - p and else 0."""
    _check(p)
    if p == 0 or not train or input.numel() == 0:
        return input
    shape = _noise_shape(input) if by_channel else None
    if p == 1:
        return input * 0
    noise = flambeau.empty_like(input) if shape is None else input.new_empty(shape)
    return combine(input, noise.bernoulli_(1 - p), p)


def _scaled(input: Tensor, noise: Tensor, p: float) -> Tensor:
    return input * (noise / (1 - p))


def _alpha(input: Tensor, noise: Tensor, p: float) -> Tensor:
    a = 1.0 / math.sqrt((_ALPHA * _ALPHA * p + 1) * (1 - p))
    shift = (noise - 1) * (_ALPHA * a) + _ALPHA * a * p
    return input * (noise * a) + shift


def feature_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Whole channels dropped."""
    return _dropped(input, p, train, True, _scaled)


def alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Dropout that keeps mean and variance of what selu gives."""
    return _dropped(input, p, train, False, _alpha)


def feature_alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """alpha_dropout of whole channels."""
    return _dropped(input, p, train, True, _alpha)


def cauchy(
    self: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: flambeau.Generator | None = None
) -> Tensor:
    return flambeau.empty_like(self).cauchy_(median, sigma, generator=generator)


def exponential(self: Tensor, lambd: float = 1.0, *, generator: flambeau.Generator | None = None) -> Tensor:
    return flambeau.empty_like(self).exponential_(lambd, generator=generator)


def geometric(self: Tensor, p: float, *, generator: flambeau.Generator | None = None) -> Tensor:
    return flambeau.empty_like(self).geometric_(p, generator=generator)


def log_normal(
    self: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: flambeau.Generator | None = None
) -> Tensor:
    return flambeau.empty_like(self).log_normal_(mean, std, generator=generator)


def uniform(
    self: Tensor, low: float = 0.0, high: float = 1.0, *, generator: flambeau.Generator | None = None
) -> Tensor:
    return flambeau.empty_like(self).uniform_(low, high, generator=generator)
