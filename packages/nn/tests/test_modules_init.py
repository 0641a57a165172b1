"""nn.init."""

from __future__ import annotations

import math

import flambeau as fl
import pytest
from flambeau import nn


def test_gains():
    assert nn.init.calculate_gain("linear") == 1
    assert nn.init.calculate_gain("relu") == math.sqrt(2)
    assert nn.init.calculate_gain("tanh") == 5 / 3
    assert nn.init.calculate_gain("selu") == 0.75
    assert nn.init.calculate_gain("leaky_relu", 1) == 1
    with pytest.raises(ValueError, match="Unsupported nonlinearity foo"):
        nn.init.calculate_gain("foo")
    with pytest.raises(ValueError, match="negative_slope a not a valid number"):
        nn.init.calculate_gain("leaky_relu", "a")


@pytest.mark.parametrize(
    ("fill", "bound"),
    [
        (lambda t: nn.init.uniform_(t, -0.5, 0.5), 0.5),
        (lambda t: nn.init.xavier_uniform_(t), math.sqrt(6 / 300)),
        (lambda t: nn.init.kaiming_uniform_(t, nonlinearity="relu"), math.sqrt(6 / 100)),
        (lambda t: nn.init.kaiming_uniform_(t, mode="fan_out", nonlinearity="relu"), math.sqrt(6 / 200)),
    ],
)
def test_uniform_ones_fill_their_range(fill, bound):
    fl.manual_seed(0)
    t = fill(fl.empty(200, 100))
    assert float(t.abs().max()) <= bound
    assert float(t.std()) == pytest.approx(bound / math.sqrt(3), rel=0.02)


@pytest.mark.parametrize(
    ("fill", "std"),
    [
        (lambda t: nn.init.normal_(t, 0, 0.3), 0.3),
        (lambda t: nn.init.xavier_normal_(t, 2.0), 2 * math.sqrt(2 / 300)),
        (lambda t: nn.init.kaiming_normal_(t, nonlinearity="relu"), math.sqrt(2 / 100)),
    ],
)
def test_normal_ones_have_their_deviation(fill, std):
    fl.manual_seed(0)
    assert float(fill(fl.empty(200, 100)).std()) == pytest.approx(std, rel=0.02)


@pytest.mark.parametrize(("mean", "std", "low", "high"), [(0, 1, -2, 2), (3, 1, -2, 2), (0, 10, -1, 1), (0, 1, 5, 6)])
def test_truncated_normal_stays_inside(mean, std, low, high, recwarn):
    fl.manual_seed(0)
    t = nn.init.trunc_normal_(fl.empty(500), mean, std, low, high)
    assert low <= float(t.min())
    assert float(t.max()) <= high
    assert float(t.std()) > 0


def test_truncated_normal_keeps_the_values_inside():
    fl.manual_seed(0)
    plain = fl.randn(64)
    fl.manual_seed(0)
    cut = nn.init.trunc_normal_(fl.empty(64), a=-1, b=1)
    inside = plain.abs() <= 1
    assert bool((plain[inside] == cut[inside]).all())


def test_constant_ones_zeros_eye_dirac():
    assert nn.init.constant_(fl.empty(2), 3).tolist() == [3.0, 3.0]
    assert nn.init.ones_(fl.empty(2)).tolist() == [1.0, 1.0]
    assert nn.init.zeros_(fl.empty(2)).tolist() == [0.0, 0.0]
    assert nn.init.eye_(fl.empty(2, 3)).tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    x = fl.randn(1, 4, 5, 5)
    for groups in (1, 2):
        weight = nn.init.dirac_(fl.empty(4, 4 // groups, 3, 3), groups)
        assert bool((nn.functional.conv2d(x, weight, padding=1, groups=groups) == x).all())


def test_orthogonal_rows_or_columns():
    for shape in ((4, 6), (6, 4)):
        t = nn.init.orthogonal_(fl.empty(*shape), gain=2)
        small = t @ t.t() if shape[0] < shape[1] else t.t() @ t
        assert float((small - 4 * fl.eye(4)).abs().max()) < 1e-5


def test_sparse_zeroes_a_share_of_each_column():
    t = nn.init.sparse_(fl.empty(10, 5), 0.3)
    assert (t == 0).sum(0).tolist() == [3] * 5


def test_parameters_are_filled_outside_the_graph():
    p = nn.Parameter(fl.empty(3, 3))
    assert nn.init.xavier_uniform_(p) is p
    assert p.is_leaf
    assert p.grad_fn is None


def test_a_generator_is_used():
    g = fl.Generator()
    g.manual_seed(3)
    a = nn.init.uniform_(fl.empty(3), generator=g)
    g.manual_seed(3)
    assert a.tolist() == nn.init.uniform_(fl.empty(3), generator=g).tolist()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: nn.init.kaiming_uniform_(fl.empty(3)), "fewer than 2 dimensions"),
        (lambda: nn.init.kaiming_normal_(fl.empty(3, 3), mode="foo"), "Mode foo not supported"),
        (lambda: nn.init.eye_(fl.empty(3)), "Only tensors with 2 dimensions"),
        (lambda: nn.init.dirac_(fl.empty(3, 3)), "3, 4, or 5 dimensions"),
        (lambda: nn.init.dirac_(fl.empty(3, 3, 3), 2), "divisible by groups"),
        (lambda: nn.init.orthogonal_(fl.empty(3)), "2 or more dimensions"),
        (lambda: nn.init.sparse_(fl.empty(3), 0.5), "Only tensors with 2 dimensions"),
    ],
)
def test_bad_arguments(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_old_names_warn():
    with pytest.warns(FutureWarning, match=r"deprecated in favor of `nn.init.uniform_`"):
        nn.init.uniform(fl.empty(2))
