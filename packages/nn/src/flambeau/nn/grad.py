"""Gradients of convolutions on their own, by input and by weight."""

from __future__ import annotations

import flambeau as torch
from flambeau.nn.modules.utils import _pair, _single, _triple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from flambeau import Tensor


def _backward(
    grad_output: Tensor,
    input: Tensor,
    weight: Tensor,
    expand: Callable[[Any], tuple],
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    *,
    mask: tuple[bool, bool, bool],
) -> Any:
    n = len(expand(0))
    return torch.ops.aten.convolution_backward(
        grad_output,
        input,
        weight,
        None,
        expand(stride),
        expand(padding),
        expand(dilation),
        False,
        [0] * n,
        groups,
        mask,
    )


def _by_input(
    expand: Callable[[Any], tuple],
    size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
) -> Tensor:
    # Only the input's shape matters; nothing is read from it.
    input = grad_output.new_empty(1).expand(size)
    return _backward(grad_output, input, weight, expand, stride, padding, dilation, groups, mask=(True, False, False))[
        0
    ]


def _by_weight(
    expand: Callable[[Any], tuple],
    input: Tensor,
    size: Sequence[int],
    grad_output: Tensor,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
) -> Tensor:
    weight = grad_output.new_empty(1).expand(size)
    return _backward(grad_output, input, weight, expand, stride, padding, dilation, groups, mask=(False, True, False))[
        1
    ]


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
    return _by_input(_single, input_size, weight, grad_output, stride, padding, dilation, groups)


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
    return _by_weight(_single, input, weight_size, grad_output, stride, padding, dilation, groups)


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
    return _by_input(_pair, input_size, weight, grad_output, stride, padding, dilation, groups)


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
    return _by_weight(_pair, input, weight_size, grad_output, stride, padding, dilation, groups)


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
    return _by_input(_triple, input_size, weight, grad_output, stride, padding, dilation, groups)


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
    return _by_weight(_triple, input, weight_size, grad_output, stride, padding, dilation, groups)
