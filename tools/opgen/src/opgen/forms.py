"""Signatures of operators as a type checker reads them: records in, text of Python parameters out.

Names with a leading underscore are those that `flambeau/_stubs/types.pyi` defines: a module that has a function `sum` or
a class that has a method `float` cannot use the plain names for types.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from opgen.records import Record
from opgen.schema import Argument, Type

POSITIONAL, KEYWORD, GATHERED = "positional", "keyword", "gathered"

# (alone, in a list); lists of numbers are lists or tuples at run time, and lists are invariant, so items that have
# subtypes or promotions are sequences
_TYPES = {
    "Tensor": ("Tensor", "Sequence[Tensor]"),
    "int": ("_int", "_Ints"),
    "float": ("_float", "Sequence[_float]"),
    "bool": ("_bool", "Sequence[_bool]"),
    "Scalar": ("_Number", "Sequence[_Number]"),
    "str": ("_str", "Sequence[_str]"),
    "ScalarType": ("_DType", "Sequence[_DType]"),
    "Layout": ("_layout", "Sequence[_layout]"),
    "MemoryFormat": ("_memory_format", "Sequence[_memory_format]"),
    "Device": ("_Device", "Sequence[_Device]"),
    "Generator": ("Generator", "Sequence[Generator]"),
}
_RESULTS = {"Scalar": "_Number", "ScalarType": "_dtype", "Device": "_device"}
_CONSTANTS = {"None": "None", "True": "True", "False": "False", "Mean": "1", "Sum": "2"}
_KEYWORDS = {"from", "lambda", "class", "in", "is", "not", "None"}

# What a type takes besides itself, for finding overloads that an earlier one hides.
_WIDER = {"_Number": {"_int", "_float", "_bool"}, "_float": {"_int", "_bool"}, "_int": {"_bool"}}


@dataclass(frozen=True)
class Parameter:
    """One parameter: `types` are the members of its union, `default` the text after `=` or None."""

    name: str
    kind: str
    types: tuple[str, ...]
    default: str | None = None

    def __str__(self) -> str:
        if self.kind == GATHERED:
            return f"*{self.name}: {self.types[0]}"
        return f"{self.name}: {' | '.join(self.types)}" + ("" if self.default is None else f" = {self.default}")


@dataclass(frozen=True)
class Overload:
    """What one `def` of a stub says."""

    parameters: tuple[Parameter, ...]
    result: str

    def __str__(self) -> str:
        """`(input: Tensor, dim: _int, *, out: Tensor | None = None) -> Tensor`."""
        parts: list[str] = []
        for p in self.parameters:
            if p.kind == KEYWORD and "*" not in parts and not any(q.kind == GATHERED for q in self.parameters):
                parts.append("*")
            if p.kind == GATHERED:  # at least one: the first stands alone, before the slash that makes it nameless
                parts += [f"first: {p.types[0]}", "/", f"*{p.name}: {p.types[0]}"]
            else:
                parts.append(str(p))
        return f"({', '.join(parts)}) -> {self.result}"


def types_of(t: Type, numbers: bool = False) -> tuple[str, ...]:
    """Members of the union that an argument of this type takes."""
    alone, listed = _TYPES[t.base]
    if t.is_list:
        text = listed.replace("Tensor]", "Tensor | None]") if t.optional_items else listed
        members = [text, *([alone] if t.length else [])]  # a number is repeated where the length is known
    else:
        members = [alone, *(["_Number"] if numbers and t.base == "Tensor" else [])]
    return (*members, "None") if t.optional else tuple(members)


def default_text(text: str) -> str:
    """The default as Python; `...` where it is no constant."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return "..."
    return repr(tuple(value) if isinstance(value, list) else value)


def parameters_of(record: Record, *, method: bool, inplace: bool) -> Iterator[Parameter]:
    seen_default = False
    for i, a in enumerate(record.schema.arguments):
        default = None if a.default is None else default_text(a.default)
        if not a.kwarg_only:
            if seen_default and default is None:
                default = "..."  # torch's schemas have required arguments after optional ones; Python cannot
            seen_default = seen_default or default is not None
        numbers = a.name in record.numbers and not (i == 0 and (method or inplace))
        kind = KEYWORD if a.kwarg_only else POSITIONAL
        yield Parameter(parameter_name(a, i, method), kind, types_of(a.type, numbers), default)
    if record.out and not method and not inplace:
        yield Parameter("out", KEYWORD, out_types(record), "None")
    if takes_requires_grad(record):
        yield Parameter("requires_grad", KEYWORD, ("_bool",), "False")


def parameter_name(a: Argument, position: int, method: bool) -> str:
    if a.name == "self":
        return "self" if method and position == 0 else "input"
    return a.name + "_" * (a.name in _KEYWORDS)


def out_types(record: Record) -> tuple[str, ...]:
    count = len(record.schema.returns)
    if count == 1:
        return ("Tensor", "None")
    return (f"tuple[{', '.join(['Tensor'] * count)}]", "list[Tensor]", "None")


def takes_requires_grad(record: Record) -> bool:
    """Factories: what makes a tensor from nothing, or like another one."""
    bases = {a.type.base for a in record.schema.arguments}
    name = record.schema.name
    return {"ScalarType", "Device"} <= bases and (
        "Tensor" not in bases or name.endswith("_like") or name.startswith("new_")
    )


def result_of(record: Record) -> str:
    returns = record.schema.returns
    if not returns:
        return "None"
    if len(returns) > 1 and returns[0][1]:
        return f"_results.{record.schema.name}"
    types = [("tuple[Tensor, ...]" if t.is_list else _RESULTS.get(t.base, _TYPES[t.base][0])) for t, _ in returns]
    return types[0] if len(types) == 1 else f"tuple[{', '.join(types)}]"


def gives_itself(record: Record) -> bool:
    """Operators that are in place by nature, such as copy_: they write their first argument and return it."""
    return record.mutates and record.schema.name.endswith("_") and len(record.schema.returns) == 1


def overloads(rows: list[Record], *, method: bool = False, inplace: bool = False) -> list[Overload]:
    """Every form of call that the rows answer to, in the order of trial; hidden ones are left out."""
    found: list[Overload] = []
    for record in rows:
        parameters = tuple(parameters_of(record, method=method, inplace=inplace))
        if method:
            parameters = tuple(p for p in parameters if p.name != "self")
        result = ("Self" if method else "Tensor") if inplace or gives_itself(record) else result_of(record)
        for candidate in (Overload(parameters, result), *gathered(parameters, result)):
            if not any(accepts(earlier, candidate) for earlier in found):
                found.append(candidate)
    return found


def gathered(parameters: tuple[Parameter, ...], result: str) -> Iterator[Overload]:
    """`view(2, 3)` beside `view((2, 3))`: where a list of ints is all that is positional."""
    positional = [p for p in parameters if p.kind == POSITIONAL]
    if len(positional) == 1 and positional[0].types[0] == "_Ints":
        first = replace(positional[0], kind=GATHERED, types=("_int",), default=None)
        yield Overload(tuple(first if p is positional[0] else p for p in parameters), result)


def accepts(wide: Overload, narrow: Overload) -> bool:
    """Whether every call that `narrow` takes is one that `wide` takes (sufficient, not necessary)."""
    if any(p.kind == GATHERED for p in (*wide.parameters, *narrow.parameters)):
        return wide == narrow
    wide_positional = [p for p in wide.parameters if p.kind == POSITIONAL]
    narrow_positional = [p for p in narrow.parameters if p.kind == POSITIONAL]
    if [p.name for p in wide_positional[: len(narrow_positional)]] != [p.name for p in narrow_positional]:
        return False
    by_name = {p.name: p for p in narrow.parameters}
    if not by_name.keys() <= {p.name for p in wide.parameters}:
        return False
    return all(p.default is not None if p.name not in by_name else _covers(p, by_name[p.name]) for p in wide.parameters)


def _covers(wide: Parameter, narrow: Parameter) -> bool:
    if wide.kind == KEYWORD and narrow.kind == POSITIONAL:
        return False
    if wide.default is None and narrow.default is not None:
        return False
    taken = set(wide.types).union(*(_WIDER.get(t, set()) for t in wide.types))
    return set(narrow.types) <= taken
