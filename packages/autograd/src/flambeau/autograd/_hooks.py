"""Handles that remove hooks."""

import itertools

_ids = itertools.count()


class RemovableHandle:
    """Takes a hook out again, once, also as a context manager."""

    def __init__(self, hooks: dict) -> None:
        self.id = next(_ids)
        self._hooks = hooks

    def remove(self) -> None:
        self._hooks.pop(self.id, None)

    def __enter__(self) -> "RemovableHandle":
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def register(hooks: dict, hook: object) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle
