"""Inference mode: what is made inside never meets the graph."""

import flambeau as fl
import pytest
from flambeau.autograd import Function


def leaf(*values: float) -> fl.Tensor:
    return fl.tensor(values, dtype=fl.float64, requires_grad=True)


@pytest.fixture
def made_inside() -> fl.Tensor:
    with fl.inference_mode():
        return fl.ones(2, dtype=fl.float64)


class Keep(Function):
    @staticmethod
    def forward(ctx, x, t):
        ctx.save_for_backward(t)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2, None


@pytest.mark.parametrize("call", [lambda x, t: x * t, lambda x, t: x @ t, Keep.apply])
def test_not_saved_for_backward(made_inside, call):
    with pytest.raises(RuntimeError, match="cannot be saved for backward"):
        call(leaf(1, 2), made_inside)


def test_used_where_nothing_is_saved(made_inside):
    x = leaf(1, 2)
    (x + made_inside).sum().backward()
    assert x.grad.tolist() == [1, 1]
    with fl.no_grad():
        assert not (x * made_inside).is_inference()
    copy = made_inside.clone().requires_grad_()
    (copy * x).sum().backward()
    assert copy.grad.tolist() == [1, 2]


@pytest.mark.parametrize(
    "write",
    [
        lambda t: t.add_(1),
        lambda t: t.zero_(),
        lambda t: t[:1].add_(1),
        lambda t: t.__setitem__(0, 3),
        lambda t: fl.add(t, 1, out=t),
        lambda t: t.clamp_(min=2),
        lambda t: t.copy_(fl.zeros(2)),
    ],
)
def test_not_written_outside(made_inside, write):
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
        write(made_inside)
    assert made_inside.tolist() == [1, 1]
    with fl.no_grad(), pytest.raises(RuntimeError, match="Inplace update"):
        write(made_inside)
    with fl.inference_mode():
        write(made_inside)


def test_has_no_version(made_inside):
    with pytest.raises(RuntimeError, match="do not track version counter"):
        made_inside._version  # noqa: B018


def test_views_belong_to_what_they_show(made_inside):
    assert made_inside[:1].is_inference() and made_inside.detach().is_inference()
    x = leaf(1, 2)
    with fl.inference_mode():
        view, detached = x[:1], x.detach()
    assert view._is_view() and not view.is_inference() and not detached.is_inference()
    with pytest.raises(RuntimeError, match="being modified inplace"):
        view.add_(1)
    plain = fl.ones(2)
    with fl.inference_mode():
        plain.add_(1)
        plain[:1].add_(1)
    assert plain.tolist() == [3, 2] and plain._version == 2


def test_requires_grad(made_inside):
    with pytest.raises(RuntimeError, match="outside InferenceMode"):
        made_inside.requires_grad_()
    with fl.inference_mode(), fl.enable_grad():
        x = leaf(1, 2)
        assert x.requires_grad and not (x * 2).requires_grad


def test_data_brings_it_along(made_inside):
    x = leaf(3, 4)
    x.data = made_inside
    assert x.is_inference() and x.tolist() == [1, 1]
