"""Fail when a package uses a sibling that its pyproject does not depend on, or ships a file it does not own.

Uses are imports, attributes (`flambeau.nn.Parameter`), the targets of its index, and functions that its operators' records
name. What lies inside `try: ... except ImportError` is optional by construction and allowed.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from repo.packages import PREFIX, ROOT, Package, Repository

CORE = f"{PREFIX}-core-c10"


def module_name(file: Path, source: Path) -> str:
    parts = list(file.relative_to(source).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def owners(repository: Repository) -> dict[str, set[str]]:
    """Dotted module name -> the packages that ship a file for it or below it."""
    table: dict[str, set[str]] = {}
    for package in repository.packages:
        source = package.folder / "src"
        for file in source.glob(f"{PREFIX}/**/*.py"):
            parts = module_name(file, source).split(".")
            for end in range(2, len(parts) + 1):
                table.setdefault(".".join(parts[:end]), set()).add(package.name)
    table[PREFIX] = {CORE}
    return table


def owner_of(name: str, table: dict[str, set[str]]) -> set[str]:
    """Owners of the longest known prefix: `flambeau.aten._C` belongs to whoever ships `flambeau.aten`.

    None of the names `flambeau.<x>` that no package ships: core-c10 resolves those, operators among them.
    """
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        if owner := table.get(".".join(parts[:end])):
            return owner
    return set()


def index_names(package: Package) -> Iterator[tuple[Path, int, str, str]]:
    """(file, line, top-level name, module behind it) of a package's index; the name is "" for what it asks to be loaded."""
    for file in sorted((package.folder / "src" / PREFIX / "_index").glob("*.py")):
        for node in ast.parse(file.read_text()).body:
            match node:
                case ast.Assign(targets=[ast.Name(id="LOAD")], value=ast.Constant(value=str(target))):
                    yield file, node.lineno, "", target
                case ast.Assign(value=ast.Dict() as table) | ast.AnnAssign(value=ast.Dict() as table):
                    for key, value in zip(table.keys, table.values, strict=True):
                        yield file, value.lineno, ast.literal_eval(key), ast.literal_eval(value).partition(":")[0]


def attributes(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of each `flambeau.a.b` that is read from the module, under whatever name it was imported."""
    aliases = {
        a.asname or a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names if a.name == PREFIX
    }
    for node in ast.walk(tree):
        names: list[str] = []
        while isinstance(node, ast.Attribute):
            names.insert(0, node.attr)
            node = node.value
        if names and isinstance(node, ast.Name) and node.id in aliases:
            yield node.lineno, ".".join([PREFIX, *names])


def decompositions(repository: Repository) -> Iterator[tuple[Path, int, str, str]]:
    """(file, line, package that registers the operator, module) of each `python:` in the operators' records."""
    for file in sorted((repository.root / "schemas/ops").glob("*.yaml")):
        text = file.read_text()
        package = "core-c10" if re.search(r"^package: core", text, re.M) else "aten-kernels"
        for line, row in enumerate(text.splitlines(), 1):
            for module in re.findall(r"\bpython: \"?([\w.]+):", row):
                yield file, line, f"{PREFIX}-{package}", module


def imports(tree: ast.AST, module: str, is_package: bool) -> Iterator[tuple[int, str]]:
    """(line, absolute dotted name) of each import that is not guarded by `except ImportError`."""
    guarded = {
        id(n)
        for t in ast.walk(tree)
        if isinstance(t, ast.Try) and catches_import_error(t)
        for s in t.body
        for n in ast.walk(s)
    }
    for node in ast.walk(tree):
        if id(node) in guarded:
            continue
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = module.split(".")
                parts = parts[: len(parts) - node.level + (1 if is_package else 0)]
                base = ".".join([*parts, *([node.module] if node.module else [])])
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)


def catches_import_error(node: ast.Try) -> bool:
    names = {n.id for h in node.handlers if h.type for n in ast.walk(h.type) if isinstance(n, ast.Name)}
    return bool(names & {"ImportError", "ModuleNotFoundError"})


def check_package(repository: Repository, package: Package, table: dict[str, set[str]]) -> Iterator[str]:
    allowed = {p.name for p in repository.run_siblings(package)}
    source = package.folder / "src"
    if (source / PREFIX / "__init__.py").exists() and package.name != CORE:
        yield f"{package.folder.name}: src/{PREFIX}/__init__.py belongs to core-c10; two owners break uninstalling one"
    for file, line, verb, name in uses(repository, package):
        needed = owner_of(name, table) if name.split(".")[0] == PREFIX else set()
        if needed and not needed & allowed:
            yield (
                f"{file.relative_to(repository.root)}:{line}: {verb} {name} of {', '.join(sorted(needed))}, "
                f"but {package.name} depends only on {', '.join(sorted(allowed - {package.name})) or 'nothing of ours'}"
            )


def uses(repository: Repository, package: Package) -> Iterator[tuple[Path, int, str, str]]:
    """(file, line, verb, dotted name) of everything of ours that a package refers to."""
    source = package.folder / "src"
    for file in sorted(source.glob("**/*.py")):
        tree = ast.parse(file.read_text())
        for line, name in imports(tree, module_name(file, source), file.name == "__init__.py"):
            yield file, line, "imports", name
        for line, name in attributes(tree):
            yield file, line, "uses", name
    for file, line, _, target in index_names(package):
        yield file, line, "points at", target
    for file, line, owner, module in decompositions(repository):
        if owner == package.name:
            yield file, line, "names", module


def main() -> int:
    repository = Repository(ROOT)
    table = owners(repository)
    for package in repository.packages:
        for _, _, name, _ in index_names(package):
            if name and not name.startswith("_"):  # private names are the registry that core-c10 owns
                table.setdefault(f"{PREFIX}.{name}", {package.name})
    bad = [line for package in repository.packages for line in check_package(repository, package, table)]
    print("\n".join(bad) or f"layers ok: {' < '.join(p.short for p in repository.packages)}")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
