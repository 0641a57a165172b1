"""The stubs say what is there: names, parameters and forms of every public callable, without a type checker.

That checkers accept right programs and refuse wrong ones is shown by `nox -s typecheck`.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from pathlib import Path
from types import ModuleType

import flambeau
import pytest
from flambeau import _tensor_api
from flambeau._signatures import signatures
from stub_reader import Parameter, file_of, imports_of, members_of, names_of

MODULES = (
    "flambeau",
    "flambeau._C",
    "flambeau._nn",
    "flambeau.autograd",
    "flambeau.autograd._C",
    "flambeau.fft",
    "flambeau.linalg",
    "flambeau.nn",
    "flambeau.nn.functional",
    "flambeau.nn.modules",
    "flambeau.optim",
    "flambeau.special",
)
KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "positional",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "positional",
    inspect.Parameter.KEYWORD_ONLY: "keyword",
    inspect.Parameter.VAR_POSITIONAL: "gathered",
}


def site() -> Path:
    home = file_of("flambeau")
    assert home is not None and home.suffix == ".pyi"
    return home.parent


def stub_files() -> list[Path]:
    return sorted(site().rglob("*.pyi"))


def public_names(module: ModuleType) -> set[str]:
    """What the module shows, without what it merely imported from outside for its own use."""
    listed = getattr(module, "__all__", None) or dir(module)
    shown = {n for n in listed if not n.startswith("_")}
    shown -= {"TYPE_CHECKING", "aten"}  # `flambeau.aten` is a folder of ours, not a name of torch's
    return {n for n in shown if not is_foreign(getattr(module, n, None))}


def is_foreign(value: object) -> bool:
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None) or "flambeau"
    return not str(name).startswith("flambeau") and (isinstance(value, ModuleType) or callable(value))


def parameters(signature: inspect.Signature) -> list[Parameter]:
    items = [p for p in signature.parameters.values() if p.kind in KINDS]
    found = [(p.name, KINDS[p.kind], p.default is not inspect.Parameter.empty) for p in items]
    return found[1:] if found and found[0][0] == "self" else found


def test_stubs_are_installed_and_parse() -> None:
    assert (site() / "py.typed").exists()
    files = stub_files()
    assert len(files) >= 20
    for file in files:
        ast.parse(file.read_text(encoding="utf-8"), str(file))


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_is_known_to_checkers(name: str) -> None:
    module = importlib.import_module(name)
    missing = public_names(module) - names_of(name).bound
    assert not missing, f"checkers do not find {sorted(missing)} in {name}"


@pytest.mark.parametrize("name", MODULES)
def test_every_name_known_to_checkers_is_there(name: str) -> None:
    module, known = importlib.import_module(name), names_of(name)
    shown = known.bound if known.exported is None else set(known.exported)
    # a source file's own imports under TYPE_CHECKING are for its annotations
    path = file_of(name)
    assert path is not None
    own = {
        "TYPE_CHECKING",
        "Any",
        "Self",
        "Literal",
        "Callable",
        "Iterator",
        "EllipsisType",
        "SupportsIndex",
        "TypeVar",
    }
    wrong = {n for n in shown if not n.startswith("_") and n not in own and not hasattr(module, n)}
    assert not wrong, f"checkers take {sorted(wrong)} for names of {name}"


@pytest.mark.parametrize("package", ["core", "aten", "autograd", "nn", "serialization"])
def test_index_stub_brings_the_names_of_the_index(package: str) -> None:
    index = importlib.import_module(f"flambeau._index.{package}").NAMES
    stub = f"flambeau._stubs.{package}_index"
    wanted = {n: t for n, t in index.items() if t != f"flambeau._C:{n}" and not n.startswith("_")}
    assert set(names_of(stub).exported or ()) == set(wanted)
    sources = imports_of(stub)
    for name, target in wanted.items():
        module, _, attribute = target.partition(":")
        if attribute:
            assert sources[name] == module, name
        assert hasattr(importlib.import_module(module), attribute) if attribute else importlib.import_module(module)


def test_no_name_comes_from_two_stubs() -> None:
    """Two definitions of one name: checkers differ in which they take."""
    seen: dict[str, str] = {}
    for stub in sorted((site() / "_stubs").glob("*_*.pyi")):
        if stub.stem.endswith(("_functions", "_index")):
            for name in names_of(f"flambeau._stubs.{stub.stem}").exported or ():
                assert name not in seen, f"{name} is in {seen[name]} and in {stub.stem}"
                seen[name] = stub.stem
    assert len(seen) > 500


def test_stubs_are_for_checkers_only() -> None:
    assert importlib.util.find_spec("flambeau._stubs.types") is None


# --- operators ------------------------------------------------------------------------------------------------------------


def operator_functions() -> list[tuple[str, object, list[list[Parameter]]]]:
    found = []
    for module in ("flambeau", "flambeau.linalg", "flambeau.fft", "flambeau.special", "flambeau._nn"):
        owner, known = importlib.import_module(module), names_of(module)
        for name in dir(owner):
            value = getattr(owner, name, None)
            if isinstance(value, flambeau._C._OpFunction):
                found.append((f"{module}.{name}", value, known.forms.get(name, [])))
    return found


def operator_methods() -> list[tuple[str, object, list[list[Parameter]]]]:
    forms = members_of("flambeau._C", "Tensor").forms
    found = [(n, getattr(flambeau.Tensor, n)) for n in dir(flambeau.Tensor)]
    return [(f"Tensor.{n}", v, forms.get(n, [])) for n, v in found if isinstance(v, flambeau._C._OpMethod)]


def accepts(form: list[Parameter], wanted: list[Parameter]) -> bool:
    """Whether a form has every parameter of another one, and needs no more."""
    names = {p[0] for p in wanted}
    have = {p[0] for p in form}
    return names <= have and all(p[2] for p in form if p[0] not in names)


@pytest.mark.parametrize("kind", ["function", "method"])
def test_forms_of_operators_are_those_of_their_schemas(kind: str) -> None:
    operators = operator_functions() if kind == "function" else operator_methods()
    assert len(operators) > 400
    wrong = []
    for name, operator, forms in operators:
        first, *rest = signatures(operator)
        if parameters(first) not in forms:
            wrong.append(f"{name}{first}: the stub has {forms}")
        for signature in rest:
            wanted = [p for p in parameters(signature) if p[0] != "out"]
            if not any(accepts(form, wanted) for form in forms):
                wrong.append(f"{name}: no form for {signature}")
    assert not wrong, "\n".join(wrong[:20])


def test_named_results_have_the_fields_of_the_schema() -> None:
    classes = {
        name: inner.bound
        for package in ("core", "aten")
        for name, inner in names_of(f"flambeau._stubs.{package}_results").classes.items()
    }
    seen = set()
    for _, operator, _ in operator_functions():
        for schema in operator._schemas:
            fields = re.findall(r"Tensor(?:\([^)]*\))? (\w+)", schema.partition("->")[2])
            if len(fields) > 1:
                name = re.split(r"[.(]", schema.partition("::")[2])[0]
                assert classes[name] == set(fields), schema
                seen.add(name)
    assert {"sort", "max", "linalg_qr"} <= seen


# --- what is written by hand ----------------------------------------------------------------------------------------------


def test_the_stub_of_tensor_has_its_attributes_and_no_others() -> None:
    known = members_of("flambeau._C", "Tensor").bound
    inherited = {n for n in dir(object) if getattr(object, n) is getattr(flambeau.Tensor, n)}
    real = set(dir(flambeau.Tensor)) - inherited
    ours = {"__doc__", "__module__", "__dict__", "__subclasshook__", "__init_subclass__", "__repr__"}
    assert not real - known - ours
    # CPython 3.12 brings __buffer__; older ones have the protocol without the name
    assert not {n for n in known if not hasattr(flambeau.Tensor, n)} - {"__buffer__"}


def test_methods_written_in_python_have_the_parameters_of_their_stub() -> None:
    forms = members_of("flambeau._C", "Tensor").forms
    wrong = []
    for name in _tensor_api._METHODS:
        real = parameters(inspect.signature(getattr(flambeau.Tensor, name)))
        if any(kind == "gathered" for _, kind, _ in real):
            continue
        if {p[:2] for p in real} != {p[:2] for form in forms[name] for p in form}:
            wrong.append(f"{name}: {real}, the stub has {forms[name]}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("owner", ["Tensor", "UntypedStorage", "Size", "Generator", "dtype", "device", "layout"])
def test_native_classes_have_the_parameters_of_their_stub(owner: str) -> None:
    real_class, stub = getattr(flambeau._C, owner), members_of("flambeau._C", owner)
    for name, value in vars(real_class).items():
        if name.startswith("__") or name not in stub.forms or isinstance(value, flambeau._C._OpMethod):
            continue
        try:
            real = parameters(inspect.signature(value))
        except (TypeError, ValueError):
            continue  # an attribute, or a private method without a text signature
        names = {n for form in stub.forms[name] for n, kind, _ in form if kind != "gathered"}
        assert (owner == "Tensor" and name in _tensor_api._METHODS) or names == {p[0] for p in real}, name


def test_native_functions_have_the_parameters_of_their_stub() -> None:
    for name, forms in names_of("flambeau._C").forms.items():
        value = getattr(flambeau._C, name)
        if name.startswith("_"):
            continue
        assert parameters(inspect.signature(value)) in forms, name
