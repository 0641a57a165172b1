"""Norms of vectors and matrices."""

import math
from collections.abc import Sequence

import flambeau
from flambeau import Tensor

_ops = flambeau.ops.aten


def _converted(op: str, A: Tensor, dtype: flambeau.dtype | None) -> Tensor:
    given = A.dtype
    if not (given.is_floating_point or given.is_complex):
        raise RuntimeError(f"{op}: Expected a floating point or complex tensor as input. Got {given}")
    if dtype is None or dtype == given:
        return A
    if not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(f"{op}: dtype should be floating point or complex. Got {dtype}")
    if dtype.is_complex != given.is_complex:
        raise RuntimeError(
            f"{op}: dtype should be {'complex' if given.is_complex else 'real'} for {given} inputs, but got {dtype}"
        )
    if flambeau.promote_types(given, dtype) != dtype:
        raise RuntimeError(
            f"{op}: the dtype of the input ({given}) should be convertible without narrowing to the specified dtype ({dtype})"
        )
    return A.to(dtype)


def vector_norm(
    self: Tensor,
    ord: float = 2,
    dim: list[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: flambeau.dtype | None = None,
) -> Tensor:
    """(sum of |x| ** ord) ** (1 / ord) over `dim`; infinities give the largest or smallest, 0 counts what is not zero."""
    if isinstance(ord, complex):
        raise RuntimeError("linalg.vector_norm: Expected a non-complex scalar as the order of norm.")
    A = _converted("linalg.vector_norm", self, dtype)
    order = float(ord)
    dims = [] if dim is None else list(dim)
    if order < 0 or order == math.inf:
        empty = A.numel() == 0 if not dims else any(A.shape[d] == 0 for d in dims if A.dim())
        if empty:
            raise RuntimeError(
                f"linalg.vector_norm cannot compute the {order:g} norm on an empty tensor because the operation does not have an identity"
            )
    return _ops._norm(A, order, dims, keepdim)


def _matrix_dims(op: str, A: Tensor, dim: Sequence[int]) -> tuple[int, int]:
    if A.dim() < 2:
        raise RuntimeError(f"{op}: The input tensor A must have at least 2 dimensions.")
    if len(dim) != 2:
        raise RuntimeError(f"{op}: dim must be a 2-tuple. Got {tuple(dim)}")
    for d in dim:
        if not -A.dim() <= d < A.dim():
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-A.dim()}, {A.dim() - 1}], but got {d})"
            )
    rows, columns = (d % A.dim() for d in dim)
    if rows == columns:
        raise RuntimeError(f"{op}: dims must be different. Got {tuple(dim)}")
    return rows, columns


def _singular_values(A: Tensor, rows: int, columns: int) -> Tensor:
    """With the two dims moved to the end, and the values in the last one."""
    return _ops.linalg_svdvals(A.movedim((rows, columns), (-2, -1)))


def _restored(result: Tensor, rows: int, columns: int, keepdim: bool) -> Tensor:
    if not keepdim:
        return result
    for d in sorted((rows, columns)):
        result = result.unsqueeze(d)
    return result


def matrix_norm(
    self: Tensor,
    ord: float | str = "fro",
    dim: Sequence[int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: flambeau.dtype | None = None,
) -> Tensor:
    """'fro', 'nuc', or an order among 1, 2, inf and their negatives."""
    A = _converted("linalg.matrix_norm", self, dtype)
    known = ("fro", "nuc") if isinstance(ord, str) else (1, -1, 2, -2, math.inf, -math.inf)
    if ord not in known:
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    rows, columns = _matrix_dims("linalg.matrix_norm", A, dim)
    if ord == "fro":
        return vector_norm(A, 2, [rows, columns], keepdim)
    if ord == "nuc":
        return _restored(_singular_values(A, rows, columns).sum(-1), rows, columns, keepdim)
    order = float(ord)
    if abs(order) == 2:
        values = _singular_values(A, rows, columns)
        if order > 0 and values.shape[-1] == 0:
            return _restored(values.sum(-1), rows, columns, keepdim)
        return _restored(values.amax(-1) if order > 0 else values.amin(-1), rows, columns, keepdim)
    summed, kept = (rows, columns) if abs(order) == 1 else (columns, rows)
    sums = vector_norm(A, 1, [summed], keepdim)
    if not keepdim and kept > summed:
        kept -= 1
    if order > 0 and sums.shape[kept] == 0:
        return sums.sum(kept, keepdim)  # nothing to take the largest of: zeros
    return sums.amax(kept, keepdim) if order > 0 else sums.amin(kept, keepdim)


def linalg_norm(
    self: Tensor,
    ord: float | str | None = None,
    dim: list[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: flambeau.dtype | None = None,
) -> Tensor:
    """A vector norm, or a matrix norm where two dims (or a matrix and an order) are given."""
    if dim is not None and len(dim) not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}")
    if ord is None:
        return vector_norm(self, 2, dim, keepdim, dtype=dtype)
    if dim is None and self.dim() not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {self.dim()}D."
        )
    if (dim is not None and len(dim) == 2) or (dim is None and self.dim() == 2):
        return matrix_norm(self, ord, [0, 1] if dim is None else dim, keepdim, dtype=dtype)
    if isinstance(ord, str):
        raise RuntimeError(f"linalg.vector_norm: Order {ord} not supported.")
    return vector_norm(self, ord, dim, keepdim, dtype=dtype)


def norm(
    self: Tensor,
    p: float | str | None = "fro",
    dim: list[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: flambeau.dtype | None = None,
) -> Tensor:
    """The older norm: all dims are one vector unless p is 'nuc'."""
    if p == "fro" and (dim is None or len(dim) <= 2):
        return vector_norm(self, 2, dim, keepdim, dtype=dtype)
    if p is None:
        p = 2.0
    if isinstance(p, str):
        return matrix_norm(self, p, list(range(self.dim())) if dim is None else dim, keepdim, dtype=dtype)
    return vector_norm(self, p, dim, keepdim, dtype=dtype)


def frobenius_norm(self: Tensor, dim: list[int], keepdim: bool = False) -> Tensor:
    """Square root of the sum of squares over at most two dims."""
    if len(dim) > 2:
        raise RuntimeError(f"Expected at most 2 dimensions, but got {len(dim)} dimensions instead.")
    return vector_norm(self, 2, dim, keepdim)


def nuclear_norm(self: Tensor, keepdim: bool = False) -> Tensor:
    """Sum of the singular values of a matrix."""
    return matrix_norm(self, "nuc", [-2, -1], keepdim)


def nuclear_norm_dim(self: Tensor, dim: list[int], keepdim: bool = False) -> Tensor:
    """Sum of the singular values over two dims."""
    return matrix_norm(self, "nuc", dim, keepdim)


def dist(self: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """p-norm of self - other, broadcast."""
    return vector_norm(self - other, p)


def renorm(self: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Every slice along `dim` whose p-norm is above `maxnorm` is scaled down to it."""
    if self.dim() < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {self.dim()} dimensions")
    if isinstance(p, complex):
        raise RuntimeError("renorm: p must be real-valued")
    if isinstance(maxnorm, complex):
        raise RuntimeError("renorm: maxnorm must be real-valued")
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    if not -self.dim() <= dim < self.dim():
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-self.dim()}, {self.dim() - 1}], but got {dim})"
        )
    half = self.dtype in (flambeau.float16, flambeau.bfloat16)
    norms = vector_norm(
        self, p, [d for d in range(self.dim()) if d != dim % self.dim()], True, dtype=flambeau.float32 if half else None
    )
    # The small number keeps the scaled norm below the limit.
    factor = flambeau.where(norms > maxnorm, maxnorm / (norms + 1e-7), 1.0)
    return (self * factor.to(self.dtype if not self.dtype.is_complex else factor.dtype)).contiguous()
