"""Convolution as a product of the kernel with every window of the input, and its gradients.

Shapes: input (N, C, *spatial), weight (O, C / groups, *kernel), or (C, O / groups, *kernel) where it is transposed. G groups.
"""

from __future__ import annotations

from collections.abc import Sequence

import flambeau
from flambeau import Tensor

Sizes = Sequence[int]


def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    output_padding: Sizes,
    groups: int,
) -> Tensor:
    """The cross-correlation, or with `transposed` what its gradient by the input would be."""
    if transposed:
        input = _spread(input, stride, padding, dilation, output_padding, weight.shape[2:])
        weight = _flipped(weight, groups)
        stride, padding = [1] * len(stride), [0] * len(padding)
    windows, out_sizes = _windows(input, weight.shape[2:], stride, padding, dilation, groups)
    products = flambeau.einsum("ngsk,gok->ngos", windows, _by_group(weight, groups))
    out = products.reshape(input.size(0), -1, *out_sizes)
    return out if bias is None else out + bias.reshape(-1, *[1] * len(out_sizes))


def convolution_backward(
    grad_output: Tensor,
    input: Tensor,
    weight: Tensor,
    bias_sizes: Sizes | None,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    output_padding: Sizes,
    groups: int,
    output_mask: list[bool],
) -> tuple[Tensor | None, ...]:
    """By the input: the transposed convolution of the gradient. By the weight: windows times gradients, summed."""
    grad_bias = grad_output.sum([0, *range(2, grad_output.dim())])
    if transposed:
        grad_input = convolution(grad_output, weight, None, stride, padding, dilation, False, output_padding, groups)
        for d, size in enumerate(input.shape[2:]):  # output_padding may have made room for more
            grad_input = grad_input.narrow(2 + d, 0, size)
        small, large = input, grad_output
    else:
        rest = _remainder(input.shape[2:], grad_output.shape[2:], weight.shape[2:], stride, padding, dilation)
        grad_input = convolution(grad_output, weight, None, stride, padding, dilation, True, rest, groups)
        small, large = grad_output, input
    windows, _ = _windows(large, weight.shape[2:], stride, padding, dilation, groups, small.shape[2:])
    small = small.reshape(small.size(0), groups, small.size(1) // groups, -1)
    grad_weight = flambeau.einsum("ngos,ngsk->gok", small, windows).reshape(weight.shape)
    return tuple(g if wanted else None for g, wanted in zip((grad_input, grad_weight, grad_bias), output_mask))


def _by_group(weight: Tensor, groups: int) -> Tensor:
    return weight.reshape(groups, weight.size(0) // groups, -1)


def _windows(
    x: Tensor,
    kernel: Sizes,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    groups: int,
    places: Sizes | None = None,
) -> tuple[Tensor, Sizes]:
    """(N, G, places, C / G times kernel), and how many places there are in each dimension: all, or the first `places`."""
    dims = len(kernel)
    x = flambeau.constant_pad_nd(x, [p for n in reversed(padding) for p in (n, n)])
    for d in range(dims):
        x = x.unfold(2 + d, (kernel[d] - 1) * dilation[d] + 1, stride[d])[..., :: dilation[d]]
        x = x.narrow(2 + d, 0, places[d]) if places else x
    places = list(x.shape[2 : 2 + dims])
    x = x.unflatten(1, (groups, -1)).movedim(2, 2 + dims)
    return x.reshape(x.size(0), groups, _product(places), -1), places


def _product(sizes: Sizes) -> int:
    count = 1
    for size in sizes:
        count *= size
    return count


def _spread(x: Tensor, stride: Sizes, padding: Sizes, dilation: Sizes, output_padding: Sizes, kernel: Sizes) -> Tensor:
    """`stride` - 1 zeros between the elements, and a margin so that windows reach as far as the kernel scattered."""
    for d, step in enumerate(stride):
        if step > 1:
            spread = x.new_zeros(*x.shape[: 2 + d], (x.size(2 + d) - 1) * step + 1, *x.shape[3 + d :])
            spread[(slice(None),) * (2 + d) + (slice(None, None, step),)] = x
            x = spread
    margins = [(k - 1) * n - p for k, n, p in zip(kernel, dilation, padding)]
    return flambeau.constant_pad_nd(
        x, [side for m, o in zip(reversed(margins), reversed(output_padding)) for side in (m, m + o)]
    )


def _flipped(weight: Tensor, groups: int) -> Tensor:
    """(C, O / G, *kernel) as the weight (O, C / G, *kernel) of the convolution over what `_spread` gives."""
    grouped = weight.unflatten(0, (groups, -1)).transpose(1, 2).flatten(0, 1)
    return grouped.flip(list(range(2, weight.dim())))


def _remainder(input: Sizes, output: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes) -> Sizes:
    """Elements at the end that no window reached."""
    return [
        i - ((o - 1) * s - 2 * p + (k - 1) * n + 1)
        for i, o, k, s, p, n in zip(input, output, kernel, stride, padding, dilation)
    ]
