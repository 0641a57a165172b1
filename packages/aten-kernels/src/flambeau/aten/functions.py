"""Functions whose Python form differs from their operator's: any number of tensors, results that depend on a flag."""

from collections.abc import Sequence
from typing import Any, Literal, overload

import flambeau
from flambeau import _C, Tensor

_op = _C._op_function


def _tensors(name: str, tensors: tuple) -> list[Tensor]:
    """The tensors of f(a, b) and of f([a, b])."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tuple(tensors[0])
    for i, t in enumerate(tensors):
        if not isinstance(t, Tensor) and not hasattr(type(t), "__torch_function__"):
            raise TypeError(f"{name}(): expected Tensor as element {i} in argument 0, but got {type(t).__name__}")
    return list(tensors)


def atleast_1d(*tensors: Tensor | Sequence[Tensor]) -> Any:
    """Tensors with at least one dimension."""
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return _op("aten", "atleast_1d", "", False)(tensors[0])
    return tuple(_op("aten", "atleast_1d", "Sequence", False)(_tensors("atleast_1d", tensors)))


def atleast_2d(*tensors: Tensor | Sequence[Tensor]) -> Any:
    """Tensors with at least two dimensions, new ones in front."""
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return _op("aten", "atleast_2d", "", False)(tensors[0])
    return tuple(_op("aten", "atleast_2d", "Sequence", False)(_tensors("atleast_2d", tensors)))


def atleast_3d(*tensors: Tensor | Sequence[Tensor]) -> Any:
    """Tensors with at least three dimensions."""
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return _op("aten", "atleast_3d", "", False)(tensors[0])
    return tuple(_op("aten", "atleast_3d", "Sequence", False)(_tensors("atleast_3d", tensors)))


def block_diag(*tensors: Tensor | Sequence[Tensor]) -> Tensor:
    """Matrices on the diagonal of a larger one."""
    return _op("aten", "_block_diag", None, False)(_tensors("block_diag", tensors))


def broadcast_tensors(*tensors: Tensor | Sequence[Tensor]) -> list[Tensor]:
    """All expanded to their common shape."""
    return _op("aten", "_broadcast_tensors", None, False)(_tensors("broadcast_tensors", tensors))


def cartesian_prod(*tensors: Tensor | Sequence[Tensor]) -> Tensor:
    """All tuples of elements of vectors, one a row."""
    return _op("aten", "_cartesian_prod", None, False)(_tensors("cartesian_prod", tensors))


def meshgrid(*tensors: Tensor | Sequence[Tensor], indexing: str | None = None) -> tuple[Tensor, ...]:
    """Views of vectors as the axes of a grid. `indexing`: 'ij' (rows first) or 'xy'."""
    return _op("aten", "_meshgrid", None, False)(_tensors("meshgrid", tensors), indexing=indexing or "ij")


@overload
def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: Literal[False] = False) -> Tensor: ...
@overload
def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ...
def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: bool = False) -> Any:
    """Coordinates of the elements that are not zero: one a row, or as a tuple of one tensor a dimension."""
    if as_tuple:
        return _op("aten", "where", "", False)(input)
    return _op("aten", "nonzero", None, False)(input, out=out)


def split(tensor: Tensor, split_size_or_sections: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Views of consecutive pieces of one size, or of given sizes."""
    return tensor.split(split_size_or_sections, dim)


def unravel_index(indices: Tensor, shape: int | Sequence[int]) -> tuple[Tensor, ...]:
    """Coordinates, in a tensor of a shape, of positions in the flattened tensor."""
    sizes = [shape] if isinstance(shape, int) else list(shape)
    if (
        not isinstance(indices, Tensor)
        or indices.is_floating_point()
        or indices.is_complex()
        or indices.dtype is flambeau.bool
    ):
        raise TypeError(
            f"expected 'indices' to be integer dtype, but got {getattr(indices, 'dtype', type(indices).__name__)}"
        )
    if any(s < 0 for s in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(sizes)}")
    return tuple(_op("aten", "unravel_index", None, False)(indices, sizes))
