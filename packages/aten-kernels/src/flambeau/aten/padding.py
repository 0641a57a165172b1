"""Padding that repeats elements of the input: every padded dimension is an index_select with a fixed pattern."""

import functools
from collections.abc import Sequence

import flambeau
from flambeau import Tensor


@functools.lru_cache(maxsize=128)
def _pattern(mode: str, size: int, before: int, after: int) -> Tensor:
    """int64 [before + size + after]: which element of a dimension stands at each place of the padded one."""
    if mode == "replicate":  # may be long: every place beyond the edge repeats it
        return flambeau.arange(-before, size + after).clamp(0, size - 1)
    places = range(-before, size + after)
    if mode == "reflect":
        last = size - 1
        index = [last - abs(last - abs(i)) for i in places]
    else:
        kept = range(max(-before, 0), size - max(-after, 0))  # negative padding crops before the rest goes round
        index = [kept[i % len(kept)] for i in range(-max(before, 0), len(kept) + max(after, 0))]
    return flambeau.tensor(index, dtype=flambeau.int64)


def _check(mode: str, self: Tensor, pad: Sequence[int], spatial: int) -> None:
    name = {"reflect": "reflection", "replicate": "replication"}.get(mode, mode)
    if len(pad) != 2 * spatial:
        raise RuntimeError(f"padding size is expected to be {2 * spatial}, but got: {len(pad)}")
    fits = (
        self.dim() in (spatial + 1, spatial + 2)
        and all(s != 0 for s in self.shape[1:])
        and (self.dim() == spatial + 2 or self.shape[0] != 0)
    )
    if not fits:
        raise RuntimeError(
            f"Expected {spatial + 1}D or {spatial + 2}D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: {list(self.shape)}"
        )
    for i in range(spatial):
        size, before, after = self.shape[-1 - i], pad[2 * i], pad[2 * i + 1]
        if mode == "reflect" and not (before < size and after < size):
            raise RuntimeError(
                f"Argument #4: Padding size should be less than the corresponding input dimension, but got: padding ({before}, {after}) at dimension {self.dim() - 1 - i} of input {list(self.shape)}"
            )
        if mode == "circular" and (before > size or after > size):
            raise RuntimeError(
                f"Padding value causes wrapping around more than once: padding ({before}, {after}) of a dimension of size {size}"
            )
        if before + size + after < 1 and not (mode == "circular" and before + size + after == 0):
            raise RuntimeError(
                f"[{name}_pad{spatial}d] input of size {size} is too small: the padded size would be {before + size + after} at dimension {self.dim() - 1 - i}"
            )


def _padded(mode: str, self: Tensor, pad: Sequence[int], spatial: int) -> Tensor:
    _check(mode, self, pad, spatial)
    out = self
    for i in range(spatial):
        before, after = pad[2 * i], pad[2 * i + 1]
        if before or after:
            out = out.index_select(out.dim() - 1 - i, _pattern(mode, out.shape[-1 - i], before, after).to(out.device))
    return out.clone() if out is self else out


def pad(self: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Padding from the last dimension on: constant, reflect, replicate or circular."""
    if len(pad) % 2:
        raise RuntimeError(f"Padding length must be divisible by 2, got {len(pad)}")
    if len(pad) > 2 * self.dim():
        raise RuntimeError(
            f"Padding length should be less than or equal to two times the input dimension but got padding length {len(pad)} and input of dimension {self.dim()}"
        )
    if mode == "constant":
        return flambeau.constant_pad_nd(self, pad, 0.0 if value is None else value)
    if value not in (None, 0, 0.0):
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}; allowed: constant, reflect, replicate, circular")
    spatial = len(pad) // 2
    if spatial not in (1, 2, 3) or self.dim() not in (spatial + 1, spatial + 2):
        raise NotImplementedError("Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now")
    return _padded(mode, self, pad, spatial)


def reflection_pad1d(self: Tensor, padding: Sequence[int]) -> Tensor:
    return _padded("reflect", self, padding, 1)


def reflection_pad2d(self: Tensor, padding: Sequence[int]) -> Tensor:
    return _padded("reflect", self, padding, 2)


def reflection_pad3d(self: Tensor, padding: Sequence[int]) -> Tensor:
    return _padded("reflect", self, padding, 3)


def replication_pad1d(self: Tensor, padding: Sequence[int]) -> Tensor:
    return _padded("replicate", self, padding, 1)


def replication_pad2d(self: Tensor, padding: Sequence[int]) -> Tensor:
    return _padded("replicate", self, padding, 2)


def replication_pad3d(self: Tensor, padding: Sequence[int]) -> Tensor:
    return _padded("replicate", self, padding, 3)
