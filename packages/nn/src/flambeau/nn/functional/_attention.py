"""Multi-head attention over in- and out-projections."""

from __future__ import annotations

import math
import warnings

import flambeau as torch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from flambeau import Tensor

__all__ = [
    "_canonical_mask",
    "_in_projection",
    "_in_projection_packed",
    "_mha_shape_check",
    "_none_or_dtype",
    "multi_head_attention_forward",
]

# Shapes: L target length, S source length, N batch, E embedding, H heads, D = E / H.


def _none_or_dtype(input: Tensor | None) -> Any:
    """The dtype of a tensor, None of None.

    Raises
    ------
    RuntimeError  for anything else
    """
    if input is None:
        return None
    if isinstance(input, torch.Tensor):
        return input.dtype
    raise RuntimeError("input to _none_or_dtype() must be None or torch.Tensor")


def _canonical_mask(
    mask: Tensor | None, mask_name: str, other_type: Any, other_name: str, target_type: Any, check_other: bool = True
) -> Tensor | None:
    """Turn a bool mask (True hides) into one to add to the scores; float ones stay.

    Raises
    ------
    AssertionError  if the mask is neither bool nor floating
    """
    if mask is None:
        return None
    is_float = mask.is_floating_point()
    if mask.dtype != torch.bool and not is_float:
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and mask.dtype != other_type:
        warnings.warn(
            f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type for both instead.",
            stacklevel=4,
        )
    if is_float:
        return mask
    return torch.zeros_like(mask, dtype=target_type).masked_fill_(mask, float("-inf"))


def _mha_shape_check(
    query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None, attn_mask: Tensor | None, num_heads: int
) -> bool:
    """Check the ranks; returns whether the query is batched.

    Raises
    ------
    AssertionError  if a rank or the mask's shape does not fit the query
    """
    if query.dim() not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {query.dim()}-D query tensor"
        )
    batched = query.dim() == 3
    word, rank = ("batched (3-D)", 3) if batched else ("unbatched (2-D)", 2)
    if key.dim() != rank or value.dim() != rank:
        raise AssertionError(
            f"For {word} `query`, expected `key` and `value` to be {rank}-D but found "
            f"{key.dim()}-D and {value.dim()}-D tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != rank - 1:
        raise AssertionError(
            f"For {word} `query`, expected `key_padding_mask` to be `None` or {rank - 1}-D but "
            f"found {key_padding_mask.dim()}-D tensor instead"
        )
    if attn_mask is not None:
        if attn_mask.dim() not in (2, 3):
            raise AssertionError(
                f"For {word} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found "
                f"{attn_mask.dim()}-D tensor instead"
            )
        if not batched and attn_mask.dim() == 3:
            expected = (num_heads, query.shape[0], key.shape[0])
            if attn_mask.shape != expected:
                raise AssertionError(f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}")
    return batched


def _in_projection_packed(q: Tensor, k: Tensor, v: Tensor, w: Tensor, b: Tensor | None = None) -> list[Tensor]:
    """Project by one stacked weight (3E, E); one product where inputs are the same object."""
    linear = torch._C._nn.linear
    e = q.size(-1)
    if k is v:
        if q is k:
            return list(linear(q, w, b).chunk(3, -1))
        w_q, w_kv = w.split([e, 2 * e])
        b_q, b_kv = (None, None) if b is None else b.split([e, 2 * e])
        return [linear(q, w_q, b_q), *linear(k, w_kv, b_kv).chunk(2, -1)]
    biases = (None, None, None) if b is None else b.chunk(3)
    return [linear(x, w_x, b_x) for x, w_x, b_x in zip((q, k, v), w.chunk(3), biases)]


def _in_projection(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    b_q: Tensor | None = None,
    b_k: Tensor | None = None,
    b_v: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Project by three weights: (E, E), (E, kdim), (E, vdim)."""
    linear = torch._C._nn.linear
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)


def _check_embedding(query: Tensor, key: Tensor, value: Tensor, expected: int, num_heads: int, separate: bool) -> None:
    embed_dim = query.shape[-1]
    if embed_dim != expected:
        raise AssertionError(f"was expecting embedding dimension of {expected}, but got {embed_dim}")
    if embed_dim % num_heads:
        raise AssertionError(f"embed_dim {embed_dim} not divisible by num_heads {num_heads}")
    if separate:
        if key.shape[:2] != value.shape[:2]:
            raise AssertionError(
                f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}"
            )
    elif key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")


def _heads(x: Tensor, n: int, num_heads: int) -> Tensor:
    """(length, N, E) -> (N * H, length, D)"""
    return x.reshape(x.shape[0], n * num_heads, -1).transpose(0, 1)


def _static(x: Tensor, name: str, n: int, num_heads: int, head_dim: int) -> Tensor:
    if x.size(0) != n * num_heads:
        raise AssertionError(f"expecting {name}.size(0) of {n * num_heads}, but got {x.size(0)}")
    if x.size(2) != head_dim:
        raise AssertionError(f"expecting {name}.size(2) of {head_dim}, but got {x.size(2)}")
    return x


def _one_longer(mask: Tensor | None) -> Tensor | None:
    """A further source position, visible to all."""
    return None if mask is None else torch._C._nn.pad(mask, (0, 1))


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Attention of several heads (Vaswani et al. 2017); sequences come first, then the batch.

    Parameters
    ----------
    query : Tensor (L, N, E) or (L, E); key, value : (S, N, E) or (S, E)
    in_proj_weight : (3E, E), or None with use_separate_proj_weight and the three weights
    bias_k, bias_v : (1, 1, E), one more source position
    add_zero_attn : one more source position of zeros
    key_padding_mask : (N, S) or (S), True (or -inf) hides a source position
    attn_mask : (L, S) or (N * H, L, S), True (or -inf) hides; a float one is added
    static_k, static_v : (N * H, S, D), used in place of the projections
    is_causal : says that attn_mask is the causal one, which then need not be looked at

    Returns
    -------
    (output like query, weights (N, L, S), or (N, H, L, S) without average_attn_weights, or None)

    Raises
    ------
    AssertionError  if shapes do not fit
    RuntimeError    for is_causal without attn_mask, and masks of a wrong shape
    """
    batched = _mha_shape_check(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        # The same object stays the same object: the projection looks at that.
        k_is_q, v_is_k = key is query, value is key
        query = query.unsqueeze(1)
        key = query if k_is_q else key.unsqueeze(1)
        value = key if v_is_k else value.unsqueeze(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    tgt_len, bsz, embed_dim = query.shape
    src_len = key.shape[0]
    mask_dtype = _none_or_dtype(attn_mask)
    key_padding_mask = _canonical_mask(key_padding_mask, "key_padding_mask", mask_dtype, "attn_mask", query.dtype)
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. Use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None
    else:
        attn_mask = _canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, False)
        is_causal = False
    _check_embedding(query, key, value, embed_dim_to_check, num_heads, use_separate_proj_weight)

    if use_separate_proj_weight:
        projections = []
        for name, w in (("q", q_proj_weight), ("k", k_proj_weight), ("v", v_proj_weight)):
            if w is None:
                raise AssertionError(f"use_separate_proj_weight is True but {name}_proj_weight is None")
            projections.append(w)
        biases = (None, None, None) if in_proj_bias is None else in_proj_bias.chunk(3)
        q, k, v = _in_projection(query, key, value, *projections, *biases)
    else:
        if in_proj_weight is None:
            raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
        q, k, v = _in_projection_packed(query, key, value, in_proj_weight, in_proj_bias)

    attn_mask = _mask_for_heads(attn_mask, tgt_len, src_len, bsz * num_heads)
    if bias_k is not None and bias_v is not None:
        if static_k is not None or static_v is not None:
            raise AssertionError("bias cannot be added to static key or value.")
        k = torch.cat([k, bias_k.repeat(1, bsz, 1)])
        v = torch.cat([v, bias_v.repeat(1, bsz, 1)])
        attn_mask, key_padding_mask = _one_longer(attn_mask), _one_longer(key_padding_mask)
    elif bias_k is not None or bias_v is not None:
        raise AssertionError("bias_k and bias_v must be given together")

    head_dim = embed_dim // num_heads
    q = _heads(q, bsz, num_heads)
    if static_k is None:
        k = _heads(k, bsz, num_heads)
    else:
        k = _static(static_k, "static_k", bsz, num_heads, head_dim)
    if static_v is None:
        v = _heads(v, bsz, num_heads)
    else:
        v = _static(static_v, "static_v", bsz, num_heads, head_dim)
    if add_zero_attn:
        zeros = k.new_zeros((bsz * num_heads, 1, head_dim))
        k, v = torch.cat([k, zeros], dim=1), torch.cat([v, zeros], dim=1)
        attn_mask, key_padding_mask = _one_longer(attn_mask), _one_longer(key_padding_mask)
    src_len = k.size(1)
    if key_padding_mask is not None:
        attn_mask = _with_padding(attn_mask, key_padding_mask, bsz, src_len, num_heads)

    if not training:
        dropout_p = 0.0
    weights: Tensor | None = None
    if need_weights:
        if is_causal and attn_mask is None:
            raise AssertionError("attn_mask of a causal call was dropped")
        out, flat_weights = _attend_with_weights(q, k, v, attn_mask, dropout_p)
        weights = flat_weights.view(bsz, num_heads, tgt_len, src_len)
        if average_attn_weights:
            weights = weights.mean(dim=1)
        # (N * H, L, D) -> (L * N, E)
        out = out.transpose(0, 1).reshape(tgt_len * bsz, embed_dim)
    else:
        out = _attend(q, k, v, attn_mask, dropout_p, is_causal, bsz, num_heads)
        # (N, H, L, D) -> (L * N, E)
        out = out.permute(2, 0, 1, 3).reshape(tgt_len * bsz, embed_dim)
    out = torch._C._nn.linear(out, out_proj_weight, out_proj_bias)
    out = out.view(tgt_len, bsz, out.size(1))
    if not batched:
        out = out.squeeze(1)
        weights = None if weights is None else weights.squeeze(0)
    return out, weights


def _mask_for_heads(mask: Tensor | None, tgt_len: int, src_len: int, heads: int) -> Tensor | None:
    """(L, S) -> (1, L, S); (N * H, L, S) stays."""
    if mask is None:
        return None
    expected = (tgt_len, src_len) if mask.dim() == 2 else (heads, tgt_len, src_len)
    if tuple(mask.shape) != expected:
        raise RuntimeError(f"The shape of the {mask.dim()}D attn_mask is {mask.shape}, but should be {expected}.")
    return mask.unsqueeze(0) if mask.dim() == 2 else mask


def _with_padding(mask: Tensor | None, padding: Tensor, bsz: int, src_len: int, num_heads: int) -> Tensor:
    """Add the padding mask (N, S), for every head and target position."""
    if tuple(padding.shape) != (bsz, src_len):
        raise AssertionError(f"expecting key_padding_mask shape of {(bsz, src_len)}, but got {padding.shape}")
    padding = padding.view(bsz, 1, 1, src_len).expand(-1, num_heads, -1, -1).reshape(bsz * num_heads, 1, src_len)
    return padding if mask is None else mask + padding


def _attend_with_weights(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout_p: float
) -> tuple[Tensor, Tensor]:
    """(N * H, L, D) and the weights (N * H, L, S), dropout included."""
    q = q * math.sqrt(1.0 / q.shape[-1])
    scores = torch.bmm(q, k.transpose(-2, -1))
    if mask is not None:
        scores = scores + mask
    weights = scores.softmax(-1)
    if dropout_p > 0.0:
        weights = torch.dropout(weights, dropout_p, True)
    return torch.bmm(weights, v), weights


def _attend(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout_p: float, is_causal: bool, bsz: int, num_heads: int
) -> Tensor:
    """(N, H, L, D) by the fused operator."""
    if mask is not None:
        mask = mask.unsqueeze(0) if mask.size(0) == 1 else mask.view(bsz, num_heads, -1, k.size(1))
    q, k, v = (x.view(bsz, num_heads, x.size(1), x.size(2)) for x in (q, k, v))
    return torch._C._nn.scaled_dot_product_attention(q, k, v, mask, dropout_p, is_causal)
