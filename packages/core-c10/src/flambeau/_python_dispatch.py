"""Modes and switches of `__torch_dispatch__` (`flambeau.utils._python_dispatch` re-exports them).

A call reaches `__torch_dispatch__` below autograd: what it sees is the operators that autograd and decompositions leave,
and gradients are recorded around it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from flambeau import _C
from flambeau._C import Tensor
from flambeau._torch_function_switch import leave_mode

__all__ = [
    "TorchDispatchMode",
    "BaseTorchDispatchMode",
    "is_in_torch_dispatch_mode",
    "is_traceable_wrapper_subclass",
    "return_and_correct_aliasing",
    "transform_subclass",
]


class TorchDispatchMode:
    """A context in which every operator of this thread goes to `__torch_dispatch__(func, types, args, kwargs)`.

    Inside the handler the mode is off: calling `func` reaches the next outer mode, or the kernel. Modes nest, and one
    object may be entered again.

    >>> class Log(TorchDispatchMode):
    ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
    ...         print(func)
    ...         return func(*args, **(kwargs or {}))
    """

    def __torch_dispatch__(
        self, func: Callable, types: tuple[type, ...], args: tuple = (), kwargs: dict | None = None
    ) -> object:
        raise NotImplementedError(f"{type(self).__name__} must define __torch_dispatch__")

    def __enter__(self) -> TorchDispatchMode:
        _C._push_dispatch_mode(self)
        return self

    def __exit__(self, *exc: object) -> None:
        leave_mode(self, _C._dispatch_modes(), _C._push_dispatch_mode, _C._pop_dispatch_mode)

    @classmethod
    def push(cls, *args: object, **kwargs: object) -> TorchDispatchMode:
        """A mode made from the arguments, to be entered."""
        return cls(*args, **kwargs)


class BaseTorchDispatchMode(TorchDispatchMode):
    """A mode that changes nothing."""

    def __torch_dispatch__(
        self, func: Callable, types: tuple[type, ...], args: tuple = (), kwargs: dict | None = None
    ) -> object:
        return func(*args, **(kwargs or {}))


def is_in_torch_dispatch_mode(include_infra_modes: bool = True) -> bool:
    """Whether a mode is active on this thread."""
    return bool(_C._dispatch_modes())


def _get_current_dispatch_mode() -> TorchDispatchMode | None:
    modes = _C._dispatch_modes()
    return modes[-1] if modes else None


def _get_current_dispatch_mode_stack() -> list[TorchDispatchMode]:
    return _C._dispatch_modes()


@contextlib.contextmanager
def _disable_current_modes() -> Iterator[list[TorchDispatchMode]]:
    """Take all modes off for a block; yields them, innermost last."""
    modes = [_C._pop_dispatch_mode() for _ in _C._dispatch_modes()][::-1]
    try:
        yield modes
    finally:
        for mode in modes:
            _C._push_dispatch_mode(mode)


class _DisableTorchDispatch:
    """Inside the block neither modes nor subclasses see operators. Kernels refuse wrappers, which have no memory."""

    def __enter__(self) -> None:
        self._saved = _C._set_torch_dispatch_disabled(True)

    def __exit__(self, *exc: object) -> None:
        _C._set_torch_dispatch_disabled(self._saved)


def is_traceable_wrapper_subclass(t: object) -> bool:
    """Whether the object is a Tensor subclass that says which tensors it is made of (`__tensor_flatten__`)."""
    return (
        isinstance(t, Tensor)
        and type(t) is not Tensor
        and hasattr(t, "__tensor_flatten__")
        and hasattr(t, "__tensor_unflatten__")
    )


def transform_subclass(
    t: Any, callback: Callable[[str, Tensor], Tensor], outer_size: Any = None, outer_stride: Any = None
) -> Any:
    """The same wrapper around `callback(name, inner)` of each of its inner tensors."""
    size = outer_size if outer_size is not None else t.size()
    stride = outer_stride if outer_stride is not None else t.stride()
    names, context = t.__tensor_flatten__()
    inner = {name: callback(name, getattr(t, name)) for name in names}
    result = type(t).__tensor_unflatten__(inner, context, size, stride)
    if tuple(result.size()) != tuple(size):
        raise AssertionError(f"__tensor_unflatten__ gave sizes {tuple(result.size())}, expected {tuple(size)}")
    return result


def return_and_correct_aliasing(func: Any, args: tuple, kwargs: dict, out: Any) -> Any:
    """What a handler should return so that results that alias arguments are what the schema says.

    An operator that writes to an argument returns that argument (the wrapper the caller holds), not what the inner
    call returned.
    """
    schema = func._schema
    written = [i for i, a in enumerate(schema.arguments) if a.is_write]
    if not written or not isinstance(out, (Tensor, tuple, list)):
        return out
    targets = [
        args[i] if i < len(args) else kwargs[schema.arguments[i].name]
        for i in written
        if i < len(args) or schema.arguments[i].name in kwargs
    ]
    if isinstance(out, Tensor):
        return targets[0] if targets else out
    return type(out)(targets) if len(targets) == len(out) else out
