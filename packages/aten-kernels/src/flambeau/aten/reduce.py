"""Reductions in terms of others: variances, means without NaN, logsumexp."""

from collections.abc import Sequence

import flambeau
from flambeau import Tensor

_ops = flambeau.ops.aten


def _dims(dim: Sequence[int] | None) -> list[int]:
    return [] if dim is None else list(dim)


def _check(name: str, self: Tensor) -> None:
    if not (self.dtype.is_floating_point or self.dtype.is_complex):
        raise RuntimeError(f"{name} only support floating point and complex dtypes")


def var_correction(
    self: Tensor, dim: Sequence[int] | None = None, *, correction: float | None = None, keepdim: bool = False
) -> Tensor:
    """Variance with divisor n - correction (default 1)."""
    _check("std and var", self)
    correction = 1.0 if correction is None else float(correction)
    if self.dtype.is_complex:
        parts = (_ops._var(p, correction, _dims(dim), keepdim) for p in (self.real, self.imag))
        return flambeau.add(*parts)
    return _ops._var(self, correction, _dims(dim), keepdim)


def var_mean_correction(
    self: Tensor, dim: Sequence[int] | None = None, *, correction: float | None = None, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    """Variance and mean."""
    _check("var_mean", self)
    if self.dtype.is_complex:
        mean = self.mean(_dims(dim), keepdim) if _dims(dim) or keepdim else self.mean()
        return var_correction(self, dim, correction=correction, keepdim=keepdim), mean
    return _ops._var_mean(self, 1.0 if correction is None else float(correction), _dims(dim), keepdim)


def _root(var: Tensor) -> Tensor:
    """Square root whose derivative at 0, where all elements are equal, is 0."""
    if not var.requires_grad:
        return flambeau.sqrt(var)
    zero = var == 0
    return flambeau.sqrt(var.masked_fill(zero, 1)).masked_fill(zero, 0)


def std_correction(
    self: Tensor, dim: Sequence[int] | None = None, *, correction: float | None = None, keepdim: bool = False
) -> Tensor:
    """Standard deviation."""
    return _root(var_correction(self, dim, correction=correction, keepdim=keepdim))


def std_mean_correction(
    self: Tensor, dim: Sequence[int] | None = None, *, correction: float | None = None, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    """Standard deviation and mean."""
    _check("std_mean", self)
    var, mean = var_mean_correction(self, dim, correction=correction, keepdim=keepdim)
    return _root(var), mean


def var_unbiased(self: Tensor, unbiased: bool = True) -> Tensor:
    return var_correction(self, correction=int(unbiased))


def var_dim(self: Tensor, dim: Sequence[int] | None, unbiased: bool = True, keepdim: bool = False) -> Tensor:
    return var_correction(self, dim, correction=int(unbiased), keepdim=keepdim)


def std_unbiased(self: Tensor, unbiased: bool = True) -> Tensor:
    return std_correction(self, correction=int(unbiased))


def std_dim(self: Tensor, dim: Sequence[int] | None, unbiased: bool = True, keepdim: bool = False) -> Tensor:
    return std_correction(self, dim, correction=int(unbiased), keepdim=keepdim)


def var_mean_unbiased(self: Tensor, unbiased: bool = True) -> tuple[Tensor, Tensor]:
    return var_mean_correction(self, correction=int(unbiased))


def var_mean_dim(
    self: Tensor, dim: Sequence[int] | None, unbiased: bool = True, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    return var_mean_correction(self, dim, correction=int(unbiased), keepdim=keepdim)


def std_mean_unbiased(self: Tensor, unbiased: bool = True) -> tuple[Tensor, Tensor]:
    return std_mean_correction(self, correction=int(unbiased))


def std_mean_dim(
    self: Tensor, dim: Sequence[int] | None, unbiased: bool = True, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    return std_mean_correction(self, dim, correction=int(unbiased), keepdim=keepdim)


def nanmean(
    self: Tensor, dim: Sequence[int] | None = None, keepdim: bool = False, *, dtype: flambeau.dtype | None = None
) -> Tensor:
    """Mean of what is not NaN."""
    if not (self.dtype.is_floating_point or self.dtype.is_complex):
        raise RuntimeError(f"nanmean(): expected input to have floating point or complex dtype but got {self.dtype}")
    valid = flambeau.logical_not(flambeau.isnan(self))
    count = flambeau.sum(valid, _dims(dim), keepdim)
    kept = flambeau.where(valid, self, flambeau.zeros_like(self))
    return flambeau.sum(kept, _dims(dim), keepdim, dtype=dtype) / count


def logsumexp(self: Tensor, dim: Sequence[int], keepdim: bool = False) -> Tensor:
    """log(sum(exp(x))) over `dim`, without overflow."""
    x = self if self.dtype.is_floating_point or self.dtype.is_complex else self.to(flambeau.get_default_dtype())
    dims = list(dim)
    if x.numel() == 0:
        return flambeau.log(flambeau.sum(flambeau.exp(x), dims, keepdim))
    top = flambeau.amax((x.real if x.dtype.is_complex else x).detach(), dims, True)
    top = flambeau.where(flambeau.isinf(top), flambeau.zeros_like(top), top)
    total = flambeau.log(flambeau.sum(flambeau.exp(x - top), dims, keepdim))
    return total + (top if keepdim else top.squeeze(dims) if dims else top.reshape(()))


def hash_tensor(self: Tensor, dim: list[int] = [], *, keepdim: bool = False, mode: int = 0) -> Tensor:  # noqa: B006
    """Exclusive or over `dim` (none: all) of the 64 bits that each element has as float64 or int64, as uint64."""
    if mode != 0:
        raise RuntimeError(f"[hash_tensor] Unknown hash_tensor mode: {mode}; 0, exclusive or, is allowed")
    if self.dtype.is_complex:
        raise NotImplementedError(f"[hash_tensor] not implemented for {self.dtype}")
    if not dim and not self.numel():
        raise RuntimeError(
            "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument."
        )
    bits = self.to(flambeau.float64).view(flambeau.int64) if self.dtype.is_floating_point else self.to(flambeau.int64)
    n = max(self.dim(), 1)
    for d in dim:
        if not -n <= d < n:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {d})")
        if self.dim() and not self.shape[d]:
            raise IndexError(f"hash_tensor: Expected reduction dim {d % n} to have non-zero size.")
    dims = {d % n for d in dim} if dim else set(range(n))
    if len(dims) != len(dim) and dim:
        raise RuntimeError(f"[hash_tensor] a dim appears multiple times in {list(dim)}")
    kept = [d for d in range(self.dim()) if d not in dims]
    rows = (
        bits.permute(*kept, *sorted(dims)).reshape(*(self.shape[d] for d in kept), -1)
        if self.dim()
        else bits.reshape(1)
    )
    while (size := rows.shape[-1]) > 1:  # halves onto each other; an odd element waits
        half = size // 2
        folded = rows.narrow(-1, 0, half) ^ rows.narrow(-1, half, half)
        rows = flambeau.cat([folded, rows.narrow(-1, size - 1, 1)], -1) if size % 2 else folded
    shape = [1 if d in dims else s for d, s in enumerate(self.shape)] if keepdim else [self.shape[d] for d in kept]
    return rows.reshape(shape).view(flambeau.uint64)
