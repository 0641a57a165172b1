"""All tables of `schemas/`, read once and checked against each other."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from opgen.derivatives import Derivative, load_derivatives
from opgen.errors import RecordError
from opgen.records import Record, load_records
from opgen.scalar.body import Body, load_scalars
from opgen.scalar.reduction import Reduction


@dataclass(frozen=True)
class Tables:
    records: tuple[Record, ...]
    derivatives: tuple[Derivative, ...]
    bodies: dict[str, Body]
    reductions: dict[str, Reduction]


def load_tables(schemas: Path) -> Tables:
    """Read and check everything. Raises RecordError."""
    records = load_records(schemas)
    scalars = load_scalars(schemas)
    bodies = {s.name: s for s in scalars if isinstance(s, Body)}
    records = [replace(r, dtypes=bodies[r.pointwise].accepts) if r.pointwise in bodies else r for r in records]
    tables = Tables(
        records=tuple(records),
        derivatives=tuple(load_derivatives(schemas, records)),
        bodies=bodies,
        reductions={s.name: s for s in scalars if isinstance(s, Reduction)},
    )
    check_pointwise(tables)
    check_reductions(tables)
    check_used(tables)
    sources = schemas.parent / "packages"
    if sources.is_dir():  # not there where only the tables were copied
        check_python(records, sources)
        check_reductions_run(records, sources)
    return tables


def check_pointwise(tables: Tables) -> None:
    """A record that names a body gives it as many tensors and numbers as it takes, and has as many results."""
    for record in tables.records:
        if not record.pointwise:
            continue
        body = tables.bodies.get(record.pointwise)
        if body is None:
            raise RecordError(f"{record.where}: schemas/scalar has no body {record.pointwise!r}")
        arguments = record.schema.arguments
        tensors = sum(a.type.base == "Tensor" for a in arguments)
        given = (tensors, len(arguments) - tensors, len(record.schema.returns))
        taken = (len(body.inputs), len(body.params), len(body.results))
        if given != taken:
            kinds = ("tensors", "numbers", "results")
            texts = [
                ", ".join(f"{n} {kind}" for n, kind in zip(counts, kinds, strict=True)) for counts in (given, taken)
            ]
            raise RecordError(
                f"{record.where}: {record.schema.full_name} has {texts[0]}; its body ({body.source}:{body.line}) has {texts[1]}"
            )


def check_reductions(tables: Tables) -> None:
    for record in tables.records:
        for name in record.reductions:
            if name not in tables.reductions:
                known = ", ".join(tables.reductions)
                raise RecordError(f"{record.where}: schemas/scalar has no reduction {name!r}; it has {known}")


def check_used(tables: Tables) -> None:
    """A body that no record names would be compiled for every dtype and instruction set, and never run."""
    named: set[str] = {r.pointwise for r in tables.records}
    _refuse_unnamed(tables.bodies.values(), named, "pointwise")
    _refuse_unnamed(tables.reductions.values(), {n for r in tables.records for n in r.reductions}, "reduction")


def _refuse_unnamed(scalars: Iterable[Body | Reduction], named: set[str], field: str) -> None:
    for scalar in scalars:
        if scalar.name not in named:
            raise RecordError(
                f"{scalar.where}: [{scalar.name}] no record in schemas/ops names it in `{field}:`; delete it"
            )


def check_python(records: Iterable[Record], packages: Path) -> None:
    """`python: module:function` names a function that is there."""
    defined: dict[str, set[str]] = {}
    for record in records:
        if not record.python:
            continue
        module, _, function = record.python.partition(":")
        if module not in defined:
            defined[module] = set(_names_of(module, packages, record))
        if function not in defined[module]:
            raise RecordError(f"{record.where}: python is {record.python!r}, but {module} defines no {function!r}")


def check_reductions_run(records: Iterable[Record], packages: Path) -> None:
    """What `reduction:` says is what kernels ask for by name."""
    text = "".join(f.read_text(encoding="utf-8") for f in sorted(packages.glob("*/csrc/reduce/*.cpp")))
    for record in records:
        for name in record.reductions:
            if f'"{name}"' not in text:
                raise RecordError(f"{record.where}: no kernel in csrc/reduce runs the reduction {name!r}")


def _names_of(module: str, packages: Path, record: Record) -> Iterator[str]:
    """Names that a module binds at its top level."""
    path = module.replace(".", "/")
    files = [f for tail in (f"{path}.py", f"{path}/__init__.py") for f in packages.glob(f"*/src/{tail}")]
    if not files:
        raise RecordError(f"{record.where}: python is {record.python!r}, but no package has a module {module}")
    for node in ast.parse(files[0].read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (a.asname or a.name for a in node.names)
        elif isinstance(node, ast.Assign):
            yield from (t.id for target in node.targets for t in ast.walk(target) if isinstance(t, ast.Name))
