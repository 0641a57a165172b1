# What _grad_mode.py means to a type checker: each switch is a context manager, and a decorator that keeps the function.
from collections.abc import Callable
from typing import Any, Self, TypeVar, overload

_Function = TypeVar("_Function", bound=Callable[..., Any])

class _Switch:
    def __enter__(self) -> None: ...
    def __exit__(self, *exc: object) -> None: ...
    def __call__(self, function: _Function) -> _Function: ...
    def clone(self) -> Self: ...

class no_grad(_Switch):
    """Operators inside record no gradients."""

    @overload
    def __new__(cls, function: None = None) -> Self: ...
    @overload
    def __new__(cls, function: _Function) -> _Function: ...  # type: ignore[misc]

class enable_grad(_Switch):
    """Operators inside record gradients, within no_grad too."""

    @overload
    def __new__(cls, function: None = None) -> Self: ...
    @overload
    def __new__(cls, function: _Function) -> _Function: ...  # type: ignore[misc]

class set_grad_enabled(_Switch):
    """Takes effect at once, as a function; as a context manager it is undone at the end."""

    mode: bool
    def __init__(self, mode: bool) -> None: ...

class inference_mode(_Switch):
    """No gradients, no version counting: tensors made inside can never take part in autograd."""

    mode: bool
    @overload
    def __new__(cls, mode: bool = True) -> Self: ...
    @overload
    def __new__(cls, mode: _Function) -> _Function: ...  # type: ignore[misc]
