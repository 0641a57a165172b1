"""Random operators: torch's streams (numbers recorded from torch 2.13), geometry, refusals."""

import flambeau as fl
import pytest


@pytest.mark.parametrize(
    "draw", [lambda t: fl.normal(t, 1.0), lambda t: fl.normal(0.0, t), lambda t: fl.bernoulli(t / 6), lambda t: fl.bernoulli(t, 0.5)]
)  # fmt: skip
def test_draws_follow_the_elements_of_transposed_parameters(draw):
    mean = fl.arange(6.0).reshape(2, 3)
    fl.manual_seed(1)
    got = draw(mean.t())
    fl.manual_seed(1)
    assert got.is_contiguous() and fl.equal(got, draw(mean.t().contiguous()))


def test_streams_are_torchs():
    fl.manual_seed(0)
    assert [round(v, 4) for v in fl.rand(3).tolist()] == [0.4963, 0.7682, 0.0885]
    assert [round(v, 4) for v in fl.randn(3).tolist()] == [0.3643, 0.1344, 0.1642]
    assert fl.randint(10, (5,)).tolist() == [6, 6, 9, 8, 6]
    assert fl.randperm(6).tolist() == [0, 4, 1, 3, 2, 5]


def test_binomial_numbers_are_torchs():
    fl.manual_seed(3)
    assert fl.binomial(fl.tensor([10.0, 10, 100, 7]), fl.tensor([0.3, 0.9, 0.45, 0.5])).tolist() == [1, 9, 49, 3]
    assert fl.binomial(fl.tensor([[10.0], [200]]), fl.tensor([0.3, 0.9])).tolist() == [[3, 9], [51, 171]]
    assert fl.binomial(fl.tensor([5.0, 5, -5]), fl.tensor([0.0, 1, 0.5])).tolist() == [0, 5, 0]


@pytest.mark.parametrize(("n", "p"), [(12, 0.25), (400, 0.1), (50, 0.75)])
def test_binomial_mean_and_variance(n, p):
    fl.manual_seed(1)
    x = fl.binomial(fl.full((20000,), float(n)), fl.full((20000,), p))
    assert x.min().item() >= 0 and x.max().item() <= n and fl.equal(x, x.round())
    assert abs(x.mean().item() - n * p) < 0.2 and abs(x.var().item() / (n * p * (1 - p)) - 1) < 0.1


def test_binomial_never_waits_for_what_is_no_number():
    for bad in (float("nan"), float("inf")):
        with pytest.raises(RuntimeError, match="finite"):
            fl.binomial(fl.tensor([bad]), fl.tensor([0.5]))
    with pytest.raises(RuntimeError, match="NaN"):
        fl.binomial(fl.tensor([5.0]), fl.tensor([float("nan")]))
    with pytest.raises(ValueError, match="floating"):
        fl.binomial(fl.tensor([5]), fl.tensor([0.5]))


def test_generators_are_independent():
    a, b = fl.Generator().manual_seed(1), fl.Generator().manual_seed(1)
    fl.rand(5)
    assert fl.rand(4, generator=a).tolist() == fl.rand(4, generator=b).tolist()


def test_every_geometry_is_filled():
    x = fl.zeros(6, 4).T
    for fill in (x.uniform_, x.normal_, x.exponential_, x.log_normal_, x.cauchy_, lambda: x.geometric_(0.5), x.random_):
        x.zero_()
        fill()
        assert (x != 0).all()


def test_dropout_scales_what_it_keeps():
    fl.manual_seed(3)
    x = fl.ones(10000)
    y = fl.dropout(x, 0.25, True)
    kept = y[y != 0]
    assert (kept == kept[0]).all() and abs(kept[0].item() - 4 / 3) < 1e-6
    assert 7300 < kept.numel() < 7700
    assert fl.dropout(x, 0.5, False) is x
    assert fl.dropout(x, 1.0, True).sum().item() == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda: fl.randint(5, 5, (2,)), lambda: fl.randint(0, 300, (2,), dtype=fl.uint8), lambda: fl.ones(2).uniform_(1, 0), lambda: fl.ones(2).normal_(0, -1),
        lambda: fl.bernoulli(fl.ones(2) * 2), lambda: fl.multinomial(fl.ones(3), 4), lambda: fl.multinomial(-fl.ones(3), 1), lambda: fl.dropout(fl.ones(2), 1.5, True),
        lambda: fl.randperm(-1), lambda: fl.rand(2, dtype=fl.int64),
    ],
)  # fmt: skip
def test_refusals(call):
    with pytest.raises(RuntimeError):
        call()
