"""Sliding blocks, unpooling and pooling at random positions, by index arithmetic."""

from __future__ import annotations

import math

import flambeau as fl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from flambeau import Tensor


def _pair(op: str, name: str, values: Sequence[int], low: int) -> tuple[int, int]:
    values = tuple(values)
    if len(values) == 1:
        values *= 2
    if len(values) != 2 or min(values) < low:
        raise RuntimeError(f"[{op}] {name} must be two numbers of at least {low}, got {values}")
    return values


def _blocks(
    op: str,
    size: Sequence[int],
    kernel: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> tuple[tuple[int, int], ...]:
    """Pairs of kernel sizes, dilations, paddings, strides, and numbers of blocks."""
    kernel, dilation = _pair(op, "kernel_size", kernel, 1), _pair(op, "dilation", dilation, 1)
    padding, stride = _pair(op, "padding", padding, 0), _pair(op, "stride", stride, 1)
    counts = tuple((size[d] + 2 * padding[d] - dilation[d] * (kernel[d] - 1) - 1) // stride[d] + 1 for d in range(2))
    if min(counts) < 1:
        raise RuntimeError(
            f"[{op}] image of {tuple(size)} with kernel_size {kernel}, dilation {dilation}, padding {padding} and stride "
            f"{stride} has {counts} blocks; there must be at least one in each dimension"
        )
    return kernel, dilation, padding, stride, (counts[0], counts[1])


def _places(kernel: int, dilation: int, stride: int, count: int, device: fl.device) -> Tensor:
    """int64 (kernel, count): the positions of a dimension of the padded image that its blocks cover."""
    line = lambda n: fl.arange(n, device=device)  # noqa: E731
    return line(kernel).mul(dilation).unsqueeze(1) + line(count).mul(stride).unsqueeze(0)


def im2col(
    self: Tensor, kernel_size: Sequence[int], dilation: Sequence[int], padding: Sequence[int], stride: Sequence[int]
) -> Tensor:
    """Blocks of (N, C, H, W) as columns (N, C * kh * kw, blocks).

    Raises
    ------
    RuntimeError  where shapes or numbers do not fit
    """
    if self.dim() not in (3, 4) or 0 in tuple(self.shape[-3:]):
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, "
            f"but got: {tuple(self.shape)}"
        )
    if self.dim() == 3:
        return im2col(self.unsqueeze(0), kernel_size, dilation, padding, stride).squeeze(0)
    n, c, h, w = self.shape
    kernel, gap, pad, step, counts = _blocks("im2col", (h, w), kernel_size, dilation, padding, stride)
    x = fl.constant_pad_nd(self, [pad[1], pad[1], pad[0], pad[0]], 0) if max(pad) else self
    for d in range(2):  # a view (N, C, oh, ow, kh, kw)
        x = x.unfold(2 + d, gap[d] * (kernel[d] - 1) + 1, step[d])[..., :: gap[d]]
    return x.permute(0, 1, 4, 5, 2, 3).reshape(n, c * kernel[0] * kernel[1], counts[0] * counts[1])


def col2im(
    self: Tensor,
    output_size: Sequence[int],
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> Tensor:
    """Sum of columns (N, C * kh * kw, blocks) at their places of (N, C, H, W).

    Raises
    ------
    RuntimeError  where shapes or numbers do not fit
    """
    h, w = _pair("col2im", "output_size", output_size, 1)
    (kh, kw), gap, pad, step, counts = _blocks("col2im", (h, w), kernel_size, dilation, padding, stride)
    if self.dim() not in (2, 3) or 0 in tuple(self.shape[-2:]):
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for "
            f"input, but got: {tuple(self.shape)}"
        )
    if self.dim() == 2:
        return col2im(self.unsqueeze(0), output_size, kernel_size, dilation, padding, stride).squeeze(0)
    n, width, length = self.shape
    if width % (kh * kw):
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"input.size(1)={width} and kernel_size={(kh, kw)}."
        )
    if length != counts[0] * counts[1]:
        raise RuntimeError(
            f"Given output_size={(h, w)}, expected size of input's dimension 2 to match the calculated number of sliding "
            f"blocks {counts[0]} * {counts[1]} = {counts[0] * counts[1]}, but got input.size(2)={length}."
        )
    c = width // (kh * kw)
    wide = w + 2 * pad[1]
    rows = _places(kh, gap[0], step[0], counts[0], self.device).reshape(kh, 1, counts[0], 1)
    columns = _places(kw, gap[1], step[1], counts[1], self.device).reshape(1, kw, 1, counts[1])
    flat = (rows * wide + columns).reshape(-1)
    image = self.new_zeros(n, c, (h + 2 * pad[0]) * wide).index_add(2, flat, self.reshape(n, c, kh * kw * length))
    image = image.reshape(n, c, h + 2 * pad[0], wide)
    return image[:, :, pad[0] : pad[0] + h, pad[1] : pad[1] + w].contiguous()


# --- unpooling -----------------------------------------------------------------------------------------------------------


def _unpool(op: str, self: Tensor, indices: Tensor, output_size: Sequence[int], spatial: int) -> Tensor:
    output_size = tuple(output_size)
    if indices.dtype != fl.int64:
        raise RuntimeError(f"elements in indices should be type int64 but got: {indices.dtype}")
    if len(output_size) != spatial:
        raise RuntimeError(f"[{op}] there should be exactly {spatial} elements in output_size, got {output_size}")
    if self.dim() not in (spatial + 1, spatial + 2):
        raise RuntimeError(
            f"Input to {op} should be a {spatial + 1}d or {spatial + 2}d Tensor, but got shape {tuple(self.shape)}"
        )
    if indices.shape != self.shape:
        raise RuntimeError(
            f"Expected shape of indices to be same as that of the input tensor ({list(self.shape)}) but got indices "
            f"tensor with shape: {list(indices.shape)}"
        )
    if 0 in tuple(self.shape[1:]):
        raise RuntimeError(f"[{op}] sizes other than the batch's must not be zero, got {tuple(self.shape)}")
    plane = 1
    for size in output_size:
        plane *= size
    if indices.numel() and not indices.is_meta and not bool(((indices >= 0) & (indices < plane)).all()):
        raise RuntimeError(f"[{op}] found an invalid max index, the output has {plane} elements a plane")
    lead = self.shape[: self.dim() - spatial]
    flat = self.new_zeros(*lead, plane)
    return flat.scatter(-1, indices.flatten(-spatial), self.flatten(-spatial)).reshape(*lead, *output_size)


def max_unpool2d(self: Tensor, indices: Tensor, output_size: Sequence[int]) -> Tensor:
    """Values put at their positions of planes of zeros.

    Raises
    ------
    RuntimeError  where shapes or positions do not fit
    """
    return _unpool("max_unpool2d", self, indices, output_size, 2)


def max_unpool3d(
    self: Tensor, indices: Tensor, output_size: Sequence[int], stride: Sequence[int], padding: Sequence[int]
) -> Tensor:
    """Values put at their positions of volumes of zeros.

    Raises
    ------
    RuntimeError  where shapes, positions or strides do not fit
    """
    if len(tuple(stride)) != 3 or min(tuple(stride)) <= 0 or len(tuple(padding)) != 3:
        raise RuntimeError(
            f"[max_unpool3d] strides should be three positive numbers, got {tuple(stride)}, and padding three"
        )
    return _unpool("max_unpool3d", self, indices, output_size, 3)


# --- pooling at random positions -----------------------------------------------------------------------------------------


def _starts(samples: Tensor, size: int, out: int, kernel: int) -> Tensor:
    """Where the windows of a dimension begin: (N, C, out) for samples (N, C) in 0..1."""
    last = fl.full((*samples.shape, 1), size - kernel, dtype=fl.int64, device=samples.device)
    if out == 1:
        return last
    step = (size - kernel) / (out - 1)
    u = samples.unsqueeze(-1)
    begin = ((fl.arange(out - 1, dtype=samples.dtype, device=samples.device) + u) * step).to(fl.int64) - (u * step).to(
        fl.int64
    )
    return fl.cat([begin, last], -1)


def _fractional(
    op: str, self: Tensor, kernel: Sequence[int], output_size: Sequence[int], samples: Tensor, order: Sequence[int]
) -> tuple[Tensor, Tensor]:
    n = len(order)
    kernel, output_size = tuple(kernel), tuple(output_size)
    if len(kernel) != n or len(output_size) != n or min(kernel) < 1 or min(output_size) < 1:
        raise RuntimeError(
            f"[{op}] kernel_size and output_size must be {n} positive numbers, got {kernel}, {output_size}"
        )
    if self.dim() not in (n + 1, n + 2) or 0 in tuple(self.shape[1:]):
        raise RuntimeError(f"[{op}] Expected {n + 1}D or {n + 2}D tensor without empty planes, got {tuple(self.shape)}")
    if self.dim() == n + 1:
        values, indices = _fractional(op, self.unsqueeze(0), kernel, output_size, samples, order)
        return values.squeeze(0), indices.squeeze(0)
    batch, channels, *sizes = self.shape
    if samples.dim() != 3 or samples.shape[2] != n or samples.shape[0] < batch or samples.shape[1] < channels:
        raise RuntimeError(
            f"[{op}] Expect _random_samples of shape ({batch}, {channels}, {n}), got {tuple(samples.shape)}"
        )
    if samples.dtype != self.dtype:
        raise RuntimeError(f"[{op}] Expect _random_samples to have the same dtype as input, got {samples.dtype}")
    for size, k, out in zip(sizes, kernel, output_size):
        if out + k - 1 > size:
            raise RuntimeError(f"[{op}] pool size {k} and output size {out} are too large for an input size of {size}")
    flat = fl.zeros((), dtype=fl.int64, device=self.device)
    for d in range(n):
        starts = _starts(samples[:batch, :channels, order[d]], sizes[d], output_size[d], kernel[d])
        place = starts.unsqueeze(-1) + fl.arange(kernel[d], device=self.device)  # (N, C, out, k)
        shape = [batch, channels] + [1] * (2 * n)
        shape[2 + d], shape[2 + n + d] = output_size[d], kernel[d]
        flat = flat * sizes[d] + place.reshape(shape)
    flat = flat.reshape(batch, channels, *output_size, math.prod(kernel))
    planes = self.reshape(batch, channels, math.prod(sizes))
    windows = planes.gather(2, flat.reshape(batch, channels, math.prod(output_size) * math.prod(kernel))).reshape(
        flat.shape
    )
    values, at = windows.max(-1)
    return values, flat.gather(-1, at.unsqueeze(-1)).squeeze(-1)


def fractional_max_pool2d(
    self: Tensor, kernel_size: Sequence[int], output_size: Sequence[int], random_samples: Tensor
) -> tuple[Tensor, Tensor]:
    """Largest values of windows at positions that random_samples (N, C, 2) give, and their positions (Graham 2014)."""
    return _fractional("fractional_max_pool2d", self, kernel_size, output_size, random_samples, (1, 0))


def fractional_max_pool3d(
    self: Tensor, kernel_size: Sequence[int], output_size: Sequence[int], random_samples: Tensor
) -> tuple[Tensor, Tensor]:
    """fractional_max_pool2d in three dimensions; random_samples is (N, C, 3)."""
    return _fractional("fractional_max_pool3d", self, kernel_size, output_size, random_samples, (0, 1, 2))
