"""Handles that remove a registered hook."""

from __future__ import annotations

import itertools
import warnings
import weakref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import MutableMapping
    from typing import Any

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


class RemovableHandle:
    """A registered hook; `remove()` takes it out again, once or many times.

    The handle holds the table of hooks weakly: it keeps neither the table nor its owner alive.
    Used as a context manager it removes the hook on exit.

    Parameters
    ----------
    hooks_dict : the table the hook was put into, under `handle.id`
    extra_dict : further tables, by the same id, that `remove` must clear too
    """

    next_id: int = 0
    _ids = itertools.count()

    def __init__(self, hooks_dict: MutableMapping[int, Any], *, extra_dict: Any = None) -> None:
        self.hooks_dict_ref = _weak(hooks_dict)
        self.id: int = next(RemovableHandle._ids)
        RemovableHandle.next_id = self.id + 1
        extra = () if extra_dict is None else extra_dict
        extra = extra if isinstance(extra, (list, tuple)) else (extra,)
        self.extra_dict_ref = tuple(_weak(d) for d in extra)

    def remove(self) -> None:
        """Take the hook out of every table it was put into."""
        for ref in (self.hooks_dict_ref, *self.extra_dict_ref):
            table = ref()
            if table is not None:
                table.pop(self.id, None)

    def __getstate__(self) -> tuple[Any, ...]:
        return (self.hooks_dict_ref(), self.id, tuple(r() for r in self.extra_dict_ref))

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        table, self.id, extra = state
        self.hooks_dict_ref = _weak({} if table is None else table)
        self.extra_dict_ref = tuple(_weak({} if d is None else d) for d in extra)
        # Ids drawn from now on must not meet the one that came with the pickle.
        while RemovableHandle.next_id <= self.id:
            RemovableHandle.next_id = next(RemovableHandle._ids) + 1

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.remove()


def _weak(table: MutableMapping[int, Any]) -> Any:
    try:
        return weakref.ref(table)
    except TypeError:
        # A plain dict takes no weak references.
        return lambda: table


def unserializable_hook(f: Any) -> Any:
    """Mark a function as a hook that must not be pickled with a tensor."""
    f.__flambeau_unserializable__ = True
    return f


def warn_if_has_hooks(tensor: Any) -> None:
    """Warn of each backward hook of `tensor` that is not marked by `unserializable_hook`."""
    for hook in (getattr(tensor, "_backward_hooks", None) or {}).values():
        if not hasattr(hook, "__flambeau_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized. If this is expected, you can "
                "decorate the function with @flambeau.utils.hooks.unserializable_hook to suppress this warning",
                stacklevel=2,
            )
