"""Helpers of the `__torch_function__` protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from flambeau import _C
from flambeau._C import Tensor

TYPE_CHECKING = False  # `import flambeau` does not pay for the import of typing
if TYPE_CHECKING:
    from typing import Any

__all__ = [
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


def handle_torch_function(
    public_api: Callable, relevant_args: Iterable[Any], *args: object, **kwargs: object
) -> object:
    """Call the overrides of `relevant_args`, a subclass before its class. Raises TypeError when all decline."""
    overloaded: list[Any] = []
    for arg in relevant_args:
        if not _C._has_torch_function_unary(arg) or any(type(arg) is type(o) for o in overloaded):
            continue
        position = next((i for i, o in enumerate(overloaded) if issubclass(type(arg), type(o))), len(overloaded))
        overloaded.insert(position, arg)
    types = tuple(type(o) for o in overloaded)
    for o in overloaded:
        result = o.__torch_function__(public_api, types, args, kwargs)
        if result is not NotImplemented:
            return result
    raise TypeError(
        f"no implementation found for '{public_api.__module__}.{public_api.__name__}' on types that implement __torch_function__: {list(types)}"
    )
