"""Indexing operators that other operators make up."""

from collections.abc import Sequence

import flambeau
from flambeau import Tensor


def fill(self: Tensor, value: complex) -> Tensor:
    """A tensor like self with one number everywhere."""
    return self.clone().fill_(value)


def masked_fill_tensor(self: Tensor, mask: Tensor, value: Tensor) -> Tensor:
    """self with the number of a 0-d tensor where mask is true."""
    if value.dim() != 0:
        raise RuntimeError(
            f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.dim()} dimension(s)."
        )
    if mask.dtype is not flambeau.bool:
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {mask.dtype}")
    if value.is_complex() and not self.is_complex():
        raise RuntimeError(f"value cannot be converted to type {self.dtype} without overflow: it is complex")
    return flambeau.where(mask, value.to(self.dtype), self)


def take_along_dim(self: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """gather whose operands broadcast against each other; without dim, of flattened tensors."""
    if indices.dtype not in (flambeau.int64, flambeau.int32):
        raise RuntimeError(f"torch.take_along_dim(): dtype of indices should be Long but got {indices.dtype}")
    if dim is None:
        return self.reshape(-1).gather(0, indices.reshape(-1))
    if self.dim() != indices.dim():
        raise RuntimeError(
            f"torch.take_along_dim(): input and indices should have the same number of dimensions, but got {self.dim()} dimensions for input, and {indices.dim()} dimensions for indices"
        )
    rank = max(self.dim(), 1)
    if not -rank <= dim < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
    axis = dim % rank
    a, b = list(self.shape), list(indices.shape)
    if a:
        a[axis] = b[axis] = 1
    shape = list(flambeau.broadcast_shapes(a, b))
    wide_self, wide_index = list(shape), list(shape)
    if a:
        wide_self[axis], wide_index[axis] = self.shape[axis], indices.shape[axis]
    if a and indices.device.type != "meta" and bool((indices < 0).any()):
        indices = flambeau.where(indices < 0, indices + self.shape[axis], indices)
    return self.expand(wide_self).gather(axis, indices.expand(wide_index))


def unsafe_masked_index(self: Tensor, mask: Tensor, indices: Sequence[Tensor | None], fill: complex) -> Tensor:
    """self[indices] where mask is true; elsewhere fill, and the index may be anything."""
    clamped = [None if i is None else i.clamp(0, self.shape[d] - 1) for d, i in enumerate(indices)]
    if self.numel() == 0:
        return self.new_full(
            flambeau.ops.aten.index.Tensor(
                self.new_zeros([max(s, 1) for s in self.shape]), [None if i is None else i * 0 for i in indices]
            ).shape,
            fill,
        )
    return flambeau.masked_fill(flambeau.ops.aten.index.Tensor(self, clamped), ~mask, fill)


def unsafe_masked_index_put_accumulate(
    self: Tensor, mask: Tensor, indices: Sequence[Tensor | None], values: Tensor
) -> Tensor:
    """self with values added at indices where mask is true."""
    if self.numel() == 0:
        return self.clone()
    clamped = [None if i is None else i.clamp(0, self.shape[d] - 1) for d, i in enumerate(indices)]
    return flambeau.index_put(self, clamped, flambeau.masked_fill(values, ~mask, 0), True)


def where_indices(condition: Tensor) -> list[Tensor]:
    """Coordinates of the elements that are not zero, one tensor a dimension."""
    source = condition.reshape(1) if condition.dim() == 0 else condition
    return list(source.nonzero().unbind(1))


def one_hot(self: Tensor, num_classes: int = -1) -> Tensor:
    """Ones at the class of each element along a new last dimension."""
    if self.dtype is not flambeau.int64:
        raise RuntimeError(f"one_hot is only applicable to index tensor of type LongTensor, got {self.dtype}.")
    if self.numel() == 0:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return flambeau.empty(*self.shape, num_classes, dtype=flambeau.int64, device=self.device)
    if self.device.type != "meta":
        low, high = int(self.min()), int(self.max())
        if low < 0:
            raise RuntimeError(f"Class values must be non-negative, got {low}.")
        if num_classes == -1:
            num_classes = high + 1
        elif num_classes < 1:
            raise RuntimeError("num_classes should be positive")
        if high >= num_classes:
            raise RuntimeError(f"Class values must be smaller than num_classes: {high} is not below {num_classes}.")
    out = flambeau.zeros(*self.shape, num_classes, dtype=flambeau.int64, device=self.device)
    return out.scatter_(-1, self.unsqueeze(-1), 1)


def unravel_index(indices: Tensor, shape: Sequence[int]) -> list[Tensor]:
    """Coordinates, in a tensor of a shape, of positions in the flattened tensor."""
    out = []
    for size in reversed(shape):
        out.append(indices % size)
        indices = flambeau.div(indices, size, rounding_mode="floor")
    return out[::-1]
