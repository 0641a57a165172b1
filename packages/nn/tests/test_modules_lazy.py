"""Modules that take their shapes from the first input."""

from __future__ import annotations

import copy
import pickle

import flambeau as fl
import pytest
from flambeau import nn


@pytest.mark.parametrize(
    ("make", "shape", "becomes", "weight"),
    [
        (lambda: nn.LazyLinear(3), (2, 4), nn.Linear, (3, 4)),
        (lambda: nn.LazyConv1d(4, 2), (2, 6, 5), nn.Conv1d, (4, 6, 2)),
        (lambda: nn.LazyConv2d(4, 2, groups=2), (2, 6, 5, 5), nn.Conv2d, (4, 3, 2, 2)),
        (lambda: nn.LazyConv3d(4, 2), (1, 2, 3, 3, 3), nn.Conv3d, (4, 2, 2, 2, 2)),
        (lambda: nn.LazyConvTranspose2d(4, 2), (2, 6, 5, 5), nn.ConvTranspose2d, (6, 4, 2, 2)),
        (lambda: nn.LazyBatchNorm1d(), (4, 3), nn.BatchNorm1d, (3,)),
        (lambda: nn.LazyInstanceNorm2d(affine=True), (2, 3, 4, 4), nn.InstanceNorm2d, (3,)),
    ],
)
def test_first_call_gives_shapes_and_the_ordinary_class(make, shape, becomes, weight):
    m = make()
    assert m.has_uninitialized_params()
    assert all(isinstance(p, nn.UninitializedParameter) for p in m.parameters())
    kept = m.weight
    m(fl.randn(*shape))
    assert type(m) is becomes
    assert m.weight is kept
    assert type(kept) is nn.Parameter
    assert tuple(kept.shape) == weight
    assert not m._forward_pre_hooks
    assert bool(fl.isfinite(m.weight).all())


def test_loading_a_state_gives_shapes_too():
    lazy, plain = nn.LazyLinear(3), nn.Linear(4, 3)
    lazy.load_state_dict(plain.state_dict())
    assert bool((lazy.weight == plain.weight).all())
    assert tuple(lazy(fl.ones(1, 4)).shape) == (1, 3)
    assert type(lazy) is nn.Linear
    other = nn.LazyLinear(3)
    other.load_state_dict(nn.LazyLinear(3).state_dict())
    assert other.has_uninitialized_params()


def test_uninitialised_parameters_refuse_use():
    p = nn.LazyLinear(3).weight
    assert repr(p) == "<UninitializedParameter>"
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter"):
        p.shape
    with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter"):
        p + 1
    with pytest.raises(RuntimeError, match="Can't share memory"):
        nn.LazyLinear(3).share_memory()
    assert p.dtype == fl.float32
    assert nn.LazyLinear(3).double().weight.dtype == fl.float64


def test_copies_stay_lazy():
    for m in (copy.deepcopy(nn.LazyLinear(3)), pickle.loads(pickle.dumps(nn.LazyLinear(3)))):
        assert m.has_uninitialized_params()
        assert tuple(m(fl.ones(1, 2)).shape) == (1, 3)


def test_wrong_rank_is_named():
    with pytest.raises(RuntimeError, match=r"Expected 3D \(unbatched\) or 4D \(batched\) input to LazyConv2d"):
        nn.LazyConv2d(3, 2)(fl.zeros(2, 3))
