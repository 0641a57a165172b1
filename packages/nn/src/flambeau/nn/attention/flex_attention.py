"""Attention with a function of one's own over scores and positions.

The functions get tensors of positions that broadcast to (B, H, Q, KV), so one call computes
all scores; they must be elementwise in them, as they are for compiled kernels.
"""

from __future__ import annotations

import math

import flambeau as torch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from flambeau import Tensor

__all__ = [
    "AuxOutput",
    "AuxRequest",
    "BlockMask",
    "and_masks",
    "create_block_mask",
    "create_mask",
    "flex_attention",
    "noop_mask",
    "or_masks",
]


class AuxRequest:
    """What flex_attention shall give besides the output."""

    def __init__(self, lse: bool = False, max_scores: bool = False) -> None:
        self.lse = lse
        self.max_scores = max_scores


class AuxOutput:
    """What was asked for by AuxRequest; None where it was not."""

    def __init__(self, lse: Tensor | None = None, max_scores: Tensor | None = None) -> None:
        self.lse = lse
        self.max_scores = max_scores


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """A mask that hides nothing."""
    return batch.new_ones((), dtype=torch.bool)


def _combined(name: str, masks: tuple[Callable, ...], join: Callable, start: bool) -> Callable:
    if not all(callable(mask) for mask in masks):
        raise RuntimeError(f"All inputs should be callable mask_mods: {masks}")

    def mask_mod(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        result = b.new_full((), start, dtype=torch.bool)
        for mask in masks:
            result = join(result, mask(b, h, q_idx, kv_idx))
        return result

    mask_mod.__name__ = name
    return mask_mod


def or_masks(*mask_mods: Callable) -> Callable:
    """A mask_mod that shows what any of these shows."""
    return _combined("or_mask", mask_mods, lambda a, b: a | b, False)


def and_masks(*mask_mods: Callable) -> Callable:
    """A mask_mod that shows what all of these show."""
    return _combined("and_mask", mask_mods, lambda a, b: a & b, True)


def _positions(shape: tuple[int, ...], device: Any) -> tuple[Tensor, ...]:
    """Index tensors (B, 1, 1, 1), (1, H, 1, 1), (1, 1, Q, 1), (1, 1, 1, KV)."""
    return tuple(
        torch.arange(n, device=device).view([-1 if i == d else 1 for i in range(4)]) for d, n in enumerate(shape)
    )


def create_mask(
    mod_fn: Callable, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None, **kwargs: Any
) -> Tensor:
    """The bool mask (B, H, Q_LEN, KV_LEN) of a mask_mod `mod_fn(b, h, q_idx, kv_idx)`."""
    shape = (B or 1, H or 1, Q_LEN, KV_LEN)
    return mod_fn(*_positions(shape, device)).expand(shape)


class BlockMask:
    """A mask_mod over known lengths, and which blocks of it are not empty.

    Attributes
    ----------
    mask_mod : function of (b, h, q_idx, kv_idx), True where attended
    kv_num_blocks : (B, H, Q blocks), how many blocks of keys a block of queries sees
    kv_indices : (B, H, Q blocks, KV blocks), which ones; those come first
    """

    def __init__(
        self,
        seq_lengths: tuple[int, int],
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        block_size: tuple[int, int],
        mask_mod: Callable,
    ) -> None:
        self.seq_lengths = seq_lengths
        self.kv_num_blocks = kv_num_blocks
        self.kv_indices = kv_indices
        self.BLOCK_SIZE = block_size
        self.mask_mod = mask_mod

    @property
    def shape(self) -> tuple[int, ...]:
        return (*self.kv_num_blocks.shape[:2], *self.seq_lengths)

    def sparsity(self) -> float:
        """Share of empty blocks, in per cent."""
        total = self.kv_indices.numel()
        return 100.0 * (1 - int(self.kv_num_blocks.sum()) / total)

    def to_dense(self) -> Tensor:
        """Which blocks are not empty: (B, H, Q blocks, KV blocks), 0 or 1."""
        n = self.kv_indices.shape[-1]
        used = torch.arange(n, device=self.kv_indices.device) < self.kv_num_blocks.unsqueeze(-1)
        dense = torch.zeros(self.kv_indices.shape, dtype=torch.int32, device=self.kv_indices.device)
        return dense.scatter(-1, self.kv_indices.long(), used.to(torch.int32))

    def __repr__(self) -> str:
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%)"


def create_block_mask(
    mask_mod: Callable,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = 128,
    _compile: bool = False,
    **kwargs: Any,
) -> BlockMask:
    """The BlockMask of a mask_mod; B and H may be None where it does not depend on them."""
    block = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else (BLOCK_SIZE[0], BLOCK_SIZE[1])
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device)
    q_blocks, kv_blocks = -(-Q_LEN // block[0]), -(-KV_LEN // block[1])
    extra = (0, kv_blocks * block[1] - KV_LEN, 0, q_blocks * block[0] - Q_LEN)
    padded = torch.nn.functional.pad(mask.to(torch.uint8), extra)
    tiles = padded.view(*mask.shape[:2], q_blocks, block[0], kv_blocks, block[1])
    filled = tiles.amax(dim=(3, 5)).to(torch.int32)
    order = filled.argsort(dim=-1, descending=True, stable=True).to(torch.int32)
    return BlockMask((Q_LEN, KV_LEN), filled.sum(-1).to(torch.int32), order, block, mask_mod)


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: Callable | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: Any = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """softmax(score_mod(q k^T * scale)) v, hidden where the block mask says so.

    Parameters
    ----------
    query : (B, H, L, D); key : (B, Hkv, S, D); value : (B, Hkv, S, Dv)
    score_mod : function of (score, b, h, q_idx, kv_idx)
    scale : 1 / sqrt(D) by default
    enable_gqa : Hkv divides H, and each of its heads serves several of the query's
    return_lse, return_aux : give log-sum-exp (B, H, L) of the scores, or what is asked for, too

    Returns
    -------
    (B, H, L, Dv), or a pair of it and what was asked for
    """
    if enable_gqa:
        times = query.size(1) // key.size(1)
        key, value = key.repeat_interleave(times, 1), value.repeat_interleave(times, 1)
    elif query.size(1) != key.size(1):
        raise ValueError(
            f"Expect query and key/value to have the same number of heads but got Hq={query.size(1)} "
            f"and Hkv={key.size(1)}. Try setting enable_gqa=True for GQA."
        )
    scale = 1.0 / math.sqrt(query.size(-1)) if scale is None else scale
    scores = torch.matmul(query, key.transpose(-2, -1)) * scale
    where = _positions(tuple(scores.shape), query.device)
    if score_mod is not None:
        scores = score_mod(scores, *where)
    if block_mask is not None:
        scores = scores.masked_fill(~block_mask.mask_mod(*where), float("-inf"))
    lse = scores.logsumexp(-1)
    # A row that sees nothing gives zeros, not NaN.
    hidden = (lse == float("-inf")).unsqueeze(-1)
    weights = scores.softmax(-1).masked_fill(hidden, 0)
    out = torch.matmul(weights.to(value.dtype), value)
    if return_aux is not None:
        peak = scores.amax(-1) if return_aux.max_scores else None
        return out, AuxOutput(lse if return_aux.lse else None, peak)
    return (out, lse) if return_lse else out
