"""Channels of images that are moved, among each other or to pixels."""

from flambeau import Tensor


def channel_shuffle(self: Tensor, groups: int) -> Tensor:
    """Channels of groups interleaved."""
    if self.dim() <= 2:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(self.shape)}")
    channels = self.size(1)
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    if channels % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {channels} channels and {groups} groups."
        )
    rest = tuple(self.shape[2:])
    split = self.reshape(self.size(0), groups, channels // groups, *rest)
    return split.transpose(1, 2).contiguous().reshape(self.shape)


def _check_image(name: str, image: Tensor, factor_name: str, factor: int) -> None:
    if image.dim() < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {image.dim()} dimension(s)"
        )
    if factor <= 0:
        raise RuntimeError(f"{name} expects a positive {factor_name}, but got {factor}")


def pixel_shuffle(self: Tensor, upscale_factor: int) -> Tensor:
    """Channels turned into pixels of an image that is larger by a factor."""
    r = upscale_factor
    _check_image("pixel_shuffle", self, "upscale_factor", r)
    *batch, c, h, w = self.shape
    if c % (r * r):
        raise RuntimeError(
            f"pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but input.size(-3)={c} is not divisible by {r * r}"
        )
    n = len(batch)
    split = self.reshape(*batch, c // (r * r), r, r, h, w)
    moved = split.permute(*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return moved.reshape(*batch, c // (r * r), h * r, w * r)


def pixel_unshuffle(self: Tensor, downscale_factor: int) -> Tensor:
    """Pixels turned into channels of an image that is smaller by a factor."""
    r = downscale_factor
    _check_image("pixel_unshuffle", self, "downscale_factor", r)
    *batch, c, h, w = self.shape
    for name, size in (("height", h), ("width", w)):
        if size % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but {name} {size} is not divisible by {r}"
            )
    n = len(batch)
    split = self.reshape(*batch, c, h // r, r, w // r, r)
    moved = split.permute(*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return moved.reshape(*batch, c * r * r, h // r, w // r)
