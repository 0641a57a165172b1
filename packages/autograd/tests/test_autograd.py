"""The engine: accumulation, views and in-place writes, hooks, modes, custom functions, checks."""

import flambeau as fl
import pytest
from flambeau.autograd import Function, gradcheck, gradgradcheck


def leaf(*values: float) -> fl.Tensor:
    return fl.tensor(values, dtype=fl.float64, requires_grad=True)


def test_gradients_accumulate_and_clear():
    x = leaf(1, 2)
    (x * x).sum().backward()
    (x * x).sum().backward()
    assert x.grad.tolist() == [4, 8]
    x.grad = None
    assert x.grad is None


def test_graph_is_freed_unless_kept():
    x = leaf(3)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_higher_derivatives():
    x = leaf(2)
    (g,) = fl.autograd.grad((x**3).sum(), x, create_graph=True)
    (h,) = fl.autograd.grad(g.sum(), x)
    assert h.tolist() == [12]


def test_write_to_a_saved_tensor_is_named():
    x = leaf(1, 2)
    y = x * 1
    z = y * y
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_leaves_refuse_writes():
    x = leaf(1)
    with pytest.raises(RuntimeError, match="leaf Variable"):
        x.add_(1)
    with fl.no_grad():
        x.add_(1)
    assert x.tolist() == [2]


def test_write_through_a_view_reaches_its_base():
    u = leaf(1, 2, 3)
    a = fl.zeros(2, 3, dtype=fl.float64)
    a[1] = u * 2
    assert a.requires_grad
    a.sum().backward()
    assert u.grad.tolist() == [2, 2, 2]


def test_view_made_before_a_write_sees_its_history():
    u = leaf(1, 2)
    a = fl.zeros(2, dtype=fl.float64)
    view = a[:1]
    a.mul_(0).add_(u)
    view.sum().backward()
    assert u.grad.tolist() == [1, 0]


def test_hooks_see_and_replace():
    x = leaf(1, 2)
    seen = []
    handle = x.register_hook(lambda g: seen.append(g.tolist()) or g * 10)
    (x * 3).sum().backward()
    handle.remove()
    (x * 3).sum().backward()
    assert seen == [[3, 3]] and x.grad.tolist() == [33, 33]


def test_retain_grad_and_unused():
    x = leaf(2)
    y = x * x
    y.retain_grad()
    (y * 3).sum().backward()
    assert y.grad.tolist() == [3]
    with pytest.raises(RuntimeError, match="allow_unused"):
        fl.autograd.grad((x * 1).sum(), leaf(1))


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x


def test_custom_function():
    assert gradcheck(Cube.apply, leaf(0.5, -2))
    assert gradgradcheck(Cube.apply, leaf(0.5, -2))


class WrongCube(Cube):
    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 * x * x


def test_gradcheck_finds_a_wrong_derivative():
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        gradcheck(WrongCube.apply, leaf(0.5, -2))
    assert not gradcheck(WrongCube.apply, leaf(0.5, -2), raise_exception=False)


@pytest.mark.parametrize(
    "name", ["sin", "tanh", "sigmoid", "exp", "log", "sqrt", "logsumexp", "softmax", "cumsum", "prod", "var"]
)
def test_first_and_second_derivatives(name):
    x = fl.tensor([[0.3, 0.7, 1.1], [0.4, 1.9, 0.2]], dtype=fl.float64, requires_grad=True)
    function = getattr(fl, name)
    call = (lambda t: function(t, 1)) if name in ("logsumexp", "softmax", "cumsum") else function
    assert gradcheck(call, x)
    assert gradgradcheck(call, x)


def test_complex_gradient():
    z = fl.tensor([1 + 2j, -0.5 + 0.3j], dtype=fl.complex128, requires_grad=True)
    assert gradcheck(lambda t: (t * t).abs(), z)


def test_deep_graph_needs_no_stack():
    x = leaf(1)
    y = x
    for _ in range(50_000):
        y = y + 1
    y.sum().backward()
    assert x.grad.tolist() == [1]
