"""Normalisations."""

from __future__ import annotations

import math

import flambeau as torch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from flambeau import Tensor

__all__ = [
    "batch_norm",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "local_response_norm",
    "normalize",
    "rms_norm",
]


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise each channel of (N, C, ...) over all other dimensions.

    In training by the batch's own mean and biased variance, and the running ones (shape C) move
    by `momentum` towards the batch's mean and unbiased variance, in place; else by the running
    ones. (Ioffe, Szegedy 2015)

    Raises
    ------
    ValueError  in training, if there is only one value per channel
    """
    if training:
        size = input.size()
        values = size[0] * math.prod(size[2:])
        if values == 1:
            raise ValueError(f"Expected more than 1 value per channel when training, got input size {size}")
    return torch.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, True)


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise each channel of each sample of (N, C, ...) over the spatial dimensions.

    Raises
    ------
    ValueError  if statistics are of the input and it has one spatial element
    """
    if use_input_stats:
        size = input.size()
        if math.prod(size[2:]) == 1:
            raise ValueError(f"Expected more than 1 spatial element when training, got input size {size}")
    return torch.instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, True)


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise over the last dimensions, those of `normalized_shape`.

    y = (x - mean) / sqrt(var + eps) * weight + bias; variance is the biased one; weight and bias
    have normalized_shape. (Ba, Kiros, Hinton 2016)
    """
    return torch.layer_norm(input, normalized_shape, weight, bias, eps)


def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """x / sqrt(mean(x^2) + eps) * weight over the last dimensions (Zhang, Sennrich 2019).

    `eps` defaults to the smallest step of the dtype at 1.
    """
    return torch.rms_norm(input, normalized_shape, weight, eps)


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Normalise each of `num_groups` groups of channels of each sample (Wu, He 2018).

    Raises
    ------
    RuntimeError  if `input` has fewer than 2 dimensions or the channels do not divide
    ValueError    if there is one value per group
    """
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    size = input.size()
    if size[0] * size[1] // num_groups * math.prod(size[2:]) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {list(size)}")
    return torch.group_norm(input, num_groups, weight, bias, eps, True)


def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """x / (k + alpha * mean of x^2 over `size` neighbouring channels) ** beta.

    Shapes: (N, C, ...) of at least 3 dimensions. (Krizhevsky et al. 2012)
    """
    if input.dim() < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {input.dim()} dimensions)")
    if input.numel() == 0:
        return input
    # The window runs over channels, so channels become an image dimension for the pool.
    squares = input.mul(input)
    n, c, *rest = input.shape
    rows = squares.reshape(n, 1, c, -1)
    rows = torch.nn.functional.pad(rows, (0, 0, size // 2, (size - 1) // 2))
    means = torch._C._nn.avg_pool2d(rows, (size, 1), stride=1).reshape(n, c, *rest)
    return input / means.mul(alpha).add(k).pow(beta)


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None) -> Tensor:
    """x / max(norm_p(x), eps) along `dim`; into `out` if given."""
    norms = input.norm(p, dim, keepdim=True).clamp_min(eps)
    if out is None:
        return input / norms.expand_as(input)
    return torch.div(input, norms.expand_as(input), out=out)
