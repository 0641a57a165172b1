"""Derivatives of corners: complex logarithms, empty groups, directions without a formula."""

import flambeau as fl
import pytest
from flambeau.autograd import gradcheck, gradgradcheck


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


@pytest.mark.parametrize(
    ("dim", "size", "step"), [(0, 3, 1), (1, 2, 3), (-1, 4, 2), (1, 6, 1), (0, 0, 2), (-2, 1, 2**40)]
)
def test_windows_add_up_where_they_overlap(dim, size, step):
    x = fl.arange(30.0, dtype=fl.float64).reshape(5, 6).requires_grad_()
    windows = lambda t: t.unfold(dim, size, step).contiguous().square()  # noqa: E731
    assert gradcheck(windows, (x,)) and gradgradcheck(windows, (x,))


def test_windows_of_a_number():
    x = fl.tensor(2.0, requires_grad=True)
    assert fl.autograd.grad(x.unfold(0, 1, 1).sum(), x)[0].item() == 1


def test_expanded_gradients_meet_matrix_products():
    w = fl.ones(4, requires_grad=True)
    (fl.ones(3, 4) @ w).sum().backward()
    assert w.grad.tolist() == [3, 3, 3, 3]
    a, b = fl.ones(2, 3, 4, requires_grad=True), fl.ones(2, 4, 1, requires_grad=True)
    fl.bmm(a, b).sum().backward()
    assert bool((a.grad == 1).all()) and bool((b.grad == 3).all())


@pytest.mark.parametrize("kind", ["sum", "mean", "max", "min", "prod"])
def test_segments(kind):
    x = fl.randn(5, 2, dtype=fl.float64, generator=fl.Generator().manual_seed(2)).requires_grad_()
    lengths = fl.tensor([2, 0, 3])
    assert gradcheck(lambda t: fl.segment_reduce(t, kind, lengths=lengths, initial=0.25), (x,))


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "amax", "var", "norm", "logsumexp", "median"])
def test_masked_reductions_send_nothing_to_what_is_masked_out(name):
    x = fl.randn(3, 4, dtype=fl.float64, generator=fl.Generator().manual_seed(4)).requires_grad_()
    mask = fl.tensor([[True, True, False, True], [False, True, True, True], [True, True, True, False]])
    f = lambda t: getattr(fl.masked, name)(t, dim=1, mask=mask)  # noqa: E731
    assert gradcheck(f, (x,))
    grad = fl.autograd.grad(f(x).sum(), x)[0]
    assert grad[~mask].abs().sum().item() == 0
