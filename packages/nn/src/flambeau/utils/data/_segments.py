"""Shared memory for large messages, used again when the receiver has let go of it.

Note [Segments]
A segment is an anonymous memory file (see Note [How a batch travels]). The first message in it costs
the pages and a table entry for each of them on both sides, several times what the copy costs; so
the sender keeps its files, and the receiver its maps. The receiver sees that nothing refers to a
message any more by weak references to the buffers that its tensors were made over, and says so with
its next request. Segments are for one direction, from a worker to the loader.

A segment whose tensors were alive while this process forked is not used again: the child may still
read them.
"""

from __future__ import annotations

import mmap
import os
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# Files that a sender holds open; more messages than that alive at a time get files of their own.
MAX_SEGMENTS = 16
# Segments that wait to be used again; what is let go of beyond that is freed.
MAX_IDLE = 4
_MAX_PARTS = 1000
_POPULATE = getattr(mmap, "MAP_POPULATE", 0)


def write_file(fd: int, parts: list[Any]) -> None:
    """Write `parts` one after the other from the start of `fd`.

    Writing, other than copying into a map, never maps the pages in this process.
    """
    offset = 0
    for start in range(0, len(parts), _MAX_PARTS):
        chunk = [memoryview(p) for p in parts[start : start + _MAX_PARTS]]
        while chunk:
            written = os.pwritev(fd, chunk, offset)
            offset += written
            while chunk and written >= len(chunk[0]):
                written -= len(chunk.pop(0))
            if written:
                chunk[0] = chunk[0][written:]


def new_file(size: int) -> int:
    """Return the descriptor of a new anonymous memory file."""
    fd = os.memfd_create("flambeau-batch", os.MFD_CLOEXEC)
    os.ftruncate(fd, size)
    return fd


def map_file(fd: int, size: int) -> mmap.mmap:
    """Map a whole file, its table filled in one go."""
    return mmap.mmap(fd, size, flags=mmap.MAP_SHARED | _POPULATE)


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a message was put."""

    segment: int
    fd: int  # to be sent along if the segment is new, else -1
    evicted: int  # a segment that the sender has given up, or -1


class SegmentSender:
    """The sender's files."""

    def __init__(self) -> None:
        self._idle: dict[int, tuple[int, int]] = {}
        self._busy: dict[int, tuple[int, int]] = {}
        self._count = 0

    def place(self, parts: list[Any], size: int) -> Placed | None:
        """Write a message into a segment; None if too many are in use."""
        fitting = [i for i, (_, capacity) in self._idle.items() if capacity >= size]
        if fitting:
            segment = min(fitting, key=lambda i: self._idle[i][1])
            self._busy[segment] = entry = self._idle.pop(segment)
            write_file(entry[0], parts)
            return Placed(segment, -1, -1)
        evicted = -1
        if self._idle:
            # All too small: batches have grown, and the smallest will not be needed again.
            evicted = min(self._idle, key=lambda i: self._idle[i][1])
            os.close(self._idle.pop(evicted)[0])
        elif len(self._busy) >= MAX_SEGMENTS:
            return None
        fd = new_file(size)
        segment = self._count
        self._count += 1
        self._busy[segment] = (fd, size)
        write_file(fd, parts)
        return Placed(segment, fd, evicted)

    def recycle(self, reuse: list[int], drop: list[int]) -> None:
        """Take back segments that the receiver has let go of."""
        for segment in reuse:
            self._idle[segment] = self._busy.pop(segment)
        for segment in drop:
            os.close(self._busy.pop(segment)[0])

    def close(self) -> None:
        """Close all files; maps of them stay."""
        for fd, _ in (*self._idle.values(), *self._busy.values()):
            os.close(fd)
        self._idle.clear()
        self._busy.clear()


class SegmentReceiver:
    """The receiver's maps."""

    def __init__(self) -> None:
        self._maps: dict[int, mmap.mmap] = {}
        self._watched: dict[int, list[Any]] = {}
        self._unsafe: set[int] = set()
        self._idle = 0
        self._reuse: list[int] = []
        self._drop: list[int] = []
        _receivers.add(self)

    def open(self, segment: int, fd: int, size: int, evicted: int) -> memoryview:
        """Return the memory of the message of `size` bytes that was placed in `segment`."""
        if evicted >= 0:
            self._maps.pop(evicted, None)
            self._idle -= 1
        if fd >= 0:
            self._maps[segment] = map_file(fd, size)
        else:
            self._idle -= 1
        return memoryview(self._maps[segment])[:size]

    def watch(self, segment: int, buffers: list[memoryview]) -> None:
        """Note that the message is in use as long as any of `buffers` is."""
        if not buffers:
            self._let_go(segment)
            return
        left = len(buffers)

        def gone(_: Any) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                self._let_go(segment)

        self._watched[segment] = [weakref.ref(b, gone) for b in buffers]

    def _let_go(self, segment: int) -> None:
        self._watched.pop(segment, None)
        if segment in self._unsafe or self._idle >= MAX_IDLE:
            self._unsafe.discard(segment)
            self._maps.pop(segment, None)
            self._drop.append(segment)
        else:
            self._idle += 1
            self._reuse.append(segment)

    def released(self) -> tuple[list[int], list[int]] | None:
        """Return what to tell the sender: segments to use again, and to drop; None if nothing."""
        if not (self._reuse or self._drop):
            return None
        reuse, self._reuse = self._reuse, []
        drop, self._drop = self._drop, []
        return reuse, drop

    def keep_in_use(self) -> None:
        """Let no segment be used again whose message is in use now."""
        self._unsafe.update(self._watched)

    def close(self) -> None:
        """Forget everything; tensors keep their memory."""
        self._maps.clear()
        self._watched.clear()


_receivers: weakref.WeakSet[SegmentReceiver] = weakref.WeakSet()


def _before_fork() -> None:
    for receiver in list(_receivers):
        receiver.keep_in_use()


_register: Callable[..., None] | None = getattr(os, "register_at_fork", None)
if _register is not None:
    _register(before=_before_fork)
