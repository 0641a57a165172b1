"""Connectionist temporal classification (Graves et al. 2006): the sum over alignments, one time step after the other."""

from __future__ import annotations

import flambeau as fl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from flambeau import Tensor

# Stands for log(0): finite, so that gradients of sums of such terms are zeros and not NaN.
_NEVER = -1e30


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Sequence[int] | Tensor,
    target_lengths: Sequence[int] | Tensor,
    blank: int = 0,
    reduction: int = 1,
    zero_infinity: bool = False,
) -> Tensor:
    """Minus the log probability of the targets under every alignment.

    Parameters
    ----------
    log_probs : Tensor (T, N, C) or (T, C)
    targets : integer Tensor (N, S), or (sum of target_lengths)
    reduction : 1 divides by the target lengths and takes the mean

    Raises
    ------
    RuntimeError  where shapes, lengths or labels do not fit
    """
    lengths, sizes = _lengths(input_lengths), _lengths(target_lengths)
    unbatched = log_probs.dim() == 2
    if unbatched:
        log_probs = log_probs.unsqueeze(1)
    _check(log_probs, targets, lengths, sizes, blank)
    labels = _labels(targets, sizes, log_probs.shape[1], log_probs.shape[2])
    loss = _negative_log_likelihood(log_probs, labels, lengths, sizes, blank)
    if log_probs.requires_grad:
        loss = loss + _normalisation(log_probs, lengths)
    if zero_infinity:
        loss = fl.where(loss == float("inf"), fl.zeros((), dtype=loss.dtype), loss)
    if reduction == 1:
        counts = fl.tensor([max(s, 1) for s in sizes], dtype=loss.dtype)
        return (loss / counts).mean()
    if reduction == 2:
        return loss.sum()
    return loss.squeeze(0) if unbatched else loss


def _normalisation(log_probs: Tensor, lengths: list[int]) -> Tensor:
    """Zeros (N) whose gradient is exp(log_probs): torch's gradient counts it in, and log_softmax takes it out again."""
    p = log_probs.exp()
    times = fl.arange(log_probs.shape[0]).unsqueeze(1)
    used = (times < fl.tensor(lengths, dtype=fl.int64)).to(p.dtype)
    return ((p - p.detach()).sum(2) * used).sum(0)


def _lengths(values: Sequence[int] | Tensor) -> list[int]:
    if isinstance(values, fl.Tensor):
        if values.is_floating_point() or values.dtype == fl.bool:
            raise RuntimeError(f"[ctc_loss] input_lengths and target_lengths must be integral, got {values.dtype}")
        return values.reshape(-1).tolist()
    return list(values)


def _check(log_probs: Tensor, targets: Tensor, lengths: list[int], sizes: list[int], blank: int) -> None:
    if log_probs.dim() != 3:
        raise RuntimeError(f"[ctc_loss] log_probs must be (T, N, C) or (T, C), got {tuple(log_probs.shape)}")
    if not log_probs.is_floating_point():
        raise RuntimeError(f"[ctc_loss] log_probs must be floating point, got {log_probs.dtype}")
    if targets.is_floating_point():
        raise RuntimeError(f"[ctc_loss] targets must be integral, got {targets.dtype}")
    times, batch, classes = log_probs.shape
    if not 0 <= blank < classes:
        raise RuntimeError(f"blank must be in label range 0 to {classes - 1}, got {blank}")
    if len(lengths) != batch or len(sizes) != batch:
        raise RuntimeError(
            f"input_lengths and target_lengths must be of size batch_size {batch}, got {len(lengths)} and {len(sizes)}"
        )
    for length in lengths:
        if not 0 <= length <= times:
            raise RuntimeError(f"Expected input_lengths to have value at most {times}, but got value {length}")
    for size in sizes:
        if size < 0:
            raise RuntimeError(f"Expected target_lengths to be non-negative, but got {size}")


def _labels(targets: Tensor, sizes: list[int], batch: int, classes: int) -> Tensor:
    """(N, longest) labels, zeros past the end of a row."""
    longest = max(sizes, default=0)
    rows = fl.zeros(batch, longest, dtype=fl.int64)
    if targets.dim() == 1:
        if targets.numel() < sum(sizes):
            raise RuntimeError(
                f"[ctc_loss] targets has {targets.numel()} labels, target_lengths add up to {sum(sizes)}"
            )
        at = 0
        for i, size in enumerate(sizes):
            rows[i, :size] = targets[at : at + size].to(fl.int64)
            at += size
    elif targets.dim() == 2 and targets.shape[0] == batch and targets.shape[1] >= longest:
        for i, size in enumerate(sizes):
            rows[i, :size] = targets[i, :size].to(fl.int64)
    else:
        raise RuntimeError(
            f"Expected targets of shape ({batch}, at least {longest}) or (sum of target_lengths), got {tuple(targets.shape)}"
        )
    if rows.numel() and not bool(((rows >= 0) & (rows < classes)).all()):
        raise RuntimeError(f"[ctc_loss] targets must be labels from 0 to {classes - 1}")
    return rows


def _negative_log_likelihood(
    log_probs: Tensor, labels: Tensor, lengths: list[int], sizes: list[int], blank: int
) -> Tensor:
    batch, longest = labels.shape
    # Labels with blanks between and around: (N, 2 S + 1).
    padded = fl.full((batch, 2 * longest + 1), blank, dtype=fl.int64)
    if longest:
        padded[:, 1::2] = labels
    width = padded.shape[1]
    never = fl.full((batch, width), _NEVER, dtype=log_probs.dtype)
    emitted = log_probs.gather(2, padded.unsqueeze(0).expand(log_probs.shape[0], -1, -1)).clamp_min(_NEVER)
    # A label may follow the label before it without a blank only where the two differ.
    skips = fl.zeros(batch, width, dtype=fl.bool)
    if width > 2:
        skips[:, 2:] = (padded[:, 2:] != blank) & (padded[:, 2:] != padded[:, :-2])
    first = fl.arange(width) < 2
    alpha = fl.where(first, emitted[0], never) if log_probs.shape[0] else never
    steps = fl.tensor(lengths, dtype=fl.int64).unsqueeze(1)
    for t in range(1, max(lengths, default=0)):
        one = fl.cat([never[:, :1], alpha[:, :-1]], 1)
        two = fl.cat([never[:, :2], alpha[:, :-2]], 1)[:, :width] if width > 2 else never
        paths = fl.stack([alpha, one, fl.where(skips, two, never)])
        moved = (fl.logsumexp(paths, 0) + emitted[t]).clamp_min(_NEVER)
        alpha = fl.where(steps > t, moved, alpha)
    last = fl.tensor([2 * s for s in sizes], dtype=fl.int64).unsqueeze(1)
    ends = alpha.gather(1, last)
    before = fl.where(last > 0, alpha.gather(1, (last - 1).clamp_min(0)), never[:, :1])
    total = fl.logsumexp(fl.cat([ends, before], 1), 1)
    # Without any time step only the empty target is possible, and certain.
    empty = fl.tensor([n == 0 for n in lengths])
    sure = fl.tensor([0.0 if s == 0 else float("inf") for s in sizes], dtype=total.dtype)
    impossible = total <= _NEVER / 2  # not of NaN
    loss = fl.where(impossible, fl.full((), float("inf"), dtype=total.dtype), -total)
    return fl.where(empty, sure, loss)
