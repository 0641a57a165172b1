"""What a file may name besides tensors and plain containers: the user's allow-list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ._names import as_torch, dotted_name

# These give a file the machine; allowing them by mistake must not be possible.
BLOCKED_MODULES = frozenset({"sys", "os", "posix", "nt", "subprocess"})

Allowed = Callable[..., Any] | tuple[Callable[..., Any], str]

_allowed: list[Allowed] = []


def add_safe_globals(safe_globals: list[Allowed]) -> None:
    """Allow classes and functions in files that are loaded with `weights_only=True`.

    Parameters
    ----------
    safe_globals : list of classes or functions; or of pairs with the name that files give them, for what
        has moved since the file was written

    An allowed class is created without calling `__init__` and gets its state through `__setstate__` or
    `__dict__`; an allowed function is called. Allow only what is harmless with any argument.
    """
    for item in safe_globals:
        if item not in _allowed:
            _name_and_object(item)
            _allowed.append(item)


def get_safe_globals() -> list[Allowed]:
    """The classes and functions that `add_safe_globals` allowed."""
    return list(_allowed)


def clear_safe_globals() -> None:
    """Forget everything that `add_safe_globals` allowed."""
    _allowed.clear()


class safe_globals:
    """Allow classes and functions inside a `with` block; see `add_safe_globals`."""

    def __init__(self, safe_globals: list[Allowed]) -> None:
        self._added = list(safe_globals)
        self._before: list[Allowed] = []

    def __enter__(self) -> None:
        self._before = get_safe_globals()
        add_safe_globals(self._added)

    def __exit__(self, *exc: object) -> None:
        _allowed[:] = self._before


def allowed_by_user() -> dict[str, Any]:
    """Name in files -> object, for everything that the user allowed."""
    return dict(map(_name_and_object, _allowed))


def _name_and_object(item: Allowed) -> tuple[str, Any]:
    if isinstance(item, tuple):
        if len(item) != 2 or not isinstance(item[1], str):
            raise ValueError(f"[add_safe_globals] a pair must be (object, name), got {item!r}")
        return as_torch(item[1]), item[0]
    if not callable(item) or not hasattr(item, "__module__"):
        raise TypeError(
            f"[add_safe_globals] classes and functions are allowed, got {item!r} of type {type(item).__name__}"
        )
    return dotted_name(item), item


def is_blocked(dotted: str) -> bool:
    return dotted.split(".", 1)[0] in BLOCKED_MODULES


def describe_refused(names: Sequence[str]) -> str:
    """One line for each name, with the reason where it cannot be allowed."""
    lines = []
    for name in names:
        module = name.split(".", 1)[0]
        lines.append(f"  {name}" + (f" (module {module} is blocked and cannot be allowed)" if is_blocked(name) else ""))
    return "\n".join(lines)
