"""Helpers of the `__torch_function__` protocol."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator

from flambeau import _C
from flambeau._C import Tensor
from flambeau._torch_function_switch import BaseTorchFunctionMode, TorchFunctionMode

TYPE_CHECKING = False  # `import flambeau` does not pay for the import of typing
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "BaseTorchFunctionMode",
    "TorchFunctionMode",
    "enable_reentrant_dispatch",
    "get_default_nowrap_functions",
    "is_tensor_method_or_property",
    "wrap_torch_function",
    "has_torch_function",
    "handle_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
    "resolve_name",
]


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether any argument's class has its own `__torch_function__`."""
    return _C._has_torch_function(tuple(relevant_args))


def has_torch_function_unary(obj: object) -> bool:
    """has_torch_function of one argument."""
    return _C._has_torch_function_unary(obj)


def has_torch_function_variadic(*args: object) -> bool:
    """has_torch_function of the arguments themselves."""
    return _C._has_torch_function(args)


def is_tensor_like(inp: object) -> bool:
    """Whether the object is a Tensor or its class has `__torch_function__`."""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def resolve_name(f: Callable) -> str | None:
    """Dotted name of a public function or method."""
    name = getattr(f, "__qualname__", None) or getattr(f, "__name__", None)
    return f"torch.{name}" if name else None


def wrap_torch_function(dispatcher: Callable) -> Callable:
    """Decorate a function so that `__torch_function__` sees its calls.

    `dispatcher(*args, **kwargs)` gives the arguments whose classes are asked.
    """

    def decorate(function: Callable) -> Callable:
        @functools.wraps(function)
        def wrapped(*args: object, **kwargs: object) -> object:
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return wrapped

    return decorate


def get_default_nowrap_functions() -> set[Callable]:
    """Functions whose results the default `__torch_function__` leaves as they are."""
    return {getattr(Tensor, name).__get__ for name in ("grad", "_base", "_grad") if hasattr(Tensor, name)}


def is_tensor_method_or_property(func: Callable) -> bool:
    """Whether the function is one of Tensor's methods, or the getter of one of its properties."""
    name = getattr(func, "__name__", "")
    return name == "__get__" or getattr(Tensor, name, None) is func


@contextlib.contextmanager
def enable_reentrant_dispatch() -> Iterator[None]:
    """Inside a `__torch_dispatch__` handler: calls are recorded and handled as they are outside it."""
    import flambeau

    with flambeau.enable_grad():
        yield


def _is_overriding(arg: object) -> bool:
    """Whether the argument's class has a `__torch_function__` of its own that is not switched off; modes aside."""
    disabled = _C._set_torch_function_disabled(True)
    _C._set_torch_function_disabled(disabled)
    override = getattr(type(arg), "__torch_function__", None)
    return not disabled and type(arg) is not Tensor and override not in (None, _C._disabled_torch_function_impl)


def handle_torch_function(
    public_api: Callable, relevant_args: Iterable[Any], *args: object, **kwargs: object
) -> object:
    """Call the overrides of `relevant_args`, a subclass before its class. Raises TypeError when all decline."""
    overloaded: list[Any] = []
    for arg in relevant_args:
        if not _is_overriding(arg) or any(type(arg) is type(o) for o in overloaded):
            continue
        position = next((i for i, o in enumerate(overloaded) if issubclass(type(arg), type(o))), len(overloaded))
        overloaded.insert(position, arg)
    types = tuple(type(o) for o in overloaded)
    if modes := _C._function_modes():
        _C._pop_function_mode()
        try:
            result = modes[-1].__torch_function__(public_api, types, args, kwargs)
        finally:
            _C._push_function_mode(modes[-1])
        if result is not NotImplemented:
            return result
    for o in overloaded:
        result = o.__torch_function__(public_api, types, args, kwargs)
        if result is not NotImplemented:
            return result
    raise TypeError(
        f"no implementation found for '{public_api.__module__}.{public_api.__name__}' on types that implement __torch_function__: {list(types)}"
    )
