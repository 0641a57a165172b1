"""Distances and similarities between vectors."""

from __future__ import annotations

import flambeau as fl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from flambeau import Tensor

_BY_PRODUCT = 25
"""cdist with p = 2 goes through a matrix product from this many rows on."""


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """x1 . x2 / (max(|x1|, eps) max(|x2|, eps)) along `dim`, inputs broadcast.

    Raises
    ------
    RuntimeError  if the inputs are not floating point
    """
    common = fl.promote_types(x1.dtype, x2.dtype)
    if not common.is_floating_point:
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {common}")
    x1, x2 = fl.broadcast_tensors(x1.to(common), x2.to(common))

    def unit(x: Tensor) -> Tensor:
        return x / fl.norm(x, 2, dim, True).clamp_min(eps)

    return (unit(x1) * unit(x2)).sum(dim)


def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """p-norm of x1 - x2 + eps over the last dimension."""
    return fl.norm(x1 - x2 + eps, p, -1, keepdim)


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: int | None = None) -> Tensor:
    """p-norm distances (..., P, R) between rows of x1 (..., P, M) and x2 (..., R, M).

    Parameters
    ----------
    compute_mode : 0 or None: by a matrix product for p = 2 and many rows; 1: always; 2: never

    Raises
    ------
    RuntimeError  if dtypes, ranks or numbers of columns do not fit, or p is negative
    """
    for name, x in (("X1", x1), ("X2", x2)):
        if not x.is_floating_point():
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: {x.dtype}")
        if x.dim() < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.dim()}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}")
    if p < 0:
        raise RuntimeError(f"cdist only supports non-negative p values, got {p}")
    if compute_mode not in (None, 0, 1, 2):
        raise RuntimeError(f"[cdist] possible modes: 0, 1, 2, but was: {compute_mode}")
    many = x1.shape[-2] > _BY_PRODUCT or x2.shape[-2] > _BY_PRODUCT
    if p == 2 and x1.shape[-1] > 0 and (compute_mode == 1 or (compute_mode in (None, 0) and many)):
        return euclidean_dist(x1, x2)
    difference = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    if x1.shape[-1] == 0:
        return difference.sum(-1)
    return fl.norm(difference, p, -1)


_MODES = {"use_mm_for_euclid_dist_if_necessary": None, "use_mm_for_euclid_dist": 1, "donot_use_mm_for_euclid_dist": 2}


def cdist_by_name(
    x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary"
) -> Tensor:
    """p-norm distances (..., P, R) between rows of x1 (..., P, M) and x2 (..., R, M).

    Parameters
    ----------
    compute_mode : when p = 2 goes through a matrix product, which is faster and less exact: one of
        "use_mm_for_euclid_dist_if_necessary" (more than 25 rows), "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"

    Raises
    ------
    ValueError    for another compute_mode
    RuntimeError  if dtypes, ranks or numbers of columns do not fit, or p is negative
    """
    if compute_mode not in _MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode; allowed are {', '.join(_MODES)}")
    return cdist(x1, x2, p, _MODES[compute_mode])


def euclidean_dist(x1: Tensor, x2: Tensor) -> Tensor:
    """|a|^2 - 2 a.b + |b|^2 as one product of widened rows, and its root."""
    n1, n2 = (x1 * x1).sum(-1, keepdim=True), (x2 * x2).sum(-1, keepdim=True)
    a = fl.cat([x1 * -2, n1, fl.ones_like(n1)], -1)
    b = fl.cat([x2, fl.ones_like(n2), n2], -1)
    return fl.matmul(a, b.transpose(-2, -1)).clamp_min(1e-30).sqrt()


def pdist(self: Tensor, p: float = 2.0) -> Tensor:
    """p-norm distances of every pair i < j of rows of (N, M), in row-major order.

    Raises
    ------
    RuntimeError  if self is not a floating matrix or p is negative
    """
    if self.dim() != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {self.dim()}D")
    if not self.is_floating_point():
        raise RuntimeError(f"pdist only supports floating-point dtypes, got: {self.dtype}")
    if p < 0:
        raise RuntimeError(f"pdist only supports non-negative p values, got {p}")
    rows = self.shape[0]
    i, j = fl.triu_indices(rows, rows, 1, device=self.device)
    difference = self.index_select(0, i) - self.index_select(0, j)
    if self.shape[1] == 0:
        return difference.sum(-1)
    return fl.norm(difference, p, -1)


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x1 weight[k] x2 + bias[k] for every k: (..., O) from (..., I), (..., J) and weight (O, I, J).

    Raises
    ------
    RuntimeError  where shapes do not fit
    """
    if input1.shape[:-1] != input2.shape[:-1] or 0 in (input1.dim(), input2.dim()) or weight.dim() != 3:
        raise RuntimeError(
            f"[bilinear] inputs of shapes {tuple(input1.shape)} and {tuple(input2.shape)} must agree but for the last "
            f"size, and weight {tuple(weight.shape)} must have three dimensions"
        )
    out, size1, size2 = weight.shape
    if input1.shape[-1] != size1 or input2.shape[-1] != size2:
        raise RuntimeError(
            f"[bilinear] the last sizes of the inputs are {input1.shape[-1]} and {input2.shape[-1]}, weight "
            f"{tuple(weight.shape)} expects {size1} and {size2}"
        )
    if bias is not None and bias.shape != (out,):
        raise RuntimeError(f"[bilinear] bias must have shape ({out},), got {tuple(bias.shape)}")
    x1, x2 = input1.reshape(-1, size1), input2.reshape(-1, size2)
    # (N, O * J) of x1 weight, then one dot product with x2 for every output.
    half = fl._C._nn.linear(x1, weight.transpose(1, 2).reshape(out * size2, size1)).reshape(-1, out, size2)
    result = (half * x2.unsqueeze(1)).sum(-1)
    if bias is not None:
        result = result + bias
    return result.reshape(*input1.shape[:-1], out)
