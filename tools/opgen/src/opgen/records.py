"""Operator records: `schemas/ops/*.yaml` read once into frozen dataclasses that keep file and line."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import yaml

from opgen.checks import Check, CheckError, read_check
from opgen.errors import RecordError
from opgen.schema import Schema, parse_schema

CLASSES = ("core", "composite", "fused")
OUT_RULES = ("exact", "disjoint")
PLACES = ("function", "method", "nn", "linalg", "special", "fft")
# Of an inplace_kernel: its copy of self is row-major; in place it takes a self whose elements share memory.
TAGS = ("row_major", "expanded")
BODIES = ("pointwise", "kernel", "inplace_kernel", "python", "alias_of")
FIELDS = {
    "func": "the schema",
    "class": f"one of {', '.join(CLASSES)}",
    "variants": f"where it appears: a list of {', '.join(PLACES)} (default: function, method)",
    "pointwise": "name of a scalar body in schemas/scalar/; it says the dtypes",
    "reduction": "names of the reductions in schemas/scalar/ that the kernel runs; it serves meta tensors too",
    "shape": "C++ shape rule",
    "kernel": "C++ kernel",
    "inplace_kernel": "C++ kernel that writes to self and returns it: <name>_ runs it on self, <name> on a copy",
    "python": "'module:function' of a decomposition in Python; a fused operator may have one beside its kernel",
    "alias_of": "full name of the operator that this one is another name for",
    "inplace": "whether <name>_ exists (default: for pointwise operators)",
    "out": "whether out= exists (default: where every result is a fresh tensor), or its rules: words of exact (out has the dtype of the result), disjoint (out shares no memory with an input)",
    "numbers": "tensor arguments that a Python number may stand for: names, at least one tensor remaining; or all, even at once (default: none)",
    "view": "results share storage with the first argument",
    "mutates": "the operator writes to its first argument itself",
    "backend_free": "the kernel only looks at geometry and serves every device",
    "differentiable": "false: results never require gradients",
    "doc": "one sentence that says what it gives; overloads of a name share it (required of public operators)",
    "checks": "conditions on the arguments, a list of expressions (opgen.checks)",
    "tags": f"a list of {', '.join(TAGS)}",
}


@dataclass(frozen=True)
class Record:
    schema: Schema
    op_class: str
    places: tuple[str, ...]
    source: str
    line: int
    package: str
    dtypes: str = ""  # what a pointwise body says it computes in, in words
    pointwise: str = ""
    reductions: tuple[str, ...] = ()
    shape: str = ""
    kernel: str = ""
    inplace_kernel: str = ""
    python: str = ""
    alias_of: str = ""
    inplace: bool = False
    out: bool = False
    out_rules: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    numbers_alone: bool = False  # every tensor may be a number at once
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

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        mapping = super().construct_mapping(node, deep=deep)
        mapping["__line__"] = node.start_mark.line + 1
        return mapping


def load_records(schemas_dir: Path) -> list[Record]:
    """Every record of `schemas/ops/*.yaml`, files in order of name. Raises RecordError."""
    records: list[Record] = []
    seen: dict[str, Record] = {}
    for path in sorted((schemas_dir / "ops").glob("*.yaml")):
        source = f"schemas/ops/{path.name}"
        document = read_yaml(path, source, "operators")
        rows = document["operators"] or ()
        if not isinstance(rows, list) or not all(isinstance(r, dict) for r in rows):
            raise RecordError(f"{source}:1: 'operators' is a list of mappings, each with a field 'func'")
        for row in rows:
            record = read_record(row, source, document.get("package", "aten"))
            if other := seen.get(record.schema.full_name):
                raise RecordError(f"{record.where}: {record.schema.full_name} is defined in {other.where} already")
            seen[record.schema.full_name] = record
            records.append(record)
    share_docs(records, seen)
    check_docs(seen)
    return [name_alias(r, seen) for r in seen.values()]


def share_docs(records: list[Record], seen: dict[str, Record]) -> None:
    """Overloads of one name do the same thing: one of them says what."""
    docs = {r.schema.name: r.doc for r in reversed(records) if r.doc}
    for name, record in seen.items():
        if not record.doc and not record.alias_of:
            seen[name] = replace(record, doc=docs.get(record.schema.name, ""))


def check_docs(seen: dict[str, Record]) -> None:
    for record in seen.values():
        is_public = record.places and not record.schema.name.startswith("_")
        if is_public and not record.doc and not record.alias_of:
            raise RecordError(f"{record.where}: {record.schema.full_name} is public and needs 'doc', {FIELDS['doc']}")


def read_yaml(path: Path, source: str, field: str) -> dict:
    """A table whose rows lie under `field`; every mapping in it knows its line. Raises RecordError."""
    try:
        document = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise RecordError(f"{source}:{mark.line + 1 if mark else 1}: {error}") from error
    if not isinstance(document, dict) or field not in document:
        raise RecordError(f"{source}:1: the rows of this file belong under the key {field!r}, which is not there")
    return document


def name_alias(record: Record, seen: dict[str, Record]) -> Record:
    """An alias is described as what it stands for, unless its row says more; it takes numbers and out= as that does."""
    if not record.alias_of:
        return record
    if record.alias_of not in seen:
        raise RecordError(f"{record.where}: alias_of names no operator: {record.alias_of}")
    target = seen[record.alias_of]
    places = {a.name: i for i, a in enumerate(target.schema.arguments)}
    numbers = tuple(record.schema.arguments[places[n]].name for n in target.numbers)
    record = replace(record, numbers=numbers, numbers_alone=target.numbers_alone, out_rules=target.out_rules)
    return record if record.doc else replace(record, doc=f"Another name of {target.schema.name}. {target.doc}".strip())


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
    places = _words(variants)
    for place in places:
        if place not in PLACES:
            raise RecordError(f"{where}: variants has {place!r}; allowed: {', '.join(PLACES)}")
    check_bodies([k for k in BODIES if row.get(k)], op_class, where)
    reductions = _words(row.get("reduction", ()))
    if reductions and not row.get("kernel"):
        raise RecordError(f"{where}: reduction says what a kernel runs; this record has none")
    tags = _words(row.get("tags", ()))
    for tag in tags:
        if tag not in TAGS:
            raise RecordError(f"{where}: tags has {tag!r}; allowed: {', '.join(TAGS)}")
    if row.get("checks") and not row.get("kernel"):
        raise RecordError(f"{where}: checks stand before a kernel; this record has none")
    try:
        checks = tuple(read_check(text, schema) for text in row.get("checks", ()))
    except CheckError as error:
        raise RecordError(f"{where}: {error}") from error
    pointwise = bool(row.get("pointwise"))
    view, mutates = bool(row.get("view")), bool(row.get("mutates"))
    fresh = all(t.base == "Tensor" and not t.is_list for t, _ in schema.returns) and bool(schema.returns)
    numbers, alone = read_numbers(row.get("numbers", ""), schema, where)
    out, out_rules = read_out(row.get("out", fresh and not view and not mutates), where)
    return Record(
        schema=schema,
        op_class=op_class,
        places=places,
        source=source,
        line=line,
        package=package,
        pointwise=row.get("pointwise", ""),
        reductions=reductions,
        shape=row.get("shape", ""),
        kernel=row.get("kernel", ""),
        inplace_kernel=row.get("inplace_kernel", ""),
        python=row.get("python", ""),
        alias_of=row.get("alias_of", ""),
        inplace=bool(row.get("inplace", pointwise or row.get("inplace_kernel"))),
        out=out,
        out_rules=out_rules,
        numbers=numbers,
        numbers_alone=alone,
        view=view,
        mutates=mutates,
        backend_free=bool(row.get("backend_free")),
        differentiable=bool(row.get("differentiable", True)),
        doc=" ".join(str(row.get("doc", "")).split()),
        checks=checks,
        tags=tags,
    )


def _words(value: object) -> tuple[str, ...]:
    """A list, or words with commas between them."""
    items = value.split(",") if isinstance(value, str) else value
    return tuple(str(w).strip() for w in items if str(w).strip())  # type: ignore[attr-defined]


def check_bodies(bodies: list[str], op_class: str, where: str) -> None:
    """One body; a fused operator may name its decomposition beside its kernel."""
    if bodies == ["kernel", "python"] and op_class == "fused":
        return
    if len(bodies) != 1:
        raise RecordError(
            f"{where}: exactly one of {', '.join(BODIES)}, or kernel and python of a fused operator; got {bodies or 'none'}"
        )


def read_numbers(field: object, schema: Schema, where: str) -> tuple[tuple[str, ...], bool]:
    """Names of the arguments that a number may stand for, and whether it may for all of them at once."""
    tensors = [a.name for a in schema.arguments if a.type.base == "Tensor" and not a.type.is_list]
    if field == "all":
        return tuple(tensors), True
    names = tuple(str(field).replace(",", " ").split()) if field else ()
    for name in names:
        if name not in tensors:
            raise RecordError(f"{where}: numbers has {name!r}; allowed: all, or names of {', '.join(tensors)}")
    return names, False


def read_out(field: object, where: str) -> tuple[bool, tuple[str, ...]]:
    if isinstance(field, bool):
        return field, ()
    rules = tuple(str(field).replace(",", " ").split())
    for rule in rules:
        if rule not in OUT_RULES:
            raise RecordError(f"{where}: out has {rule!r}; allowed: true, false, or words of {', '.join(OUT_RULES)}")
    return True, rules
