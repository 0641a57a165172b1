"""Derivative records: `schemas/derivatives/*.yaml`, read once and checked against the operator records.

    derivatives:
      mul.Tensor:
        self: grad * conj(other)
        other: grad * conj(self)

A formula is a C++ expression. It sees `grad` (gradient of the first result), `G(i)` (of result i, zeros if none came),
`grads[i]` (possibly undefined), the arguments by name, `result` or the results by their names, and `needs_<input>`. Several
inputs may share a formula that returns a tuple: `input, weight, bias: convolution_backward(...)`. Arguments of which only the
geometry is used (`self.sizes()`) are not kept alive. Broadcasting is undone by the engine.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from opgen.errors import RecordError
from opgen.records import Record, read_yaml

_GEOMETRY = (
    "sizes",
    "dim",
    "size",
    "numel",
    "dtype",
    "device",
    "options",
    "is_complex",
    "is_floating_point",
    "defined",
)


@dataclass(frozen=True)
class Formula:
    inputs: tuple[str, ...]
    expression: str

    @property
    def code(self) -> str:
        """The expression without what it quotes: a name in a message is no use of the argument."""
        return re.sub(r'"[^"]*"', '""', self.expression)


@dataclass(frozen=True)
class Derivative:
    record: Record
    formulas: tuple[Formula, ...]
    fixed_results: tuple[str, ...]  # names or indices of results that carry no gradient
    source: str
    line: int
    index: int  # among the derivatives of the same operator name: part of the node's name

    @property
    def where(self) -> str:
        return f"{self.source}:{self.line}"

    @property
    def node(self) -> str:
        words = self.record.schema.name.strip("_").split("_")
        return "".join(w[:1].upper() + w[1:] for w in words) + f"Backward{self.index}"

    def uses(self, name: str) -> bool:
        return any(re.search(rf"\b{name}\b", f.code) for f in self.formulas)

    def inputs_that_read(self, name: str) -> tuple[str, ...] | None:
        """The inputs whose formulas read `name`; None where those are all inputs."""
        readers = {i for f in self.formulas if re.search(rf"\b{name}\b", f.code) for i in f.inputs}
        every = [i for f in self.formulas for i in f.inputs]
        return None if readers.issuperset(every) else tuple(i for i in every if i in readers)

    def uses_only_geometry(self, name: str) -> bool:
        """Whether every use of a tensor asks for its geometry."""
        methods = "|".join(_GEOMETRY)
        return all(not re.search(rf"\b{name}\b(?!\.(?:{methods})\()", f.code) for f in self.formulas)


def load_derivatives(schemas_dir: Path, records: list[Record]) -> list[Derivative]:
    """Raises RecordError naming file and line where a row names no operator or no argument."""
    by_name = {r.schema.full_name: r for r in records}
    derivatives: list[Derivative] = []
    counts: dict[str, int] = {}
    seen: dict[str, str] = {}
    for path in sorted((schemas_dir / "derivatives").glob("*.yaml")):
        source = f"schemas/derivatives/{path.name}"
        for name, row in read_yaml(path, source, "derivatives")["derivatives"].items():
            if name == "__line__":
                continue
            if not isinstance(row, dict):
                raise RecordError(f"{source}: {name} is {row!r}; a derivative is a mapping of inputs to formulas")
            where = f"{source}:{row.get('__line__', 0)}"
            record = by_name.get(name)
            if record is None:
                raise RecordError(
                    f"{where}: no operator {name!r}; the name is written as in its schema, overload included"
                )
            if name in seen:
                raise RecordError(f"{where}: {name} has a derivative in {seen[name]} already")
            seen[name] = where
            stem = record.schema.name.strip("_")  # what the node is called: `_where` and `where` count together
            index = counts.get(stem, 0)
            counts[stem] = index + 1
            derivatives.append(read_derivative(record, dict(row), source, index))
    return derivatives


def read_derivative(record: Record, row: dict, source: str, index: int) -> Derivative:
    line = row.pop("__line__", 0)
    where = f"{source}:{line}"
    tensors = {a.name for a in record.schema.arguments if a.type.base == "Tensor"}
    fixed = tuple(str(x) for x in row.pop("non_differentiable_results", ()))
    formulas = []
    for key, expression in row.items():
        inputs = tuple(k.strip() for k in str(key).split(","))
        for name in inputs:
            if name not in tensors:
                raise RecordError(
                    f"{where}: {record.schema.full_name} has no tensor argument {name!r}; it has {', '.join(sorted(tensors))}"
                )
        formulas.append(Formula(inputs, " ".join(str(expression).split())))
    if not formulas:
        raise RecordError(f"{where}: a derivative needs a formula for at least one input")
    return Derivative(record, tuple(formulas), fixed, source, line, index)
