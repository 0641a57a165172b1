"""Batch normalisation in evaluation mode, folded into the layer before it."""

from __future__ import annotations

import copy
from typing import Any

import flambeau
from flambeau.nn import Module, Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]


def fuse_conv_bn_eval(conv: Module, bn: Module, transpose: bool = False) -> Module:
    """Return a copy of `conv` that computes bn(conv(x)).

    Parameters
    ----------
    conv, bn : modules in evaluation mode; `bn` has running statistics
    transpose : `conv` is a transposed convolution

    Raises
    ------
    AssertionError  if one of them is in training mode, or there are no statistics
    """
    _check(conv, bn)
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


def fuse_conv_bn_weights(
    conv_w: Any, conv_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any, transpose: bool = False
) -> tuple[Parameter, Parameter]:
    """Return weight and bias of the fused convolution, in the dtypes of the convolution's."""
    conv_b = flambeau.zeros_like(bn_rm) if conv_b is None else conv_b
    bn_w = flambeau.ones_like(bn_rm) if bn_w is None else bn_w
    bn_b = flambeau.zeros_like(bn_rm) if bn_b is None else bn_b
    scale = bn_w * flambeau.rsqrt(bn_rv + bn_eps)
    shape = [1, -1] if transpose else [-1, 1]
    weight = conv_w * scale.reshape(shape + [1] * (conv_w.dim() - 2))
    bias = (conv_b - bn_rm) * scale + bn_b
    return (
        Parameter(weight.detach().to(conv_w.dtype), conv_w.requires_grad),
        Parameter(bias.detach().to(conv_b.dtype), conv_b.requires_grad),
    )


def fuse_linear_bn_eval(linear: Module, bn: Module) -> Module:
    """Return a copy of `linear` that computes bn(linear(x)); see `fuse_conv_bn_eval`."""
    _check(linear, bn)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, "
            f"but got {linear.out_features} and {bn.num_features}"
        )
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused


def fuse_linear_bn_weights(
    linear_w: Any, linear_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any
) -> tuple[Parameter, Parameter]:
    """Return weight and bias of the fused linear layer, in the dtypes of the layer's."""
    linear_b = flambeau.zeros_like(bn_rm) if linear_b is None else linear_b
    scale = bn_w * flambeau.rsqrt(bn_rv + bn_eps)
    weight = linear_w * scale.unsqueeze(-1).to(linear_w.dtype)
    bias = (linear_b - bn_rm) * scale + bn_b
    return (
        Parameter(weight.detach().to(linear_w.dtype), linear_w.requires_grad),
        Parameter(bias.detach().to(linear_b.dtype), linear_b.requires_grad),
    )


def _check(layer: Module, bn: Module) -> None:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("[fusion] the batch norm has no running statistics; it needs track_running_stats=True")
