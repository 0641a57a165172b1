"""Gradients clipped by norm and by value; parameters as a vector."""

import math

import flambeau
import pytest
from flambeau.nn import utils


def with_gradients(*gradients):
    out = []
    for g in gradients:
        p = flambeau.zeros(len(g), requires_grad=True)
        p.grad = flambeau.tensor(g)
        out.append(p)
    return out


@pytest.mark.parametrize("foreach", [None, True, False])
@pytest.mark.parametrize(
    ("order", "norm"), [(2.0, 13.0), (1.0, 19.0), (math.inf, 12.0), (3.0, (27 + 64 + 1728) ** (1 / 3))]
)
def test_gradients_are_scaled_to_the_norm(order, norm, foreach):
    ps = with_gradients([3.0, -4.0], [12.0])
    total = utils.clip_grad_norm_(ps, 1.3, order, foreach=foreach)
    assert total.item() == pytest.approx(norm, rel=1e-6)
    scale = 1.3 / (norm + 1e-6)
    assert ps[0].grad.tolist() == pytest.approx([3 * scale, -4 * scale], rel=1e-6)
    assert ps[1].grad.tolist() == pytest.approx([12 * scale], rel=1e-6)


def test_small_gradients_are_left_alone():
    (p,) = with_gradients([0.3, 0.4])
    before = p.grad.tolist()
    assert utils.clip_grad_norm_(p, 10.0).item() == pytest.approx(0.5)
    assert p.grad.tolist() == before


def test_a_norm_that_is_not_finite_can_be_an_error():
    ps = with_gradients([math.nan, 1.0])
    with pytest.raises(RuntimeError, match="order 2.0 .* non-finite"):
        utils.clip_grad_norm_(ps, 1.0, error_if_nonfinite=True)
    assert math.isnan(utils.clip_grad_norm_(ps, 1.0).item())


def test_no_gradients_have_the_norm_zero():
    assert utils.clip_grad_norm_([flambeau.zeros(1, requires_grad=True)], 1.0).item() == 0.0
    with pytest.warns(UserWarning, match="empty generator"):
        utils.clip_grad_norm_((p for p in []), 1.0)
    assert utils.get_total_norm([]).item() == 0.0


def test_total_norm_of_two_dtypes():
    total = utils.get_total_norm([flambeau.ones(3), flambeau.ones(1, dtype=flambeau.float64)])
    assert total.item() == pytest.approx(2.0)
    assert total.dtype == flambeau.float64


@pytest.mark.parametrize("foreach", [None, True, False])
def test_values_are_clipped(foreach):
    ps = with_gradients([0.2, -3.0], [5.0])
    utils.clip_grad_value_(ps, 0.5, foreach=foreach)
    assert ps[0].grad.tolist() == pytest.approx([0.2, -0.5])
    assert ps[1].grad.tolist() == [0.5]


def test_parameters_go_to_a_vector_and_back():
    model = flambeau.nn.Linear(2, 3)
    vector = utils.parameters_to_vector(model.parameters())
    assert vector.shape == (9,)
    utils.vector_to_parameters(flambeau.arange(9.0), model.parameters())
    assert model.weight.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert model.bias.tolist() == [6, 7, 8]
    with pytest.raises(TypeError, match="list"):
        utils.vector_to_parameters([1.0], model.parameters())
