"""What a type checker sees of an installed package, found by reading its stubs and sources; nothing is imported."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path

Parameter = tuple[str, str, bool]
"""Name, kind ("positional", "keyword" or "gathered"), whether it has a default."""


@dataclass
class Names:
    """The names that a module or class binds: those of functions with the parameters of every form."""

    bound: set[str] = field(default_factory=set)
    forms: dict[str, list[list[Parameter]]] = field(default_factory=dict)
    bases: list[str] = field(default_factory=list)
    classes: dict[str, Names] = field(default_factory=dict)
    exported: list[str] | None = None


def file_of(module: str) -> Path | None:
    """The stub of a module, or its source, as a checker chooses; None when there is neither."""
    root = find_spec("flambeau")
    assert root is not None and root.submodule_search_locations is not None
    for folder in root.submodule_search_locations:
        place = Path(folder).joinpath(*module.split(".")[1:])
        for path in (place / "__init__.pyi", place / "__init__.py", Path(f"{place}.pyi"), Path(f"{place}.py")):
            if path.exists():
                return path
    return None


@cache
def names_of(module: str) -> Names:
    """Names of a module, star imports followed."""
    path = file_of(module)
    assert path is not None, f"no stub and no source of {module}"
    names = Names()
    _read(ast.parse(path.read_text(encoding="utf-8")).body, names, path.suffix == ".pyi")
    return names


def _read(body: list[ast.stmt], names: Names, is_stub: bool) -> None:
    for node in body:
        if isinstance(node, ast.FunctionDef):
            names.bound.add(node.name)
            names.forms.setdefault(node.name, []).append(parameters_of(node))
        elif isinstance(node, ast.ClassDef):
            names.bound.add(node.name)
            inner = Names(bases=[ast.unparse(b) for b in node.bases])
            _read(node.body, inner, is_stub)
            names.classes[node.name] = inner
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.bound.add(node.target.id)
        elif isinstance(node, ast.Assign):
            names.bound.update(t.id for t in node.targets if isinstance(t, ast.Name))
            if any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
                names.exported = [
                    ast.literal_eval(e) for e in getattr(node.value, "elts", []) if isinstance(e, ast.Constant)
                ]
        elif isinstance(node, ast.Import):
            names.bound.update(a.asname or a.name.partition(".")[0] for a in node.names if a.asname or not is_stub)
        elif isinstance(node, ast.ImportFrom):
            _read_import(node, names, is_stub)
        elif isinstance(node, ast.If):
            chosen = _chosen_branch(node)
            for branch in (node.body, node.orelse) if chosen is None else (chosen,):
                _read(branch, names, is_stub)


def _read_import(node: ast.ImportFrom, names: Names, is_stub: bool) -> None:
    for alias in node.names:
        if alias.name == "*":
            brought = names_of(node.module or "")
            public = (
                [n for n in brought.bound if not n.startswith("_")] if brought.exported is None else brought.exported
            )
            names.bound.update(public)
            names.forms.update({n: brought.forms[n] for n in public if n in brought.forms})
        elif not is_stub or alias.asname == alias.name:
            names.bound.add(alias.asname or alias.name)
        elif alias.asname:
            names.bound.add(alias.asname)  # exported where `__all__` says so, which a test of the index looks at


def _chosen_branch(node: ast.If) -> list[ast.stmt] | None:
    """The branch that checkers read under `if TYPE_CHECKING` and `if not TYPE_CHECKING`; None: both."""
    test = node.test
    if isinstance(test, ast.Name) and test.id == "TYPE_CHECKING":
        return node.body
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and ast.unparse(test.operand) == "TYPE_CHECKING":
        return node.orelse
    return None


def parameters_of(node: ast.FunctionDef) -> list[Parameter]:
    """The parameters of one `def`, without self and cls."""
    a = node.args
    plain = [*a.posonlyargs, *a.args]
    first_default = len(plain) - len(a.defaults)
    out: list[Parameter] = [(p.arg, "positional", i >= first_default) for i, p in enumerate(plain)]
    out = [p for i, p in enumerate(out) if not (i == 0 and p[0] in ("self", "cls"))]
    if a.vararg:
        out.append((a.vararg.arg, "gathered", False))
    out += [(p.arg, "keyword", d is not None) for p, d in zip(a.kwonlyargs, a.kw_defaults)]
    return out


def members_of(module: str, name: str) -> Names:
    """Everything that a class has: its own names and, under them, those of its bases in flambeau."""
    own = names_of(module).classes[name]
    total = Names(bound=set(own.bound), forms=dict(own.forms))
    homes = imports_of(module)
    for base in own.bases:
        home = homes.get(base) or (module if base in names_of(module).classes else None)
        if home is None:
            continue
        inherited = members_of(home, base)
        total.bound |= inherited.bound
        total.forms = {**inherited.forms, **total.forms}
    return total


def imports_of(module: str) -> dict[str, str]:
    """Name -> the module it is imported from, for the `from` imports at the top of a module."""
    path = file_of(module)
    assert path is not None
    return {
        alias.asname or alias.name: node.module or ""
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
