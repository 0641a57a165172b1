"""Derivatives against finite differences, for every differentiable expression that the oracle compares.

Each expression is evaluated in float64 at its inputs and a little to both sides along a random direction; the difference
must agree with the gradient that backward gives. One direction per expression finds a wrong formula as surely as all of
them would, at the cost of two evaluations.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import flambeau as fl
import numpy as np
import pytest

ORACLE = Path(__file__).resolve().parents[1] / "oracle"
sys.path.insert(0, str(ORACLE))

from inputs import Inputs, seed_of, weights_like  # noqa: E402
from plan import operator_of  # noqa: E402

FAMILIES = (
    "creation",
    "pointwise",
    "special",
    "reduce",
    "sort",
    "shape",
    "indexing",
    "linalg",
    "fft",
    "neural",
    "internal",
)
STEP = 1e-6
# float32 inside whatever the inputs are: finite differences of 1e-6 drown in rounding
COARSE = ("f(", "half()", "bfloat16", "float32", "out=", "float()", "cfloat()")
CUT = ("detach()", "max_norm=")  # what follows gets no gradient on purpose
# where the gradient is by definition not that of the expression, or there is none: strict, an entry that passes fails
NO_GRADIENT = {
    "constants": (
        "arange", "eye", "full", "full_like", "heaviside", "histc", "histogram", "linspace", "logspace", "new_full", "new_ones",
        "new_tensor", "new_zeros", "ones", "ones_like", "range", "scalar_tensor", "tensor", "zeros", "zeros_like",
    ),
    "PyTorch has no derivative either": (
        "igamma", "igammac", "linalg.ldl_factor", "linalg.ldl_factor_ex", "linalg.ldl_solve", "special.airy_ai",
        "special.bessel_j0", "special.bessel_j1", "special.bessel_y0", "special.bessel_y1", "special.chebyshev_polynomial_t",
        "special.chebyshev_polynomial_u", "special.chebyshev_polynomial_v", "special.chebyshev_polynomial_w", "special.gammainc",
        "special.gammaincc", "special.hermite_polynomial_h", "special.hermite_polynomial_he", "special.laguerre_polynomial_l",
        "special.legendre_polynomial_p", "special.modified_bessel_k0", "special.modified_bessel_k1",
        "special.scaled_modified_bessel_k0", "special.scaled_modified_bessel_k1", "special.shifted_chebyshev_polynomial_t",
        "special.shifted_chebyshev_polynomial_u", "special.shifted_chebyshev_polynomial_v",
        "special.shifted_chebyshev_polynomial_w", "special.spherical_bessel_j0", "unique_consecutive",
    ),
}  # fmt: skip
OUTSIDE = (
    "fl.sqrt(t(7))", "fl.sqrt(nc(3, 4))", "fl.log(t(7))", "fl.log(nc(3, 4))", "fl.pow(t(3, 1), p(4))", "fl.pow(t(65), p(65))",
    "fl.logit(t())", "fl.logit(t(37))", "fl.logit(u(37))", "fl.logit(u(3, 4))", "fl.float_power(t(5), p(5))",
    "fl.float_power(t(3, 4), p(4))", "fl.special.entr(u(37))", "fl.special.entr(u(3, 4))", "fl.special.entr(t(9) * 3)",
    "fl.special.erfinv(t(9) * 3)", "fl.special.log1p(t(9) * 3)", "fl.var(t(1))", "fl.std(t(0))", "fl.mean(t(0))",
)  # fmt: skip
EXCEPTIONS = {
    "fl.unique(t(3, 4))": "PyTorch has no derivative either",
    "fl.unique(t(9))": "PyTorch has no derivative either",
    "fl.unique(t(9), return_inverse=True, return_counts=True)": "PyTorch has no derivative either",
    **dict.fromkeys(OUTSIDE, "some numbers lie outside the domain"),
    "fl.linalg.norm(fl.zeros_like(t(3)))": "constant",
    "fl.scatter(t(3, 4), 1, i(4, 3, 5), t(3, 5), reduce='add')": "PyTorch has no derivative either",
    "fl.special.zeta(p(9) + 1, p(9))": "the first argument gets no gradient",
    "fl.linalg.qr(t(2, 3, 4), mode='r')[1].abs()": "needs Q, which mode='r' does not compute",
    "fl.var(t())": "one element has no variance",
    "fl.std(t())": "one element has no deviation",
    "fl.nan_to_num(t(4) / 0)": "infinite on both sides",
    "fl.nansum(t(4) / 0 * 0)": "not a number on all sides",
    "F.batch_norm(t(4, 3, 5, 2), u(3), p(3), t(3), t(3))": "running statistics get no gradient",
    "F.embedding(i(7, 5), t(7, 4), padding_idx=2)": "the padding row gets no gradient on purpose",
    "F.cross_entropy(t(5, 4), i(4, 5), weight=p(4), reduction='none', label_smoothing=0.1)": "weights get no gradient",
    "F.nll_loss(t(5, 4), i(4, 5), weight=p(4), reduction='sum')": "weights get no gradient",
}


class Nudged(Inputs):
    """The same inputs, each floating one moved by `step` along its own random direction."""

    def __init__(self, step: float, seed: int) -> None:
        super().__init__(fl, "float64", seed)
        self.step = step
        self.directions: list[np.ndarray] = []

    def _leaf(self, numbers: np.ndarray, dtype: str | None = None) -> Any:
        direction = np.random.default_rng(len(self.directions)).standard_normal(np.shape(numbers))
        if np.ndim(numbers) > 1 and np.array_equal(numbers, np.swapaxes(numbers, -1, -2)):
            direction = direction + np.swapaxes(direction, -1, -2)  # stay among the symmetric matrices
        self.directions.append(direction)
        return super()._leaf(np.asarray(numbers) + self.step * direction, dtype)


def reason_for(expression: str) -> str:
    """Why it cannot agree, or ''."""
    name = operator_of(expression)
    return EXCEPTIONS.get(expression) or next((why for why, names in NO_GRADIENT.items() if name in names), "")


def expressions() -> Iterator[Any]:
    for family in FAMILIES:
        for kinds, expression in importlib.import_module(f"samples.{family}").SAMPLES:
            coarse = any(word in expression for word in (*COARSE, *CUT))
            if kinds not in "-ib" and not coarse:
                reason = reason_for(expression)
                marks = [pytest.mark.xfail(strict=True, reason=reason)] if reason else []
                yield pytest.param(expression, marks=marks)


def tensors_in(value: Any) -> list[fl.Tensor]:
    if isinstance(value, list | tuple):
        return [t for v in value for t in tensors_in(v)]
    return [value] if isinstance(value, fl.Tensor) else []


def has_numbers(results: list[fl.Tensor]) -> bool:
    """Whether a result can carry a gradient at all: it holds floating numbers."""
    return any((t.is_floating_point() or t.is_complex()) and t.numel() for t in results)


def weighted_sum(expression: str, step: float) -> tuple[Any, Nudged]:
    """sum(weights * results) as a tensor, or None without differentiable results."""
    inputs = Nudged(step, seed_of(expression))
    total = None
    results = tensors_in(eval(expression, inputs.names()))
    if not has_numbers(results):
        pytest.skip("the result holds no floating numbers")
    for result in results:
        if result.requires_grad and result.numel():
            weights = fl.from_numpy(weights_like(tuple(result.shape))).to(result.dtype)
            part = (result * weights).sum()
            part = part.real if part.is_complex() else part
            total = part if total is None else total + part
    return total, inputs


@pytest.mark.parametrize("expression", list(expressions()))
def test_backward_agrees_with_finite_differences(expression: str) -> None:
    total, inputs = weighted_sum(expression, 0.0)
    assert total is not None, "no result carries a gradient"
    total.backward()
    along = sum(
        float((leaf.grad.numpy() * direction).sum())
        for leaf, direction in zip(inputs.leaves, inputs.directions, strict=True)
        if leaf.grad is not None
    )
    above, below = (weighted_sum(expression, sign * STEP)[0].item() for sign in (1, -1))
    measured = (above - below) / (2 * STEP)
    assert np.isfinite(measured), "outside the domain"
    assert along == pytest.approx(measured, rel=2e-5, abs=2e-6 * max(1.0, abs(total.item())))
