"""The negative log likelihood, which is all that cross entropy is beside log_softmax."""

from __future__ import annotations

import flambeau
from flambeau import Tensor

NONE, MEAN = 0, 1  # codes of `reduction`; 2 sums


def nll_loss(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> tuple[Tensor, Tensor]:
    """-weight[target] x[target] for each row of (N, C), reduced, and the sum of the weights.

    The latter is 0 where nothing is reduced. Also for one row (C), and for pixels (N, C, H, W).
    """
    weights, index = _chosen(self, target, weight, ignore_index)
    losses = (-self.gather(_classes(self), index) * weights).squeeze(_classes(self))
    if reduction == NONE:
        return losses, flambeau.zeros_like(losses.sum())
    total = weights.sum()
    return (losses.sum() / total if reduction == MEAN else losses.sum()), total


def nll_loss_backward(
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    total_weight: Tensor,
) -> Tensor:
    """Zeros but for the elements that were chosen."""
    weights, index = _chosen(self, target, weight, ignore_index)
    grad = grad_output.unsqueeze(_classes(self)) if reduction == NONE else grad_output
    if reduction == MEAN:
        grad = grad / total_weight
    return flambeau.zeros_like(self).scatter(_classes(self), index, flambeau.where(weights == 0, 0, -weights * grad))


def _classes(x: Tensor) -> int:
    return 0 if x.dim() == 1 else 1


def _chosen(x: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int) -> tuple[Tensor, Tensor]:
    """The weight of every target, 0 for ignored ones, and its class; both with a dimension of classes of size 1."""
    target = target.unsqueeze(_classes(x))
    ignored = target == ignore_index
    index = flambeau.where(ignored, 0, target)
    weights = flambeau.ones_like(index, dtype=x.dtype) if weight is None else weight[index]
    return flambeau.where(ignored, 0, weights).to(x.dtype), index
