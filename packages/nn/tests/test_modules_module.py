"""Module: registration, attribute access, traversal, conversion, repr."""

from __future__ import annotations

import copy
import pickle

import flambeau as fl
import pytest
from flambeau import nn


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 3)
        self.norm = nn.BatchNorm1d(3)
        self.scale = nn.Parameter(fl.ones(3))

    def forward(self, x: fl.Tensor) -> fl.Tensor:
        return self.norm(self.linear(x)) * self.scale


def names(pairs) -> list[str]:
    return [name for name, _ in pairs]


def test_assigning_registers_by_kind():
    m = Block()
    assert names(m.named_parameters()) == ["scale", "linear.weight", "linear.bias", "norm.weight", "norm.bias"]
    assert names(m.named_buffers()) == ["norm.running_mean", "norm.running_var", "norm.num_batches_tracked"]
    assert names(m.named_modules()) == ["", "linear", "norm"]
    assert names(m.named_children()) == ["linear", "norm"]
    assert names(m.named_parameters(prefix="x", recurse=False)) == ["x.scale"]


def test_forward_runs_through_call():
    out = Block()(fl.randn(4, 2))
    assert tuple(out.shape) == (4, 3)
    assert out.requires_grad


def test_module_without_forward_says_so():
    with pytest.raises(NotImplementedError, match=r'Module \[Module\] is missing the required "forward"'):
        nn.Module()(1)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda m: m.register_buffer(3, None), TypeError, "buffer name should be a string. Got int"),
        (lambda m: m.register_buffer("a.b", None), KeyError, "can.*t contain"),
        (lambda m: m.register_buffer("", None), KeyError, "can.*t be empty string"),
        (lambda m: m.register_buffer("plain", None), KeyError, "attribute 'plain' already exists"),
        (lambda m: m.register_buffer("c", 3), TypeError, "cannot assign 'int' object to buffer 'c'"),
        (lambda m: m.register_parameter("p", fl.zeros(2)), TypeError, "to parameter 'p'"),
        (lambda m: m.register_parameter("a.b", None), KeyError, "can.*t contain"),
        (lambda m: m.add_module("m", 3), TypeError, "int is not a Module subclass"),
        (lambda m: m.add_module("a.b", None), KeyError, "got: a.b"),
        (lambda m: setattr(m, "scale", 3), TypeError, "cannot assign 'int' as parameter 'scale'"),
        (lambda m: setattr(m, "scale", fl.zeros(3)), TypeError, "as parameter 'scale'"),
        (lambda m: setattr(m, "scale", nn.ReLU()), TypeError, "as parameter 'scale'"),
        (lambda m: setattr(m, "linear", 3), TypeError, "cannot assign 'int' as child module 'linear'"),
        (lambda m: m.nope, AttributeError, "'Block' object has no attribute 'nope'"),
        (lambda m: delattr(m, "nope"), AttributeError, "nope"),
        (lambda m: m.get_submodule("linear.x"), AttributeError, "Linear has no attribute `x`"),
        (lambda m: m.get_submodule("plain"), AttributeError, "`plain` is not an nn.Module"),
        (lambda m: m.get_parameter("norm.running_mean"), AttributeError, "is not an nn.Parameter"),
        (lambda m: m.get_buffer("linear.weight"), AttributeError, "`weight` is not a buffer"),
        (lambda m: m.set_submodule("", nn.ReLU()), ValueError, "without a target name"),
        (lambda m: m.set_submodule("linear", 3), ValueError, "is not an nn.Module"),
        (lambda m: m.set_submodule("zz", nn.ReLU(), strict=True), AttributeError, "no attribute `zz`"),
        (lambda m: m.train(3), ValueError, "expected to be boolean"),
        (lambda m: m.to(fl.int32), TypeError, "got desired dtype=.*int32"),
        (lambda m: m.to(3, 4, 5, 6), TypeError, "invalid combination of arguments"),
        (lambda m: nn.Module(3), TypeError, "takes 1 positional argument but 2 were given"),
        (lambda m: nn.Module(a=3), TypeError, "unexpected keyword argument 'a'"),
    ],
)
def test_bad_calls_name_what_is_wrong(call, error, text):
    m = Block()
    m.plain = 1
    with pytest.raises(error, match=text):
        call(m)


def test_assignment_before_init_is_refused():
    class Early(nn.Module):
        def __init__(self, value):
            self.value = value

    with pytest.raises(AttributeError, match="cannot assign parameters before"):
        Early(nn.Parameter(fl.zeros(1)))
    with pytest.raises(AttributeError, match="cannot assign module before"):
        Early(nn.ReLU())


def test_attributes_move_between_kinds():
    m = nn.Module()
    m.a = fl.zeros(1)
    assert "a" in m.__dict__
    m.a = nn.Parameter(fl.zeros(1))
    assert "a" not in m.__dict__
    assert list(m._parameters) == ["a"]
    m.a = None
    assert m._parameters == {"a": None}
    del m.a
    assert not hasattr(m, "a")
    m.register_buffer("b", fl.zeros(1))
    m.b = fl.zeros(2)
    assert tuple(m._buffers["b"].shape) == (2,)
    m.b = nn.Parameter(fl.zeros(1))
    assert not m._buffers
    m.c = nn.ReLU()
    m.c = None
    assert m._modules == {"c": None}


def test_buffer_class_registers_and_keeps_persistence():
    m = nn.Module()
    m.kept = nn.Buffer(fl.zeros(1))
    m.lost = nn.Buffer(fl.zeros(1), persistent=False)
    assert isinstance(m.kept, nn.Buffer)
    assert type(m.kept) is fl.Tensor
    assert names(m.named_buffers()) == ["kept", "lost"]
    assert list(m.state_dict()) == ["kept"]


def test_shared_parameters_appear_once_unless_asked():
    a, b = nn.Linear(2, 2), nn.Linear(2, 2)
    b.weight = a.weight
    m = nn.Sequential(a, b)
    assert names(m.named_parameters()) == ["0.weight", "0.bias", "1.bias"]
    assert names(m.named_parameters(remove_duplicate=False)) == ["0.weight", "0.bias", "1.weight", "1.bias"]
    c = copy.deepcopy(m)
    assert c[0].weight is c[1].weight
    assert c[0].weight is not a.weight


def test_get_and_set_submodule_by_path():
    m = nn.Sequential(nn.Sequential(nn.Linear(1, 1)))
    assert m.get_submodule("0.0") is m[0][0]
    assert m.get_parameter("0.0.bias") is m[0][0].bias
    m.set_submodule("0.0", nn.Tanh())
    assert isinstance(m[0][0], nn.Tanh)


def test_apply_visits_children_first():
    seen = []
    m = nn.Sequential(nn.ReLU(), nn.Tanh())
    assert m.apply(lambda x: seen.append(type(x).__name__)) is m
    assert seen == ["ReLU", "Tanh", "Sequential"]


def test_conversion_keeps_parameter_objects():
    m = Block()
    weight = m.linear.weight
    m(fl.randn(4, 2)).sum().backward()
    grad = m.linear.weight.grad
    m.double()
    assert m.linear.weight is weight
    assert weight.dtype == fl.float64
    assert weight.grad is grad
    assert grad.dtype == fl.float64
    assert m.norm.num_batches_tracked.dtype == fl.int64
    assert m.to(fl.float32).scale.dtype == fl.float32
    assert m.to("cpu", fl.float64).scale.dtype == fl.float64
    assert m.to(fl.zeros(1)).scale.dtype == fl.float32
    assert m.bfloat16().scale.dtype == fl.bfloat16
    assert m.float().scale.dtype == fl.float32


def test_train_eval_requires_grad_and_zero_grad():
    m = Block()
    assert not m.eval().norm.training
    assert m.train().norm.training
    m.linear.weight.sum().backward()
    m.zero_grad(set_to_none=False)
    assert float(m.linear.weight.grad.abs().sum()) == 0
    m.zero_grad()
    assert m.linear.weight.grad is None
    m.requires_grad_(False)
    assert not any(p.requires_grad for p in m.parameters())


def test_repr_nests_and_indents():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(1, 2)
            self.b = nn.Sequential(nn.ReLU())

        def extra_repr(self):
            return "first\nsecond"

    assert repr(Two()) == (
        "Two(\n"
        "  first\n"
        "  second\n"
        "  (a): Linear(in_features=1, out_features=2, bias=True)\n"
        "  (b): Sequential(\n"
        "    (0): ReLU()\n"
        "  )\n"
        ")"
    )
    assert repr(nn.Module()) == "Module()"


def test_copies_and_pickles():
    m = Block()
    for clone in (copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        assert repr(clone) == repr(m)
        assert clone.scale is not m.scale
        assert clone.scale.requires_grad
        for a, b in zip(clone.state_dict().values(), m.state_dict().values()):
            assert bool((a == b).all())
    assert copy.copy(m).scale is m.scale


def test_setstate_fills_tables_that_old_files_lack():
    m = nn.Linear(1, 1)
    state = m.__getstate__()
    del state["_forward_hooks_with_kwargs"], state["_non_persistent_buffers_set"]
    old = nn.Linear.__new__(nn.Linear)
    old.__setstate__(state)
    assert tuple(old(fl.ones(1, 1)).shape) == (1, 1)


def test_dir_lists_members_but_not_numbers():
    m = nn.Sequential(nn.ReLU())
    m.extra = nn.Parameter(fl.zeros(1))
    assert "extra" in dir(m)
    assert "0" not in dir(m)


def test_call_super_init_passes_arguments_on():
    class Mixin:
        def __init__(self, value):
            self.value = value

    class Both(nn.Module, Mixin):
        call_super_init = True

        def __init__(self):
            super().__init__(value=3)

    assert Both().value == 3


def test_parameter_properties():
    p = nn.Parameter(fl.zeros(2))
    assert isinstance(p, nn.Parameter)
    assert isinstance(p, fl.Tensor)
    assert p.requires_grad
    assert p.is_leaf
    assert repr(p) == "Parameter containing:\ntensor([0., 0.], requires_grad=True)"
    assert not isinstance(p * 2, nn.Parameter)
    with fl.no_grad():
        assert nn.Parameter(fl.zeros(1)).requires_grad
    data = fl.zeros(2)
    q = nn.Parameter(data, requires_grad=False)
    data.fill_(1)
    assert q.tolist() == [1.0, 1.0]
    assert tuple(nn.Parameter().shape) == (0,)
    with pytest.raises(RuntimeError, match="floating point"):
        nn.Parameter(fl.zeros(2, dtype=fl.int64))


def test_parameter_copies_keep_type_and_flag():
    p = nn.Parameter(fl.ones(2), requires_grad=False)
    p.tag = "mine"
    q = copy.deepcopy(p)
    r = pickle.loads(pickle.dumps(p))
    for clone in (q, r):
        assert type(clone) is nn.Parameter
        assert not clone.requires_grad
        assert clone.tolist() == [1.0, 1.0]
    assert r.tag == "mine"


def test_factory_kwargs_are_sorted_out():
    assert nn.factory_kwargs({"dtype": fl.float64}) == {"dtype": fl.float64}
    with pytest.raises(TypeError, match="unexpected kwargs"):
        nn.factory_kwargs({"shape": 3})
    with pytest.raises(TypeError, match="specified twice"):
        nn.factory_kwargs({"dtype": 1, "factory_kwargs": {"dtype": 2}})
