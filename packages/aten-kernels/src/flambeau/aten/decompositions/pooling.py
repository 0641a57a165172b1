"""Average pooling: sums over windows are products with matrices of zeros and ones, one for each spatial dimension.

Such a matrix, (places, elements), has ones where an element lies in the window of a place. Its transpose takes gradients back.
"""

from __future__ import annotations

from collections.abc import Sequence

import flambeau
from flambeau import Tensor

Sizes = Sequence[int]


def avg_pool(
    self: Tensor,
    kernel_size: Sizes,
    stride: Sizes = (),
    padding: Sizes = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Means of windows over the last dimensions, as many as `kernel_size` has."""
    windows, divisor = _windows(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return _products(self, windows) / divisor


def avg_pool_backward(
    grad_output: Tensor,
    self: Tensor,
    kernel_size: Sizes,
    stride: Sizes,
    padding: Sizes,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:
    windows, divisor = _windows(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return _products(grad_output / divisor, [w.t() for w in windows])


def adaptive_avg_pool(self: Tensor, output_size: Sizes) -> Tensor:
    """Means over windows that divide the last dimensions into as many parts as asked for; they may overlap."""
    return _products(self, _parts(self, output_size))


def adaptive_avg_pool2d_backward(grad_output: Tensor, self: Tensor) -> Tensor:
    return _products(grad_output, [p.t() for p in _parts(self, grad_output.shape[-2:])])


def adaptive_avg_pool3d_backward(grad_output: Tensor, self: Tensor) -> Tensor:
    return _products(grad_output, [p.t() for p in _parts(self, grad_output.shape[-3:])])


def _products(x: Tensor, matrices: list[Tensor]) -> Tensor:
    for d, matrix in enumerate(reversed(matrices), 1):
        x = x.movedim(-d, -1).matmul(matrix.t()).movedim(-1, -d)
    return x


def _windows(
    x: Tensor,
    kernel_size: Sizes,
    stride: Sizes,
    padding: Sizes,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> tuple[list[Tensor], Tensor | int]:
    dims = len(kernel_size)
    windows: list[Tensor] = []
    divisor = x.new_ones([1] * dims)
    for d, (n, k, s, p) in enumerate(zip(x.shape[-dims:], kernel_size, stride or kernel_size, padding)):
        places = (n + 2 * p - k + (s - 1 if ceil_mode else 0)) // s + 1
        if ceil_mode and (places - 1) * s >= n + p:
            places -= 1  # a window that begins in the margin at the end holds nothing
        start = (flambeau.arange(places) * s - p).unsqueeze(1)
        window = _between(start, start + k, n)
        counts = (start + k).clamp(max=n + p) - start if count_include_pad else window.sum(1, keepdim=True)
        windows.append(window.to(x))
        divisor = divisor * counts.reshape(-1, *[1] * (dims - 1 - d)).to(x)
    return windows, divisor if divisor_override is None else divisor_override


def _parts(x: Tensor, output_size: Sizes) -> list[Tensor]:
    parts = []
    for n, places in zip(x.shape[-len(output_size) :], output_size):
        i = flambeau.arange(places).unsqueeze(1)
        window = _between(i * n // max(places, 1), -(-(i + 1) * n // max(places, 1)), n).to(x)
        parts.append(window / window.sum(1, keepdim=True))
    return parts


def _between(start: Tensor, end: Tensor, n: int) -> Tensor:
    elements = flambeau.arange(n)
    return (elements >= start) & (elements < end)
