"""Scaled dot product attention: which kernel serves a call, and the form composed of other operators."""

from __future__ import annotations

import math

import flambeau as fl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from flambeau import Tensor

_FLOATS = frozenset((fl.float32, fl.float64, fl.float16, fl.bfloat16))


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """softmax(query @ key.T * scale + mask) @ value.

    Parameters
    ----------
    query : Tensor (..., Hq, L, E)
    key, value : Tensor (..., H, S, E), (..., H, S, Ev)
    attn_mask : broadcasts to (..., L, S); bool (True takes part) or floating (added)
    is_causal : query i sees keys 0..i only; not together with attn_mask
    scale : default 1 / sqrt(E)
    enable_gqa : Hq may be a multiple of H: heads of key and value are shared

    Raises
    ------
    RuntimeError  where shapes, dtypes or options do not fit
    """
    _check(query, key, value, attn_mask, dropout_p, is_causal)
    if enable_gqa:
        key, value = shared_heads(query, key), shared_heads(query, value)
    if _fusable(query, key, value, attn_mask, dropout_p):
        if query.dim() == 4:
            return fl._scaled_dot_product_flash_attention_for_cpu(
                query, key, value, 0.0, is_causal, attn_mask=attn_mask, scale=scale
            )[0]
        q, k, v = (t.unsqueeze(0) for t in (query, key, value))
        return fl._scaled_dot_product_flash_attention_for_cpu(
            q, k, v, 0.0, is_causal, attn_mask=attn_mask, scale=scale
        )[0].squeeze(0)
    return attention_math(query, key, value, attn_mask, dropout_p, is_causal, None, scale=scale)[0]


def _check(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout_p: float, is_causal: bool) -> None:
    if not query.dtype == key.dtype == value.dtype:
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{query.dtype} key.dtype: {key.dtype} and value.dtype: {value.dtype} instead."
        )
    for name, t in (("query", query), ("key", key), ("value", value)):
        if t.dim() < 2:
            raise RuntimeError(
                f"[scaled_dot_product_attention] {name} needs at least 2 dimensions, got shape {tuple(t.shape)}"
            )
    if not 0 <= dropout_p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {dropout_p}")
    if mask is None:
        return
    if is_causal:
        raise RuntimeError("[scaled_dot_product_attention] Explicit attn_mask should not be set when is_causal=True")
    if mask.dtype != fl.bool and mask.dtype != query.dtype and not mask.is_floating_point():
        raise RuntimeError(
            f"Expected attn_mask dtype to be bool or float or to match query dtype, but got {mask.dtype} and {query.dtype}"
        )


def _fusable(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout_p: float) -> bool:
    n = query.dim()
    return (
        dropout_p == 0.0
        and query.dtype in _FLOATS
        and n in (3, 4)
        and key.dim() == n
        and value.dim() == n
        and key.shape[:-2] == query.shape[:-2]
        and value.shape[:-2] == query.shape[:-2]
        and key.shape[-2] == value.shape[-2]
        and key.shape[-1] == query.shape[-1]
        and query.numel() > 0
        and key.numel() > 0
        and value.numel() > 0
        and (mask is None or (not mask.requires_grad and mask.dim() <= n))
    )


def shared_heads(query: Tensor, t: Tensor) -> Tensor:
    """Repeat the heads of key or value (..., H, S, E) so that there are as many as of query.

    Raises
    ------
    RuntimeError  if the number of query heads is no multiple of H
    """
    if query.dim() < 3 or t.dim() < 3 or t.shape[-3] == 0 or query.shape[-3] % t.shape[-3]:
        raise RuntimeError(
            "[scaled_dot_product_attention] enable_gqa needs query heads to be a multiple of those of key and value, got "
            f"shapes {tuple(query.shape)} and {tuple(t.shape)}"
        )
    times = query.shape[-3] // t.shape[-3]
    if times == 1:
        return t
    lead, (heads, rows, width) = t.shape[:-3], t.shape[-3:]
    return t.unsqueeze(-3).expand(*lead, heads, times, rows, width).reshape(*lead, heads * times, rows, width)


def attention_math(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    dropout_mask: Tensor | None = None,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> tuple[Tensor, Tensor]:
    """Attention and its weights, through the matrix of all scores."""
    _check(query, key, value, attn_mask, dropout_p, is_causal)
    if enable_gqa:
        key, value = shared_heads(query, key), shared_heads(query, value)
    if scale is None:
        scale = 1 / math.sqrt(max(query.shape[-1], 1))
    if scale < 0:
        scores = fl.matmul(query, key.transpose(-2, -1)) * scale
    else:
        root = math.sqrt(scale)
        scores = fl.matmul(query * root, key.transpose(-2, -1) * root)
    if is_causal:
        length, keys = query.shape[-2], key.shape[-2]
        attn_mask = fl.ones(length, keys, dtype=fl.bool, device=query.device).tril()
    if attn_mask is not None:
        if attn_mask.dtype == fl.bool:
            scores = fl.where(attn_mask, scores, fl.full((), float("-inf"), dtype=scores.dtype, device=scores.device))
        else:
            scores = scores + attn_mask
        weights = fl._safe_softmax(scores, -1)
    else:
        weights = fl.softmax(scores, -1)
    if dropout_p > 0.0:
        if dropout_mask is not None:
            weights = weights * dropout_mask / (1 - dropout_p)
        else:
            weights = fl.dropout(weights, dropout_p, True)
    return fl.matmul(weights, value), weights


def attention_gradients(
    grad: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    is_causal: bool,
    attn_mask: Tensor | None,
    scale: float | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of attention as differentiable operators: what autograd uses where they will be differentiated again."""
    factor = 1 / math.sqrt(max(query.shape[-1], 1)) if scale is None else scale
    scores = fl.matmul(query, key.transpose(-2, -1)) * factor
    if is_causal:
        attn_mask = fl.ones(query.shape[-2], key.shape[-2], dtype=fl.bool, device=query.device).tril()
    if attn_mask is not None:
        if attn_mask.dtype == fl.bool:
            scores = fl.where(attn_mask, scores, fl.full((), float("-inf"), dtype=scores.dtype, device=scores.device))
        else:
            scores = scores + attn_mask
    weights = fl._safe_softmax(scores, -1)
    slopes = fl.matmul(grad, value.transpose(-2, -1))
    slopes = weights * (slopes - (slopes * weights).sum(-1, keepdim=True)) * factor
    return (
        fl.matmul(slopes, key),
        fl.matmul(slopes.transpose(-2, -1), query),
        fl.matmul(weights.transpose(-2, -1), grad),
    )
