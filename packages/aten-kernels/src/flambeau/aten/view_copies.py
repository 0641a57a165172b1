"""Copies of views, and splits that autograd takes apart."""

from collections.abc import Sequence

import flambeau
from flambeau import Tensor, dtype


def _copied(view: Tensor) -> Tensor:
    return view.clone(memory_format=flambeau.contiguous_format)


def _all_copied(views: Sequence[Tensor]) -> list[Tensor]:
    return [_copied(v) for v in views]


def view_copy(self: Tensor, size: Sequence[int]) -> Tensor:
    return _copied(self.reshape(size))


def view_copy_dtype(self: Tensor, dtype: dtype) -> Tensor:
    return _copied(self.view(dtype))


def permute_copy(self: Tensor, dims: Sequence[int]) -> Tensor:
    return _copied(self.permute(dims))


def transpose_copy(self: Tensor, dim0: int, dim1: int) -> Tensor:
    return _copied(self.transpose(dim0, dim1))


def t_copy(self: Tensor) -> Tensor:
    return _copied(self.t())


def expand_copy(self: Tensor, size: Sequence[int], *, implicit: bool = False) -> Tensor:
    return _copied(self.expand(size))


def select_copy(self: Tensor, dim: int, index: int) -> Tensor:
    return _copied(self.select(dim, index))


def slice_copy(self: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor:
    return _copied(flambeau.ops.aten.slice.Tensor(self, dim, start, end, step))


def squeeze_copy(self: Tensor) -> Tensor:
    return _copied(self.squeeze())


def squeeze_copy_dim(self: Tensor, dim: int | Sequence[int]) -> Tensor:
    return _copied(self.squeeze(dim))


def unsqueeze_copy(self: Tensor, dim: int) -> Tensor:
    return _copied(self.unsqueeze(dim))


def diagonal_copy(self: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    return _copied(self.diagonal(offset, dim1, dim2))


def unfold_copy(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    return _copied(self.unfold(dimension, size, step))


def alias_copy(self: Tensor) -> Tensor:
    return _copied(self)


def narrow_copy(self: Tensor, dim: int, start: int, length: int) -> Tensor:
    if self.dim() and dim >= self.dim():
        raise RuntimeError(
            f"Expected dim < static_cast<int64_t>(self_sizes.size()) to be true, but got false. It is dim {dim} of a {self.dim()}-d tensor"
        )
    return _copied(self.narrow(dim, start, length))


def as_strided_copy(
    self: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    return _copied(flambeau.as_strided(self, size, stride, storage_offset))


def view_as_real_copy(self: Tensor) -> Tensor:
    return _copied(flambeau.view_as_real(self))


def view_as_complex_copy(self: Tensor) -> Tensor:
    return _copied(flambeau.view_as_complex(self))


def unbind_copy(self: Tensor, dim: int = 0) -> list[Tensor]:
    return _all_copied(self.unbind(dim))


def split_copy(self: Tensor, split_size: int, dim: int = 0) -> list[Tensor]:
    return _all_copied(self.split(split_size, dim))


def split_with_sizes_copy(self: Tensor, split_sizes: Sequence[int], dim: int = 0) -> list[Tensor]:
    return _all_copied(self.split_with_sizes(split_sizes, dim))


def unsafe_split(self: Tensor, split_size: int, dim: int = 0) -> list[Tensor]:
    """split, whose pieces autograd takes for tensors of their own."""
    return list(self.split(split_size, dim))


def unsafe_split_with_sizes(self: Tensor, split_sizes: Sequence[int], dim: int = 0) -> list[Tensor]:
    """split_with_sizes, whose pieces autograd takes for tensors of their own."""
    return list(self.split_with_sizes(split_sizes, dim))


def unsafe_chunk(self: Tensor, chunks: int, dim: int = 0) -> list[Tensor]:
    """chunk, whose pieces autograd takes for tensors of their own."""
    return list(self.chunk(chunks, dim))
