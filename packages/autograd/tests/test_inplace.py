"""In-place writes: who may, what the graph notices, which counter counts them."""

import flambeau as fl
import pytest


def leaf(*values: float) -> fl.Tensor:
    return fl.tensor(values, dtype=fl.float64, requires_grad=True)


def test_write_to_a_saved_tensor_is_named():
    x = leaf(1, 2)
    y = x * 1
    z = y * y
    y.add_(1)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation: .*which is output 0 of Add"):
        z.sum().backward()


def test_what_no_formula_reads_may_be_written():
    x = leaf(1, 2)
    y = x * 1
    z = y * fl.ones(2) * 3
    y.add_(1)
    z.sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_leaves_refuse_writes():
    x = leaf(1)
    for write in (lambda: x.add_(1), lambda: x.set_(fl.ones(1, dtype=fl.float64))):
        with pytest.raises(RuntimeError, match="leaf Variable"):
            write()
    with fl.no_grad():
        x.add_(1)
    assert x.tolist() == [2]


def test_set_on_a_result_has_no_derivative():
    y = leaf(1) * 1
    with pytest.raises(RuntimeError, match="derivative for set_ is not implemented"):
        y.set_(fl.ones(1, dtype=fl.float64))


def test_write_through_data_is_not_noticed():
    w = leaf(1, 2)
    y = (w * w).sum()
    w.data.add_(1)
    w.data[0].add_(1)
    y.backward()
    assert w.grad.tolist() == [6, 6] and w._version == 0


def test_write_through_detach_is_noticed():
    w = leaf(1, 2)
    y = (w * w).sum()
    w.detach().add_(1)
    assert w._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_counters_are_shared_by_views_and_detached_aliases():
    w = fl.ones(4)
    data = w.data
    data.view(2, 2)[0].add_(1)
    data.detach().add_(1)
    assert (w._version, data._version, data[1]._version) == (0, 2, 2)
    w[0].add_(1)
    assert (w._version, w.detach()._version, data._version) == (1, 1, 2)


def test_count_goes_on_when_data_is_assigned():
    w, v = fl.ones(2), fl.ones(2)
    w.add_(1)
    w.data = v
    v.add_(1)
    assert (w._version, v._version) == (1, 1)
    x = leaf(1, 2)
    with fl.no_grad():
        x.add_(1)
    y = (x * x).sum()
    x.data = fl.zeros(2, dtype=fl.float64)
    y.backward()
    assert x.grad.tolist() == [0, 0]


def test_geometry_changed_in_place_is_noticed():
    x = fl.ones(2, 3, dtype=fl.float64)
    y = (x * leaf(1, 2, 3)).sum()
    x.set_(fl.zeros(2, 3, dtype=fl.float64))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_values_that_do_not_depend_on_the_tensor():
    x = leaf(1, 2)
    y = x * 1
    y.eq_(1)
    y.sum().backward()
    assert x.grad.tolist() == [0, 0]
