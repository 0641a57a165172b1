"""Context managers that keep `__torch_function__` from being called, and modes that have it called."""

from __future__ import annotations

from collections.abc import Callable

from flambeau import _C


def leave_mode(mode: object, stack: list, push: Callable[[object], None], pop: Callable[[], object]) -> None:
    """Take a mode off its thread's stack, from under others too: generators leave in another order than they entered.

    Raises RuntimeError where the mode is not on the stack.
    """
    positions = [i for i, m in enumerate(stack) if m is mode]
    if not positions:
        raise RuntimeError(f"{mode!r} is not active on this thread: it was left already, or entered on another thread")
    above = [pop() for _ in stack[positions[-1] + 1 :]]
    pop()
    for other in reversed(above):
        push(other)


class DisableTorchFunctionSubclass:
    """Inside the block functions treat subclasses of Tensor as plain tensors; modes still see calls."""

    def __enter__(self) -> None:
        self._saved = _C._set_torch_function_disabled(True)

    def __exit__(self, *exc: object) -> None:
        _C._set_torch_function_disabled(self._saved)


class DisableTorchFunction(DisableTorchFunctionSubclass):
    """Inside the block neither subclasses nor modes see calls."""

    def __enter__(self) -> None:
        super().__enter__()
        self._modes = [_C._pop_function_mode() for _ in _C._function_modes()][::-1]

    def __exit__(self, *exc: object) -> None:
        for mode in self._modes:
            _C._push_function_mode(mode)
        super().__exit__(*exc)


class TorchFunctionMode:
    """A context in which public functions of this thread go to `__torch_function__(func, types, args, kwargs)`.

    It sees what the program calls (`flambeau.add`, `Tensor.add`), before autograd; `TorchDispatchMode` sees operators.
    Inside the handler the mode is off. Modes nest.
    """

    def __torch_function__(
        self, func: Callable, types: tuple[type, ...], args: tuple = (), kwargs: dict | None = None
    ) -> object:
        raise NotImplementedError(f"{type(self).__name__} must define __torch_function__")

    def __enter__(self) -> TorchFunctionMode:
        _C._push_function_mode(self)
        return self

    def __exit__(self, *exc: object) -> None:
        leave_mode(self, _C._function_modes(), _C._push_function_mode, _C._pop_function_mode)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that changes nothing."""

    def __torch_function__(
        self, func: Callable, types: tuple[type, ...], args: tuple = (), kwargs: dict | None = None
    ) -> object:
        return func(*args, **(kwargs or {}))
