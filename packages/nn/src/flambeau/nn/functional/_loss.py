"""Losses between an input and a target of the same shape."""

from __future__ import annotations

import math
import warnings

import flambeau as torch
from flambeau.nn import _reduction as _Reduction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from flambeau import Tensor

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "gaussian_nll_loss", "huber_loss", "kl_div",
    "l1_loss", "mse_loss", "poisson_nll_loss", "smooth_l1_loss", "soft_margin_loss",
]  # fmt: skip


def _number(size_average: bool | None, reduce: bool | None, reduction: str) -> int:
    if size_average is not None or reduce is not None:
        return _Reduction.legacy_get_enum(size_average, reduce)
    return _Reduction.get_enum(reduction)


def _name(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    if size_average is not None or reduce is not None:
        return _Reduction.legacy_get_string(size_average, reduce)
    return reduction


def reduced(values: Tensor, reduction: str) -> Tensor:
    """Mean, sum or nothing, by name."""
    if reduction == "mean":
        return values.mean()
    return values.sum() if reduction == "sum" else values


def _broadcast(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Make both the same shape; a difference is most often a mistake, so it is said."""
    if input.shape == target.shape:
        return input, target
    warnings.warn(
        f"Using a target size ({target.size()}) that is different to the input size "
        f"({input.size()}). This will likely lead to incorrect results due to broadcasting. "
        "Please ensure they have the same size.",
        stacklevel=3,
    )
    input, target = torch.broadcast_tensors(input, target)
    return input, target


def _weighted(losses: Tensor, weight: Tensor, reduction: str) -> Tensor:
    """Scale elementwise losses; the mean is the weighted one."""
    if weight.size() != losses.size():
        raise ValueError("Weights and input must have the same size.")
    losses = losses * weight
    if reduction == "mean":
        return losses.sum() / weight.sum()
    _Reduction.get_enum(reduction)
    return reduced(losses, reduction)


def _distance(
    op: Callable[..., Tensor], input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, *options: float
) -> Tensor:
    if weight is not None:
        return _weighted(op(input, target, 0, *options), weight, reduction)
    return op(input, target, _Reduction.get_enum(reduction), *options)


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """(input - target)^2, reduced; with `weight` (input's shape) the weighted mean or sum."""
    input, target = _broadcast(input, target)
    reduction = _name(size_average, reduce, reduction)
    return _distance(torch._C._nn.mse_loss, input, target, weight, reduction)


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """|input - target|, reduced; with `weight` (input's shape) the weighted mean or sum."""
    input, target = _broadcast(input, target)
    reduction = _name(size_average, reduce, reduction)
    return _distance(torch._C._nn.l1_loss, input, target, weight, reduction)


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """d^2 / (2 beta) where |d| < beta, |d| - beta / 2 elsewhere, for d = input - target."""
    input, target = _broadcast(input, target)
    number = _number(size_average, reduce, reduction)
    if beta == 0.0:
        return torch._C._nn.l1_loss(input, target, number)
    return torch._C._nn.smooth_l1_loss(input, target, number, beta)


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """d^2 / 2 where |d| <= delta, delta (|d| - delta / 2) elsewhere, for d = input - target."""
    input, target = _broadcast(input, target)
    return _distance(torch._C._nn.huber_loss, input, target, weight, reduction, delta)


def soft_margin_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    """log(1 + exp(-target * input)) for targets of 1 and -1, reduced."""
    return torch._C._nn.soft_margin_loss(input, target, _number(size_average, reduce, reduction))


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """-(t log(p) + (1 - t) log(1 - p)) of probabilities p; logarithms stop at -100.

    Raises
    ------
    ValueError    if the shapes differ
    RuntimeError  if a probability is outside 0..1
    """
    number = _number(size_average, reduce, reduction)
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size "
            f"({input.size()}) is deprecated. Please ensure they have the same size."
        )
    if weight is not None and weight.shape != input.shape:
        weight = weight.expand(torch.broadcast_shapes(weight.size(), target.size()))
    return torch._C._nn.binary_cross_entropy(input, target, weight, number)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """binary_cross_entropy of sigmoid(input), stable for any logit.

    Parameters
    ----------
    weight : scales each element, broadcast
    pos_weight : scales the positive term, broadcast

    Raises
    ------
    ValueError  if the shapes of input and target differ
    """
    number = _number(size_average, reduce, reduction)
    if target.size() != input.size():
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    return torch.binary_cross_entropy_with_logits(input, target, weight, pos_weight, number)


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """target * (log(target) - input) for an `input` of log probabilities, reduced.

    "batchmean", the sum over the number of samples, is the divergence's definition.
    """
    reduction = _name(size_average, reduce, reduction)
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support "
            "size.'batchmean' divides only by the batch size, and aligns with the KL div math "
            "definition.'mean' will be changed to behave the same as 'batchmean' in the next "
            "major release.",
            stacklevel=2,
        )
    if reduction == "batchmean":
        total = torch.kl_div(input, target, 2, log_target=log_target)
        return total / input.size(0) if input.dim() else total
    return torch.kl_div(input, target, _Reduction.get_enum(reduction), log_target=log_target)


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Negative log likelihood of counts `target` under Poisson(exp(input)) or Poisson(input).

    `full` adds Stirling's approximation of the constant term.
    """
    reduction = _name(size_average, reduce, reduction)
    _Reduction.get_enum(reduction)
    if log_input:
        loss = input.exp() - target * input
    else:
        loss = input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        loss = loss + stirling.masked_fill(target <= 1, 0)
    return reduced(loss, reduction)


def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Tensor | float, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """(log(v) + (input - target)^2 / v) / 2 for variances v = max(var, eps), reduced.

    Parameters
    ----------
    var : number, or Tensor of input's shape, or that with the last size 1 or missing
    full : add the constant log(2 pi) / 2

    Raises
    ------
    ValueError  if `var` has another shape or a negative entry, or `reduction` is unknown
    """
    if not isinstance(var, torch.Tensor):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = var * torch.ones_like(input)
    elif var.size() != input.size():
        var = _fitted_variance(var, input)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    if torch.any(var < 0):
        raise ValueError("var has negative entry/entries")
    # The floor must not stop the gradient of the variance.
    var = var.clone()
    with torch.no_grad():
        var.clamp_(min=eps)
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced(loss, reduction)


def _fitted_variance(var: Tensor, input: Tensor) -> Tensor:
    if input.size()[:-1] == var.size():
        return var.unsqueeze(-1)
    # One variance for all: sizes 1 where they differ from input's.
    if input.dim() == var.dim() and all(v in (1, i) for v, i in zip(var.size(), input.size())):
        return var
    raise ValueError("var is of incorrect size")
