"""Native types and their methods say what they are and how they are called."""

import inspect

import flambeau as fl
import pytest

TYPES = [fl.Tensor, fl.Generator, fl.device, fl.dtype, fl.layout, fl.memory_format, fl.Size, fl.UntypedStorage]
CALLABLE = [fl.Tensor, fl.Generator, fl.device, fl.Size, fl.UntypedStorage]


def members(cls: type) -> list[tuple[str, object]]:
    inherited = {*dir(object), *dir(tuple)}
    return [(n, v) for n, v in vars(cls).items() if not n.startswith("_") and n not in inherited]


@pytest.mark.parametrize("cls", TYPES)
def test_types_and_members_are_documented(cls: type) -> None:
    assert inspect.getdoc(cls)
    assert [n for n, v in members(cls) if not inspect.getdoc(v)] == []


@pytest.mark.parametrize("cls", TYPES)
def test_methods_have_signatures(cls: type) -> None:
    for _, method in members(cls):
        if callable(method):
            inspect.signature(method)


@pytest.mark.parametrize("cls", CALLABLE)
def test_types_have_signatures(cls: type) -> None:
    inspect.signature(cls)


def test_no_private_type_is_public() -> None:
    assert not hasattr(fl, "OpFunction")
    assert not hasattr(fl, "OpMethod")
