"""`flambeau.ops.<namespace>.<operator>.<overload>`, resolved on first use."""

from __future__ import annotations

import difflib

from flambeau import _C
from flambeau._schema import FunctionSchema, schema_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Described:
    """`__signature__` and `__doc__` of what calls an operator are the operator's."""

    _call: Any

    @property
    def __signature__(self) -> object:
        return self._call.__signature__


class _Doc:
    """A class's docstring for the class, the operator's for what was made of it."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __get__(self, instance: _Described | None, owner: type) -> str | None:
        return self._text if instance is None else instance._call.__doc__


class OpOverload(_Described):
    __doc__ = _Doc("One overload of an operator.")

    def __init__(self, packet: OpOverloadPacket, overload: str) -> None:
        self._packet = packet
        self._overload = overload
        self._call = _C._op_function(packet._namespace, packet.__name__, overload, False)
        self.__name__ = f"{packet.__name__}.{overload or 'default'}"
        self.__qualname__ = self.__name__
        self.__module__ = f"{packet.__module__}"
        self._known_schema: FunctionSchema | None = None
        self._tags: tuple = ()

    @property
    def tags(self) -> list:
        return list(self._tags)

    @property
    def _opname(self) -> str:
        return self._packet.__name__

    @property
    def _overloadname(self) -> str:
        return self._overload or "default"

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)

    @property
    def _schema(self) -> FunctionSchema:
        if self._known_schema is None:
            self._known_schema = schema_of(self.namespace, self._packet.__name__, self._overload)
        return self._known_schema

    @property
    def overloadpacket(self) -> OpOverloadPacket:
        return self._packet

    @property
    def namespace(self) -> str:
        return self._packet._namespace

    def name(self) -> str:
        """'aten::add.Tensor'."""
        suffix = f".{self._overload}" if self._overload else ""
        return f"{self._packet._namespace}::{self._packet.__name__}{suffix}"

    def __str__(self) -> str:
        return f"{self._packet._namespace}.{self._packet.__name__}.{self._overload or 'default'}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self._packet._namespace}.{self._packet.__name__}', overload='{self._overload or 'default'}')>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpOverload) and self.name() == other.name()

    def __hash__(self) -> int:
        return hash(self.name())

    def __reduce__(self) -> tuple:
        return find, (self._packet._namespace, self._packet.__name__, self._overload or "default")


class OpOverloadPacket(_Described):
    __doc__ = _Doc("All overloads of an operator: calling it picks the first that fits.")

    def __init__(self, namespace: str, name: str) -> None:
        self._namespace = namespace
        self.__name__ = self.__qualname__ = name
        self.__module__ = f"flambeau.ops.{namespace}"
        self._call = _C._op_function(namespace, name, None, False)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)

    def overloads(self) -> list[str]:
        return [o or "default" for o in _C._op_overloads(self._namespace, self.__name__)]

    def __getattr__(self, overload: str) -> OpOverload:
        if overload.startswith("__"):
            raise AttributeError(overload)
        names = self.overloads()
        if overload not in names:
            raise AttributeError(
                f"The underlying op of '{self._namespace}.{self.__name__}' has no overload name '{overload}'; overloads: {', '.join(names)}{_near(overload, names)}"
            )
        value = OpOverload(
            self,
            ""
            if overload == "default" and "default" in names and "" in _C._op_overloads(self._namespace, self.__name__)
            else overload,
        )
        self.__dict__[overload] = value
        return value

    @property
    def _qualified_op_name(self) -> str:
        return f"{self._namespace}::{self.__name__}"

    def __str__(self) -> str:
        return f"{self._namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self._namespace}.{self.__name__}')>"

    def __reduce__(self) -> tuple:
        return find, (self._namespace, self.__name__, None)


def _near(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=3)
    return f"; near names: {', '.join(near)}" if near else ""


def find(namespace: str, name: str, overload: str | None) -> object:
    packet = getattr(getattr(ops, namespace), name)
    return packet if overload is None else getattr(packet, overload)


class _Namespace:
    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> OpOverloadPacket:
        if name.startswith("__"):
            raise AttributeError(name)
        if not _C._op_overloads(self.name, name):
            known = _C._op_names(self.name)
            raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{name}'{_near(name, known)}")
        value = OpOverloadPacket(self.name, name)
        self.__dict__[name] = value
        return value

    def __dir__(self) -> list[str]:
        return _C._op_names(self.name)

    def __repr__(self) -> str:
        return f"<flambeau.ops.{self.name}>"


class _Ops:
    """Namespaces come into being when named."""

    def __getattr__(self, name: str) -> _Namespace:
        if name.startswith("__"):
            raise AttributeError(name)
        value = _Namespace(name)
        self.__dict__[name] = value
        return value

    def __dir__(self) -> list[str]:
        return _C._op_namespaces()

    def __repr__(self) -> str:
        return "<flambeau.ops>"


ops = _Ops()
