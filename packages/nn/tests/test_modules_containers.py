"""Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict."""

from __future__ import annotations

from collections import OrderedDict

import flambeau as fl
import pytest
from flambeau import nn


def kinds(modules) -> list[str]:
    return [type(m).__name__ for m in modules]


def test_sequential_runs_in_order_and_names_children():
    m = nn.Sequential(OrderedDict(twice=nn.Linear(1, 1, bias=False), act=nn.ReLU()))
    nn.init.constant_(m.twice.weight, 2.0)
    assert m(fl.tensor([[3.0]])).tolist() == [[6.0]]
    assert [n for n, _ in m.named_children()] == ["twice", "act"]
    assert isinstance(m[0:1], nn.Sequential)
    assert list(m[0:1]._modules) == ["twice"]


def test_sequential_list_operations():
    m = nn.Sequential(nn.ReLU(), nn.Tanh())
    assert m.append(nn.GELU()) is m
    assert m.insert(0, nn.Sigmoid()) is m
    assert kinds(m) == ["Sigmoid", "ReLU", "Tanh", "GELU"]
    assert type(m.pop(0)).__name__ == "Sigmoid"
    assert list(m._modules) == ["0", "1", "2"]
    del m[1]
    assert kinds(m) == ["ReLU", "GELU"]
    m[1] = nn.Mish()
    assert kinds(m + nn.Sequential(nn.ELU())) == ["ReLU", "Mish", "ELU"]
    assert kinds(m * 2) == kinds(2 * m) == ["ReLU", "Mish"] * 2
    m *= 2
    assert len(m) == 4
    m += nn.Sequential(nn.ELU())
    assert type(m[-1]).__name__ == "ELU"
    assert len(m.extend([nn.ReLU()])) == 6


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda m: m[5], IndexError, "index 5 is out of range"),
        (lambda m: m["a"], TypeError, "cannot be interpreted as an integer"),
        (lambda m: m * 0, ValueError, "Non-positive multiplication factor 0"),
        (lambda m: m * 1.5, TypeError, "unsupported operand type"),
        (lambda m: m + 3, ValueError, "supports only objects of Sequential class"),
        (lambda m: m.insert(9, nn.ReLU()), IndexError, "Index out of range: 9"),
        (lambda m: m.insert(0, 3), AssertionError, "module should be of type"),
        (lambda m: m.append(3), TypeError, "int is not a Module subclass"),
        (lambda m: nn.Sequential({"a": nn.ReLU()}), TypeError, "dict is not a Module subclass"),
    ],
)
def test_sequential_refuses(call, error, text):
    with pytest.raises(error, match=text):
        call(nn.Sequential(nn.ReLU()))


def test_module_list_operations_and_repr():
    m = nn.ModuleList([nn.Linear(1, 2)] * 3 + [nn.ReLU()])
    assert repr(m) == ("ModuleList(\n  (0-2): 3 x Linear(in_features=1, out_features=2, bias=True)\n  (3): ReLU()\n)")
    m.insert(1, nn.Tanh())
    m += [nn.GELU()]
    assert kinds(m) == ["Linear", "Tanh", "Linear", "Linear", "ReLU", "GELU"]
    assert kinds(m[1:3]) == ["Tanh", "Linear"]
    m.pop(0)
    assert kinds(m + [nn.ELU()])[-1] == "ELU"
    assert m[-1] is m[4]
    assert repr(nn.ModuleList()) == "ModuleList()"
    with pytest.raises(TypeError, match="should be called with an iterable, but got int"):
        m.extend(3)
    with pytest.raises(IndexError, match="index 9 is out of range"):
        m[9]
    with pytest.raises(NotImplementedError):
        m(1)


def test_module_list_parameters_are_registered():
    m = nn.ModuleList(nn.Linear(1, 1) for _ in range(2))
    assert list(m.state_dict()) == ["0.weight", "0.bias", "1.weight", "1.bias"]


def test_module_dict_operations():
    m = nn.ModuleDict({"a": nn.ReLU()})
    m.update([["b", nn.Tanh()]])
    m["c"] = nn.GELU()
    assert list(m) == list(m.keys()) == ["a", "b", "c"]
    assert kinds(m.values()) == ["ReLU", "Tanh", "GELU"]
    assert "b" in m
    assert type(m.pop("a")).__name__ == "ReLU"
    del m["b"]
    assert len(m) == 1
    with pytest.raises(ValueError, match="element #0 has length 1; 2 is required"):
        m.update([["q"]])
    with pytest.raises(TypeError, match="iterable of key/value pairs, but got int"):
        m.update(3)
    with pytest.raises(KeyError):
        m["z"]
    m.clear()
    assert repr(m) == "ModuleDict()"


def test_parameter_list_wraps_tensors_and_keeps_objects():
    p = nn.ParameterList([fl.zeros(2), nn.Parameter(fl.zeros(2, 3)), 3])
    assert repr(p) == (
        "ParameterList(\n"
        "    (0): Parameter containing: [torch.float32 of size 2]\n"
        "    (1): Parameter containing: [torch.float32 of size 2x3]\n"
        "    (2): Object of type: int\n"
        ")"
    )
    p.append(fl.ones(1))
    p += [fl.ones(1)]
    assert [n for n, _ in p.named_parameters()] == ["0", "1", "3", "4"]
    assert p[-3] == 3
    assert len(p[0:2]) == 2
    assert len(list(p)) == 5
    p[0] = fl.ones(4)
    assert isinstance(p[0], nn.Parameter)
    with pytest.raises(IndexError, match="index 9 is out of range"):
        p[9]
    with pytest.raises(TypeError, match="but got Tensor"):
        p.extend(fl.zeros(2))
    with pytest.raises(RuntimeError, match="should not be called"):
        p(1)


def test_parameter_dict_operations():
    d = nn.ParameterDict({"a": fl.zeros(2), "c": 3})
    assert isinstance(d["a"], nn.Parameter)
    assert list(d.keys()) == ["a", "c"]
    assert list(reversed(d)) == ["c", "a"]
    assert d.pop("c") == 3
    assert d.get("z") is None
    assert tuple(d.setdefault("e", fl.zeros(1)).shape) == (1,)
    assert list((d | {"r": fl.zeros(1)}).keys()) == ["a", "e", "r"]
    assert list(d.copy().keys()) == ["a", "e"]
    assert d.popitem()[0] == "e"
    d |= {"z": fl.zeros(1)}
    assert [n for n, _ in d.named_parameters()] == ["a", "z"]
    with pytest.raises(TypeError, match="not a string"):
        d[3] = fl.zeros(1)
    with pytest.raises(ValueError, match="element #0 has length 1"):
        d.update([["a"]])
    d.clear()
    assert len(d) == 0
