"""Parametrizations to use with `parametrize`: weight norm, spectral norm, orthogonality."""

from __future__ import annotations

from enum import Enum, auto
from typing import Any

import flambeau
from flambeau.nn import Module
from flambeau.nn.utils import parametrize
from flambeau.nn.utils.weight_norm import norm_except_dim, scaled_to_norm

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        return scaled_to_norm(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Any) -> tuple[Any, Any]:
        return norm_except_dim(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Learn length and direction of the weight separately: w = g v / |v|.

    Parameters
    ----------
    module, name : whose parameter, and which
    dim : the norm is taken over all other dims; None, over all

    `original0` is g, `original1` is v. State dicts of the older `utils.weight_norm` load.

    Source: Salimans, Kingma 2016, arXiv:1602.07868.
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(state_dict: dict[str, Any], prefix: str, *_: Any) -> None:
        old = (f"{prefix}{name}_g", f"{prefix}{name}_v")
        if all(key in state_dict for key in old):
            for i, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{name}.original{i}"] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(rename)
    return module


class _SpectralNorm(Module):
    _u: Any
    _v: Any

    def __init__(self, weight: Any, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        ndim = weight.ndim
        if dim >= ndim or dim < -ndim:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim = dim if dim >= 0 else dim + ndim
        self.eps = eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._as_matrix(weight)
            h, w = matrix.size()
            u, v = matrix.new_empty(h).normal_(0, 1), matrix.new_empty(w).normal_(0, 1)
            self.register_buffer("_u", _unit(u, eps))
            self.register_buffer("_v", _unit(v, eps))
            # The buffers start near the answer, so that one iteration a step keeps up.
            self._power_method(matrix, 15)

    def _as_matrix(self, weight: Any) -> Any:
        if self.dim != 0:
            others = (d for d in range(weight.dim()) if d != self.dim)
            weight = weight.permute(self.dim, *others)
        return weight.flatten(1)

    def _power_method(self, matrix: Any, iterations: int) -> None:
        with flambeau.no_grad():
            for _ in range(iterations):
                self._u = _unit(flambeau.mv(matrix, self._v), self.eps)
                self._v = _unit(flambeau.mv(matrix.H, self._u), self.eps)

    def forward(self, weight: Any) -> Any:
        if weight.ndim == 1:
            return _unit(weight, self.eps)
        matrix = self._as_matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        u = self._u.clone(memory_format=flambeau.contiguous_format)
        v = self._v.clone(memory_format=flambeau.contiguous_format)
        return weight / flambeau.vdot(u, flambeau.mv(matrix, v))

    def right_inverse(self, value: Any) -> Any:
        # A value that is assigned is taken to have the norm one already.
        return value


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divide the weight by its largest singular value, followed by power iteration while training.

    Parameters
    ----------
    module, name : whose parameter, and which
    n_power_iterations : int > 0, iterations in each training step
    eps : float, floor of the norms
    dim : the weight is taken as a matrix whose rows run along it; by default 0, for transposed
        convolutions 1

    Source: Miyato et al. 2018, arXiv:1802.05957.
    """
    weight = _weight(module, name)
    if dim is None:
        dim = default_dim(module)
    parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module


def default_dim(module: Module) -> int:
    """Return the dim of output channels: transposed convolutions have it second."""
    nn = flambeau.nn
    transposed = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
    return 1 if isinstance(module, transposed) else 0


class _OrthMaps(Enum):
    matrix_exp = auto()
    cayley = auto()
    householder = auto()


class _Orthogonal(Module):
    base: Any

    def __init__(self, weight: Any, orthogonal_map: _OrthMaps, *, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == _OrthMaps.householder:
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x: Any) -> Any:
        n, k = x.size(-2), x.size(-1)
        wide = n < k
        if wide:
            x, n, k = x.mT, k, n
        if self.orthogonal_map == _OrthMaps.householder:
            q = _from_reflections(x)
        else:
            q = self._from_skew(x, n, k)
        if hasattr(self, "base") and self.base is not None:
            q = self.base @ q
        return q.mT if wide else q

    def _from_skew(self, x: Any, n: int, k: int) -> Any:
        """Map the skew-symmetric matrix, given by its lower triangle, to an orthogonal one."""
        x = x.tril()
        if n != k:
            x = flambeau.cat([x, x.new_zeros(n, n - k).expand(*x.shape[:-2], -1, -1)], dim=-1)
        skew = x - x.mH
        if self.orthogonal_map == _OrthMaps.matrix_exp:
            q = flambeau.linalg.matrix_exp(skew)
        else:
            eye = flambeau.eye(n, dtype=skew.dtype, device=skew.device)
            q = flambeau.linalg.solve(flambeau.add(eye, skew, alpha=-0.5), flambeau.add(eye, skew, alpha=0.5))
        return q[..., :k] if n != k else q

    @flambeau.no_grad()
    def right_inverse(self, q: Any) -> Any:
        if q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {q.shape}."
            )
        wide = q.size(-2) < q.size(-1)
        q = q.mT if wide else q
        n, k = q.size(-2), q.size(-1)
        if not hasattr(self, "base"):
            return self._invert_householder(q, wide)
        if n == k:
            self.base = q.clone() if _is_orthogonal(q) else _make_orthogonal(q)
        else:
            # Filled up to a square matrix: the map gives the identity, the base turns it into q.
            extra = flambeau.randn(*q.shape[:-2], n, n - k, dtype=q.dtype, device=q.device)
            full = flambeau.cat([_make_orthogonal(q) if not _is_orthogonal(q) else q, extra], dim=-1)
            self.base = _make_orthogonal(full)
        # What all three maps turn into the identity: skew-symmetric matrices have no diagonal, and
        # reflections by vectors along the axes are undone by the signs in `_from_reflections`.
        start = flambeau.zeros_like(q)
        start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return start.mT if wide else start

    def _invert_householder(self, q: Any, wide: bool) -> Any:
        if self.orthogonal_map != _OrthMaps.householder:
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley "
                "parametrizations when use_trivialization=False."
            )
        a, tau = flambeau.geqrf(q)
        a.diagonal(dim1=-2, dim2=-1).sign_()
        a.diagonal(dim1=-2, dim2=-1)[tau == 0.0] *= -1
        return a.mT if wide else a


def _from_reflections(x: Any) -> Any:
    a = x.tril(diagonal=-1)
    tau = 2.0 / (1.0 + (a * a).sum(dim=-2))
    q = flambeau.linalg.householder_product(a, tau)
    return q * x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Module:
    """Keep a matrix, or batch of them, orthogonal: columns of length one at right angles.

    Parameters
    ----------
    module, name : whose parameter, and which; with more columns than rows, its rows are orthogonal
    orthogonal_map : "matrix_exp", "cayley" or "householder"; by default "matrix_exp" for square and
        complex matrices, else "householder"
    use_trivialization : learn the difference to a base, so that any orthogonal value can be assigned

    Source: Lezcano-Casado 2019, arXiv:1909.09501.
    """
    weight = _weight(module, name)
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.size(-2) == weight.size(-1)
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    chosen = getattr(_OrthMaps, orthogonal_map, None)
    if chosen is None:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    parametrization = _Orthogonal(weight, chosen, use_trivialization=use_trivialization)
    parametrize.register_parametrization(module, name, parametrization, unsafe=True)
    return module


def _is_orthogonal(q: Any) -> bool:
    n, k = q.size(-2), q.size(-1)
    eye = flambeau.eye(k, dtype=q.dtype, device=q.device)
    eps = 10.0 * n * flambeau.finfo(q.dtype).eps
    return bool(flambeau.allclose(q.mH @ q, eye, atol=eps))


def _make_orthogonal(a: Any) -> Any:
    """Return the orthogonal factor of `a`, with the signs that make it the identity for the identity."""
    q, r = flambeau.linalg.qr(a)
    return q * r.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


def _unit(x: Any, eps: float) -> Any:
    return x / x.norm(2).clamp_min(eps)


def _weight(module: Module, name: str) -> Any:
    weight = getattr(module, name, None)
    if not isinstance(weight, flambeau.Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return weight
