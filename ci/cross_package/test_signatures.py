"""`inspect.signature` works on every public callable."""

from __future__ import annotations

import inspect

import flambeau
import pytest


def public_callables() -> list[tuple[str, object]]:
    found = []
    for prefix, owner in (
        ("flambeau", flambeau),
        ("flambeau.Tensor", flambeau.Tensor),
        ("flambeau.nn.functional", flambeau.nn.functional),
    ):
        for name in dir(owner):
            if not name.startswith("_"):
                try:
                    value = getattr(owner, name)
                except (AttributeError, ImportError):
                    continue  # test_import.py looks for names that lead nowhere
                if callable(value) and not inspect.isclass(value):
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
    assert len(public_callables()) > 100


def test_docstrings() -> None:
    missing = [name for name, value in public_callables() if not inspect.getdoc(value)]
    assert not missing, f"{len(missing)} public callables without a docstring: {missing[:20]}"


@pytest.mark.parametrize("name", ["add", "sum", "cat", "zeros"])
def test_a_signature_names_its_parameters(name: str) -> None:
    assert inspect.signature(getattr(flambeau, name)).parameters
