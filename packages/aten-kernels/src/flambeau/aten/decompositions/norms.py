"""Normalisations and their gradients.

All gradients are one formula: where y = (x - mean) r w + b with r = 1 / sqrt(var + eps), and g is the gradient of the
normalised values,

    grad_x = r (g - average(g) - n average(g n)),  n = (x - mean) r,

the averages taken over the elements that share a mean. rms_norm has no mean, and no average(g).
"""

from __future__ import annotations

import flambeau
from flambeau import Tensor

Gradients = tuple[Tensor | None, ...]


def layer_norm(
    input: Tensor, normalized_shape: list[int], weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Normalised over the last dimensions, with the means and inverse deviations."""
    dims = _last(normalized_shape)
    mean, rstd = _moments(input, dims, eps)
    return _scaled((input - mean) * rstd, weight, bias), mean, rstd


def layer_norm_backward(
    grad_out: Tensor,
    input: Tensor,
    normalized_shape: list[int],
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    output_mask: list[bool],
) -> Gradients:
    dims = _last(normalized_shape)
    shape = input.shape[: input.dim() - len(dims)] + (1,) * len(dims)
    rstd = rstd.reshape(shape)
    normal = (input - mean.reshape(shape)) * rstd
    grad = grad_out if weight is None else grad_out * weight
    gradients = (
        _through(grad, normal, rstd, dims),
        (grad_out * normal).sum_to_size(normalized_shape),
        grad_out.sum_to_size(normalized_shape),
    )
    return _wanted(gradients, output_mask)


def rms_norm(
    input: Tensor, normalized_shape: list[int], weight: Tensor | None, eps: float | None
) -> tuple[Tensor, Tensor]:
    """Divided by the root of the mean square over the last dimensions, with the inverse roots."""
    eps = flambeau.finfo(input.dtype).eps if eps is None else eps
    rstd = (input.square().mean(_last(normalized_shape), keepdim=True) + eps).rsqrt()
    return _scaled(input * rstd, weight, None), rstd


def rms_norm_backward(
    grad_out: Tensor,
    input: Tensor,
    normalized_shape: list[int],
    rstd: Tensor,
    weight: Tensor | None,
    output_mask: list[bool],
) -> Gradients:
    dims = _last(normalized_shape)
    rstd = rstd.reshape(input.shape[: input.dim() - len(dims)] + (1,) * len(dims))
    normal = input * rstd
    grad = grad_out if weight is None else grad_out * weight
    grad_input = rstd * (grad - normal * (grad * normal).mean(dims, keepdim=True))
    return _wanted((grad_input, (grad_out * normal).sum_to_size(normalized_shape)), output_mask)


def group_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Each group of channels of each sample normalised, with the means and inverse deviations, (N, group)."""
    x = input.reshape(N, group, -1)
    mean, rstd = _moments(x, (2,), eps)
    normal = ((x - mean) * rstd).reshape(N, C, HxW)
    return _by_channel(normal, weight, bias).reshape(input.shape), mean.reshape(N, group), rstd.reshape(N, group)


def group_norm_backward(
    grad_out: Tensor,
    input: Tensor,
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    output_mask: list[bool],
) -> Gradients:
    rstd = rstd.unsqueeze(2)
    normal = (input.reshape(N, group, -1) - mean.unsqueeze(2)) * rstd
    grad = _by_channel(grad_out.reshape(N, C, HxW), weight, None).reshape(N, group, -1)
    by_channel = (grad_out.reshape(N, C, HxW) * normal.reshape(N, C, HxW)).sum((0, 2))
    gradients = (
        _through(grad, normal, rstd, (2,)).reshape(input.shape),
        by_channel,
        grad_out.reshape(N, C, HxW).sum((0, 2)),
    )
    return _wanted(gradients, output_mask)


def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Each channel normalised, with the means and inverse deviations; running statistics move in training."""
    dims = _all_but_channel(input)
    if training:
        mean, var = input.mean(dims), input.var(dims, correction=0)
        count = input.numel() / input.size(1)
        _move(running_mean, mean, momentum)
        _move(running_var, var * (count / (count - 1)) if count > 1 else var * flambeau.inf, momentum)
    else:
        mean, var = _given(running_mean), _given(running_var)
    rstd = (var + eps).rsqrt()
    normal = (input - _channel(mean, input)) * _channel(rstd, input)
    return _by_channel(normal, weight, bias), mean.clone(), rstd


def batch_norm_backward(
    grad_out: Tensor,
    input: Tensor,
    weight: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    save_mean: Tensor | None,
    save_invstd: Tensor | None,
    train: bool,
    eps: float,
    output_mask: list[bool],
) -> Gradients:
    dims = _all_but_channel(input)
    mean = _given(save_mean if train else running_mean)
    rstd = _channel(_given(save_invstd) if train else (_given(running_var) + eps).rsqrt(), input)
    normal = (input - _channel(mean, input)) * rstd
    grad = _by_channel(grad_out, weight, None)
    # outside training the statistics are constants
    grad_input = _through(grad, normal, rstd, dims) if train else grad * rstd
    return _wanted((grad_input, (grad_out * normal).sum(dims), grad_out.sum(dims)), output_mask)


def _given(statistics: Tensor | None) -> Tensor:
    if statistics is None:
        raise RuntimeError("[batch_norm] running_mean and running_var must be defined in evaluation mode, got None")
    return statistics


def _last(normalized_shape: list[int]) -> tuple[int, ...]:
    return tuple(range(-len(normalized_shape), 0))


def _all_but_channel(x: Tensor) -> tuple[int, ...]:
    return tuple(d for d in range(x.dim()) if d != 1)


def _channel(values: Tensor, like: Tensor) -> Tensor:
    return values.reshape(1, -1, *[1] * (like.dim() - 2))


def _moments(x: Tensor, dims: tuple[int, ...], eps: float) -> tuple[Tensor, Tensor]:
    mean = x.mean(dims, keepdim=True)
    return mean, ((x - mean).square().mean(dims, keepdim=True) + eps).rsqrt()


def _through(grad: Tensor, normal: Tensor, rstd: Tensor, dims: tuple[int, ...]) -> Tensor:
    return rstd * (grad - grad.mean(dims, keepdim=True) - normal * (grad * normal).mean(dims, keepdim=True))


def _scaled(x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    x = x if weight is None else x * weight
    return x if bias is None else x + bias


def _by_channel(x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    return _scaled(x, *(None if p is None else _channel(p, x) for p in (weight, bias)))


def _move(running: Tensor | None, value: Tensor, momentum: float) -> None:
    if running is not None:
        running.mul_(1 - momentum).add_(value, alpha=momentum)


def _wanted(gradients: Gradients, output_mask: list[bool]) -> Gradients:
    return tuple(g if wanted else None for g, wanted in zip(gradients, output_mask))
