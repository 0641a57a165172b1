"""Losses composed of other operators; all differentiable through their parts.

`reduction` is 0 for none, 1 for the mean, 2 for the sum.
"""

from __future__ import annotations

import flambeau as fl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from flambeau import Tensor

NONE, MEAN, SUM = 0, 1, 2


def reduce(values: Tensor, reduction: int) -> Tensor:
    """Mean, sum or the values themselves.

    Raises
    ------
    ValueError  for another number
    """
    if reduction == MEAN:
        return values.mean()
    if reduction == SUM:
        return values.sum()
    if reduction != NONE:
        raise ValueError(f"reduction must be 0 (none), 1 (mean) or 2 (sum), got {reduction}")
    return values


def class_shape(weight: Tensor, ndim: int) -> Tensor:
    """Weights of classes (C) seen so that they broadcast against scores (N, C, ...) or (C)."""
    if ndim == 1:
        return weight
    return weight.reshape((1, -1) + (1,) * (ndim - 2))


def cross_entropy_dense(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int, label_smoothing: float
) -> Tensor:
    """Cross entropy for targets that spread over classes.

    Parameters
    ----------
    self : Tensor (N, C, ...) or (C), logits
    target : probabilities of self's shape, or classes (N, ...) when label_smoothing is positive

    Raises
    ------
    RuntimeError  where shapes do not fit
    """
    dim = 0 if self.dim() == 1 else 1
    classes = self.shape[dim]
    log_p = fl.log_softmax(self, dim)
    if target.shape == self.shape:
        return _of_probabilities(log_p, target, weight, reduction, label_smoothing, dim)
    # The evenly spread share: the mean of minus the weighted log probabilities.
    hard = fl._C._nn.nll_loss_nd(log_p, target, weight, reduction, ignore_index)
    spread = -(log_p if weight is None else log_p * class_shape(weight, self.dim())).sum(dim)
    ignored = target == ignore_index
    spread = spread.masked_fill(ignored, 0.0)
    if reduction == MEAN:
        if weight is None:
            count = (~ignored).sum()
        else:
            picked = weight.gather(0, target.masked_fill(ignored, 0).reshape(-1)).reshape(target.shape)
            count = picked.masked_fill(ignored, 0.0).sum()
        spread = spread.sum() / count
    else:
        spread = reduce(spread, reduction)
    return (1 - label_smoothing) * hard + (label_smoothing / classes) * spread


def _of_probabilities(
    log_p: Tensor, target: Tensor, weight: Tensor | None, reduction: int, label_smoothing: float, dim: int
) -> Tensor:
    classes = log_p.shape[dim]
    if weight is not None and weight.shape != (classes,):
        raise RuntimeError(
            f"[cross_entropy] weight must have one entry for each of the {classes} classes, got shape {tuple(weight.shape)}"
        )
    if label_smoothing > 0:
        target = target * (1 - label_smoothing) + label_smoothing / classes
    terms = log_p * target
    if weight is not None:
        terms = terms * class_shape(weight, log_p.dim())
    if reduction == NONE:
        return -terms.sum(dim)
    total = -terms.sum()
    # The mean is over samples and positions, not over classes.
    return total / (log_p.numel() // classes) if reduction == MEAN and classes else reduce(total, SUM)


# --- one loss an element -------------------------------------------------------------------------------------------------


def mse_loss(self: Tensor, target: Tensor, reduction: int = MEAN) -> Tensor:
    """(self - target)^2, reduced."""
    return reduce(fl.ops.aten._mse_loss_each(self, target), reduction)


def l1_loss(self: Tensor, target: Tensor, reduction: int = MEAN) -> Tensor:
    """|self - target|, reduced."""
    return reduce((self - target).abs(), reduction)


def smooth_l1_loss(self: Tensor, target: Tensor, reduction: int = MEAN, beta: float = 1.0) -> Tensor:
    """d^2 / (2 beta) where |d| < beta, |d| - beta / 2 elsewhere, for d = self - target.

    Raises
    ------
    RuntimeError  if beta is negative
    """
    if beta < 0:
        raise RuntimeError(f"[smooth_l1_loss] does not support negative values for beta, got {beta}")
    if beta == 0:
        return l1_loss(self, target, reduction)
    return reduce(fl.ops.aten._smooth_l1_loss_each(self, target, beta), reduction)


def huber_loss(self: Tensor, target: Tensor, reduction: int = MEAN, delta: float = 1.0) -> Tensor:
    """d^2 / 2 where |d| <= delta, delta (|d| - delta / 2) elsewhere, for d = self - target.

    Raises
    ------
    RuntimeError  unless delta is positive
    """
    if delta <= 0:
        raise RuntimeError(f"huber_loss does not support non-positive values for delta. Got {delta}")
    return reduce(fl.ops.aten._huber_loss_each(self, target, delta), reduction)


def soft_margin_loss(self: Tensor, target: Tensor, reduction: int = MEAN) -> Tensor:
    """log(1 + exp(-target * self)), reduced."""
    return reduce(fl.ops.aten._soft_margin_loss_each(self, target), reduction)


def binary_cross_entropy(self: Tensor, target: Tensor, weight: Tensor | None = None, reduction: int = MEAN) -> Tensor:
    """-(t log(p) + (1 - t) log(1 - p)) for probabilities p = self, logarithms cut at -100.

    Raises
    ------
    RuntimeError  if an element of self is outside 0..1
    """
    if self.shape != target.shape:
        raise RuntimeError(
            f"[binary_cross_entropy] target has shape {tuple(target.shape)}, input {tuple(self.shape)}; they must be the same"
        )
    if self.numel() and not bool(((self.detach() >= 0) & (self.detach() <= 1)).all()):
        raise RuntimeError("[binary_cross_entropy] all elements of input should be between 0 and 1")
    each = fl.ops.aten._binary_cross_entropy_each(self, target)
    return reduce(each if weight is None else each * weight, reduction)


def binary_cross_entropy_with_logits(
    self: Tensor, target: Tensor, weight: Tensor | None = None, pos_weight: Tensor | None = None, reduction: int = MEAN
) -> Tensor:
    """binary_cross_entropy of sigmoid(self), stable for every logit; pos_weight scales the positive term."""
    if pos_weight is None:
        each = fl.ops.aten._bce_with_logits_each(self, target)
    else:
        each = fl.ops.aten._bce_with_logits_weighted_each(self, target, pos_weight)
    return reduce(each if weight is None else each * weight, reduction)


def kl_div(self: Tensor, target: Tensor, reduction: int = MEAN, *, log_target: bool = False) -> Tensor:
    """target * (log(target) - self) for log probabilities self, reduced."""
    each = target.exp() * (target - self) if log_target else fl.xlogy(target, target) - target * self
    return reduce(each, reduction)


def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int) -> Tensor:
    """Negative log likelihood of counts under a Poisson distribution; `full` adds Stirling's term."""
    each = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (6.283185307179586 * target).log()
        each = each + stirling.masked_fill(target <= 1, 0.0)
    return reduce(each, reduction)
