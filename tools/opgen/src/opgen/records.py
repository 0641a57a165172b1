"""Operator records: `schemas/ops/*.yaml` read once into frozen dataclasses that keep file and line."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import yaml

from opgen.checks import Check, CheckError, read_check
from opgen.schema import Schema, parse_schema

CLASSES = ("core", "composite", "fused")
PLACES = ("function", "method", "nn", "linalg", "special", "fft", "sparse")
FIELDS = {
    "func": "the schema",
    "class": f"one of {', '.join(CLASSES)}",
    "variants": f"where it appears: a list of {', '.join(PLACES)} (default: function, method)",
    "dtypes": "what it accepts, for documentation and tests",
    "pointwise": "name of a scalar body in schemas/scalar/",
    "reduction": "name of a reduction in schemas/scalar/",
    "shape": "C++ shape rule",
    "kernel": "C++ kernel",
    "inplace_kernel": "C++ kernel that writes to self and returns it: <name>_ runs it on self, <name> on a copy",
    "python": "'module:function' of a decomposition in Python",
    "alias_of": "full name of the operator that this one is another name for",
    "inplace": "whether <name>_ exists (default: for pointwise operators)",
    "out": "whether out= exists (default: where every result is a fresh tensor)",
    "numbers": "whether Python numbers are taken for tensors (default: for pointwise operators)",
    "view": "results share storage with the first argument",
    "mutates": "the operator writes to its first argument itself",
    "backend_free": "the kernel only looks at geometry and serves every device",
    "differentiable": "false: results never require gradients",
    "doc": "one sentence",
    "checks": "conditions on the arguments, a list of expressions (opgen.checks)",
    "tags": "free words",
}


class RecordError(ValueError):
    """An ill-formed record; the message names file and line."""


@dataclass(frozen=True)
class Record:
    schema: Schema
    op_class: str
    places: tuple[str, ...]
    source: str
    line: int
    package: str
    dtypes: str = "all"
    pointwise: str = ""
    reduction: str = ""
    shape: str = ""
    kernel: str = ""
    inplace_kernel: str = ""
    python: str = ""
    alias_of: str = ""
    inplace: bool = False
    out: bool = False
    numbers: bool = False
    view: bool = False
    mutates: bool = False
    backend_free: bool = False
    differentiable: bool = True
    doc: str = ""
    checks: tuple[Check, ...] = field(default=())
    tags: tuple[str, ...] = field(default=())

    @property
    def where(self) -> str:
        return f"{self.source}:{self.line}"


class _Loader(yaml.SafeLoader):
    """Keeps the line of every mapping under the key `__line__`."""

    def construct_mapping(self, node: yaml.Node, deep: bool = False) -> dict:
        mapping = super().construct_mapping(node, deep=deep)
        mapping["__line__"] = node.start_mark.line + 1
        return mapping


def load_yaml(path: Path, source: str) -> dict:
    """The document, whose mappings keep their line as `__line__`. Raises RecordError."""
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    except yaml.YAMLError as error:
        raise RecordError(f"{source}: {error}") from error


def load_records(schemas_dir: Path) -> list[Record]:
    """Every record of `schemas/ops/*.yaml`, files in order of name. Raises RecordError."""
    records: list[Record] = []
    seen: dict[str, Record] = {}
    for path in sorted((schemas_dir / "ops").glob("*.yaml")):
        source = f"schemas/ops/{path.name}"
        document = load_yaml(path, source)
        for row in document["operators"] or ():
            record = read_record(row, source, document.get("package", "aten"))
            if other := seen.get(record.schema.full_name):
                raise RecordError(f"{record.where}: {record.schema.full_name} is defined in {other.where} already")
            seen[record.schema.full_name] = record
            records.append(record)
    check_aliases(records, seen)
    return records


def check_aliases(records: list[Record], seen: dict[str, Record]) -> None:
    for record in records:
        if record.alias_of and record.alias_of not in seen:
            raise RecordError(f"{record.where}: alias_of names no operator: {record.alias_of}")


def read_record(row: dict, source: str, package: str) -> Record:
    line = row.pop("__line__", 0)
    where = f"{source}:{line}"
    for key in row:
        if key not in FIELDS:
            raise RecordError(f"{where}: unknown field {key!r}; fields are {', '.join(FIELDS)}")
    if "func" not in row:
        raise RecordError(f"{where}: a record needs 'func', {FIELDS['func']}")
    try:
        schema = parse_schema(row["func"])
    except ValueError as error:
        raise RecordError(f"{where}: {error}") from error
    op_class = row.get("class", "composite" if "python" in row or "alias_of" in row else "core")
    if op_class not in CLASSES:
        raise RecordError(f"{where}: class is {op_class!r}; allowed: {', '.join(CLASSES)}")
    variants = row.get("variants", "function, method")
    places = (
        tuple(w.strip() for w in variants.split(",") if w.strip()) if isinstance(variants, str) else tuple(variants)
    )
    for place in places:
        if place not in PLACES:
            raise RecordError(f"{where}: variants has {place!r}; allowed: {', '.join(PLACES)}")
    bodies = [k for k in ("pointwise", "kernel", "inplace_kernel", "python", "alias_of") if row.get(k)]
    if len(bodies) != 1:
        raise RecordError(
            f"{where}: exactly one of pointwise, kernel, inplace_kernel, python, alias_of; got {bodies or 'none'}"
        )
    if row.get("checks") and not row.get("kernel"):
        raise RecordError(f"{where}: checks stand before a kernel; this record has none")
    try:
        checks = tuple(read_check(text, schema) for text in row.get("checks", ()))
    except CheckError as error:
        raise RecordError(f"{where}: {error}") from error
    pointwise = bool(row.get("pointwise"))
    view, mutates = bool(row.get("view")), bool(row.get("mutates"))
    fresh = all(t.base == "Tensor" and not t.is_list for t, _ in schema.returns) and bool(schema.returns)
    return Record(
        schema=schema,
        op_class=op_class,
        places=places,
        source=source,
        line=line,
        package=package,
        dtypes=row.get("dtypes", "all"),
        pointwise=row.get("pointwise", ""),
        reduction=row.get("reduction", ""),
        shape=row.get("shape", ""),
        kernel=row.get("kernel", ""),
        inplace_kernel=row.get("inplace_kernel", ""),
        python=row.get("python", ""),
        alias_of=row.get("alias_of", ""),
        inplace=bool(row.get("inplace", pointwise or row.get("inplace_kernel"))),
        out=bool(row.get("out", fresh and not view and not mutates)),
        numbers=bool(row.get("numbers", pointwise)),
        view=view,
        mutates=mutates,
        backend_free=bool(row.get("backend_free")),
        differentiable=bool(row.get("differentiable", True)),
        doc=" ".join(str(row.get("doc", "")).split()),
        checks=checks,
        tags=tuple(row.get("tags", ())),
    )
