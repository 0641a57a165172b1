"""backward and grad: accumulation, graphs that are kept or freed, derivatives of derivatives, long graphs, threads."""

import threading

import flambeau as fl
import pytest
from flambeau.autograd import gradcheck, gradgradcheck


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


def test_what_takes_no_part_is_named():
    with pytest.raises(RuntimeError, match="allow_unused"):
        fl.autograd.grad((leaf(2) * 1).sum(), leaf(1))


def test_nothing_to_differentiate_by():
    y = (leaf(1) * 2).sum()
    with pytest.raises(RuntimeError, match="cannot be empty"):
        fl.autograd.grad(y, [])
    with pytest.raises(RuntimeError, match="cannot be empty"):
        y.backward(inputs=[])


def test_first_gradient_is_converted_and_its_device_checked():
    x = leaf(1, 2)
    (x * x).backward(fl.ones(2))
    assert x.grad.dtype is fl.float64 and x.grad.tolist() == [2, 4]
    with pytest.raises(RuntimeError, match="expected device cpu but got meta"):
        (x * x).backward(fl.ones(2, dtype=fl.float64, device="meta"))


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


def test_chains_of_gradients_and_attributes_need_no_stack():
    for name in ("grad", "before"):
        tail = fl.ones(1)
        for _ in range(100_000):
            t = fl.ones(1)
            setattr(t, name, tail)
            tail = t
        del t, tail


def test_threads_share_a_leaf():
    x = fl.ones(100_000, requires_grad=True)

    def work() -> None:
        for _ in range(3):
            (x * 2).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert x.grad[:2].tolist() == [24, 24]


def test_data_of_another_size_or_dtype():
    x = leaf(1, 2)
    kept = x * 2
    x.data = fl.ones(2)
    (x * 3).sum().backward()
    assert x.grad.dtype is fl.float32 and kept.dtype is fl.float64
    with pytest.raises(RuntimeError, match="must be floating point or complex"):
        x.data = fl.ones(2, dtype=fl.int64)


def test_nodes_are_called_with_gradients_only():
    y = leaf(1, 2) * 1
    with pytest.raises(TypeError, match="argument 0 is not a Variable"):
        y.grad_fn("x")
    with pytest.raises(TypeError, match="expected 1 arguments, got 2"):
        y.grad_fn(None, None)


def test_nodes_are_not_made_from_python():
    y = leaf(1, 2) * 1
    with pytest.raises(TypeError, match="cannot create"):
        type(y.grad_fn)()
    with pytest.raises(TypeError, match="cannot create"):
        fl.autograd.graph.Node()
