"""Shape operators that views and other operators make up. All of them are differentiable through their parts."""

import math
from collections.abc import Sequence

import flambeau
from flambeau import Tensor

# --- broadcasting -----------------------------------------------------------------------------------------------------


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
        return self[:0].reshape(0, 1).expand(0, r).clone()  # empty, and part of the graph
    total, part = (n + r - 1, min(n - 1, r)) if with_replacement else (n, min(r, n - r))
    if part > 64 or math.comb(total, part) * r > 1 << 32:
        raise RuntimeError(f"combinations: choices of {r} elements of {n} are too many")
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    picked = list(choose(range(n), r))
    index = flambeau.tensor(picked, dtype=flambeau.int64, device=self.device).reshape(-1)
    return self.index_select(0, index).reshape(len(picked), r)


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


# --- repeating and turning --------------------------------------------------------------------------------------------


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
    if not -source.dim() <= (dim or 0) < source.dim():
        source.size(dim)  # refuses the dimension
    axis = (dim or 0) % source.dim()
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


# --- diagonals --------------------------------------------------------------------------------------------------------


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
