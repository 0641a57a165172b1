"""Shape operators that views and other operators make up. All of them are differentiable through their parts."""

import math
from collections.abc import Sequence

import flambeau
from flambeau import Tensor, dtype

# --- joining and splitting ------------------------------------------------------------------------------------------------


def tensor_split(self: Tensor, indices_or_sections: object, dim: int = 0) -> list[Tensor]:
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
        cuts = list(indices_or_sections)
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


def _directional_split(name: str, self: Tensor, given: object, dim: int, at_least: int) -> list[Tensor]:
    if self.dim() < at_least:
        raise RuntimeError(
            f"torch.{name} requires a tensor with at least {at_least} dimension{'s' * (at_least > 1)}, but got a tensor with {self.dim()} dimensions!"
        )
    if isinstance(given, int) and (given == 0 or self.size(dim) % given):
        raise RuntimeError(
            f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension {self.size(dim)} is not "
            f"divisible by the split_size {given}!"
        )
    return tensor_split(self, given, dim)


def hsplit(self: Tensor, sections: object) -> list[Tensor]:
    """Pieces along the second dimension (the only one of a 1-d tensor)."""
    return _directional_split("hsplit", self, sections, 0 if self.dim() == 1 else 1, 1)


def vsplit(self: Tensor, sections: object) -> list[Tensor]:
    """Pieces along the first dimension."""
    return _directional_split("vsplit", self, sections, 0, 2)


def dsplit(self: Tensor, sections: object) -> list[Tensor]:
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
    lead = tensors[0].shape[: dim if dim >= 0 else tensors[0].dim() + dim]
    rows = []
    for t in tensors:
        if t.dtype is not tensors[0].dtype:
            raise RuntimeError("_chunk_cat expects all input tensors with the same dtype")
        if t.dim() == 0:
            raise RuntimeError("_chunk_cat expects at least 1-dimensional tensors")
        axis = dim if dim >= 0 else t.dim() + dim
        if not 0 <= axis < t.dim():
            raise RuntimeError(f"_chunk_cat expects dim < input.dim(), got dim {dim} of a {t.dim()}-d tensor")
        if t.numel() == 0:
            raise RuntimeError("_chunk_cat expects non-empty tensor")
        if t.shape[:axis] != lead:
            raise RuntimeError("_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all tensors")
        size = t.shape[axis]
        chunk = -(-size // num_chunks)
        padded = flambeau.constant_pad_nd(t, [0, 0] * (t.dim() - 1 - axis) + [0, chunk * num_chunks - size])
        rows.append(padded.reshape(*t.shape[:axis], num_chunks, -1))
    return flambeau.cat(rows, -1)


# --- broadcasting ---------------------------------------------------------------------------------------------------------


def broadcast_tensors(tensors: Sequence[Tensor]) -> list[Tensor]:
    """All expanded to their common shape."""
    if not tensors:
        return []
    shape = flambeau.broadcast_shapes(*(t.shape for t in tensors))
    return [t.expand(shape) for t in tensors]


def meshgrid(tensors: Sequence[Tensor], *, indexing: str = "ij") -> list[Tensor]:
    """Views of vectors as the axes of a grid."""
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for t in tensors:
        if t.dim() > 1:
            raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {tuple(t.shape)}")
        if t.dtype is not tensors[0].dtype:
            raise RuntimeError("torch.meshgrid expects all tensors to have the same dtype")
        if t.device != tensors[0].device:
            raise RuntimeError("torch.meshgrid expects all tensors to have the same device")
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    swap = indexing == "xy" and len(tensors) >= 2
    if swap:
        tensors = [tensors[1], tensors[0], *tensors[2:]]
    shape = [t.numel() for t in tensors]
    grids = [t.reshape([-1 if i == k else 1 for i in range(len(tensors))]).expand(shape) for k, t in enumerate(tensors)]
    return [grids[1], grids[0], *grids[2:]] if swap else grids


def cartesian_prod(tensors: Sequence[Tensor]) -> Tensor:
    """All tuples of elements of vectors, one a row."""
    for t in tensors:
        if t.dim() != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {tuple(t.shape)}")
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if len(tensors) == 1:
        return tensors[0]
    return flambeau.stack([g.flatten() for g in meshgrid(tensors)], 1)


def combinations(self: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All choices of r elements of a vector, in order, one a row."""
    if self.dim() != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {tuple(self.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return flambeau.empty(0, dtype=self.dtype, device=self.device)
    import itertools

    n = self.numel()
    if n == 0 or (r > n and not with_replacement):
        return self.new_empty((0, r))
    total, part = (n + r - 1, min(n - 1, r)) if with_replacement else (n, min(r, n - r))
    if part > 64 or math.comb(total, part) * r > 1 << 32:
        raise RuntimeError(f"combinations: choices of {r} elements of {n} are too many")
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    picked = list(choose(range(n), r))
    index = flambeau.tensor(picked, dtype=flambeau.int64).reshape(len(picked), r)
    return self[index.reshape(-1)].reshape(len(picked), r)


def sum_to_size(self: Tensor, size: Sequence[int]) -> Tensor:
    """Summed over the dimensions that broadcasting `size` to the shape of self would expand."""
    lead = self.dim() - len(size)
    fits = lead >= 0 and all(s in (1, self.shape[lead + i]) for i, s in enumerate(size))
    if not fits:
        raise RuntimeError(f"size {{{list(size)}}} is not expandable to size {{{list(self.shape)}}}.")
    if not size:
        return self.sum()
    dims = list(range(lead)) + [lead + i for i, s in enumerate(size) if s == 1 and self.shape[lead + i] != 1]
    out = self.sum(dims, keepdim=True) if dims else self
    return out.reshape(tuple(size)) if lead else out


def kron(self: Tensor, other: Tensor) -> Tensor:
    """Kronecker product: blocks of other scaled by the elements of self."""
    n = max(self.dim(), other.dim())
    a = self.reshape((1,) * (n - self.dim()) + tuple(self.shape))
    b = other.reshape((1,) * (n - other.dim()) + tuple(other.shape))
    wide_a = [x for s in a.shape for x in (s, 1)]
    wide_b = [x for s in b.shape for x in (1, s)]
    return (a.reshape(wide_a) * b.reshape(wide_b)).reshape([s * t for s, t in zip(a.shape, b.shape)])


# --- repeating and turning ------------------------------------------------------------------------------------------------


def tile(self: Tensor, dims: Sequence[int]) -> Tensor:
    """repeat, with counts of 1 put in front where too few are given."""
    return self.repeat((1,) * (self.dim() - len(dims)) + tuple(dims))


def repeat_interleave_indices(repeats: Tensor, *, output_size: int | None = None) -> Tensor:
    """Index k repeated repeats[k] times."""
    if repeats.dim() > 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    if repeats.dtype not in (flambeau.int64, flambeau.int32):
        raise RuntimeError(f"repeats has to be Long or Int tensor, got {repeats.dtype}")
    flat = repeats.reshape(-1)
    if flat.numel() == 0:
        return flambeau.empty(0, dtype=repeats.dtype)
    if bool((flat < 0).any()):
        raise RuntimeError("repeats can not be negative")
    ends = flat.cumsum(0)
    total = int(ends[-1].item())
    if output_size is not None and output_size != total:
        raise RuntimeError(f"allocated size does not match required size: {output_size} is not {total}")
    return flambeau.searchsorted(ends, flambeau.arange(total), right=True).to(repeats.dtype)


def repeat_interleave(
    self: Tensor, repeats: Tensor, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Each slice repeated as often as repeats says."""
    source = self.reshape(-1) if dim is None else self
    axis = 0 if dim is None else dim
    if repeats.dim() == 0 or (repeats.dim() == 1 and repeats.size(0) == 1):
        repeats = repeats.reshape(1).expand(source.size(axis) if source.dim() else 1)
    elif source.dim() and repeats.numel() != source.size(axis):
        raise RuntimeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {repeats.numel()} and input.size({axis}) = {source.size(axis)}"
        )
    return source.index_select(axis, repeat_interleave_indices(repeats, output_size=output_size))


def repeat_interleave_int(
    self: Tensor, repeats: int, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Each slice repeated a fixed number of times."""
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    source = self.reshape(-1) if dim is None else self
    if source.dim() == 0:
        source = source.reshape(1)
    axis = (
        (0 if dim is None else dim) % source.dim() if -source.dim() <= (dim or 0) < source.dim() else source.size(dim)
    )
    shape = list(source.shape)
    if output_size is not None and output_size != shape[axis] * repeats:
        raise RuntimeError(f"repeat_interleave: output_size {output_size} does not match {shape[axis] * repeats}")
    wide = source.unsqueeze(axis + 1).expand(*shape[: axis + 1], repeats, *shape[axis + 1 :])
    shape[axis] *= repeats
    return wide.clone(memory_format=flambeau.contiguous_format).reshape(shape)


def fliplr(self: Tensor) -> Tensor:
    """Columns reversed."""
    if self.dim() < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return self.flip((1,))


def flipud(self: Tensor) -> Tensor:
    """Rows reversed."""
    if self.dim() < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return self.flip((0,))


def rot90(self: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """Turned by k quarter turns in the plane of two dimensions."""
    n = self.dim()
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if n < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {n}")
    a, b = dims
    if a == b or abs(a - b) == n:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {a} and dim1 = {b}")
    for d in dims:
        if not -n <= d < n:
            raise RuntimeError(f"Rotation dim0 out of range, dim0 = {d}")
    k %= 4
    if k == 0:
        return self.clone(memory_format=flambeau.contiguous_format)
    if k == 1:
        return self.flip((b,)).transpose(a, b)
    return self.flip((a, b)) if k == 2 else self.flip((a,)).transpose(a, b)


def unflatten(self: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """One dimension as several."""
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    size = self.size(dim)
    at = dim % self.dim()
    known = math.prod(s for s in sizes if s != -1)
    if sizes.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    fits = known == size if -1 not in sizes else known != 0 and size % known == 0
    if not fits:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} ({size}) in the input tensor"
        )
    return self.view(*self.shape[:at], *sizes, *self.shape[at + 1 :])


# --- diagonals ------------------------------------------------------------------------------------------------------------


def diag(self: Tensor, diagonal: int = 0) -> Tensor:
    """A vector as a diagonal matrix; of a matrix, a copy of its diagonal."""
    if self.dim() == 1:
        return flambeau.diag_embed(self, diagonal)
    if self.dim() == 2:
        return self.diagonal(diagonal).clone()
    raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {self.dim()}D")


def diagflat(self: Tensor, offset: int = 0) -> Tensor:
    """All elements on a diagonal."""
    return flambeau.diag_embed(self.reshape(-1), offset)


def linalg_diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """A view of the diagonals of matrices."""
    return A.diagonal(offset, dim1, dim2)


def trace(self: Tensor) -> Tensor:
    """Sum of the diagonal of a matrix."""
    if self.dim() != 2:
        raise RuntimeError("trace: expected a matrix")
    return self.diagonal().sum()


# --- complex numbers ------------------------------------------------------------------------------------------------------


def real(self: Tensor) -> Tensor:
    """A view of the real parts."""
    return flambeau.view_as_real(self).select(-1, 0) if self.is_complex() else self


def imag(self: Tensor) -> Tensor:
    """A view of the imaginary parts."""
    if not self.is_complex():
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return flambeau.view_as_real(self).select(-1, 1)


def conj(self: Tensor) -> Tensor:
    """The conjugate; of real tensors self."""
    return flambeau.conj_physical(self) if self.is_complex() else self


def identity(self: Tensor) -> Tensor:
    """self: nothing is ever pending here."""
    return self


def adjoint(self: Tensor) -> Tensor:
    """Conjugate transpose of the last two dimensions."""
    if self.dim() == 1:
        raise RuntimeError("tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return conj(self.transpose(-2, -1) if self.dim() else self)


def positive(self: Tensor) -> Tensor:
    """self."""
    if self.dtype is flambeau.bool:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return self


# --- images ---------------------------------------------------------------------------------------------------------------


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


def pixel_shuffle(self: Tensor, upscale_factor: int) -> Tensor:
    """Channels turned into pixels of an image that is larger by a factor."""
    r = upscale_factor
    if self.dim() < 3:
        raise RuntimeError(
            f"pixel_shuffle expects input to have at least 3 dimensions, but got input with {self.dim()} dimension(s)"
        )
    if r <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {r}")
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
    if self.dim() < 3:
        raise RuntimeError(
            f"pixel_unshuffle expects input to have at least 3 dimensions, but got input with {self.dim()} dimension(s)"
        )
    if r <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {r}")
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


# --- copies of views ------------------------------------------------------------------------------------------------------


def _copied(view: object) -> object:
    if isinstance(view, Tensor):
        return view.clone(memory_format=flambeau.contiguous_format)
    return [v.clone(memory_format=flambeau.contiguous_format) for v in view]


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


def squeeze_copy_dim(self: Tensor, dim: object) -> Tensor:
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
            f"Expected dim < static_cast<int64_t>(self_sizes.size()) to be true, but got false: dim {dim} of a {self.dim()}-d tensor"
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
    return _copied(self.unbind(dim))


def split_copy(self: Tensor, split_size: int, dim: int = 0) -> list[Tensor]:
    return _copied(self.split(split_size, dim))


def split_with_sizes_copy(self: Tensor, split_sizes: Sequence[int], dim: int = 0) -> list[Tensor]:
    return _copied(self.split_with_sizes(split_sizes, dim))


def unsafe_split(self: Tensor, split_size: int, dim: int = 0) -> list[Tensor]:
    """split, whose pieces autograd takes for tensors of their own."""
    return list(self.split(split_size, dim))


def unsafe_split_with_sizes(self: Tensor, split_sizes: Sequence[int], dim: int = 0) -> list[Tensor]:
    """split_with_sizes, whose pieces autograd takes for tensors of their own."""
    return list(self.split_with_sizes(split_sizes, dim))


def unsafe_chunk(self: Tensor, chunks: int, dim: int = 0) -> list[Tensor]:
    """chunk, whose pieces autograd takes for tensors of their own."""
    return list(self.chunk(chunks, dim))
