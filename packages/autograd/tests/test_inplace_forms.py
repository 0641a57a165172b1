"""In-place forms whose functional form is made of other operators, or has no derivative; derivatives at corners."""

import math

import flambeau as fl
import pytest


@pytest.mark.parametrize(
    ("write", "expected"),
    [
        (lambda x: x.clamp_(-1, 1), [0.0, 1.0, 0.0]),
        (lambda x: x.multiply_(x.detach().clone()), [-2.0, 0.5, 3.0]),
        (lambda x: x.absolute_(), [-1.0, 1.0, 1.0]),
        (lambda x: x.eq_(0.5), [0.0, 0.0, 0.0]),
        (lambda x: x.gt_(0), [0.0, 0.0, 0.0]),
    ],
)
def test_gradient_through_a_write(write, expected):
    leaf = fl.tensor([-2.0, 0.5, 3.0], requires_grad=True)
    x = leaf * 1
    write(x)
    x.sum().backward()
    assert leaf.grad.tolist() == expected


def test_a_leaf_refuses_a_write_by_a_composite():
    with pytest.raises(RuntimeError, match="leaf"):
        fl.ones(3, requires_grad=True).clamp_(0, 1)


def test_deviation_of_equal_elements_has_gradient_zero():
    x = fl.ones(4, requires_grad=True)
    x.std().backward()
    assert x.grad.tolist() == [0.0] * 4


def test_missing_derivatives_raise():
    a = fl.tensor([1.5], requires_grad=True)
    with pytest.raises(NotImplementedError, match="igamma"):
        fl.igamma(a, fl.tensor([2.0])).backward()


def test_a_number_as_base_keeps_the_precision_of_the_exponent():
    x = fl.tensor([0.25], dtype=fl.float64, requires_grad=True)
    (2**x).backward()
    assert x.grad.item() == pytest.approx(math.log(2) * 2**0.25, rel=1e-15)


def test_linear_of_an_empty_batch_has_gradients():
    weight = fl.ones(4, 3, requires_grad=True)
    fl._C._nn.linear(fl.zeros(2, 0, 3), weight).sum().backward()
    assert weight.grad.tolist() == [[0.0] * 3] * 4
