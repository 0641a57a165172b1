"""Gradients of convolutions on their own, by input and by weight."""

from __future__ import annotations

import flambeau as torch
from flambeau.nn.modules.utils import _pair, _single, _triple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from flambeau import Tensor


def _gradient(
    which: int,
    expand: Callable[[Any], tuple],
    grad_output: Tensor,
    input: Tensor,
    weight: Tensor,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
) -> Tensor:
    """The gradient by the input (which = 0) or by the weight (1)."""
    mask = [which == 0, which == 1, False]
    return torch.ops.aten.convolution_backward(
        grad_output,
        input,
        weight,
        None,
        expand(stride),
        expand(padding),
        expand(dilation),
        False,
        expand(0),
        groups,
        mask,
    )[which]


def _shaped(size: Sequence[int], like: Tensor) -> Tensor:
    """A stand-in for what the gradient is taken by: only its shape is read."""
    return like.new_empty(1).expand(size)


def conv1d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Gradient of conv1d by an input of size `input_size`."""
    input = _shaped(input_size, grad_output)
    return _gradient(0, _single, grad_output, input, weight, stride, padding, dilation, groups)


def conv1d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Gradient of conv1d by a weight of size `weight_size`."""
    weight = _shaped(weight_size, grad_output)
    return _gradient(1, _single, grad_output, input, weight, stride, padding, dilation, groups)


def conv2d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Gradient of conv2d by an input of size `input_size`."""
    input = _shaped(input_size, grad_output)
    return _gradient(0, _pair, grad_output, input, weight, stride, padding, dilation, groups)


def conv2d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Gradient of conv2d by a weight of size `weight_size`."""
    weight = _shaped(weight_size, grad_output)
    return _gradient(1, _pair, grad_output, input, weight, stride, padding, dilation, groups)


def conv3d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Gradient of conv3d by an input of size `input_size`."""
    input = _shaped(input_size, grad_output)
    return _gradient(0, _triple, grad_output, input, weight, stride, padding, dilation, groups)


def conv3d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Gradient of conv3d by a weight of size `weight_size`."""
    weight = _shaped(weight_size, grad_output)
    return _gradient(1, _triple, grad_output, input, weight, stride, padding, dilation, groups)
