"""Parametrized modules, weight and spectral norm, folded batch norms, calls with other tensors."""

import copy
import pickle

import flambeau
import pytest
from flambeau import nn
from flambeau.nn.utils import (
    fuse_conv_bn_eval,
    fuse_linear_bn_eval,
    parametrizations,
    parametrize,
    remove_spectral_norm,
    remove_weight_norm,
    spectral_norm,
    weight_norm,
)
from flambeau.nn.utils.stateless import _functional_call as functional_call


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).mT

    def right_inverse(self, a):
        return a.triu()


class Halves(nn.Module):
    def forward(self, a, b):
        return a + b

    def right_inverse(self, x):
        return x / 2, x / 2


class FirstRow(nn.Module):
    def forward(self, x):
        return x[:1]


def test_a_parametrized_weight_is_computed_from_what_is_learnt():
    m = nn.Linear(3, 3)
    parametrize.register_parametrization(m, "weight", Symmetric())
    w = m.weight
    assert w.tolist() == w.t().tolist()
    assert sorted(m.state_dict()) == ["bias", "parametrizations.weight.original"]
    assert type(m).__name__ == "ParametrizedLinear"
    assert isinstance(m, nn.Linear)
    m(flambeau.ones(1, 3)).sum().backward()
    assert m.parametrizations.weight.original.grad is not None


def test_assigning_goes_through_the_inverse():
    m = nn.Linear(3, 3)
    parametrize.register_parametrization(m, "weight", Symmetric())
    m.weight = flambeau.ones(3, 3)
    assert m.parametrizations.weight.original.tolist() == [[1, 1, 1], [0, 1, 1], [0, 0, 1]]
    assert m.weight.tolist() == flambeau.ones(3, 3).tolist()


def test_the_parameter_stays_the_same_object():
    m = nn.Linear(3, 3)
    before = m.weight
    parametrize.register_parametrization(m, "weight", Symmetric())
    assert m.parametrizations.weight.original is before
    parametrize.remove_parametrizations(m, "weight")
    assert m.weight is before


def test_several_learnt_tensors():
    m = nn.Linear(3, 3)
    value = m.weight.tolist()
    parametrize.register_parametrization(m, "weight", Halves())
    assert m.weight.tolist() == value
    assert "parametrizations.weight.original1" in m.state_dict()
    with pytest.raises(ValueError, match="sequence of tensors"):
        parametrize.remove_parametrizations(m, "weight", leave_parametrized=False)
    parametrize.remove_parametrizations(m, "weight")
    assert m.weight.tolist() == value
    assert type(m) is nn.Linear


def test_cached_computes_once():
    m = nn.Linear(3, 3)
    parametrize.register_parametrization(m, "weight", Symmetric())
    assert m.weight is not m.weight
    with parametrize.cached():
        assert m.weight is m.weight


def test_a_parametrization_that_changes_the_shape_is_refused():
    m = nn.Linear(3, 3)
    with pytest.raises(ValueError, match="shape"):
        parametrize.register_parametrization(m, "weight", FirstRow())
    assert "weight" in m.state_dict()
    with pytest.raises(ValueError, match="'foo'"):
        parametrize.register_parametrization(m, "foo", Symmetric())
    with pytest.raises(ValueError, match="on weight"):
        parametrize.remove_parametrizations(m, "weight")


def test_parametrized_modules_can_be_copied_but_not_pickled():
    m = nn.Linear(3, 3)
    parametrize.register_parametrization(m, "weight", Symmetric())
    twin = copy.deepcopy(m)
    assert twin.weight.tolist() == m.weight.tolist()
    assert twin.parametrizations.weight.original is not m.parametrizations.weight.original
    with pytest.raises(RuntimeError, match="state_dict"):
        pickle.dumps(m)


def test_transfer_copies_parametrization_and_values():
    a, b = nn.Linear(3, 3), nn.Linear(3, 3)
    parametrize.register_parametrization(a, "weight", Symmetric())
    parametrize.transfer_parametrizations_and_params(a, b)
    assert parametrize.is_parametrized(b, "weight")
    assert b.weight.tolist() == a.weight.tolist()


@pytest.mark.parametrize("dim", [0, 1, None])
def test_weight_norm_keeps_the_weight_and_splits_it(dim):
    m = nn.Linear(4, 3)
    value = m.weight.detach().clone()
    parametrizations.weight_norm(m, dim=dim)
    assert flambeau.allclose(m.weight, value, atol=1e-6)
    g = m.parametrizations.weight.original0
    assert g.shape == {0: (3, 1), 1: (1, 4), None: ()}[dim]
    with flambeau.no_grad():
        g.mul_(2)
    assert flambeau.allclose(m.weight, value * 2, atol=1e-6)


def test_state_of_the_older_weight_norm_loads():
    old = nn.Linear(4, 3)
    with pytest.warns(FutureWarning, match="parametrizations"):
        weight_norm(old)
    new = nn.Linear(4, 3)
    parametrizations.weight_norm(new)
    new.load_state_dict(old.state_dict())
    x = flambeau.ones(1, 4)
    assert flambeau.allclose(new(x), old(x), atol=1e-6)
    with pytest.warns(FutureWarning), pytest.raises(RuntimeError, match="two weight_norm"):
        weight_norm(old)
    remove_weight_norm(old)
    assert sorted(old.state_dict()) == ["bias", "weight"]
    with pytest.raises(ValueError, match="not found"):
        remove_weight_norm(old)


@pytest.mark.parametrize("apply", [spectral_norm, parametrizations.spectral_norm])
def test_spectral_norm_brings_the_largest_singular_value_to_one(apply):
    m = apply(nn.Linear(4, 3), n_power_iterations=20)
    m.train()
    for _ in range(5):
        m(flambeau.ones(1, 4))
    m.eval()
    m(flambeau.ones(1, 4))
    w = m.weight.detach()
    gram = w @ w.t()
    v = flambeau.ones(3)
    for _ in range(100):
        v = gram @ v
        v = v / v.norm()
    assert (gram @ v).norm().item() == pytest.approx(1.0, rel=1e-3)


def test_spectral_norm_can_be_removed():
    m = spectral_norm(nn.Linear(4, 3))
    assert sorted(m.state_dict()) == ["bias", "weight_orig", "weight_u", "weight_v"]
    remove_spectral_norm(m)
    assert sorted(m.state_dict()) == ["bias", "weight"]
    with pytest.raises(ValueError, match="not found"):
        remove_spectral_norm(m)


def test_folded_batch_norms_give_the_same_outputs():
    conv, bn = nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3)
    with flambeau.no_grad():
        bn.running_mean.copy_(flambeau.tensor([0.5, -1.0, 2.0]))
        bn.running_var.copy_(flambeau.tensor([0.5, 1.0, 4.0]))
    x = flambeau.randn(2, 2, 5, 5)
    with pytest.raises(AssertionError, match="eval"):
        fuse_conv_bn_eval(conv, bn)
    conv.eval()
    bn.eval()
    assert flambeau.allclose(fuse_conv_bn_eval(conv, bn)(x), bn(conv(x)), atol=1e-5)
    linear, bn = nn.Linear(4, 3).eval(), nn.BatchNorm1d(3).eval()
    x = flambeau.randn(2, 4)
    assert flambeau.allclose(fuse_linear_bn_eval(linear, bn)(x), bn(linear(x)), atol=1e-5)


def test_functional_call_uses_other_tensors_and_leaves_the_module_as_it_was():
    m = nn.Linear(2, 2)
    before = m.weight
    out = functional_call(m, {"weight": flambeau.eye(2), "bias": flambeau.zeros(2)}, flambeau.tensor([3.0, 4.0]))
    assert out.tolist() == [3.0, 4.0]
    assert m.weight is before


def test_functional_call_ties_names_of_one_parameter():
    m = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
    m[1].weight = m[0].weight
    x = flambeau.ones(2)
    assert functional_call(m, {"0.weight": flambeau.eye(2) * 2}, x).tolist() == [4.0, 4.0]
    with pytest.raises(ValueError, match="tied"):
        functional_call(m, {"0.weight": flambeau.eye(2), "1.weight": flambeau.eye(2) * 2}, x)


@pytest.mark.parametrize(
    ("tensors", "error", "words"),
    [
        (3, ValueError, "int"),
        ({"weight": 3}, TypeError, "3 is not"),
        ({"a.weight": None}, AttributeError, "`a`"),
        (({"bias": flambeau.ones(2)}, {"bias": flambeau.ones(2)}), ValueError, "multiple dictionaries"),
        ({"weight": flambeau.ones(2, 2)}, RuntimeError, "Missing key.*bias"),
    ],
)
def test_functional_call_refuses_what_does_not_fit(tensors, error, words):
    with pytest.raises(error, match=words):
        functional_call(nn.Linear(2, 2), tensors, flambeau.ones(2), strict=error is RuntimeError)
