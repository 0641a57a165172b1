"""Fail when a package imports a sibling that its pyproject does not depend on, or ships a file it does not own.

Imports inside `try: ... except ImportError` are optional by construction and allowed.
"""

from __future__ import annotations

import ast
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
    """Owners of the longest known prefix: `flambeau.aten._C` belongs to whoever ships `flambeau.aten`."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        if owner := table.get(".".join(parts[:end])):
            return owner
    return set()


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
    for file in sorted(source.glob("**/*.py")):
        module = module_name(file, source)
        for line, name in imports(ast.parse(file.read_text()), module, file.name == "__init__.py"):
            needed = owner_of(name, table) if name.split(".")[0] == PREFIX else set()
            if needed and not needed & allowed:
                yield (
                    f"{file.relative_to(repository.root)}:{line}: imports {name} of {', '.join(sorted(needed))}, "
                    f"but {package.name} depends only on {', '.join(sorted(allowed - {package.name})) or 'nothing of ours'}"
                )


def main() -> int:
    repository = Repository(ROOT)
    table = owners(repository)
    bad = [line for package in repository.packages for line in check_package(repository, package, table)]
    print("\n".join(bad) or f"layers ok: {' < '.join(p.short for p in repository.packages)}")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
