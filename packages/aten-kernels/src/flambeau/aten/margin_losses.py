"""Losses on margins between scores, pairs and triplets."""

from __future__ import annotations

import flambeau as fl
from flambeau.aten.losses import MEAN, reduce

TYPE_CHECKING = False
if TYPE_CHECKING:
    from flambeau import Tensor


def hinge_embedding_loss(self: Tensor, target: Tensor, margin: float = 1.0, reduction: int = MEAN) -> Tensor:
    """self where target is 1, max(0, margin - self) where it is -1, both elsewhere."""
    zero = fl.zeros((), dtype=self.dtype, device=self.device)
    far = fl.where(target != 1, (margin - self).clamp_min(0), zero)
    near = fl.where(target != -1, self, zero)
    return reduce(far + near, reduction)


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = MEAN
) -> Tensor:
    """max(0, -target * (input1 - input2) + margin)."""
    return reduce((-target * (input1 - input2) + margin).clamp_min(0), reduction)


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = MEAN
) -> Tensor:
    """1 - cos where target is 1, max(0, cos - margin) where it is -1; (N, D) with (N), or (D) with ().

    Raises
    ------
    RuntimeError  if the ranks do not fit
    """
    if target.dim() > 1:
        raise RuntimeError(f"0D or 1D target tensor expected, multi-target not supported, got {tuple(target.shape)}")
    for name, t in (("input1", input1), ("input2", input2)):
        if t.dim() != target.dim() + 1:
            raise RuntimeError(
                f"[cosine_embedding_loss] {target.dim()}D target tensor expects {target.dim() + 1}D input tensors, "
                f"but found {name} with sizes {tuple(t.shape)} and target with sizes {tuple(target.shape)}"
            )
    dim, tiny = target.dim(), 1e-12
    product = (input1 * input2).sum(dim)
    cosine = product / (((input1 * input1).sum(dim) + tiny) * ((input2 * input2).sum(dim) + tiny)).sqrt()
    zero = fl.zeros((), dtype=cosine.dtype, device=cosine.device)
    near = fl.where(target == 1, 1 - cosine, zero)
    far = fl.where(target == -1, (cosine - margin).clamp_min(0), zero)
    return reduce(near + far, reduction)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = MEAN,
) -> Tensor:
    """max(0, d(anchor, positive) - d(anchor, negative) + margin) for p-norm distances.

    Raises
    ------
    RuntimeError  if the ranks differ
    """
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {anchor.dim()}D, positive {positive.dim()}D, and negative {negative.dim()}D inputs"
        )
    near = fl.pairwise_distance(anchor, positive, p, eps)
    far = fl.pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = fl.minimum(far, fl.pairwise_distance(positive, negative, p, eps))
    return reduce((margin + near - far).clamp_min(0), reduction)


def _rows(op: str, self: Tensor, target: Tensor, per_row: bool) -> tuple[Tensor, Tensor]:
    """Scores as (N, C) and targets as (N) or (N, C)."""
    if self.dim() > 2 or (self.dim() == 2 and self.shape[1] == 0) or (self.dim() < 2 and self.numel() == 0):
        raise RuntimeError(
            f"[{op}] Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(self.shape)}"
        )
    x = self if self.dim() == 2 else self.reshape(1, -1)
    if per_row:
        fits = target.dim() <= 1 and target.numel() == x.shape[0]
        t = target.reshape(-1)
    else:
        fits = target.numel() == x.numel() and target.dim() <= 2 and (target.dim() < 2 or target.shape == x.shape)
        t = target.reshape(x.shape) if fits else target
    if not fits and per_row:
        raise RuntimeError(
            f"[{op}] target tensor should be 1-D with size equal to the rows of input. Expected target size [{x.shape[0]}], but got {list(target.shape)}"
        )
    if not fits:
        raise RuntimeError(
            f"[{op}] inconsistent target size: {list(target.shape)} for input of size: {list(self.shape)}"
        )
    if target.dtype is not fl.int64:
        raise RuntimeError(f"[{op}] expected scalar type Long but found {target.type().split('.')[-1][:-6]} for target")
    return x, t


def multi_margin_loss(
    self: Tensor, target: Tensor, p: float = 1, margin: float = 1, weight: Tensor | None = None, reduction: int = MEAN
) -> Tensor:
    """Mean over classes other than the target t of weight[t] * max(0, margin - x[t] + x)^p.

    Raises
    ------
    RuntimeError  if p is not 1 or 2, shapes do not fit, or a target is no class
    """
    if p not in (1, 2):
        raise RuntimeError(f"[multi_margin_loss] only p == 1 and p == 2 supported, got {p}")
    x, t = _rows("multi_margin_loss", self, target, True)
    classes = x.shape[1]
    if weight is not None and (weight.dim() > 1 or weight.numel() != classes):
        raise RuntimeError(f"[multi_margin_loss] inconsistent weight size {tuple(weight.shape)}, expected ({classes},)")
    if t.numel() and not bool(((t >= 0) & (t < classes)).all()):
        raise RuntimeError(f"[multi_margin_loss] target out of range: there are {classes} classes")
    index = t.unsqueeze(1)
    z = (margin - x.gather(1, index) + x).clamp_min(0)
    if p == 2:
        z = z * z
    if weight is not None:
        z = z * weight[t].unsqueeze(1)
    other = fl.ones_like(x).scatter(1, index, 0.0)
    each = (z * other).sum(1) / classes
    if reduction == 0:
        return each if target.dim() == 1 else each.reshape(())
    return reduce(each, reduction)


def multilabel_margin_loss(self: Tensor, target: Tensor, reduction: int = MEAN) -> Tensor:
    """Mean over classes of max(0, 1 - (x[label] - x[other])); the first -1 of a row ends its labels.

    Raises
    ------
    RuntimeError  if shapes do not fit or a label is no class
    """
    x, t = _rows("multilabel_margin_loss", self, target, False)
    samples, classes = x.shape
    if t.numel() and not bool(((t >= -1) & (t < classes)).all()):
        raise RuntimeError(f"[multilabel_margin_loss] target out of range: labels are -1 to {classes - 1}")
    valid = (t >= 0).to(fl.int64).cumprod(1).bool()
    slots = fl.where(valid, t, fl.full_like(t, classes))
    labelled = fl.zeros(samples, classes + 1, dtype=x.dtype, device=x.device).scatter(1, slots, 1.0)[:, :classes]
    scores = x.gather(1, fl.where(valid, t, fl.zeros_like(t)))
    z = (1 - scores.unsqueeze(2) + x.unsqueeze(1)).clamp_min(0)
    z = z * valid.to(x.dtype).unsqueeze(2) * (1 - labelled).unsqueeze(1)
    each = z.sum((1, 2)) / classes
    if reduction == 0:
        return each if self.dim() == 2 else each.reshape(())
    return reduce(each, reduction)
