"""`__torch_function__`: classes that stand in for tensors, and subclasses."""

from __future__ import annotations

from typing import Any

import flambeau as fl
import pytest
from flambeau.overrides import handle_torch_function, has_torch_function, is_tensor_like


class Logged:
    """No tensor: it holds one, and notes what it was passed to."""

    calls: list[str] = []

    def __init__(self, value: fl.Tensor) -> None:
        self.value = value

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        assert cls in types
        cls.calls.append(func.__name__)
        plain = [a.value if isinstance(a, Logged) else a for a in args]
        return Logged(func(*plain, **(kwargs or {})))


class Tagged(fl.Tensor):
    """A subclass that results keep."""


class Outer(Tagged):
    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        return "outer"


@pytest.fixture(autouse=True)
def no_calls() -> None:
    Logged.calls.clear()


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("add", lambda x: fl.add(x, 1)),
        ("exp", lambda x: fl.exp(x)),
        ("sum", lambda x: fl.sum(x, dim=0)),
        ("cat", lambda x: fl.cat([fl.ones(2), x])),
        ("where", lambda x: fl.where(fl.tensor([True, False]), x, 0.0)),
        ("softmax", lambda x: fl.softmax(x, 0)),
    ],
)
def test_functions_hand_over_to_the_class(name: str, call: Any) -> None:
    def plain(args: Any) -> Any:
        return [plain(a) if isinstance(a, list) else getattr(a, "value", a) for a in args]

    class Nested(Logged):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
            cls.calls.append(func.__name__)
            return func(*plain(args), **(kwargs or {}))

    expected = call(fl.tensor([1.0, 2.0]))
    found = call(Nested(fl.tensor([1.0, 2.0])))
    assert Logged.calls == [name]
    assert fl.equal(found, expected)


def test_operators_and_functional_hand_over_too() -> None:
    x = Logged(fl.tensor([-1.0, 2.0]))
    assert fl.ones(2).add(x).value.tolist() == [0, 3]
    assert (fl.ones(2) + x).value.tolist() == [0, 3]
    assert Logged.calls
    assert fl.nn.functional.relu(x).value.tolist() == [0, 2]


def test_a_class_without_it_is_a_type_error() -> None:
    class Plain:
        pass

    with pytest.raises(TypeError):
        fl.add(Plain(), 1)


def test_all_that_decline_is_a_type_error() -> None:
    class Declines:
        @classmethod
        def __torch_function__(cls, *args: Any, **kwargs: Any) -> Any:
            return NotImplemented

    with pytest.raises(TypeError, match="no implementation"):
        fl.add(Declines(), 1)
    with pytest.raises(TypeError, match="no implementation"):
        fl.add(Declines(), Declines())


def test_an_error_of_the_override_reaches_the_caller() -> None:
    class Fails:
        @classmethod
        def __torch_function__(cls, *args: Any, **kwargs: Any) -> Any:
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fl.exp(Fails())


def test_results_of_subclasses_are_of_the_subclass() -> None:
    x = fl.ones(3).as_subclass(Tagged)
    assert type(x + 1) is Tagged
    assert type(fl.ones(3) + x) is Tagged
    assert type(x.sum()) is Tagged
    assert type(x[1:]) is Tagged
    assert all(type(t) is Tagged for t in fl.chunk(x, 3))
    assert type(fl.ones(3) + 1) is fl.Tensor
    with fl._C.DisableTorchFunctionSubclass():
        assert type(x + 1) is fl.Tensor


def test_the_subclass_is_asked_before_its_base() -> None:
    x, y = fl.ones(3).as_subclass(Tagged), fl.ones(3).as_subclass(Outer)
    assert fl.add(x, y) == "outer"
    assert fl.add(y, x) == "outer"


def test_gradients_flow_through_subclasses() -> None:
    leaf = fl.ones(3, requires_grad=True)
    (leaf.as_subclass(Tagged) * 2).sum().backward()
    assert leaf.grad.tolist() == [2, 2, 2]


def test_helpers() -> None:
    x = Logged(fl.ones(1))
    assert has_torch_function((x,)) and not has_torch_function((fl.ones(1), 1))
    assert is_tensor_like(x) and is_tensor_like(fl.ones(1)) and not is_tensor_like(3)
    found = handle_torch_function(fl.exp, (x,), x)
    assert fl.equal(found.value, fl.exp(fl.ones(1)))
