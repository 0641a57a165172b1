"""softmax, log_softmax and their gradients."""

from __future__ import annotations

import flambeau
from flambeau import Tensor, dtype


def softmax(self: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """exp(x) / sum(exp(x)) over `dim`; the largest element is subtracted first, so that nothing overflows."""
    powers = _below_zero(_wide(self), dim).exp()
    return (powers / powers.sum(dim, keepdim=True)).to(_result_dtype(self, half_to_float))


def log_softmax(self: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """The logarithm of softmax, taken before it can underflow."""
    x = _below_zero(_wide(self), dim)
    return (x - x.exp().sum(dim, keepdim=True).log()).to(_result_dtype(self, half_to_float))


def softmax_backward(grad_output: Tensor, output: Tensor, dim: int, input_dtype: dtype) -> Tensor:
    """s (g - sum(g s))."""
    weighted = _wide(grad_output) * _wide(output)
    return (weighted - _wide(output) * weighted.sum(dim, keepdim=True)).to(input_dtype)


def log_softmax_backward(grad_output: Tensor, output: Tensor, dim: int, input_dtype: dtype) -> Tensor:
    """g - exp(log s) sum(g)."""
    grad = _wide(grad_output)
    return (grad - _wide(output).exp() * grad.sum(dim, keepdim=True)).to(input_dtype)


def _below_zero(x: Tensor, dim: int) -> Tensor:
    return x - x.amax(dim, keepdim=True) if x.numel() else x


def _wide(x: Tensor) -> Tensor:
    return x.float() if x.dtype in (flambeau.float16, flambeau.bfloat16) else x


def _result_dtype(x: Tensor, half_to_float: bool) -> dtype:
    return flambeau.float32 if half_to_float else x.dtype
