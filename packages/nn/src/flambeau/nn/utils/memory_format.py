"""Memory formats of convolution weights."""

from __future__ import annotations

from typing import Any

from flambeau.nn import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d, Module

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def convert_conv2d_weight_memory_format(module: Module, memory_format: Any) -> Module:
    """Convert the weights of all 2-d convolutions in `module`, which is returned."""
    return _convert(module, (Conv2d, ConvTranspose2d), memory_format)


def convert_conv3d_weight_memory_format(module: Module, memory_format: Any) -> Module:
    """Convert the weights of all 3-d convolutions in `module`, which is returned."""
    return _convert(module, (Conv3d, ConvTranspose3d), memory_format)


def _convert(module: Module, kinds: tuple[type, ...], memory_format: Any) -> Module:
    for m in module.modules():
        if isinstance(m, kinds):
            m.weight.data = m.weight.detach().clone(memory_format=memory_format)
    return module
