"""Settings of saving and loading that hold for the whole process or for a `with` block."""

from __future__ import annotations

import contextvars
import mmap
from enum import Enum
from typing import Any


class LoadEndianness(Enum):
    """Byte order that is assumed for files that do not say theirs."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


class SourceChangeWarning(Warning):
    """The source code of a class differs from the one that an old file carries."""

    def __init__(self, *args: object) -> None:  # that of the built-in class has no signature
        super().__init__(*args)


_load_endianness: LoadEndianness | None = None
_compute_crc32 = True
_mmap_flags = mmap.MAP_PRIVATE


def get_default_load_endianness() -> LoadEndianness | None:
    """Byte order assumed for files that do not say theirs; None means this machine's."""
    return _load_endianness


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Set the byte order to assume for files that do not say theirs."""
    global _load_endianness
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise TypeError(f"[set_default_load_endianness] LoadEndianness or None is allowed, got {endianness!r}")
    _load_endianness = endianness


def get_crc32_options() -> bool:
    """Whether `save` writes checksums."""
    return _compute_crc32


def set_crc32_options(compute_crc32: bool) -> None:
    """Say whether `save` writes checksums. Without them `load` cannot notice a damaged tensor."""
    global _compute_crc32
    _compute_crc32 = bool(compute_crc32)


def get_default_mmap_options() -> int:
    """The flag that `load(mmap=True)` maps files with: MAP_PRIVATE or MAP_SHARED."""
    return _mmap_flags


class set_default_mmap_options:
    """Set how `load(mmap=True)` maps files; as a context manager, put the setting back at the end.

    Parameters
    ----------
    flags : mmap.MAP_PRIVATE (writes to loaded tensors stay in this process) or mmap.MAP_SHARED (they go
        to the file)
    """

    def __init__(self, flags: int) -> None:
        global _mmap_flags
        if flags not in (mmap.MAP_PRIVATE, mmap.MAP_SHARED):
            raise ValueError(
                f"[set_default_mmap_options] mmap.MAP_PRIVATE or mmap.MAP_SHARED is allowed, got {flags!r}"
            )
        self._before = _mmap_flags
        _mmap_flags = flags

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        global _mmap_flags
        _mmap_flags = self._before


_skipping: contextvars.ContextVar[bool] = contextvars.ContextVar("skip_data", default=False)


class skip_data:
    """Inside this block `save` writes zeros in place of the elements, and `load` leaves them uninitialised.

    Parameters
    ----------
    materialize_fake_tensors : accepted for compatibility; tensors without memory are not saved as real ones
    """

    def __init__(self, materialize_fake_tensors: bool = False) -> None:
        self.materialize_fake_tensors = materialize_fake_tensors

    def __enter__(self) -> None:
        self._token = _skipping.set(True)

    def __exit__(self, *exc: Any) -> None:
        _skipping.reset(self._token)


def is_skipping_data() -> bool:
    return _skipping.get()
