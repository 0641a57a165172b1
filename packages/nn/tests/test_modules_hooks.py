"""Hooks around calls and gradients."""

from __future__ import annotations

import warnings

import flambeau as fl
import pytest
from flambeau import nn
from flambeau.nn.modules import module as module_file


class Double(nn.Module):
    def forward(self, x, y=None):
        return x * 2 if y is None else (x * 2, y)


class Broken(nn.Module):
    def forward(self, x):
        raise ValueError("boom")


def test_forward_hooks_change_arguments_and_results_in_order():
    m = Double()
    m.register_forward_pre_hook(lambda mod, args: (args[0] + 1,))
    m.register_forward_pre_hook(lambda mod, args: args[0] * 10, prepend=True)
    m.register_forward_hook(lambda mod, args, out: out + 1)
    m.register_forward_hook(lambda mod, args, out: out * 100, prepend=True)
    assert m(fl.ones(1)).tolist() == [2201.0]


def test_hooks_with_kwargs_see_and_replace_them():
    m = Double()
    m.register_forward_pre_hook(lambda mod, args, kw: (args, {"y": kw["y"] + 1}), with_kwargs=True)
    m.register_forward_hook(lambda mod, args, kw, out: (out[0], kw["y"]), with_kwargs=True)
    assert m(fl.ones(1), y=3)[1] == 4
    m.register_forward_pre_hook(lambda mod, args, kw: 3, with_kwargs=True)
    with pytest.raises(RuntimeError, match=r"tuple of \(new_args, new_kwargs\), but got 3"):
        m(fl.ones(1), y=3)


def test_handles_remove_their_hooks():
    m = Double()
    handle = m.register_forward_hook(lambda *a: fl.zeros(1), with_kwargs=True, always_call=True)
    handle.remove()
    handle.remove()
    assert not m._forward_hooks
    assert not m._forward_hooks_with_kwargs
    assert not m._forward_hooks_always_called
    with m.register_forward_hook(lambda *a: fl.zeros(1)):
        assert m(fl.ones(1)).tolist() == [0.0]
    assert m(fl.ones(1)).tolist() == [2.0]


def test_always_called_hooks_run_after_an_error():
    seen = []
    m = Broken()
    m.register_forward_hook(lambda mod, args, out: seen.append(out), always_call=True)
    m.register_forward_hook(lambda mod, args, out: seen.append("not me"))
    with pytest.raises(ValueError, match="boom"):
        m(fl.ones(1))
    assert seen == [None]


def test_an_error_in_an_always_called_hook_does_not_hide_the_first():
    def bad(*args):
        raise KeyError("x")

    m = Broken()
    m.register_forward_hook(bad, always_call=True)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with pytest.raises(ValueError, match="boom"):
            m(fl.ones(1))
    assert "silenced as another error was raised" in str(seen[0].message)


def test_global_hooks_see_every_module_until_removed():
    seen = []
    handles = [
        module_file.register_module_forward_pre_hook(lambda mod, args: seen.append("pre")),
        module_file.register_module_forward_hook(lambda mod, args, out: seen.append("post")),
    ]
    Double()(fl.ones(1))
    for handle in handles:
        handle.remove()
    Double()(fl.ones(1))
    assert seen == ["pre", "post"]


def test_registration_hooks_may_replace_what_is_registered():
    seen = []
    with module_file.register_module_parameter_registration_hook(lambda mod, name, p: seen.append(name)):
        nn.Linear(1, 1)
    with module_file.register_module_module_registration_hook(lambda mod, name, m: seen.append(name)):
        nn.Sequential(nn.ReLU())
    with module_file.register_module_buffer_registration_hook(lambda mod, name, b: fl.full((1,), 7.0)):
        m = nn.Module()
        m.register_buffer("b", fl.zeros(1))
    assert seen == ["weight", "bias", "0"]
    assert m.b.tolist() == [7.0]


def test_full_backward_hooks_see_both_gradients():
    seen = []
    m = Double()
    m.register_full_backward_pre_hook(lambda mod, go: seen.append(("pre", go[0].tolist())))
    m.register_full_backward_hook(lambda mod, gi, go: seen.append((gi[0].tolist(), go[0].tolist())))
    x = fl.ones(2, requires_grad=True)
    m(x).sum().backward()
    assert seen == [("pre", [1.0, 1.0]), ([2.0, 2.0], [1.0, 1.0])]
    assert x.grad.tolist() == [2.0, 2.0]


def test_full_backward_hooks_replace_gradients():
    x = fl.ones(1, requires_grad=True)
    m = Double()
    m.register_full_backward_hook(lambda mod, gi, go: (gi[0] * 10,))
    m.register_full_backward_pre_hook(lambda mod, go: (go[0] * 3,))
    m(x).backward()
    assert x.grad.tolist() == [60.0]
    m.register_full_backward_hook(lambda mod, gi, go: (gi[0], gi[0]))
    with pytest.raises(RuntimeError, match="got 2, but expected 1"):
        m(x).backward()


def test_backward_hook_of_a_call_without_input_gradients():
    seen = []
    m = nn.Linear(2, 2)
    handle = m.register_full_backward_hook(lambda mod, gi, go: seen.append((gi, len(go))))
    m(fl.ones(1, 2)).sum().backward()
    assert seen == [((None,), 1)]
    handle.remove()
    m.register_full_backward_hook(lambda mod, gi, go: (fl.ones(1, 2),))
    with pytest.raises(RuntimeError, match="should always return None"):
        m(fl.ones(1, 2)).sum().backward()


def test_positions_without_gradients_hold_none():
    seen = []
    m = Double()
    m.register_full_backward_hook(lambda mod, gi, go: seen.append((len(gi), go[0])))
    x = fl.ones(1, requires_grad=True)
    out = m(fl.ones(1), x)
    out[1].sum().backward()
    assert seen == [(2, None)]


def test_the_two_kinds_of_backward_hooks_do_not_mix():
    m = Double()
    m.register_full_backward_hook(lambda *a: None)
    with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks and full"):
        m.register_backward_hook(lambda *a: None)


def test_hooks_do_nothing_without_grad():
    m = Double()
    m.register_full_backward_hook(lambda *a: None)
    x = fl.ones(1, requires_grad=True)
    with fl.no_grad():
        assert not m(x).requires_grad
    assert m(fl.ones(1)).tolist() == [2.0]
