"""Covariances, histograms, membership, Vandermonde matrices."""

import math
from collections.abc import Sequence
from typing import Any

import flambeau
from flambeau import Tensor


def _check_weights(name: str, weights: Tensor | None, count: int, kind: str, fits: bool) -> None:
    if weights is None:
        return
    if weights.dim() > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with {weights.dim()} dimensions"
        )
    if not fits:
        raise RuntimeError(f"cov(): expected {name} to have {kind} dtype but got {name} with {weights.dtype} dtype")
    if weights.numel() != count:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input but got {weights.numel()} != {count}"
        )
    if weights.numel() and not bool((weights >= 0).all()):
        raise RuntimeError(f"cov(): {name} cannot be negative")


def cov(self: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
    """Covariance of variables (rows) over observations (columns)."""
    if self.dim() > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {self.dim()} dimensions"
        )
    if self.dtype is flambeau.bool:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    x = self if self.dim() == 2 else self.reshape(1, -1)
    count = x.size(1)
    _check_weights(
        "fweights",
        fweights,
        count,
        "integral",
        fweights is None
        or not (fweights.is_floating_point() or fweights.is_complex() or fweights.dtype is flambeau.bool),
    )
    _check_weights("aweights", aweights, count, "floating point", aweights is None or aweights.is_floating_point())
    weights = None
    if fweights is not None or aweights is not None:
        weights = fweights if aweights is None else aweights if fweights is None else fweights * aweights
    total: Any = count if weights is None else weights.sum()
    if weights is not None and weights.numel() and total.item() == 0:
        raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    if not (x.is_floating_point() or x.is_complex()):
        x = x.to(flambeau.get_default_dtype())
    weighted = x if weights is None else x * weights
    mean = weighted.sum(1) / total
    norm: Any
    if weights is None or correction == 0 or aweights is None:
        norm = total - correction
    else:
        norm = total - correction * (weights * aweights).sum() / total
    norm = norm.clamp(min=0) if isinstance(norm, Tensor) else max(norm, 0)
    centred = x - mean.unsqueeze(1)
    rows = centred if weights is None else centred * weights
    product = flambeau.mm(rows, centred.t().conj() if x.is_complex() else centred.t())
    return (product / norm).squeeze()


def corrcoef(self: Tensor) -> Tensor:
    """Correlation of variables (rows) over observations (columns)."""
    if self.dim() > 2:
        raise RuntimeError(
            f"corrcoef(): expected input to have two or fewer dimensions but got an input with {self.dim()} dimensions"
        )
    c = cov(self)
    if c.dim() == 0:
        return c / c
    deviation = flambeau.sqrt(c.diagonal().real if c.is_complex() else c.diagonal())
    r = c / deviation.unsqueeze(1) / deviation.unsqueeze(0)
    if r.is_complex():
        return flambeau.complex(r.real.clamp(-1, 1), r.imag.clamp(-1, 1))
    return r.clamp(-1, 1)


def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """Powers of a vector's elements as columns, the highest first unless `increasing`."""
    if x.dim() != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    n = x.size(0) if N is None else N
    if n < 0:
        raise RuntimeError("N must be non-negative.")
    kind = x.dtype if x.is_floating_point() or x.is_complex() else flambeau.int64
    if n == 0:
        return x.new_empty((x.size(0), 0), dtype=kind)
    out = flambeau.cat(
        [flambeau.ones(x.size(0), 1, dtype=kind, device=x.device), x.to(kind).unsqueeze(1).expand(x.size(0), n - 1)], 1
    ).cumprod(1)
    return out if increasing else out.flip(1)


def isin(elements: Tensor, test_elements: Tensor, *, assume_unique: bool = False, invert: bool = False) -> Tensor:
    """Whether every element is among the others: by comparison with few, by binary search among many."""
    tests = test_elements.reshape(-1)
    if tests.numel() == 0:
        found = flambeau.zeros_like(elements, dtype=flambeau.bool)
    elif tests.numel() <= 16:
        found = (elements.unsqueeze(-1) == tests).any(-1)
    else:
        kind = flambeau.promote_types(elements.dtype, tests.dtype)
        ordered, wanted = tests.to(kind).sort()[0], elements.to(kind)
        at = flambeau.searchsorted(ordered, wanted).clamp(max=ordered.numel() - 1)
        found = ordered[at] == wanted
    return ~found if invert else found


def isin_scalar(
    elements: Tensor, test_element: complex, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    """Whether every element is the number."""
    return elements != test_element if invert else elements == test_element


def scalar_isin(
    element: complex, test_elements: Tensor, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    """Whether the number is among the elements."""
    found = (test_elements == element).any()
    return ~found if invert else found


# --- histograms -----------------------------------------------------------------------------------------------------------


def _edges(name: str, values: Tensor, bins: int, range: Sequence[float] | None) -> Tensor:
    """bins + 1 evenly spaced edges; without a range, from the smallest value to the largest."""
    if bins <= 0:
        raise RuntimeError(f"{name}(): bins must be > 0, but got {bins}")
    if range is not None:
        low, high = float(range[0]), float(range[1])
    elif values.numel():
        low, high = values.min().item(), values.max().item()
    else:
        low, high = 0.0, 1.0
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"{name}(): range of [{low}, {high}] is not finite")
    if low > high:
        raise RuntimeError(f"{name}(): min should not exceed max, but got min {low} max {high}")
    if low == high:
        low, high = low - 0.5, high + 0.5
    return flambeau.linspace(low, high, bins + 1, dtype=values.dtype)


def _places(values: Tensor, edges: Tensor) -> Tensor:
    """Bin of every value; the last bin is closed; one past the bins where there is none."""
    count = edges.numel() - 1
    at = flambeau.searchsorted(edges, values, right=True) - 1
    at = flambeau.where(values == edges[-1], count - 1, at)
    inside = (values >= edges[0]) & (values <= edges[-1])
    return flambeau.where(inside, at, count)


def _weighted_histogram(
    name: str, self: Tensor, edges: Tensor, weight: Tensor | None, density: bool
) -> tuple[Tensor, Tensor]:
    if weight is not None and weight.shape != self.shape:
        raise RuntimeError(
            f"{name}(): if weight tensor is provided it should have the same shape as the input tensor, got {tuple(weight.shape)} and {tuple(self.shape)}"
        )
    values = self.reshape(-1).contiguous()
    count = edges.numel() - 1
    amounts = flambeau.ones_like(values) if weight is None else weight.reshape(-1).to(values.dtype)
    hist = (
        flambeau.zeros(count + 1, dtype=self.dtype, device=self.device)
        .scatter_add_(0, _places(values, edges), amounts)[:count]
        .clone()
    )
    if density:
        hist = hist / (edges[1:] - edges[:-1]) / hist.sum()
    return hist, edges


def histogram_count(
    self: Tensor,
    bins: int = 100,
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> tuple[Tensor, Tensor]:
    """Counts, or sums of weights, in bins of equal width."""
    return _weighted_histogram("torch.histogram", self, _edges("torch.histogram", self, bins, range), weight, density)


def histogram_edges(
    self: Tensor, bins: Tensor, *, weight: Tensor | None = None, density: bool = False
) -> tuple[Tensor, Tensor]:
    """Counts, or sums of weights, between given edges."""
    if bins.dim() != 1:
        raise RuntimeError(f"torch.histogram(): bins tensor should have one dimension, but got {bins.dim()} dimensions")
    if bins.dtype is not self.dtype:
        raise RuntimeError(
            f"torch.histogram(): input tensor and bins tensors should have same dtype, but got input {self.dtype} and bins {bins.dtype}"
        )
    return _weighted_histogram("torch.histogram", self, bins, weight, density)


def histogramdd(
    input: Tensor,
    bins: int | Sequence[int] | Sequence[Tensor],
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Counts, or sums of weights, of points (the last dimension) in a grid of bins."""
    d = input.size(-1)
    given: list[Any] = [bins] * d if isinstance(bins, int) else list(bins)
    if len(given) != d:
        raise RuntimeError("histogramdd: The size of bins must be equal to the innermost dimension of the input.")
    points = input.reshape(-1, d)
    edges = []
    for k, b in enumerate(given):
        own = None if range is None else range[2 * k : 2 * k + 2]
        edges.append(b if isinstance(b, Tensor) else _edges("torch.histogramdd", points[:, k], b, own))
    shape = [e.numel() - 1 for e in edges]
    total = math.prod(shape)
    flat = flambeau.zeros(points.size(0), dtype=flambeau.int64, device=points.device)
    outside = flambeau.zeros(points.size(0), dtype=flambeau.bool, device=points.device)
    for k, e in enumerate(edges):
        place = _places(points[:, k].contiguous(), e)
        outside = outside | (place == shape[k])
        flat = flat * shape[k] + place
    flat = flambeau.where(outside, total, flat)
    amounts = flambeau.ones(points.size(0), dtype=input.dtype) if weight is None else weight.reshape(-1).to(input.dtype)
    hist = flambeau.zeros(total + 1, dtype=input.dtype).scatter_add_(0, flat, amounts)[:total].reshape(shape).clone()
    if density:
        hist = hist / hist.sum()
        for k, e in enumerate(edges):
            hist = hist / (e[1:] - e[:-1]).reshape([-1 if i == k else 1 for i in flambeau.arange(d).tolist()])
    return hist, tuple(edges)
