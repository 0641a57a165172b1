"""`flambeau.ops.<namespace>.<operator>.<overload>`, resolved on first use."""

from __future__ import annotations

import difflib

from flambeau import _C

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

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)

    @property
    def _schema(self) -> str:
        return self._call._schemas[0]

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

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self._packet._namespace}.{self._packet.__name__}', overload='{self._overload or 'default'}')>"

    def __hash__(self) -> int:
        return hash(self.name())

    def __reduce__(self) -> tuple:
        return _find, (self._packet._namespace, self._packet.__name__, self._overload or "default")


class OpOverloadPacket(_Described):
    __doc__ = _Doc("All overloads of an operator: calling it picks the first that fits.")

    def __init__(self, namespace: str, name: str) -> None:
        self._namespace = namespace
        self.__name__ = name
        self._call = _C._op_function(namespace, name, None, False)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)

    def overloads(self) -> list[str]:
        return [o or "default" for o in _C._op_overloads(self._namespace, self.__name__)]

    def __getattr__(self, overload: str) -> OpOverload:
        if overload.startswith("__"):
            raise AttributeError(overload)
        names = self.overloads()
        if overload not in names:
            raise AttributeError(
                f"The underlying op of '{self._namespace}.{self.__name__}' has no overload name '{overload}'; overloads: {', '.join(names)}"
            )
        value = OpOverload(
            self,
            ""
            if overload == "default" and "default" in names and "" in _C._op_overloads(self._namespace, self.__name__)
            else overload,
        )
        self.__dict__[overload] = value
        return value

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self._namespace}.{self.__name__}')>"

    def __reduce__(self) -> tuple:
        return _find, (self._namespace, self.__name__, None)


def _find(namespace: str, name: str, overload: str | None) -> object:
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
            near = difflib.get_close_matches(name, known, n=3)
            hint = f"; near names: {', '.join(near)}" if near else ""
            raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{name}'{hint}")
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
