"""Operators written in Python: `custom_op` and what can be registered for them."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from flambeau import _C, _ops
from flambeau._C import Tensor
from flambeau._infer_schema import infer_schema
from flambeau._lazy import resolve

__all__ = ["CustomOpDef", "custom_op"]

# Device types with a key of their own; a kernel registered for None serves all of them.
_KEYS = {"cpu": "CPU", "cuda": "CUDA", "meta": "Meta", "xpu": "XPU", "mps": "MPS", "privateuseone": "PrivateUse1"}

_defined: dict[str, CustomOpDef] = {}


class CustomOpDef:
    """What `custom_op` returns: callable, and the place to add kernels, a fake and a derivative.

    Made by `flambeau.library.custom_op`; not to be made by hand.
    """

    is_derived = False  # whether a Library defined the operator, and this only adds to it
    _lib: Any  # the Library that holds the registrations; a weak reference to one that others made

    def __init__(self, namespace: str, name: str, schema: str, fn: Callable, tags: object = None) -> None:
        from flambeau.library import Library

        self._namespace, self._name, self._schema_text, self._init_fn = namespace, name, schema, fn
        self.__name__ = name
        self.__doc__ = fn.__doc__
        self.__wrapped__ = fn
        if (old := _defined.get(self._qualname)) is not None:
            old._lib._destroy()
        self._lib = Library(namespace, "FRAGMENT")
        self._lib.define(name + schema, tags=tags)
        self._opoverload: _ops.OpOverload = getattr(getattr(_ops.ops, namespace), name).default
        self._set_defaults()
        self._lib.impl(name, self._record, "Autograd")
        self._lib.impl(name, self._run_fake, "Meta")
        _defined[self._qualname] = self

    @property
    def _qualname(self) -> str:
        return f"{self._namespace}::{self._name}"

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, /, *args: object, **kwargs: object) -> Any:
        return self._opoverload(*args, **kwargs)

    @classmethod
    def over(cls, namespace: str, name: str, library: Any) -> CustomOpDef:
        """For an operator that a Library defined: adds the recording kernel and what goes with it."""
        short, _, overload = name.partition(".")
        self = object.__new__(cls)
        self._opoverload = getattr(getattr(getattr(_ops.ops, namespace), short), overload or "default")
        self._namespace, self._name, self._lib = namespace, name, weakref.proxy(library)
        self._schema_text, self._init_fn = str(self._opoverload._schema), self._opoverload
        self._set_defaults()
        library.impl(name, self._record, "Autograd")
        library._derived.append(self)
        self.is_derived = True
        return self

    def _set_defaults(self) -> None:
        self._backward: Callable | None = None
        self._setup_context: Callable | None = None
        self._vmap: Callable | None = None
        self._fake: Callable | None = None
        self._kernels: dict[str, Callable] = {}
        self._disabled: set[str] = set()
        self._function: Any = None

    # --- registrations

    def register_kernel(self, device_types: str | Sequence[str] | None, fn: Callable | None = None, /) -> Callable:
        """Give the operator a kernel for some device types, or for all (None). Usable as a decorator.

        Raises ValueError for an unknown device type.
        """
        names = [None] if device_types is None else [device_types] if isinstance(device_types, str) else device_types
        for name in names:
            if name is not None and name not in _KEYS:
                raise ValueError(f"[register_kernel] unknown device type {name!r}; known: {', '.join(_KEYS)}")

        def register(function: Callable) -> Callable:
            for name in names:
                key = "CompositeExplicitAutograd" if name is None else _KEYS[name]
                self._kernels[key] = function
                self._lib.impl(self._name, self._checked(function), key, allow_override=True)
            return function

        return register if fn is None else register(fn)

    def register_fake(self, fn: Callable, /) -> Callable:
        """Say what results look like, for tensors without data (meta and fake ones). Usable as a decorator."""
        self._fake = fn
        return fn

    def register_autograd(self, backward: Callable, /, *, setup_context: Callable | None = None) -> None:
        """Give the operator a derivative.

        Parameters
        ----------
        backward : (ctx, *gradients of the results) -> a gradient or None for each input
        setup_context : (ctx, inputs, output), run after forward: saves what backward needs; with keyword-only
            arguments (ctx, inputs, keyword_only_inputs, output)

        Raises
        ------
        RuntimeError : the operator writes to its arguments
        NotImplementedError : it has keyword-only tensors, which gradients cannot be given for
        """
        if self._opoverload._schema.is_mutable:
            raise RuntimeError(
                f"Cannot register autograd formula for non-functional operator {self} with schema {self._schema_text}. "
                "Please create a functional operator and register an autograd formula for that."
            )
        _refuse_keyword_tensors(self, "register_autograd")
        self._backward, self._setup_context, self._function = backward, setup_context, None

    def register_vmap(self, func: Callable | None = None, /) -> Callable:
        """Say how the operator runs over a batch: (info, in_dims, *args) -> (result, out_dims). Kept for `func.vmap`."""

        def register(function: Callable) -> Callable:
            self._vmap = function
            return function

        return register if func is None else register(func)

    def set_kernel_enabled(self, device_type: str, enabled: bool = True) -> object:
        """Use the kernel of a device type or not; usable as a context manager.

        While it is off calls reach the function that `custom_op` was given.
        """
        before = device_type not in self._disabled
        (self._disabled.discard if enabled else self._disabled.add)(device_type)
        return _Restore(self, device_type, before)

    # --- what the registered kernels do

    def _checked(self, function: Callable) -> Callable:
        def kernel(*args: object, **kwargs: object) -> object:
            chosen = function
            if self._disabled and any(t.device.type in self._disabled for t in _tensors([*args, *kwargs.values()])):
                chosen = self._init_fn
            result = chosen(*args, **kwargs)
            _refuse_aliases(self, chosen, [*args, *kwargs.values()], result)
            return result

        return kernel

    def _run_fake(self, /, *args: object, **kwargs: object) -> object:
        if self._fake is None:
            if not self._opoverload._schema.returns:
                return None  # it only writes: there is nothing to describe
            raise RuntimeError(
                f"There was no fake impl registered for {self}. This is necessary for meta tensors, and for "
                f"torch.compile/export/fx tracing to work. Please use `{self._init_fn.__name__}.register_fake` to add an fake impl."
            )
        return self._fake(*args, **kwargs)

    def _record(self, /, *args: object, **kwargs: object) -> object:
        import flambeau

        if not flambeau.is_grad_enabled() or not any(t.requires_grad for t in _tensors([*args, *kwargs.values()])):
            with flambeau.no_grad():  # below autograd
                return self._opoverload(*args, **kwargs)
        if self._function is None:
            self._function = resolve("_custom_op_function")(self)
        return self._function(kwargs, args)


class _Restore:
    def __init__(self, op: CustomOpDef, device_type: str, before: bool) -> None:
        self._op, self._device_type, self._before = op, device_type, before

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        self._op.set_kernel_enabled(self._device_type, self._before)


def custom_op(
    name: str,
    fn: Callable | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: str | Sequence[str] | None = None,
    schema: str | None = None,
    tags: object = None,
) -> Any:
    """Make a Python function an operator.

    Parameters
    ----------
    name : "namespace::name"
    fn : the implementation; left out when used as a decorator
    mutates_args : names of the arguments it writes to, or "unknown"
    device_types : those it works for; None: all
    schema : in the schema language; None: taken from the annotations (`infer_schema`)

    Raises
    ------
    ValueError : a name without namespace, an annotation that the schema language has no word for

    Examples
    --------
    >>> @custom_op("mylib::twice", mutates_args=())
    ... def twice(x: Tensor) -> Tensor:
    ...     return x * 2
    """

    def make(function: Callable) -> CustomOpDef:
        namespace, colons, op = name.partition("::")
        if not colons or not namespace.isidentifier() or not op.isidentifier():
            raise ValueError(f"[custom_op] name must be 'namespace::name', got {name!r}")
        text = infer_schema(function, mutates_args=mutates_args) if schema is None else schema
        defined = CustomOpDef(namespace, op, text, function, tags)
        if schema is not None:
            _check_mutations(defined, mutates_args)
        defined.register_kernel(device_types, function)
        return defined

    return make if fn is None else make(fn)


def _refuse_keyword_tensors(op: CustomOpDef, what: str) -> None:
    if names := [a.name for a in op._opoverload._schema.arguments if a.kwarg_only and a.type.startswith("Tensor")]:
        raise NotImplementedError(
            f"{what} with kwarg-only Tensor args. Please make your tensors not kwarg-only: {', '.join(names)}. "
            f"Got: {op._opoverload._schema}"
        )


def _check_mutations(op: CustomOpDef, mutates_args: str | Iterable[str]) -> None:
    said = {mutates_args} if isinstance(mutates_args, str) else set(mutates_args)
    written = {a.name for a in op._opoverload._schema.arguments if a.is_write}
    if said != {"unknown"} and said != written:
        op._lib._destroy()
        raise ValueError(
            f"[custom_op] {op._qualname}: mutates_args is {sorted(said)}, but the schema marks {sorted(written)} as written to"
        )


def _tensors(values: Iterable[object]) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from _tensors(value)


def _refuse_aliases(op: CustomOpDef, function: Callable, args: list[object], result: object) -> None:
    if result is None:
        return
    storages = {_C._storage_address(t) for t in _tensors(args)}
    for t in _tensors([result]):
        address = _C._storage_address(t)
        if address in storages:
            where = inspect.getmodule(function)
            raise RuntimeError(
                f"{op._name} (with implementation in {where}): The output of this custom operator (1) must not also be an "
                "input to this custom operator and (2) may not alias any inputs to this custom operator or other returns. "
                "The most common way to trigger this error is if we have y = custom_op(x) and y and x are the same Tensor "
                "or share storage. Please instead return a clone of the offending output tensor(s) (e.g. return x.clone()) "
                "or refactor the custom operator to not return y."
            )
        storages.add(address)
