"""Derivatives of corners: complex logarithms, empty groups, directions without a formula."""

import flambeau as fl
import pytest
from flambeau.autograd import gradcheck


def complex_pair():
    g = fl.Generator().manual_seed(5)
    make = lambda: fl.randn(4, dtype=fl.complex128, generator=g).requires_grad_()  # noqa: E731
    return make(), make()


@pytest.mark.parametrize("name", ["logaddexp", "ldexp"])
def test_complex_pairs(name):
    assert gradcheck(getattr(fl, name), complex_pair())


def test_complex_logcumsumexp():
    assert gradcheck(lambda z: fl.logcumsumexp(z, 0), complex_pair()[:1])


def test_nextafter():
    x, y = fl.tensor([1.0, 2.0], requires_grad=True), fl.tensor([1.0, 3.0], requires_grad=True)
    grads = fl.autograd.grad(fl.nextafter(x, y).sum(), (x, y))
    assert [g.tolist() for g in grads] == [[0, 1], [0, 0]]


def test_igamma_in_its_first_argument_says_so():
    x, y = fl.tensor([1.0], requires_grad=True), fl.tensor([2.0], requires_grad=True)
    for f in (fl.igamma, fl.igammac):
        with pytest.raises(NotImplementedError, match="derivative"):
            fl.autograd.grad(f(x, y), x)
        assert fl.autograd.grad(f(x.detach(), y), y)[0].item() != 0


def test_group_norm_of_no_rows():
    x, w = fl.empty(0, 2, requires_grad=True), fl.ones(2, requires_grad=True)
    results = fl.native_group_norm(x, w, None, 0, 2, 1, 1, 1e-5)
    gx, gw = fl.autograd.grad(results, (x, w), [fl.ones_like(r) for r in results])
    assert gx.shape == (0, 2) and gw.tolist() == [0, 0]


def test_no_choices_stay_in_the_graph():
    x = fl.ones(2, requires_grad=True)
    assert fl.autograd.grad(fl.combinations(x, 4).sum(), x)[0].tolist() == [0, 0]


def test_dropout_of_integers_scales_in_floating():
    got = fl.ops.aten.native_dropout_backward(fl.ones(2, dtype=fl.int64), fl.tensor([True, False]), 2.0)
    assert got.dtype is fl.float32 and got.tolist() == [2, 0]
