"""Keys of dicts and items of sets that a file may use.

Hashing a tuple hashes what is inside it in C without counting the depth, so a tuple nested a hundred thousand deep ends
the process. Depth is therefore counted before, and so is size, because shared tuples can double at each level.
"""

from __future__ import annotations

from typing import Any

from ._errors import UnpicklingError, shown

_PLAIN = frozenset({str, int, float, bool, bytes, complex, type(None)})
_MAX_DEPTH = 32
_MAX_ITEMS = 10_000


def check_hashable(key: Any) -> None:
    """Raise UnpicklingError where `key` cannot be hashed, or where hashing it is not safe."""
    if type(key) not in _PLAIN:
        _count(key, 0, 0)


def _count(key: Any, depth: int, seen: int) -> int:
    """Items inside `key`, counted as often as hashing visits them: a tuple of the same tuple twice doubles."""
    if depth > _MAX_DEPTH or seen > _MAX_ITEMS:
        raise UnpicklingError(f"[load] a key nests tuples more than {_MAX_DEPTH} deep or holds over {_MAX_ITEMS} items")
    if isinstance(key, (tuple, frozenset)):
        for item in key:
            seen = _count(item, depth + 1, seen)
        return seen + 1
    if type(key) not in _PLAIN:
        try:
            hash(key)
        except TypeError as err:
            raise UnpicklingError(f"[load] {shown(key)} cannot be a key of a dict or an item of a set") from err
    return seen + 1
