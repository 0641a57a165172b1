"""MultiheadAttention."""

from __future__ import annotations

import flambeau as torch
from flambeau.nn import functional as F
from flambeau.nn.init import constant_, xavier_normal_, xavier_uniform_
from flambeau.nn.modules.linear import NonDynamicallyQuantizableLinear
from flambeau.nn.modules.module import Module
from flambeau.nn.parameter import Parameter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from flambeau import Tensor


class MultiheadAttention(Module):
    """Attention of several heads with in- and out-projections (Vaswani et al. 2017).

    Shapes: query (L, N, E), key (S, N, kdim), value (S, N, vdim) -> (L, N, E); the batch comes
    first with batch_first, and may be missing.

    Parameters
    ----------
    embed_dim : E, divisible by num_heads
    dropout : of the attention weights
    bias : biases of the projections
    add_bias_kv : learn one more source position
    add_zero_attn : add one more source position of zeros
    kdim, vdim : sizes of key and value, E by default
    """

    __constants__ = ["batch_first"]
    bias_k: Tensor | None
    bias_v: Tensor | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                "embed_dim and num_heads must be greater than 0, got "
                f"embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")

        def make(*shape: int) -> Parameter:
            return Parameter(torch.empty(shape, device=device, dtype=dtype))

        # One stacked weight where all three inputs have the same size, so that one product
        # projects them.
        if self._qkv_same_embed_dim:
            self.in_proj_weight = make(3 * embed_dim, embed_dim)
            for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight"):
                self.register_parameter(name, None)
        else:
            self.q_proj_weight = make(embed_dim, embed_dim)
            self.k_proj_weight = make(embed_dim, self.kdim)
            self.v_proj_weight = make(embed_dim, self.vdim)
            self.register_parameter("in_proj_weight", None)
        self.register_parameter("in_proj_bias", make(3 * embed_dim) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, device=device, dtype=dtype)
        if add_bias_kv:
            self.bias_k = make(1, 1, embed_dim)
            self.bias_v = make(1, 1, embed_dim)
        else:
            self.bias_k = self.bias_v = None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        if self._qkv_same_embed_dim:
            xavier_uniform_(self.in_proj_weight)
        else:
            xavier_uniform_(self.q_proj_weight)
            xavier_uniform_(self.k_proj_weight)
            xavier_uniform_(self.v_proj_weight)
        if self.in_proj_bias is not None:
            constant_(self.in_proj_bias, 0.0)
            if self.out_proj.bias is not None:
                constant_(self.out_proj.bias, 0.0)
        if self.bias_k is not None:
            xavier_normal_(self.bias_k)
        if self.bias_v is not None:
            xavier_normal_(self.bias_v)

    def __setstate__(self, state: dict) -> None:
        state.setdefault("_qkv_same_embed_dim", True)
        super().__setstate__(state)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Attend.

        Parameters
        ----------
        key_padding_mask : (N, S) or (S), True (or -inf) hides a source position
        attn_mask : (L, S) or (N * num_heads, L, S), True (or -inf) hides; a float one is added
        need_weights : give the weights too; without, a faster operator is used
        average_attn_weights : mean over heads of the weights
        is_causal : says that attn_mask is the causal one

        Returns
        -------
        (output like query, weights (N, L, S) or (N, num_heads, L, S), or None)
        """
        swap = self.batch_first and query.dim() == 3
        if swap:
            query, key, value = _swapped(query, key, value)
        out, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return (out.transpose(1, 0) if swap else out), weights

    def merge_masks(
        self, attn_mask: Tensor | None, key_padding_mask: Tensor | None, query: Tensor
    ) -> tuple[Tensor | None, int | None]:
        """Both masks as one, and its kind: 0 attn_mask, 1 key_padding_mask, 2 both."""
        if attn_mask is None:
            return key_padding_mask, None if key_padding_mask is None else 1
        batch, seq = query.shape[:2]
        if attn_mask.dim() == 3:
            merged = attn_mask.view(batch, -1, seq, seq)
        else:
            merged = attn_mask.view(1, 1, seq, seq).expand(batch, self.num_heads, -1, -1)
        if key_padding_mask is not None:
            merged = merged + key_padding_mask.view(batch, 1, 1, seq).expand(-1, self.num_heads, -1, -1)
        return merged, 2


def _swapped(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Sequence first; inputs that are the same object stay so, which saves projections."""
    same_qk, same_kv = query is key, key is value
    query = query.transpose(1, 0)
    key = query if same_qk else key.transpose(1, 0)
    value = key if same_kv else value.transpose(1, 0)
    return query, key, value
