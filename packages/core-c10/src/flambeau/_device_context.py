"""The device new tensors go to by default."""

from flambeau import _C

_stack: list[_C.device] = []
_default: list[_C.device | None] = [None]


def get_default_device() -> _C.device:
    """Device of factory functions called without one."""
    if _stack:
        return _stack[-1]
    return _default[0] or _C.device("cpu")


def set_default_device(device: object) -> None:
    """Set the device of factory functions called without one; None: the CPU."""
    _default[0] = None if device is None else _C.device(device)


def enter(device: _C.device, _: object) -> _C.device:
    _stack.append(device)
    return device


def leave(device: _C.device, _: object) -> None:
    _stack.pop()
