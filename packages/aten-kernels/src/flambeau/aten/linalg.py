"""Factorisations and systems in terms of the LAPACK operators."""

import flambeau
from flambeau import Tensor

_ops = flambeau.ops.aten


def cholesky(self: Tensor, upper: bool = False) -> Tensor:
    """Cholesky factor. Raises LinAlgError where a matrix is not positive definite."""
    return _ops.linalg_cholesky_ex(self, upper=upper, check_errors=True)[0]


def lu_factor(A: Tensor, *, pivot: bool = True) -> tuple[Tensor, Tensor]:
    """Packed LU factors and pivots. Raises RuntimeError where U is singular."""
    LU, pivots, _ = _ops.linalg_lu_factor_ex(A, pivot=pivot, check_errors=True)
    return LU, pivots


def lu_with_info(self: Tensor, pivot: bool = True, check_errors: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    """What torch.lu is made of."""
    return tuple(_ops.linalg_lu_factor_ex(self, pivot=pivot, check_errors=check_errors))


def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, out: tuple | None = None) -> tuple[Tensor, ...]:
    """Packed LU factors, pivots, and with `get_infos` the info of every matrix instead of an error."""
    results = tuple(lu_with_info(A, pivot, not get_infos))[: 3 if get_infos else 2]
    if out is None:
        return results
    if len(out) != len(results):
        raise TypeError(f"expected tuple of {len(results)} elements but got {len(out)}")
    for target, value in zip(out, results, strict=True):
        target.resize_(value.shape).copy_(value)
    return tuple(out)


def lu_full(A: Tensor, *, pivot: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    """P, L and U."""
    LU, pivots, _ = _ops.linalg_lu_factor_ex(A, pivot=pivot)
    return lu_unpack(LU, pivots)


def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Tensor, Tensor, Tensor]:
    """P, L and U of packed factors; what is not unpacked is an empty tensor."""
    if LU_data.dim() < 2:
        raise RuntimeError(
            f"torch.lu_unpack: The input tensor must have at least 2 dimensions, got sizes {tuple(LU_data.shape)}"
        )
    if unpack_pivots and LU_pivots.dtype != flambeau.int32:
        raise RuntimeError(
            f"torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype. Got {LU_pivots.dtype}; "
            "note: this function is intended to be used with the output produced by torch.linalg.lu_factor"
        )
    m, n = LU_data.shape[-2:]
    k = min(m, n)
    P = L = U = LU_data.new_empty(0)
    if unpack_data:
        L = LU_data.narrow(-1, 0, k).contiguous().tril(-1) + flambeau.eye(
            m, k, dtype=LU_data.dtype, device=LU_data.device
        )
        U = LU_data.narrow(-2, 0, k).contiguous().triu()
    if unpack_pivots:
        order = _ops._pivots_to_permutation(LU_pivots, m)
        P = LU_data.new_zeros((*order.shape, m)).scatter(-2, order.unsqueeze(-2), 1)
    return P, L, U


def linalg_lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False) -> Tensor:
    """X of AX = B (left) or XA = B, with A or its adjoint."""
    if left or B.dim() < 2:
        return _ops._lu_solve(LU, pivots, B, adjoint)
    if LU.dim() >= 2 and B.shape[-1] != LU.shape[-1]:
        raise RuntimeError(
            f"linalg.lu_solve: Incompatible shapes of A and B for the equation XA = B ({_by(LU)} and {_by(B)})"
        )
    return _ops._lu_solve(LU, pivots, B.mH, not adjoint).mH


def lu_solve(self: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """X of AX = self."""
    return _ops._lu_solve(LU_data, LU_pivots, self, False)


def _by(A: Tensor) -> str:
    return f"{A.shape[-2]}x{A.shape[-1]}" if A.dim() >= 2 else f"{tuple(A.shape)}"


def _is_vector(A: Tensor, B: Tensor) -> bool:
    return B.dim() == 1 or (A.dim() - 1 == B.dim() and B.shape == A.shape[:-1])


def _solve(A: Tensor, B: Tensor, left: bool, check_errors: bool) -> tuple[Tensor, Tensor]:
    vector = A.dim() >= 2 and _is_vector(A, B)
    right = B.unsqueeze(-1) if vector else B
    if left:
        result, _, _, info = _ops._linalg_solve(A, right, check_errors=check_errors)
    else:
        if A.dim() >= 2 and right.dim() >= 2 and right.shape[-1] != A.shape[-1]:
            raise RuntimeError(
                f"linalg.solve: Incompatible shapes of A and B for the equation XA = B ({_by(A)} and {_by(right)})"
            )
        result, _, _, info = _ops._linalg_solve(A.mT, right.mT, check_errors=check_errors)
        result = result.mT
    return (result.squeeze(-1) if vector else result), info


def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> tuple[Tensor, Tensor]:
    """Solution and info."""
    return _solve(A, B, left, check_errors)


def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """Solution. Raises LinAlgError for a singular matrix."""
    return _solve(A, B, left, True)[0]


def inv(A: Tensor) -> Tensor:
    """Inverse. Raises LinAlgError for a singular matrix."""
    return _ops.linalg_inv_ex(A, check_errors=True)[0]


def det(A: Tensor) -> Tensor:
    """Determinant of every matrix."""
    return _ops._linalg_det(A)[0]


def slogdet(A: Tensor) -> tuple[Tensor, Tensor]:
    """Sign and log of the absolute value of the determinant."""
    sign, logabsdet, _, _ = _ops._linalg_slogdet(A)
    return sign, logabsdet


def logdet(self: Tensor) -> Tensor:
    """Log of the determinant; NaN where that is negative."""
    sign, logabsdet = slogdet(self)
    if self.dtype.is_complex:
        return sign.log() + logabsdet
    return flambeau.where(sign == -1, float("nan"), logabsdet)


def qr(self: Tensor, some: bool = True) -> tuple[Tensor, Tensor]:
    """QR; all columns of Q unless `some`."""
    return tuple(_ops.linalg_qr(self, "reduced" if some else "complete"))


def linalg_svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """U, S and V^H."""
    return tuple(_ops._linalg_svd(A, full_matrices, True, driver=driver))


def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """Singular values in descending order."""
    # A gradient needs the vectors.
    return _ops._linalg_svd(A, False, A.requires_grad and flambeau.is_grad_enabled(), driver=driver)[1]


def svd(self: Tensor, some: bool = True, compute_uv: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    """U, S and V; without `compute_uv` U and V are zeros."""
    if not compute_uv:
        batch, (m, n) = self.shape[:-2], self.shape[-2:]
        return (self.new_zeros((*batch, m, m)), svdvals(self), self.new_zeros((*batch, n, n)))
    U, S, Vh = _ops._linalg_svd(self, not some, True)
    return U, S, Vh.mH


def eigh(self: Tensor, UPLO: str = "L") -> tuple[Tensor, Tensor]:
    """Eigenvalues in ascending order, and eigenvectors."""
    return tuple(_ops._linalg_eigh(self, UPLO, True))


def eigvalsh(self: Tensor, UPLO: str = "L") -> Tensor:
    """Eigenvalues in ascending order."""
    return _ops._linalg_eigh(self, UPLO, self.requires_grad and flambeau.is_grad_enabled())[0]


def eig(self: Tensor) -> tuple[Tensor, Tensor]:
    """Complex eigenvalues and eigenvectors."""
    return tuple(_ops._linalg_eig(self, True))


def eigvals(self: Tensor) -> Tensor:
    """Complex eigenvalues."""
    return _ops._linalg_eig(self, self.requires_grad and flambeau.is_grad_enabled())[0]


def ldl_factor(self: Tensor, *, hermitian: bool = False) -> tuple[Tensor, Tensor]:
    """LDL factors and pivots."""
    LD, pivots, _ = _ops.linalg_ldl_factor_ex(self, hermitian=hermitian, check_errors=True)
    return LD, pivots


def triangular_solve(
    self: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Tensor, Tensor]:
    """X of AX = self (or A^T), and a copy of A, both broadcast to one batch."""
    if A.dim() < 2 or self.dim() < 2:
        raise RuntimeError(
            f"triangular_solve: both tensors must have at least 2 dimensions, got sizes {tuple(self.shape)} and {tuple(A.shape)}"
        )
    if transpose:
        solution = _ops.linalg_solve_triangular(A.mT, self, upper=not upper, unitriangular=unitriangular)
    else:
        solution = _ops.linalg_solve_triangular(A, self, upper=upper, unitriangular=unitriangular)
    return solution, A.expand((*solution.shape[:-2], *A.shape[-2:])).mT.clone(
        memory_format=flambeau.contiguous_format
    ).mT


_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def lstsq(
    self: Tensor, b: Tensor, rcond: float | None = None, *, driver: str | None = None
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Solution, sums of squared residuals (when the rank is full), rank, singular values (of the drivers that find them)."""
    driver = driver or "gelsy"
    if driver not in _DRIVERS:
        raise RuntimeError(
            f"torch.linalg.lstsq: parameter `driver` should be one of ({', '.join(_DRIVERS)}), got {driver}"
        )
    if self.dim() < 2:
        raise RuntimeError("torch.linalg.lstsq: input must have at least 2 dimensions.")
    if b.dim() < 1:
        raise RuntimeError("torch.linalg.lstsq: other must have at least 1 dimension.")
    vector = self.dim() - 1 == b.dim() and b.shape == self.shape[:-1]
    if b.dim() < 2 and not vector:
        raise RuntimeError(
            f"torch.linalg.lstsq: input.size(-2) should match other.size(-1), got {tuple(self.shape)} and {tuple(b.shape)}"
        )
    right = b.unsqueeze(-1) if vector else b
    m, n = self.shape[-2:]
    full, rank, singular = _ops._linalg_lstsq(self, right, rcond, driver)
    solution = full.narrow(-2, 0, n)
    residuals = solution.narrow(-2, 0, 0).reshape(0).abs()  # empty, and part of the graph
    if m > n and driver != "gelsy" and (driver == "gels" or not bool((rank != n).any())):
        if flambeau.is_grad_enabled() and (self.requires_grad or b.requires_grad):
            residuals = (right - self @ solution).abs().square().sum(-2)
        else:  # the rows below the solution are what is left over
            residuals = full.narrow(-2, n, m - n).abs().square().sum(-2)
    if driver == "gels":
        rank = rank.new_empty(0)
    if driver in ("gels", "gelsy"):
        singular = singular.new_empty(0)
    return (solution.squeeze(-1) if vector else solution), residuals, rank, singular
