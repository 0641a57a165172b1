"""torch's schema language, parsed once into frozen dataclasses.

`add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`
"""

from __future__ import annotations

import re
from dataclasses import dataclass

BASE_TYPES = (
    "Tensor", "int", "float", "bool", "Scalar", "str", "ScalarType", "Layout", "MemoryFormat", "Device", "Generator",
)  # fmt: skip

_TYPE = re.compile(r"(?P<base>\w+)(?:\((?P<alias>[^)]*)\))?(?P<rest>(?:\?|\[\d*\])*)(?:\((?P<alias2>[^)]*)\))?$")


@dataclass(frozen=True)
class Type:
    """A type as written: its base, whether it is a list or optional, and its alias annotation."""

    base: str
    is_list: bool = False
    optional: bool = False
    optional_items: bool = False
    length: int = 0
    alias: str = ""

    @property
    def mutated(self) -> bool:
        return "!" in self.alias


@dataclass(frozen=True)
class Argument:
    name: str
    type: Type
    default: str | None
    kwarg_only: bool


@dataclass(frozen=True)
class Schema:
    name: str
    overload: str
    arguments: tuple[Argument, ...]
    returns: tuple[tuple[Type, str], ...]
    text: str

    @property
    def full_name(self) -> str:
        return f"{self.name}.{self.overload}" if self.overload else self.name

    @property
    def identifier(self) -> str:
        """Name of the overload in C++."""
        return f"{self.name}_{self.overload}" if self.overload else self.name


def parse_type(text: str) -> Type:
    match = _TYPE.match(text.strip())
    if not match or match["base"] not in BASE_TYPES:
        raise ValueError(f"unknown type {text!r}; base types are {', '.join(BASE_TYPES)}")
    rest = match["rest"]
    length = re.search(r"\[(\d+)\]", rest)
    return Type(
        base=match["base"],
        is_list="[" in rest,
        optional=rest.endswith("?"),
        optional_items="?[" in rest,
        length=int(length[1]) if length else 0,
        alias=match["alias"] or match["alias2"] or "",
    )


def _split(text: str) -> list[str]:
    """Split at commas outside brackets and quotes."""
    parts, depth, quote, start = [], 0, "", 0
    for i, c in enumerate(text):
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "([":
            depth += 1
        elif c in ")]":
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    return [p.strip() for p in parts if p.strip()]


def parse_schema(text: str) -> Schema:
    """Raises ValueError with what does not fit."""
    head, arrow, result = text.rpartition("->")
    match = re.match(r"\s*(\w+)(?:\.(\w+))?\((.*)\)\s*$", head, re.S)
    if not arrow or not match:
        raise ValueError(f"not a schema: {text!r}; expected 'name.overload(args) -> results'")
    arguments, kwarg_only = [], False
    for part in _split(match[3]):
        if part == "*":
            kwarg_only = True
            continue
        declared, _, default = part.partition("=")
        type_text, _, name = declared.strip().rpartition(" ")
        if not name.isidentifier():
            raise ValueError(f"argument {part!r} of {match[1]} has no name")
        arguments.append(Argument(name, parse_type(type_text), default.strip() or None, kwarg_only))
    result = result.strip()
    inner = result[1:-1] if result.startswith("(") and not result.startswith("(a") else result
    returns = []
    for part in _split(inner):
        type_text, _, name = part.partition(" ")
        returns.append((parse_type(type_text), name.strip()))
    return Schema(match[1], match[2] or "", tuple(arguments), tuple(returns), " ".join(text.split()))
