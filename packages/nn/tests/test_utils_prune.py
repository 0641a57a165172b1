"""Pruned parameters."""

import flambeau
import pytest
from flambeau import nn
from flambeau.nn.utils import prune


def layer():
    m = nn.Linear(4, 3)
    with flambeau.no_grad():
        m.weight.copy_(flambeau.arange(12.0).reshape(3, 4) - 5.5)
    return m


def test_the_smallest_magnitudes_go_first():
    m = prune.l1_unstructured(layer(), "weight", 4)
    assert m.weight_mask.tolist() == [[1, 1, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1]]
    assert sorted(m.state_dict()) == ["bias", "weight_mask", "weight_orig"]
    assert prune.is_pruned(m)
    m(flambeau.ones(1, 4)).sum().backward()
    assert m.weight_orig.grad[1].tolist() == [0, 0, 0, 0]


def test_pruning_again_takes_from_what_is_left():
    m = prune.l1_unstructured(layer(), "weight", 4)
    prune.l1_unstructured(m, "weight", 2)
    assert m.weight_mask.tolist() == [[1, 1, 1, 0], [0, 0, 0, 0], [0, 1, 1, 1]]
    prune.ln_structured(m, "weight", 1, n=2, dim=0)
    assert m.weight_mask.sum().item() == 3
    assert len(m._forward_pre_hooks) == 1


def test_slices_of_least_norm():
    m = prune.ln_structured(layer(), "weight", amount=1, n=2, dim=0)
    assert m.weight_mask.tolist() == [[1, 1, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1]]


def test_random_pruning_takes_the_amount():
    assert prune.random_unstructured(layer(), "weight", 0.25).weight_mask.sum().item() == 9
    assert prune.random_structured(layer(), "weight", 1, dim=1).weight_mask.sum().item() == 9


def test_global_pruning_compares_across_parameters():
    m = layer()
    with flambeau.no_grad():
        m.bias.fill_(0.1)
    prune.global_unstructured([(m, "weight"), (m, "bias")], prune.L1Unstructured, amount=5)
    assert m.bias_mask.tolist() == [0, 0, 0]
    assert m.weight_mask.sum().item() == 10


def test_removing_keeps_the_zeros():
    m = prune.custom_from_mask(layer(), "bias", flambeau.tensor([1.0, 0.0, 1.0]))
    prune.remove(m, "bias")
    assert isinstance(m.bias, nn.Parameter)
    assert m.bias[1].item() == 0.0
    assert not prune.is_pruned(m)
    with pytest.raises(ValueError, match="'bias'"):
        prune.remove(m, "bias")


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda m: prune.l1_unstructured(m, "weight", 1.5), ValueError, "1.5"),
        (lambda m: prune.l1_unstructured(m, "weight", "a"), TypeError, "a"),
        (lambda m: prune.l1_unstructured(m, "weight", 100), ValueError, "100 .*=12"),
        (lambda m: prune.ln_structured(m, "bias", 1, 2, 0), ValueError, "1 dims"),
        (lambda m: prune.ln_structured(m, "weight", 1, 2, 5), IndexError, "5"),
        (lambda m: prune.global_unstructured(3, prune.L1Unstructured, amount=1), TypeError, "Iterable"),
    ],
)
def test_bad_input_is_refused_and_changes_nothing(call, error, words):
    m = layer()
    with pytest.raises(error, match=words):
        call(m)
    assert sorted(m.state_dict()) == ["bias", "weight"]
