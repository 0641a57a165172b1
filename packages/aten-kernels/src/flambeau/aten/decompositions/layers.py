"""linear, embedding and attention."""

from __future__ import annotations

import math

import flambeau
from flambeau import Tensor


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x W^T + b; `input` (..., in), `weight` (out, in) or (in)."""
    out = input.matmul(weight.t())
    return out if bias is None else out + bias


def embedding(
    weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Tensor:
    """Rows of `weight`; the options concern the gradient only."""
    return weight[indices]


def embedding_backward(
    grad_output: Tensor, indices: Tensor, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Tensor:
    """Sums of the gradients of each row, or their means where frequent rows are scaled down."""
    rows = indices.reshape(-1)
    grad = grad_output.reshape(rows.numel(), -1)
    if padding_idx >= 0:
        grad = grad * (rows != padding_idx).unsqueeze(1)
    if scale_grad_by_freq:
        grad = grad / flambeau.bincount(rows, minlength=num_weights)[rows].unsqueeze(1)
    return grad.new_zeros(num_weights, grad.size(1)).index_add(0, rows, grad)


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: Tensor | None = None,
    scale: float | None = None,
) -> tuple[Tensor, Tensor]:
    """softmax(scale Q K^T + mask) V, and the logarithm of the softmax's denominators."""
    scores = _scores(query, key, is_causal, attn_mask, scale)
    return scores.softmax(-1) @ value, scores.logsumexp(-1)


def attention_backward(
    grad_out: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    out: Tensor,
    logsumexp: Tensor,
    dropout_p: float,
    is_causal: bool,
    *,
    attn_mask: Tensor | None = None,
    scale: float | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    weights = (_scores(query, key, is_causal, attn_mask, scale) - logsumexp.unsqueeze(-1)).exp()
    grad_weights = grad_out @ value.mT
    grad_scores = weights * (grad_weights - (grad_out * out).sum(-1, keepdim=True)) * _scale(query, scale)
    return grad_scores @ key, grad_scores.mT @ query, weights.mT @ grad_out


def _scale(query: Tensor, scale: float | None) -> float:
    return 1 / math.sqrt(query.size(-1)) if scale is None else scale


def _scores(query: Tensor, key: Tensor, is_causal: bool, attn_mask: Tensor | None, scale: float | None) -> Tensor:
    scores = query @ key.mT * _scale(query, scale)
    if is_causal:
        later = flambeau.ones(scores.shape[-2:], dtype=flambeau.bool, device=scores.device).triu(1)
        scores = scores.masked_fill(later, -math.inf)
    return scores if attn_mask is None else scores + attn_mask
