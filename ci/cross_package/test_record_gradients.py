"""Derivatives of every operator record: against finite differences, and of the in-place form against the functional one.

A call is evaluated in float64 at its inputs and a little to both sides along a random direction; the difference must agree
with the gradient that backward gives. One direction finds a wrong formula as surely as all would, at the cost of two
evaluations.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import flambeau as fl
import pytest
from comparison import assert_same
from known_faults import marked
from record_samples import LARGE, Call, sample
from records import OPERATORS, Operator, tensors_in

STEP = 1e-6


def operators(check: str, chosen: Callable[[Operator], bool]) -> Any:
    return pytest.mark.parametrize("operator", marked(check, [o for o in OPERATORS if chosen(o)]), ids=lambda o: o.name)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def weighted_sum(result: Any, only: list[bool] | None = None) -> tuple[fl.Tensor | None, list[bool]]:
    """sum(weights * results) over the differentiable results (those of `only`, if given), and which these are."""
    total, chosen = None, []
    for position, t in enumerate(tensors_in(result)):
        chosen.append(t.requires_grad if only is None else only[position])
        if chosen[-1]:
            weights = fl.cos(fl.arange(t.numel(), dtype=fl.float64)).reshape(t.shape)
            weights = fl.complex(weights, 0.5 - weights) if t.is_complex() else weights
            part = (t * weights).sum()
            part = part.real if part.is_complex() else part
            total = part if total is None else total + part
    return total, chosen


def is_differentiable(o: Operator) -> bool:
    """Whether a float result is expected to carry a gradient from a float input."""
    schema = o.record.schema
    tensors = any(a.type.base == "Tensor" for a in schema.arguments) and any(
        t.base == "Tensor" for t, _ in schema.returns
    )
    return o.record.differentiable and tensors and not o.mutates and o.name not in NO_GRADIENT


NO_GRADIENT = {
    **dict.fromkeys(
        [
            "binomial",
            "scatter.reduce",
            "scatter.value_reduce",
            "geqrf",
            "linalg_ldl_factor",
            "unique_consecutive",
            "_embedding_bag_dense_backward",
            "_embedding_bag_per_sample_weights_backward",
            "_scaled_dot_product_flash_attention_for_cpu_backward",
            "special_airy_ai",
            "special_bessel_j0",
            "special_bessel_j1",
            "special_bessel_y0",
            "special_bessel_y1",
            "special_modified_bessel_k0",
            "special_modified_bessel_k1",
            "special_scaled_modified_bessel_k0",
            "special_scaled_modified_bessel_k1",
            "special_spherical_bessel_j0",
            "special_chebyshev_polynomial_t",
            "special_chebyshev_polynomial_u",
            "special_chebyshev_polynomial_v",
            "special_chebyshev_polynomial_w",
            "special_shifted_chebyshev_polynomial_t",
            "special_shifted_chebyshev_polynomial_u",
            "special_shifted_chebyshev_polynomial_v",
            "special_shifted_chebyshev_polynomial_w",
            "special_hermite_polynomial_h",
            "special_hermite_polynomial_he",
            "special_laguerre_polynomial_l",
            "special_legendre_polynomial_p",
        ],
        "PyTorch has no derivative either",
    ),
    **dict.fromkeys(
        [
            "native_batch_norm_backward",
            "native_layer_norm_backward",
            "_fused_rms_norm_backward",
            "native_group_norm_backward",
        ],
        "recorded gradients go through _norm_gradients",
    ),
    "view_copy.dtype": "bits, not numbers",
}


def gradient_along(call: Call) -> float:
    """The derivative that backward gives along the directions of the leaves."""
    total = 0.0
    for leaf, direction in zip(call.inputs.leaves, call.inputs.directions, strict=True):
        if leaf.grad is not None:
            total += float(
                (leaf.grad.conj() * direction).sum().real if leaf.is_complex() else (leaf.grad * direction).sum()
            )
    return total


@operators("gradient", is_differentiable)
def test_backward_agrees_with_finite_differences(operator: Operator) -> None:
    call = sample(operator, grad=True)
    result = call.run()
    numbers = [t for t in tensors_in(result) if t.is_floating_point() or t.is_complex()]
    if not numbers:
        return  # indices, masks
    total, chosen = weighted_sum(result)
    assert total is not None, "no result carries a gradient"
    total.backward()
    assert any(leaf.grad is not None for leaf in call.inputs.leaves)
    if all(t.dtype not in (fl.float64, fl.complex128) for t in numbers):
        return  # rounded to fewer bits than a small step changes
    moved = [weighted_sum(sample(operator, step=sign * STEP).run(), chosen)[0] for sign in (1, -1)]
    measured = (moved[0].item() - moved[1].item()) / (2 * STEP)
    assert gradient_along(call) == pytest.approx(measured, rel=2e-5, abs=2e-6 * max(1.0, abs(total.item())))


@pytest.fixture
def restored_threads() -> Iterator[None]:
    before = fl.get_num_threads()
    yield
    fl.set_num_threads(before)


@operators("gradient threads", lambda o: is_differentiable(o) and o.has_derivative and not o.record.view)
def test_gradients_do_not_depend_on_the_number_of_threads(operator: Operator, restored_threads: None) -> None:
    results = []
    for threads in (1, 3):
        fl.set_num_threads(threads)
        call = sample(operator, LARGE, grad=True)
        total, _ = weighted_sum(call.run())
        if total is None:
            return
        total.backward()
        results.append([leaf.grad for leaf in call.inputs.leaves])
    assert_same(results[1], results[0], "3 threads")


@operators("no gradient", lambda o: o.name in NO_GRADIENT)
def test_an_operator_without_a_derivative_says_so(operator: Operator) -> None:
    """The list is exact: the result carries no gradient, or backward refuses."""
    total, _ = weighted_sum(sample(operator, grad=True).run())
    if total is not None:
        with pytest.raises(RuntimeError, match="derivative for .* is not implemented"):
            total.backward()


# ---- in-place forms


def outcome(operator: Operator, in_place: bool) -> list[Any] | str:
    """The gradient of every leaf, or 'refused'."""
    call = sample(operator, grad=True)
    inputs = call.inputs
    call = call.mapped(lambda t: t * 1 if t.is_floating_point() or t.is_complex() else t)  # leaves stay as they are
    call.inputs = inputs
    try:
        result = call.run_form(operator.form("_" if in_place else ""))
        total, _ = weighted_sum(result)
        if total is not None:
            total.backward()
    except (RuntimeError, NotImplementedError) as err:
        assert "derivative" in str(err) or "differentiable" in str(err), err
        return "refused"
    return [leaf.grad if leaf.grad is not None else fl.zeros_like(leaf) for leaf in inputs.leaves]


def has_in_place_form(o: Operator) -> bool:
    return o.record.inplace and not o.is_random


@operators("inplace gradient", has_in_place_form)
def test_in_place_form_has_the_gradient_of_the_functional_form(operator: Operator) -> None:
    expected, found = outcome(operator, False), outcome(operator, True)
    if isinstance(expected, str) or isinstance(found, str):
        assert found == expected
        return
    for one, other in zip(found, expected, strict=True):
        assert fl.allclose(one, other, rtol=1e-12, atol=1e-14, equal_nan=True)


@operators("inplace on leaf", has_in_place_form)
def test_in_place_on_a_leaf_that_requires_a_gradient_is_refused(operator: Operator) -> None:
    call = sample(operator, grad=True)
    target = next(iter(call.tensors()))
    if not (target.is_leaf and target.requires_grad):
        pytest.skip("the sample's first tensor takes no gradient")
    before = target.detach().clone()
    with pytest.raises(RuntimeError, match="leaf"):
        call.run_form(operator.form("_"))
    assert fl.equal(target.detach(), before)
