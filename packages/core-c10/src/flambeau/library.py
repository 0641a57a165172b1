"""Define operators and give them kernels from Python.

`custom_op` makes an operator of one function; `Library` is the longer way, by schema and dispatch key.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from flambeau import _C, _ops
from flambeau._custom_op import CustomOpDef, _defined, custom_op
from flambeau._fake_context import FakeImplCtx, get_ctx
from flambeau._infer_schema import infer_schema
from flambeau._opcheck import OpCheckError, opcheck

__all__ = [
    "CustomOpDef",
    "FakeImplCtx",
    "Library",
    "OpCheckError",
    "custom_op",
    "define",
    "fallthrough_kernel",
    "get_ctx",
    "impl",
    "infer_schema",
    "opcheck",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_vmap",
    "triton_op",
    "wrap_triton",
]

TYPE_CHECKING = False  # `import flambeau` does not pay for the import of typing
if TYPE_CHECKING:
    from typing import Any

_RESERVED = {"prim", "prims"}
_KINDS = ("DEF", "IMPL", "FRAGMENT")
_owners: dict[str, weakref.ref[Library]] = {}  # of namespaces


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
        if kind == "DEF" and (((owner := _owners.get(ns)) is not None and owner() is not None) or ns == "aten"):
            raise RuntimeError(
                f"[Library] the namespace {ns!r} has an owner already: use 'FRAGMENT' to add operators to it, "
                "'IMPL' to give kernels"
            )
        if kind == "DEF":
            _owners[ns] = weakref.ref(self)
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self._defined: list[str] = []
        self._kernels: list[object] = []  # each takes its kernel along when it goes
        self._derived: list[CustomOpDef] = []  # derivatives of its operators

    def define(self, schema: str, alias_analysis: str = "", *, tags: object = ()) -> str:
        """Add an operator by its schema, such as "twice(Tensor x) -> Tensor". Returns its name.

        Raises RuntimeError with the position of what does not parse, or when the operator exists.
        """
        if self.kind == "IMPL":
            raise RuntimeError("[define] a Library of kind 'IMPL' gives kernels only; use 'DEF' or 'FRAGMENT'")
        named, colons, _ = schema.partition("(")[0].partition("::")
        if colons and named.strip() != self.ns:
            raise RuntimeError(f"[define] {schema!r} is of namespace {named.strip()!r}, this Library is of {self.ns!r}")
        name = _C._library_define(self.ns, schema)
        short = name.split("::")[1]
        self._defined.append(short)
        if tags:
            packet, _, overload = short.partition(".")
            op = getattr(getattr(getattr(_ops.ops, self.ns), packet), overload or "default")
            op._tags = tuple(tags) if isinstance(tags, (list, tuple)) else (tags,)
        return short

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
        named, colons, short = name.rpartition("::")
        if colons and named != self.ns:
            raise RuntimeError(f"[impl] {name!r} is of namespace {named!r}, this Library is of {self.ns!r}")
        name = short.removesuffix(".default")
        key = dispatch_key or self.dispatch_key or "CompositeImplicitAutograd"
        if fn is fallthrough_kernel:
            return  # keys without a kernel are passed over
        self._kernels.append(_C._library_impl(self.ns, name, key, fn, allow_override))

    def _destroy(self) -> None:
        self._kernels.clear()
        for op in self._derived:
            if _defined.get(op._qualname) is op:
                del _defined[op._qualname]
        self._derived.clear()
        for name in self._defined:
            _C._library_remove(self.ns, name)
            _defined.pop(f"{self.ns}::{name}", None)
            vars(getattr(_ops.ops, self.ns)).pop(name.partition(".")[0], None)  # the packet that knew it
        self._defined.clear()

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError, TypeError):  # the interpreter is going down
            self._destroy()

    def _register_fake(self, op_name: str, fn: Callable, _stacklevel: int = 1, *, allow_override: bool = False) -> None:
        self.impl(op_name, fn, "Meta", allow_override=allow_override)

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})"


def fallthrough_kernel() -> None:
    """A mark for `impl`: calls pass this key over."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


# Registrations made without a Library of one's own; they last as long as the process.
_kept: list[Library] = []


def _fragment(namespace: str, lib: Library | None) -> Library:
    if lib is not None:
        return lib
    _kept.append(Library(namespace, "FRAGMENT"))
    return _kept[-1]


def _split(qualname: str) -> tuple[str, str]:
    namespace, colons, name = qualname.partition("::")
    if not colons:
        raise ValueError(f"expected 'namespace::name', got {qualname!r}")
    return namespace, name


def _named(op: str | _ops.OpOverload | CustomOpDef) -> str:
    if isinstance(op, CustomOpDef):
        return op._qualname
    if isinstance(op, _ops.OpOverload):
        return op.name()
    if isinstance(op, str):
        return op
    raise ValueError(f"op must be a name, an OpOverload or what custom_op returned, got {type(op).__name__}")


def define(qualname: str, schema: str, *, lib: Library | None = None, tags: object = ()) -> Any:
    """Add an operator: `define("mylib::twice", "(Tensor x) -> Tensor")`.

    With a function in place of the schema it is inferred, and the function becomes its implementation for all devices.
    """
    namespace, name = _split(qualname)
    library = _fragment(namespace, lib)
    if callable(schema):
        library.define(name + infer_schema(schema, mutates_args=()), tags=tags)
        library.impl(name, schema, "CompositeExplicitAutograd")
        return schema
    return library.define(name + schema, tags=tags)


_DEVICE_KEYS = {
    "default": "CompositeExplicitAutograd",
    "cpu": "CPU",
    "cuda": "CUDA",
    "meta": "Meta",
    "xpu": "XPU",
    "mps": "MPS",
    "privateuseone": "PrivateUse1",
}


def impl(qualname: str, types: str | Sequence[str], func: Callable | None = None, *, lib: Library | None = None) -> Any:
    """Give an operator an implementation for device types ("cpu", "cuda", ..., or "default": all). A decorator too."""
    names = [types] if isinstance(types, str) else list(types)
    for name in names:
        if name not in _DEVICE_KEYS and name not in _DEVICE_KEYS.values():
            raise ValueError(f"[impl] unknown device type {name!r}; known: {', '.join(_DEVICE_KEYS)}")

    def register(function: Callable) -> Callable:
        namespace, op = _split(qualname)
        library = _fragment(namespace, lib)
        for name in dict.fromkeys(_DEVICE_KEYS.get(n, n) for n in names):
            library.impl(op, function, name)
        return function

    return register if func is None else register(func)


def register_kernel(
    op: str | _ops.OpOverload | CustomOpDef,
    device_types: str | Sequence[str] | None,
    func: Callable | None = None,
    /,
    *,
    lib: Library | None = None,
) -> Any:
    """Give an operator a kernel for some device types, or for all (None). Usable as a decorator."""
    name = _named(op)
    if name in _defined:
        return _defined[name].register_kernel(device_types, func)
    return impl(name, "default" if device_types is None else device_types, func, lib=lib)


def register_fake(
    op: str | _ops.OpOverload | CustomOpDef,
    func: Callable | None = None,
    /,
    *,
    lib: Library | None = None,
    _stacklevel: int = 1,
    allow_override: bool = True,
) -> Any:
    """Say what an operator's results look like, for tensors without data. Usable as a decorator.

    `func` takes the operator's arguments and returns tensors of the right sizes, dtypes and devices; what depends on
    data has a size from `get_ctx().new_dynamic_size()`.
    """

    def register(function: Callable) -> Callable:
        name = _named(op)
        if name in _defined and not _defined[name].is_derived:
            return _defined[name].register_fake(function)
        namespace, short = _split(name)
        _fragment(namespace, lib)._register_fake(short, function, allow_override=allow_override)
        return function

    return register if func is None else register(func)


impl_abstract = register_fake


def register_autograd(
    op: str | _ops.OpOverload | CustomOpDef,
    backward: Callable,
    /,
    *,
    setup_context: Callable | None = None,
    lib: Library | None = None,
) -> None:
    """Give an operator a derivative: see `CustomOpDef.register_autograd`.

    An operator of a Library gets the recording kernel with it.
    """
    name = _named(op)
    if name not in _defined:
        namespace, short = _split(name)
        _defined[name] = CustomOpDef.over(namespace, short, _fragment(namespace, lib))
    _defined[name].register_autograd(backward, setup_context=setup_context)


def register_vmap(
    op: str | _ops.OpOverload | CustomOpDef, func: Callable | None = None, /, *, lib: Library | None = None
) -> Any:
    """Say how an operator runs over a batch; kept for `func.vmap`. Usable as a decorator."""
    name = _named(op)
    if name not in _defined:
        namespace, short = _split(name)
        _defined[name] = CustomOpDef.over(namespace, short, _fragment(namespace, lib))
    return _defined[name].register_vmap(func)


def triton_op(
    name: str, fn: Callable | None = None, /, *, mutates_args: str | Iterable[str], schema: str | None = None
) -> Any:
    """A `custom_op` whose function launches Triton kernels through `wrap_triton`, so that a compiler may look inside."""
    return custom_op(name, fn, mutates_args=mutates_args, schema=schema)


def wrap_triton(triton_kernel: Callable, /) -> Callable:
    """A Triton kernel as `triton_op` functions launch it: `wrap_triton(kernel)[grid](...)`."""
    if not hasattr(triton_kernel, "__getitem__"):
        raise RuntimeError(
            f"wrap_triton takes a function decorated with triton.jit, got {type(triton_kernel).__name__}"
        )
    return triton_kernel
