"""Losses between scores and classes."""

from __future__ import annotations

import flambeau as torch
from flambeau.nn import _reduction as _Reduction
from flambeau.nn.functional._loss import _number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from flambeau import Tensor

__all__ = [
    "cross_entropy",
    "ctc_loss",
    "linear_cross_entropy",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
]


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """-weight[t] * input[t] for log probabilities (N, C, ...) and classes t (N, ...).

    The mean is weighted, over the elements that are not `ignore_index`.
    """
    number = _number(size_average, reduce, reduction)
    return torch._C._nn.nll_loss_nd(input, target, weight, number, ignore_index)


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """nll_loss of log_softmax(input), for classes or class probabilities.

    Parameters
    ----------
    input : Tensor (N, C, ...) or (C), logits
    target : integer Tensor (N, ...) of classes, or floating Tensor of input's shape
    weight : Tensor (C), scales each class
    ignore_index : class that counts for nothing
    label_smoothing : share 0..1 of the target that is spread evenly over the classes
    """
    number = _number(size_average, reduce, reduction)
    return torch._C._nn.cross_entropy_loss(input, target, weight, number, ignore_index, label_smoothing)


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Tensor:
    """cross_entropy of linear(input, linear_weight, linear_bias).

    Parameters
    ----------
    input : Tensor (N, in_features) or (in_features)
    linear_weight : Tensor (C, *out_features, in_features); logits are (N, C, *out_features)
    linear_bias : Tensor (C, *out_features)
    options : chunking of the logits in memory; the result is the same, so it is not looked at

    Raises
    ------
    RuntimeError  if shapes do not fit, or ignore_index is given for class probabilities
    """
    _check_linear(input, linear_weight, linear_bias)
    if ignore_index is None:
        ignore_index = -100
    elif target.is_floating_point():
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    classes, *out_features, features = linear_weight.shape
    flat_bias = None if linear_bias is None else linear_bias.reshape(-1)
    logits = torch._C._nn.linear(input, linear_weight.reshape(-1, features), flat_bias)
    logits = logits.reshape(*input.shape[:-1], classes, *out_features)
    return cross_entropy(
        logits, target, weight=weight, ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing
    )


def _check_linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    if input.dim() not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if weight.dim() < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {weight.dim()}")
    if input.size(-1) != weight.size(-1):
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{input.size(-1)} and {weight.size(-1)}, respectively"
        )
    if weight.dim() > 2 and input.dim() == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(weight.shape)} requires batched "
            f"input, (N, {weight.size(-1)}), got unbatched input with shape {tuple(input.shape)}"
        )
    if bias is not None and bias.shape != weight.shape[:-1]:
        raise RuntimeError(f"expected linear_bias shape {tuple(weight.shape[:-1])}, got {tuple(bias.shape)}")


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Connectionist temporal classification (Graves et al. 2006).

    Parameters
    ----------
    log_probs : Tensor (T, N, C) or (T, C)
    targets : integer Tensor (N, S), or (sum of target_lengths)
    input_lengths, target_lengths : Tensor or tuple (N)
    blank : class of the blank label
    reduction : "mean" divides by the target lengths first
    zero_infinity : count targets that are too long for their input as 0
    """
    return torch.ctc_loss(
        log_probs, targets, input_lengths, target_lengths, blank, _Reduction.get_enum(reduction), zero_infinity
    )


def multilabel_margin_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    """Mean over classes of max(0, 1 - (x[label] - x[other])), summed over labels and others.

    `target` (N, C) lists each sample's labels; the first -1 ends the list.
    """
    return torch._C._nn.multilabel_margin_loss(input, target, _number(size_average, reduce, reduction))


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Binary cross entropy of sigmoid(input) averaged over the last dimension, the classes."""
    number = _number(size_average, reduce, reduction)
    log_sigmoid = torch._C._nn.log_sigmoid
    loss = -(target * log_sigmoid(input) + (1 - target) * log_sigmoid(-input))
    if weight is not None:
        loss = loss * weight
    loss = loss.sum(-1) / input.size(-1)
    if number == 0:
        return loss
    return loss.mean() if number == 1 else loss.sum()


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Mean over the other classes of weight[t] * max(0, margin - x[t] + x[other])^p.

    Raises
    ------
    ValueError  if `p` is not 1 or 2 or `weight` has more than one dimension
    """
    number = _number(size_average, reduce, reduction)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    return torch._C._nn.multi_margin_loss(input, target, p, margin, weight, number)
