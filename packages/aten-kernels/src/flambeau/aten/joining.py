"""Tensors cut into pieces and put together. All of it is differentiable through its parts."""

from collections.abc import Sequence

import flambeau
from flambeau import Tensor


def tensor_split(self: Tensor, indices_or_sections: int | Sequence[int] | Tensor, dim: int = 0) -> list[Tensor]:
    """Views of consecutive pieces: a number of nearly equal ones, or cut at given indices."""
    if self.dim() == 0:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    size = self.size(dim)
    if isinstance(indices_or_sections, int):
        sections = indices_or_sections
        if sections > max(size, 1 << 20):
            raise RuntimeError(f"tensor_split: {sections} sections are more than a list should hold")
        if sections <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {sections}")
        small, larger = divmod(size, sections)
        cuts, at = [], 0
        for i in range(sections - 1):
            at += small + (i < larger)
            cuts.append(at)
    else:
        cuts = indices_or_sections.tolist() if isinstance(indices_or_sections, Tensor) else list(indices_or_sections)
    out, start = [], 0
    for cut in cuts:
        out.append(flambeau.ops.aten.slice.Tensor(self, dim, start, cut))
        start = cut
    out.append(flambeau.ops.aten.slice.Tensor(self, dim, start, size))
    return out


def tensor_split_tensor(self: Tensor, tensor_indices_or_sections: Tensor, dim: int = 0) -> list[Tensor]:
    """The same with the number of pieces or the indices in a tensor."""
    given = tensor_indices_or_sections
    if given.dtype is not flambeau.int64:
        raise RuntimeError(
            f"tensor_split expected tensor_indices_or_sections to have dtype of long, but got {given.dtype}"
        )
    if given.dim() > 1:
        raise RuntimeError(
            f"tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but got a tensor with {given.dim()} dims"
        )
    return tensor_split(self, given.tolist(), dim)


def _directional_split(name: str, self: Tensor, given: int | Sequence[int], dim: int, at_least: int) -> list[Tensor]:
    if self.dim() < at_least:
        raise RuntimeError(
            f"torch.{name} requires a tensor with at least {at_least} dimension, but got a tensor with {self.dim()} dimensions!"
        )
    if isinstance(given, int) and (given == 0 or self.size(dim) % given):
        raise RuntimeError(
            f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension {self.size(dim)} is not "
            f"divisible by the split_size {given}!"
        )
    return tensor_split(self, given, dim)


def hsplit(self: Tensor, sections: int | Sequence[int]) -> list[Tensor]:
    """Pieces along the second dimension (the only one of a 1-d tensor)."""
    return _directional_split("hsplit", self, sections, 0 if self.dim() == 1 else 1, 1)


def vsplit(self: Tensor, sections: int | Sequence[int]) -> list[Tensor]:
    """Pieces along the first dimension."""
    return _directional_split("vsplit", self, sections, 0, 2)


def dsplit(self: Tensor, sections: int | Sequence[int]) -> list[Tensor]:
    """Pieces along the third dimension."""
    return _directional_split("dsplit", self, sections, 2, 3)


def atleast_1d(self: Tensor) -> Tensor:
    """self with at least one dimension."""
    return self if self.dim() >= 1 else self.reshape(1)


def atleast_2d(self: Tensor) -> Tensor:
    """self with at least two dimensions, new ones in front."""
    return self if self.dim() >= 2 else self.reshape(1, 1) if self.dim() == 0 else self.unsqueeze(0)


def atleast_3d(self: Tensor) -> Tensor:
    """self with at least three dimensions: a vector in the middle, a matrix in front."""
    if self.dim() == 0:
        return self.reshape(1, 1, 1)
    if self.dim() == 1:
        return self.unsqueeze(0).unsqueeze(-1)
    return self.unsqueeze(-1) if self.dim() == 2 else self


def atleast_1d_sequence(tensors: Sequence[Tensor]) -> list[Tensor]:
    return [atleast_1d(t) for t in tensors]


def atleast_2d_sequence(tensors: Sequence[Tensor]) -> list[Tensor]:
    return [atleast_2d(t) for t in tensors]


def atleast_3d_sequence(tensors: Sequence[Tensor]) -> list[Tensor]:
    return [atleast_3d(t) for t in tensors]


def _some(name: str, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return tensors


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors side by side: along the second dimension, or the only one."""
    parts = atleast_1d_sequence(_some("hstack", tensors))
    return flambeau.cat(parts, 0 if parts[0].dim() == 1 else 1)


def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors on top of each other; a vector is a row."""
    return flambeau.cat(atleast_2d_sequence(_some("vstack", tensors)), 0)


def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors behind each other, along the third dimension."""
    return flambeau.cat(atleast_3d_sequence(_some("dstack", tensors)), 2)


def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Tensors side by side; a vector is a column."""
    parts = [t.reshape(t.numel(), 1) if t.dim() <= 1 else t for t in _some("column_stack", tensors)]
    return hstack(parts)


def block_diag(tensors: Sequence[Tensor]) -> Tensor:
    """Matrices on the diagonal of a larger one; vectors are rows."""
    parts = []
    for i, t in enumerate(tensors):
        if t.dim() > 2:
            raise RuntimeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has {t.dim()} dimensions"
            )
        parts.append(atleast_2d(t))
    if not parts:
        return flambeau.empty(1, 0)
    common = parts[0].dtype
    for t in parts[1:]:
        common = flambeau.promote_types(common, t.dtype)
    width = sum(t.size(1) for t in parts)
    rows, before = [], 0
    for t in parts:
        rows.append(flambeau.constant_pad_nd(t.to(common), [before, width - before - t.size(1)], 0))
        before += t.size(1)
    return flambeau.cat(rows, 0)


def chunk_cat(tensors: Sequence[Tensor], dim: int, num_chunks: int) -> Tensor:
    """Every tensor cut into chunks along dim, the last one filled up with zeros; chunk k of all of them is row k of the result."""
    if not tensors:
        raise RuntimeError("_chunk_cat expects a non-empty input tensor list")
    if num_chunks < 1:
        raise RuntimeError(f"_chunk_cat expects positive num_chunks, got {num_chunks}")
    if dim < 0 and len({t.dim() for t in tensors}) > 1:
        raise RuntimeError(
            f"_chunk_cat expects non-negative dim when input tensors have different ndims, got dim {dim}"
        )
    lead = tensors[0].shape[: dim if dim >= 0 else tensors[0].dim() + dim]
    rows = []
    for t in tensors:
        if t.dtype is not tensors[0].dtype:
            raise RuntimeError("_chunk_cat expects all input tensors with the same dtype")
        if t.dim() == 0:
            raise RuntimeError("_chunk_cat expects at least 1-dimensional tensors")
        axis = dim if dim >= 0 else t.dim() + dim
        if not 0 <= axis < t.dim():
            raise RuntimeError(
                f"_chunk_cat expects dim < ndim for all input tensors, got dim {dim} of a {t.dim()}-d tensor"
            )
        if t.numel() == 0:
            raise RuntimeError("_chunk_cat expects non-empty tensor")
        if t.shape[:axis] != lead:
            raise RuntimeError("_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all tensors")
        size = t.shape[axis]
        chunk = -(-size // num_chunks)
        padded = flambeau.constant_pad_nd(t, [0, 0] * (t.dim() - 1 - axis) + [0, chunk * num_chunks - size])
        rows.append(padded.reshape(*t.shape[:axis], num_chunks, -1))
    return flambeau.cat(rows, -1)
