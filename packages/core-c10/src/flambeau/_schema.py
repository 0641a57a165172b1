"""Schemas of operators as objects: `op._schema`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flambeau import _C

__all__ = ["AliasInfo", "Argument", "FunctionSchema", "schema_of"]


@dataclass(frozen=True)
class AliasInfo:
    """`Tensor(a!)`: which memory an argument or result may share, and whether it is written to."""

    set: str
    is_write: bool

    @property
    def before_set(self) -> frozenset[str]:
        return frozenset({self.set})

    after_set = before_set


@dataclass(frozen=True)
class Argument:
    """An argument, or a result: `name` is "" where it has none."""

    name: str
    type: str
    kwarg_only: bool = False
    alias_info: AliasInfo | None = None
    default: Any = ...  # ... where there is none

    @property
    def is_write(self) -> bool:
        return self.alias_info is not None and self.alias_info.is_write

    @property
    def is_out(self) -> bool:
        return self.kwarg_only and self.is_write

    @property
    def default_value(self) -> Any:
        """None where the argument has no default: `has_default_value()` tells."""
        return None if self.default is ... else self.default

    def has_default_value(self) -> bool:
        return self.default is not ...


class FunctionSchema:
    """What an operator takes and gives. `str()` is the schema in torch's language."""

    def __init__(self, namespace: str, name: str, overload: str) -> None:
        text, arguments, returns = _C._op_schema(namespace, name, overload)
        self.name = f"{namespace}::{name}"
        self.overload_name = overload
        self._text = f"{namespace}::{text.split('::')[-1]}"
        self.arguments = [
            Argument(n, t.strip(), k, None if alias is None else AliasInfo(alias, write), default)
            for n, t, k, alias, write, default in arguments
        ]
        self.returns = [
            Argument(n, t.strip(), False, None if alias is None else AliasInfo(alias, write))
            for n, t, alias, write in returns
        ]

    @property
    def is_mutable(self) -> bool:
        """Whether it writes to an argument."""
        return any(a.is_write for a in self.arguments)

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FunctionSchema) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)


def schema_of(namespace: str, name: str, overload: str) -> FunctionSchema:
    """The schema of an overload; "" is the one without a name. Raises RuntimeError where there is no such operator."""
    return FunctionSchema(namespace, name, overload)
