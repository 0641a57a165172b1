"""Define operators and give them kernels from Python."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from flambeau import _C

TYPE_CHECKING = False  # `import flambeau` does not pay for the import of typing
if TYPE_CHECKING:
    from typing import Any

_RESERVED = {"prim", "prims"}
_KINDS = ("DEF", "IMPL", "FRAGMENT")


class Library:
    """Registrations in a namespace, undone when the object goes.

    Parameters
    ----------
    ns : str, the namespace
    kind : "DEF" to own it, "FRAGMENT" to add to it, "IMPL" to give kernels only
    dispatch_key : key of `impl` calls that name none; "" stands for CompositeImplicitAutograd
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in _KINDS:
            raise ValueError(f"Unsupported kind: {kind}; allowed: {', '.join(_KINDS)}")
        if ns in _RESERVED and kind in ("DEF", "FRAGMENT"):
            raise ValueError(f"{ns} is a reserved namespace. Please try creating a library with another name.")
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self._defined: list[str] = []
        self._kernels: list[object] = []  # each takes its kernel along when it goes

    def define(self, schema: str, alias_analysis: str = "", *, tags: object = ()) -> str:
        """Add an operator by its schema, such as "twice(Tensor x) -> Tensor". Returns its name.

        Raises RuntimeError with the position of what does not parse, or when the operator exists.
        """
        if self.kind == "IMPL":
            raise RuntimeError("[define] a Library of kind 'IMPL' gives kernels only; use 'DEF' or 'FRAGMENT'")
        name = _C._library_define(self.ns, schema)
        self._defined.append(name.split("::")[1])
        return name

    def impl(
        self,
        op_name: Any,
        fn: Callable,
        dispatch_key: str = "",
        *,
        with_keyset: bool = False,
        allow_override: bool = False,
    ) -> None:
        """Give an operator a kernel for a dispatch key.

        Raises RuntimeError when the operator does not exist, the key is unknown or already has a Python kernel.
        """
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        name = op_name if isinstance(op_name, str) else op_name.name()
        name = name.split("::")[-1].removesuffix(".default")
        key = dispatch_key or self.dispatch_key or "CompositeImplicitAutograd"
        self._kernels.append(_C._library_impl(self.ns, name, key, fn, allow_override))

    def _destroy(self) -> None:
        self._kernels.clear()
        for name in self._defined:
            _C._library_remove(self.ns, name)
        self._defined.clear()

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError, TypeError):  # the interpreter is going down
            self._destroy()

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})"
