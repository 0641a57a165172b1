"""`inspect.signature` works on every public callable."""

from __future__ import annotations

import importlib
import inspect

import flambeau
import pytest
from flambeau._signatures import sentence

TYPES = ("Tensor", "Generator", "UntypedStorage", "Size", "dtype", "device")
MODULES = (
    "flambeau", "flambeau.nn", "flambeau.nn.functional", "flambeau.nn.init", "flambeau.linalg", "flambeau.special", "flambeau.fft",
    "flambeau.autograd", "flambeau.autograd.graph", "flambeau.optim", "flambeau.optim.lr_scheduler", "flambeau.utils.data",
    "flambeau.library", "flambeau.serialization",
)  # fmt: skip


def public_callables() -> list[tuple[str, object]]:
    """Functions, methods and classes of ours by their path; exceptions are as Python's own."""
    owners: list[tuple[str, object]] = [(name, importlib.import_module(name)) for name in MODULES]
    owners += [(f"flambeau.{name}", getattr(flambeau, name)) for name in TYPES]
    found = []
    for prefix, owner in owners:
        for name in dir(owner):
            if not name.startswith("_"):
                try:
                    value = getattr(owner, name)
                except (AttributeError, ImportError):
                    continue  # test_import.py looks for names that lead nowhere
                module = str(getattr(value, "__module__", None))
                is_error = inspect.isclass(value) and issubclass(value, BaseException)
                if callable(value) and not is_error and module.startswith(("flambeau", "None", "builtins")):
                    found.append((f"{prefix}.{name}", value))
    return found


def test_signatures() -> None:
    missing = []
    for name, value in public_callables():
        try:
            inspect.signature(value)
        except (ValueError, TypeError) as err:
            missing.append(f"{name}: {err}")
    assert not missing, "\n".join(missing[:20])
    assert len(public_callables()) > 1500


def test_docstrings() -> None:
    missing = [name for name, value in public_callables() if not inspect.getdoc(value)]
    assert not missing, f"{len(missing)} public callables without a docstring: {missing[:20]}"


def test_operators_say_what_they_give() -> None:
    """The docstring of an operator always lists its schemas; here it is the sentence that counts."""
    operators = [(n, v) for n, v in public_callables() if hasattr(v, "_overloads")]
    assert len(operators) > 1000
    assert not [name for name, value in operators if not sentence(value)]


def test_in_place_forms_and_aliases_are_described_as_what_they_stand_for() -> None:
    meaning = sentence(flambeau.acos).partition("\n")[0]
    assert meaning in flambeau.Tensor.acos_.__doc__
    assert meaning in flambeau.arccos.__doc__
    assert meaning in flambeau.Tensor.arccos_.__doc__


@pytest.mark.parametrize("name", ["add", "sum", "cat", "zeros"])
def test_a_signature_names_its_parameters(name: str) -> None:
    assert inspect.signature(getattr(flambeau, name)).parameters


def test_a_signature_holds_every_overload() -> None:
    parameters = inspect.signature(flambeau.sum).parameters
    assert list(parameters) == ["input", "dim", "keepdim", "dtype", "out"]
    inspect.signature(flambeau.max).bind(flambeau.ones(2), other=flambeau.ones(2))
    assert "dim_IntList" in flambeau.sum.__doc__


def test_defaults_are_values_and_not_their_text() -> None:
    parameters = inspect.signature(flambeau.conv2d).parameters
    assert parameters["stride"].default == [1, 1]
    assert parameters["groups"].default == 1
    assert inspect.signature(flambeau.add).parameters["alpha"].default == 1


def test_overloads_and_packets_are_described() -> None:
    packet = flambeau.ops.aten.add
    assert list(inspect.signature(packet).parameters)[:2] == ["input", "other"]
    assert list(inspect.signature(packet.Tensor).parameters)[:2] == ["input", "other"]
    assert "add.Tensor" in packet.__doc__
    assert type(packet).__doc__
    assert type(packet.Tensor).__doc__


def test_docstrings_tell_facts_of_the_record() -> None:
    assert "Dtypes: " in flambeau.exp.__doc__
    assert "`exp_` is its in-place form." in flambeau.exp.__doc__
    assert "shares memory with the first argument" in flambeau.transpose.__doc__
    assert "In place, self is written" in flambeau.exp_.__doc__
