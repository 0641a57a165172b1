"""Random operators: torch's streams (numbers recorded from torch 2.13), geometry, refusals."""

import flambeau as fl
import pytest


def test_streams_are_torchs():
    fl.manual_seed(0)
    assert [round(v, 4) for v in fl.rand(3).tolist()] == [0.4963, 0.7682, 0.0885]
    assert [round(v, 4) for v in fl.randn(3).tolist()] == [0.3643, 0.1344, 0.1642]
    assert fl.randint(10, (5,)).tolist() == [6, 6, 9, 8, 6]
    assert fl.randperm(6).tolist() == [0, 4, 1, 3, 2, 5]


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
