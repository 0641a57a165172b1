"""Hooks of tensors and nodes, retained gradients, hooks on what is saved."""

import flambeau as fl
import pytest
from flambeau.autograd.graph import saved_tensors_hooks


def leaf(*values: float) -> fl.Tensor:
    return fl.tensor(values, dtype=fl.float64, requires_grad=True)


def ones(n: int, **options: object) -> fl.Tensor:
    return fl.ones(n, **{"dtype": fl.float64, **options})


def test_hooks_see_and_replace():
    x = leaf(1, 2)
    seen = []
    handle = x.register_hook(lambda g: seen.append(g.tolist()) or g * 10)
    (x * 3).sum().backward()
    handle.remove()
    (x * 3).sum().backward()
    assert seen == [[3, 3]] and x.grad.tolist() == [33, 33]


@pytest.mark.parametrize("of_leaf", [True, False])
@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (lambda: ones(7), RuntimeError, "changed the size"),
        (lambda: ones(1), RuntimeError, "changed the size"),
        (lambda: fl.ones(2), RuntimeError, "changed the type"),
        (lambda: ones(2, device="meta"), RuntimeError, "changed the type"),
        (lambda: 3, TypeError, "hook returned 'int'"),
    ],
)
def test_a_hook_keeps_size_and_dtype(of_leaf, given, error, message):
    x = leaf(1, 2)
    y = x * x
    (x if of_leaf else y).register_hook(lambda g: given())
    with pytest.raises(error, match=message):
        y.sum().backward()
    assert x.grad is None


def test_a_hook_that_raises_or_removes_itself():
    x = leaf(1)
    x.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        (x * 2).sum().backward()
    seen = []
    z = leaf(1)
    handle = z.register_hook(lambda g: seen.append(1) or handle.remove())
    z.register_hook(lambda g: seen.append(2))
    for _ in range(2):
        (z * 2).sum().backward()
    assert seen == [1, 2, 2]


def test_node_hooks_replace_all_or_nothing():
    x = leaf(1, 2)

    def run(prehook=None, hook=None):
        y = x * ones(2)
        if prehook:
            y.grad_fn.register_prehook(prehook)
        if hook:
            y.grad_fn.register_hook(hook)
        return fl.autograd.grad(y.sum(), x)[0].tolist()

    assert run(prehook=lambda o: (o[0] * 2,)) == [2, 2]
    assert run(hook=lambda i, o: (i[0] * 3, None)) == [3, 3]
    for bad in (lambda o: ones(2), lambda o: [ones(2)]):
        with pytest.raises(TypeError, match="expected tuple"):
            run(prehook=bad)
    with pytest.raises(RuntimeError, match="incorrect number of values"):
        run(hook=lambda i, o: (ones(2),))
    with pytest.raises(RuntimeError, match="can't replace a None gradient"):
        run(hook=lambda i, o: (i[0], ones(2)))
    with pytest.raises(RuntimeError, match="changed the size"):
        run(prehook=lambda o: (ones(5),))


def test_post_accumulate_hook():
    seen = []
    x = leaf(1, 2)
    x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.tolist()))
    fl.autograd.grad((x * 2).sum(), x)
    (x * 2).sum().backward()
    assert seen == [[2, 2]]


def test_retained_gradient():
    x = leaf(2)
    y = x * x
    y.retain_grad()
    y.register_hook(lambda g: g * 5)
    (y * 3).sum().backward()
    assert y.grad.tolist() == [15]


def test_retained_gradient_follows_an_in_place_write():
    x = leaf(1, 2)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    y.sum().backward()
    assert y.grad.tolist() == [1, 1] and x.grad.tolist() == [6, 6]


def test_tensor_with_retained_gradient_may_die_first():
    x = leaf(1, 2)
    y = x * 2
    y.retain_grad()
    total = y.sum()
    del y
    others = [fl.ones(2) for _ in range(300)]
    total.backward()
    assert x.grad.tolist() == [2, 2] and len(others) == 300


def test_saved_tensors_hooks():
    x = leaf(1, 2)
    with saved_tensors_hooks(lambda t: t * 10, lambda t: t / 10):
        y = x * x
    y.sum().backward()
    assert x.grad.tolist() == [2, 4]


def test_saved_tensors_hooks_must_give_the_tensor_back():
    x = leaf(1, 2)
    with saved_tensors_hooks(lambda t: t, lambda t: t.to("meta")):
        y = x * x
    with pytest.raises(RuntimeError, match="not on the expected device"):
        y.sum().backward()
    with saved_tensors_hooks(lambda t: None, lambda t: t):
        y = x * x
    with pytest.raises(TypeError, match="result of type NoneType"):
        y.sum().backward()
    z = x * 1
    with (
        pytest.raises(RuntimeError, match="modifying its input in place"),
        saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t),
    ):
        z * z
