"""Pseudo-inverse, rank, condition, powers: functions of a matrix made of factorisations."""

import math

import flambeau
from flambeau import Tensor

_ops = flambeau.ops.aten


def _check_matrix(op: str, A: Tensor) -> None:
    if A.dim() < 2:
        raise RuntimeError(f"{op}: The input tensor A must have at least 2 dimensions.")


def _check_square(op: str, A: Tensor) -> None:
    _check_matrix(op, A)
    if A.shape[-1] != A.shape[-2]:
        raise RuntimeError(
            f"{op}: A must be batches of square matrices, but they are {A.shape[-2]} by {A.shape[-1]} matrices"
        )


def _real(dtype: flambeau.dtype) -> flambeau.dtype:
    return dtype.to_real() if dtype.is_complex else dtype


def _as_tensor(tolerance: float | Tensor, dtype: flambeau.dtype) -> Tensor:
    if isinstance(tolerance, Tensor):
        return tolerance.to(dtype)
    return flambeau.tensor(tolerance, dtype=dtype)


def _tolerances(A: Tensor, atol: float | Tensor | None, rtol: float | Tensor | None) -> tuple[Tensor, Tensor]:
    """As tensors; rtol is eps * max(m, n) unless given, or 0 where only an atol above 0 is."""
    if not (A.dtype.is_floating_point or A.dtype.is_complex):
        raise RuntimeError(f"linalg: Expected a floating point or complex tensor as input. Got {A.dtype}")
    for name, tol in (("atol", atol), ("rtol", rtol)):
        if isinstance(tol, Tensor) and tol.dtype.is_complex:
            raise RuntimeError(f"linalg: {name} tensor of complex type is not supported.")
    default = flambeau.finfo(_real(A.dtype)).eps * max(A.shape[-2:])
    dtype = _real(A.dtype)
    if atol is None:
        atol = 0.0
    elif rtol is None:
        rtol = flambeau.where(atol > 0, 0.0, default) if isinstance(atol, Tensor) else (0.0 if atol > 0 else default)
    if rtol is None:
        rtol = default
    return _as_tensor(atol, dtype), _as_tensor(rtol, dtype)


def pinv(
    self: Tensor, *, atol: float | Tensor | None = None, rtol: float | Tensor | None = None, hermitian: bool = False
) -> Tensor:
    """Moore-Penrose inverse; singular values not above max(atol, rtol * largest) count as zero."""
    allowed = (flambeau.float32, flambeau.float64, flambeau.complex64, flambeau.complex128)
    if self.dim() < 2 or self.dtype not in allowed:
        raise RuntimeError(
            f"linalg.pinv({self.dtype}{list(self.shape)}): expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble types"
        )
    if self.numel() == 0:  # no largest singular value to compare with
        return (self.mH * 1).clone(memory_format=flambeau.contiguous_format)
    return _ops._pinv(self, *_tolerances(self, atol, rtol), hermitian)


def pinv_rcond(self: Tensor, rcond: float | Tensor, hermitian: bool = False) -> Tensor:
    """pinv with a relative tolerance."""
    return pinv(self, atol=0.0, rtol=rcond, hermitian=hermitian)


def _rank(A: Tensor, atol: Tensor, rtol: Tensor, hermitian: bool) -> Tensor:
    values = _ops.linalg_eigvalsh(A).abs() if hermitian else _ops.linalg_svdvals(A)
    if values.shape[-1] == 0:
        return flambeau.zeros(A.shape[:-2], dtype=flambeau.int64, device=A.device)
    largest = values.amax(-1)
    return (values > flambeau.maximum(atol, rtol * largest).unsqueeze(-1)).sum(-1)


def matrix_rank(
    A: Tensor, *, atol: float | Tensor | None = None, rtol: float | Tensor | None = None, hermitian: bool = False
) -> Tensor:
    """Number of singular values above max(atol, rtol * largest)."""
    _check_matrix("torch.linalg.matrix_rank", A)
    A = A.detach()
    return _rank(A, *_tolerances(A, atol, rtol), hermitian)


def matrix_rank_tol(A: Tensor, tol: float | Tensor, hermitian: bool = False) -> Tensor:
    """Number of singular values above `tol`."""
    _check_matrix("torch.linalg.matrix_rank", A)
    A = A.detach()
    return _rank(A, *_tolerances(A, tol, 0.0), hermitian)


_COND_NORMS = (1, -1, 2, -2, math.inf, -math.inf, "fro", "nuc")


def cond(self: Tensor, p: float | str | None = None) -> Tensor:
    """Norm times norm of the inverse; for p = 2 the largest over the smallest singular value."""
    if self.dim() < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if p is not None and p not in _COND_NORMS:
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    if p is None or p in (2, -2):
        if self.numel() == 0:
            return flambeau.zeros(self.shape[:-2], dtype=_real(self.dtype), device=self.device)
        values = _ops.linalg_svdvals(self)
        largest, smallest = values[..., 0], values[..., -1]
        return smallest / largest if p == -2 else largest / smallest
    _check_square(f"linalg.cond(ord={p})", self)
    if self.numel() == 0:
        return flambeau.zeros(self.shape[:-2], dtype=_real(self.dtype), device=self.device)
    inverse, info = _ops.linalg_inv_ex(self)
    singular = info != 0
    inverse = flambeau.where(singular.unsqueeze(-1).unsqueeze(-1), 0.0, inverse)  # not what an abandoned inversion left
    result = _ops.linalg_matrix_norm(self, p) * _ops.linalg_matrix_norm(inverse, p)
    return flambeau.where(singular, math.inf, result)


def matrix_exp(A: Tensor) -> Tensor:
    """Exponential by scaling, a Taylor polynomial and squaring."""
    _check_square("linalg.matrix_exp", A)
    if not (A.dtype.is_floating_point or A.dtype.is_complex):
        raise RuntimeError(f"linalg.matrix_exp: Expected a floating point or complex tensor as input. Got {A.dtype}")
    return _ops._matrix_exp(A)


def matrix_power(self: Tensor, n: int) -> Tensor:
    """A multiplied by itself n times; negative powers invert first."""
    _check_square("linalg.matrix_power", self)
    if n == 0:
        eye = _identities(self)
        if not self.requires_grad:
            return eye
        return flambeau.where(flambeau.zeros_like(self, dtype=flambeau.bool), self, eye)  # a gradient of zeros
    if n < 0:
        return matrix_power(_ops.linalg_inv(self), -n)
    if n == 1:
        return self.clone()
    power = self
    while not n & 1:
        n, power = n >> 1, power @ power
    result = power
    while n := n >> 1:
        power = power @ power
        if n & 1:
            result = result @ power
    return result


def _identities(like: Tensor) -> Tensor:
    eye = flambeau.eye(like.shape[-1], dtype=like.dtype, device=like.device)
    return eye.expand(like.shape).clone(memory_format=flambeau.contiguous_format)


def tensorinv(self: Tensor, ind: int = 2) -> Tensor:
    """The inverse of self seen as a matrix of its first `ind` dims by the others."""
    if ind <= 0:
        raise RuntimeError("Expected a strictly positive integer for 'ind'")
    rows, columns = self.shape[:ind], self.shape[ind:]
    if math.prod(rows) != math.prod(columns):
        raise RuntimeError(
            f"Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got {math.prod(columns)} != {math.prod(rows)}"
        )
    inverse, info = _ops.linalg_inv_ex(self.reshape(math.prod(rows), -1) if self.numel() else self.reshape(0, 0))
    if info.item():
        raise RuntimeError("Failed to invert the input tensor, because it is singular")
    return inverse.reshape(*columns, *rows)


def tensorsolve(self: Tensor, other: Tensor, dims: list[int] | None = None) -> Tensor:
    """X of tensordot(self, X, X.ndim) = other; `dims` of self are moved to the end first."""
    A = self
    if dims is not None:
        A = A.movedim(list(dims), list(range(A.dim() - len(dims), A.dim())))
    result_shape = A.shape[other.dim() :]
    if math.prod(result_shape) != math.prod(A.shape[: other.dim()]):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), "
            f"but got {math.prod(result_shape)} != {math.prod(A.shape[: other.dim()])}"
        )
    n = other.numel()
    return _ops.linalg_solve(A.reshape(n, n), other.reshape(n)).reshape(result_shape)


def vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """Column j holds x ** j."""
    if x.dim() == 0:
        x = x.unsqueeze(0)
    if N is not None and N <= 1:
        raise RuntimeError(f"linalg.vander: N must be greater than 1, got {N}")
    if x.dtype == flambeau.bool:
        raise RuntimeError("linalg.vander: bool tensors are not supported")
    count = x.shape[-1] if N is None else N
    columns = x.unsqueeze(-1).expand(*x.shape, max(count - 1, 0))
    powers = columns.cumprod(-1)
    return flambeau.cat([powers.new_ones(*x.shape, 1), powers], -1)
