"""Sorting in terms of sort: argsort, distinct elements, quantiles."""

from typing import Any

import flambeau
from flambeau import Tensor

_ops = flambeau.ops.aten


def argsort_stable(self: Tensor, *, stable: bool, dim: int = -1, descending: bool = False) -> Tensor:
    return flambeau.sort(self.detach(), dim=dim, descending=descending, stable=stable)[1]


def argsort(self: Tensor, dim: int = -1, descending: bool = False) -> Tensor:
    return flambeau.sort(self.detach(), dim, descending)[1]


def msort(self: Tensor) -> Tensor:
    return flambeau.sort(self, 0)[0]


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Distinct elements (or slices of `dim`), ascending; with `return_inverse` where each went, with `return_counts` how many."""
    if dim is None:
        values, inverse, counts = _ops._unique2(input, sorted, True, True)
    else:
        values, inverse, counts = _ops.unique_dim(input, dim, sorted, True, True)
    return _chosen(values, inverse, counts, return_inverse, return_counts)


def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Elements (or slices of `dim`) without repetitions of their predecessor."""
    values, inverse, counts = unique_consecutive_full(input, True, True, dim)
    return _chosen(values, inverse, counts, return_inverse, return_counts)


def _chosen(values: Tensor, inverse: Tensor, counts: Tensor, return_inverse: bool, return_counts: bool) -> Any:
    if not (return_inverse or return_counts):
        return values
    return (values, *((inverse,) if return_inverse else ()), *((counts,) if return_counts else ()))


def unique_consecutive_full(
    self: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    if dim is None:
        return _ops._unique_consecutive_flat(self)
    return _distinct_slices(self, dim, list(range(self.shape[dim])))


def unique_dim(
    self: Tensor, dim: int, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    if self.dim() == 0 and dim in (0, -1):
        return self.reshape(1), flambeau.zeros(1, dtype=flambeau.int64), flambeau.ones(1, dtype=flambeau.int64)
    rows = self.movedim(dim, 0).reshape(self.shape[dim], self.numel() // max(self.shape[dim], 1))
    if rows.shape[1] == 0 and 0 in self.shape and self.shape[dim] != 0:
        raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    keys = [tuple(r) for r in rows.tolist()]
    order = sorted_indices(keys)
    return _distinct_slices(self, dim, order)


def sorted_indices(keys: list) -> list[int]:
    return sorted(range(len(keys)), key=keys.__getitem__)


def _distinct_slices(self: Tensor, dim: int, order: list[int]) -> tuple[Tensor, Tensor, Tensor]:
    """Slices of `dim`, visited in `order`, without those equal to the one before."""
    rows = self.movedim(dim, 0).reshape(self.shape[dim], self.numel() // max(self.shape[dim], 1)).tolist()
    kept: list[int] = []
    counts: list[int] = []
    inverse = [0] * len(order)
    for at in order:
        if not kept or rows[kept[-1]] != rows[at]:
            kept.append(at)
            counts.append(0)
        counts[-1] += 1
        inverse[at] = len(kept) - 1
    as_index = lambda values: flambeau.tensor(values, dtype=flambeau.int64)  # noqa: E731
    return flambeau.index_select(self, dim, as_index(kept)), as_index(inverse), as_index(counts)


_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _quantile(self: Tensor, q: Tensor, dim: int | None, keepdim: bool, interpolation: str, ignore_nan: bool) -> Tensor:
    if not self.numel():
        raise RuntimeError("quantile() input tensor must be non-empty")
    if q.dim() > 1:
        raise RuntimeError(f"quantile() q must be a scalar or 1D tensor, got {q.dim()} dimensions")
    if self.dtype not in (flambeau.float32, flambeau.float64):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if self.dtype != q.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    if interpolation not in _INTERPOLATIONS:
        raise RuntimeError(
            f"quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}"
        )
    if q.numel() and not bool(flambeau.logical_and(q >= 0, q <= 1).all()):
        raise RuntimeError("quantile() q values must be in the range [0, 1]")
    shape = list(self.shape)
    if dim is None:
        lanes = self.reshape(1, -1)
        kept: list[int] = [1] * self.dim() if keepdim else []
    else:
        d = dim % max(self.dim(), 1)
        lanes = self.reshape(1) if self.dim() == 0 else self.movedim(d, -1)
        kept = shape[:d] + ([1] if keepdim else []) + shape[d + 1 :]
    values = flambeau.sort(lanes, -1)[0]
    size = values.shape[-1]
    if ignore_nan:
        last = (flambeau.logical_not(flambeau.isnan(values)).sum(-1, True) - 1).to(self.dtype)
        rank = flambeau.clamp_min(last, 0) * q.reshape(-1)
    else:
        rank = (q.reshape(-1) * (size - 1)).expand(*values.shape[:-1], q.numel())
        has_nan = flambeau.isnan(values).any(-1, True)
        rank = flambeau.where(has_nan, flambeau.full_like(rank, size - 1), rank)
    if interpolation == "nearest":
        rank = flambeau.round(rank)
    elif interpolation == "lower":
        rank = flambeau.floor(rank)
    elif interpolation == "higher":
        rank = flambeau.ceil(rank)
    low = rank.to(flambeau.int64)
    result = flambeau.gather(values, -1, low)
    if interpolation in ("linear", "midpoint"):
        high = flambeau.gather(values, -1, flambeau.ceil(rank).to(flambeau.int64))
        weight = flambeau.full_like(rank, 0.5) if interpolation == "midpoint" else rank - low.to(rank.dtype)
        result = flambeau.lerp(result, high, weight)
    if q.dim() == 0:
        return result.squeeze(-1).reshape(kept)
    return result.movedim(-1, 0).reshape([q.numel(), *kept])


def quantile(
    self: Tensor, q: Tensor, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """q-th quantiles of all elements or of `dim`."""
    return _quantile(self, q, dim, keepdim, interpolation, False)


def nanquantile(
    self: Tensor, q: Tensor, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """quantile() of what is not NaN."""
    return _quantile(self, q, dim, keepdim, interpolation, True)


def _as_tensor(self: Tensor, q: float) -> Tensor:
    if not 0 <= q <= 1:
        raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q}")
    return flambeau.tensor(q, dtype=self.dtype, device=self.device)


def quantile_scalar(
    self: Tensor, q: float, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    return _quantile(self, _as_tensor(self, q), dim, keepdim, interpolation, False)


def nanquantile_scalar(
    self: Tensor, q: float, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    return _quantile(self, _as_tensor(self, q), dim, keepdim, interpolation, True)
