"""state_dict and load_state_dict."""

from __future__ import annotations

import warnings
from collections import OrderedDict

import flambeau as fl
import pytest
from flambeau import nn


def net() -> nn.Sequential:
    return nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.BatchNorm1d(3))


def test_keys_order_and_metadata():
    state = net().state_dict()
    assert list(state) == [
        "0.weight",
        "0.bias",
        "2.weight",
        "2.bias",
        "2.running_mean",
        "2.running_var",
        "2.num_batches_tracked",
    ]
    assert isinstance(state, OrderedDict)
    assert state._metadata == {"": {"version": 1}, "0": {"version": 1}, "1": {"version": 1}, "2": {"version": 2}}


def test_tensors_are_detached_aliases_unless_kept():
    m = nn.Linear(2, 2)
    state = m.state_dict()
    assert not state["weight"].requires_grad
    assert state["weight"].data_ptr() == m.weight.data_ptr()
    assert m.state_dict(keep_vars=True)["weight"] is m.weight
    assert list(m.state_dict(prefix="x.")) == ["x.weight", "x.bias"]


def test_round_trip_copies_values_in_place():
    a, b = net(), net()
    weight = b[0].weight
    result = b.load_state_dict(a.state_dict())
    assert repr(result) == "<All keys matched successfully>"
    assert b[0].weight is weight
    assert bool((a[0].weight == b[0].weight).all())
    assert a[0].weight.data_ptr() != b[0].weight.data_ptr()


def test_the_report_lists_everything_at_once():
    with pytest.raises(RuntimeError) as err:
        net().load_state_dict({"0.weight": fl.zeros(2, 2), "0.bias": 3, "foo": 1, "0.bar.baz": 2, "9.c": 1})
    assert str(err.value) == (
        "Error(s) in loading state_dict for Sequential:\n"
        '\tMissing key(s) in state_dict: "2.weight", "2.bias", "2.running_mean", "2.running_var". \n'
        '\tUnexpected key(s) in state_dict: "foo", "9.c", "0.bar.baz". \n'
        "\tsize mismatch for 0.weight: copying a param with shape torch.Size([2, 2]) from checkpoint, "
        "the shape in current model is torch.Size([3, 2]).\n"
        '\tWhile copying the parameter named "0.bias", expected torch.Tensor or Tensor-like object '
        "from checkpoint but received <class 'int'>"
    )


def test_not_strict_reports_and_goes_on():
    m = nn.Linear(2, 2)
    missing, unexpected = m.load_state_dict({"bias": fl.ones(2), "x": fl.zeros(1)}, strict=False)
    assert missing == ["weight"]
    assert unexpected == ["x"]
    assert m.bias.tolist() == [1.0, 1.0]


def test_something_else_than_a_mapping_is_refused():
    with pytest.raises(TypeError, match="dict-like, got <class 'int'>"):
        net().load_state_dict(3)


def test_assign_takes_the_given_tensors():
    m, n = nn.Linear(2, 2), nn.Linear(2, 2).double()
    state = n.state_dict()
    m.load_state_dict(state, assign=True)
    assert m.weight.dtype == fl.float64
    assert m.weight.requires_grad
    assert isinstance(m.weight, nn.Parameter)
    assert m.weight.data_ptr() == state["weight"].data_ptr()


def test_one_element_loads_into_a_scalar():
    m = nn.Module()
    m.p = nn.Parameter(fl.tensor(1.0))
    m.load_state_dict({"p": fl.tensor([3.0])})
    assert m.p.item() == 3


def test_batch_norm_files_without_the_counter_load():
    m = nn.BatchNorm1d(2)
    state = m.state_dict()
    del state["num_batches_tracked"]
    with pytest.raises(RuntimeError, match="num_batches_tracked"):
        m.load_state_dict(state)
    state._metadata[""]["version"] = 1
    m.load_state_dict(state)
    m.load_state_dict(dict(state))


class WithExtra(nn.Linear):
    def get_extra_state(self):
        return {"a": 1}

    def set_extra_state(self, state):
        self.got = state


def test_extra_state_travels_and_is_checked():
    m = WithExtra(1, 1)
    assert list(m.state_dict()) == ["weight", "bias", "_extra_state"]
    m.load_state_dict(m.state_dict())
    assert m.got == {"a": 1}
    with pytest.raises(RuntimeError, match='Missing key.*"_extra_state"'):
        m.load_state_dict(nn.Linear(1, 1).state_dict())
    with pytest.raises(RuntimeError, match='Unexpected key.*"_extra_state"'):
        nn.Linear(1, 1).load_state_dict(m.state_dict())


def test_hooks_run_in_their_places():
    log = []
    m = nn.Linear(1, 1)
    m.register_state_dict_pre_hook(lambda mod, prefix, keep: log.append(("pre", prefix, keep)))
    m.register_state_dict_post_hook(lambda mod, state, prefix, meta: log.append(("post", list(state))))
    m.register_load_state_dict_pre_hook(lambda mod, state, prefix, *rest: log.append(("load", len(rest))))
    m.register_load_state_dict_post_hook(lambda mod, keys: log.append(("loaded", keys.missing_keys)))
    m.load_state_dict(m.state_dict())
    assert log == [("pre", "", False), ("post", ["weight", "bias"]), ("load", 5), ("loaded", [])]


def test_a_pre_hook_can_rename_keys():
    m = nn.Sequential(nn.Linear(1, 1))

    def rename(module, state, prefix, *rest):
        state[prefix + "weight"] = state.pop(prefix + "kernel")

    m[0].register_load_state_dict_pre_hook(rename)
    state = {"0.kernel": fl.full((1, 1), 5.0), "0.bias": fl.zeros(1)}
    m.load_state_dict(state)
    assert m[0].weight.item() == 5
    assert list(state) == ["0.kernel", "0.bias"]


def test_hooks_that_return_something_are_refused_or_used():
    m = nn.Linear(1, 1)
    handle = m.register_state_dict_post_hook(lambda *a: 3)
    with pytest.raises(RuntimeError, match="post-hook must return None"):
        m.state_dict()
    handle.remove()
    m._register_state_dict_hook(lambda mod, state, prefix, meta: {"z": 1})
    assert m.state_dict() == {"z": 1}
    m.register_load_state_dict_post_hook(lambda mod, keys: 3)
    with pytest.raises(AssertionError, match="not expected to return new values"):
        m.load_state_dict(nn.Linear(1, 1).state_dict())


def test_positional_arguments_warn():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        state = nn.Linear(1, 1).state_dict({}, "p.", False)
    assert list(state) == ["p.weight", "p.bias"]
    assert seen[0].category is FutureWarning


def test_prefix_is_stripped_in_place():
    from flambeau.nn.modules.utils import consume_prefix_in_state_dict_if_present

    state = nn.DataParallel(nn.Linear(1, 1)).state_dict()
    assert list(state) == ["module.weight", "module.bias"]
    consume_prefix_in_state_dict_if_present(state, "module.")
    assert list(state) == ["weight", "bias"]
    nn.Linear(1, 1).load_state_dict(state)
