"""The device new tensors go to by default."""

from __future__ import annotations

import threading

from flambeau import _C

TYPE_CHECKING = False  # `import flambeau` does not pay for the import of typing
if TYPE_CHECKING:
    from flambeau._stubs.types import _Device


class _State(threading.local):
    def __init__(self) -> None:
        self.stack: list[_C.device] = []
        self.default: _C.device | None = None


_state = _State()


def get_default_device() -> _C.device:
    """Device of factory functions called without one."""
    if _state.stack:
        return _state.stack[-1]
    return _state.default or _C.device("cpu")


def set_default_device(device: _Device | None) -> None:
    """Set the device of factory functions called without one; None: the CPU."""
    _state.default = None if device is None else _C.device(device)
    _C._set_default_device(get_default_device())


def enter(device: _C.device, _: object) -> _C.device:
    _state.stack.append(device)
    _C._set_default_device(device)
    return device


def leave(device: _C.device, _: object) -> None:
    _state.stack.pop()
    _C._set_default_device(get_default_device())
