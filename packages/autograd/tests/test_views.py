"""Views and their bases in the graph, and views that were made while nothing was recorded."""

import flambeau as fl
import pytest


def leaf(*values: float) -> fl.Tensor:
    return fl.tensor(values, dtype=fl.float64, requires_grad=True)


def unrecorded(x: fl.Tensor) -> fl.Tensor:
    with fl.no_grad():
        return x[:2]


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


def test_leaves_are_not_written_through_views():
    for view in (lambda x: x[:2], lambda x: x.detach()[:2].requires_grad_()):
        with pytest.raises(RuntimeError, match="view of a leaf Variable"):
            view(leaf(1, 2, 3)).mul_(3)
    base = fl.ones(4)
    before = base[:2]
    base.requires_grad_()
    with pytest.raises(RuntimeError, match="view of a leaf Variable"):
        before.mul_(2)


def test_view_without_history_is_not_written_while_recording():
    x = leaf(1, 2, 3)
    for base in (x, x * 1):
        v = unrecorded(base)
        for w in (v, v[:]):
            with pytest.raises(RuntimeError, match="created in no_grad mode"):
                w.mul_(3)
    with pytest.raises(RuntimeError, match="created in no_grad mode"):
        unrecorded(fl.ones(3, dtype=fl.float64)).mul_(leaf(3, 4))
    assert x.tolist() == [1, 2, 3]


def test_view_without_history_is_written_without_recording():
    x = leaf(1, 2, 3)
    with fl.no_grad():
        unrecorded(x).mul_(3)
    assert x.tolist() == [3, 6, 3]
    plain = fl.ones(3)
    unrecorded(plain).mul_(3)
    assert plain.tolist() == [3, 3, 1]


def test_view_without_history_is_a_constant():
    u = leaf(1, 2, 3)
    base = fl.ones(3, dtype=fl.float64)
    base.mul_(u)
    v = unrecorded(base)
    assert not v.requires_grad
    (v * u[:2]).sum().backward()
    assert u.grad.tolist() == [1, 2, 0]


def test_view_without_history_after_a_recorded_write_to_its_base():
    base = fl.ones(3, dtype=fl.float64)
    v = unrecorded(base)
    base.mul_(leaf(3, 4, 5))
    with pytest.raises(RuntimeError, match="its base or another view of its base has been modified"):
        v.sum().backward()


def test_views_made_in_recorded_operators_are_normal():
    x = leaf(1, 2, 3)
    y = (x * 1)[:2]
    y.mul_(2)
    y.sum().backward()
    assert x.grad.tolist() == [2, 2, 0]
    with fl.no_grad(), fl.enable_grad():
        assert (x * 1)[:1].mul_(2).requires_grad
