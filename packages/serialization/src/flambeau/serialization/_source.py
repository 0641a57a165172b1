"""Where bytes are read from: a path, an open file, or memory; always by position."""

from __future__ import annotations

import io
import mmap
import os
from typing import IO, Any

from ._errors import FormatError, quoted

# Small reads are served from a window of this size: a checkpoint of 20,000 small tensors is otherwise 40,000 reads.
_WINDOW = 1 << 20


class Source:
    """Bytes of one archive. Position 0 is where the archive begins, which may be inside a larger file.

    Attributes
    ----------
    name : str, for messages
    size : int, bytes from the beginning of the archive to the end of the file
    """

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file = file
        self.name = name
        self._start = file.tell()
        self.size = file.seek(0, os.SEEK_END) - self._start
        file.seek(self._start)
        self._window = b""
        self._window_at = 0

    def error(self, problem: str) -> FormatError:
        return FormatError(f"[load] {quoted(self.name)} {problem}")

    def read(self, offset: int, count: int) -> bytes:
        """Exactly `count` bytes; FormatError where the file has fewer."""
        begin = offset - self._window_at
        if begin >= 0 and begin + count <= len(self._window):
            return self._window[begin : begin + count]
        if offset + count > self.size:
            left = max(0, self.size - offset)
            raise self.error(f"is cut short: {count:,} bytes are expected at offset {offset:,}, {left:,} are there")
        self._file.seek(self._start + offset)
        self._window = self._read_all(max(count, min(_WINDOW, self.size - offset)))
        self._window_at = offset
        if len(self._window) < count:
            raise self.error(f"became shorter while it was read: {count:,} bytes are missing at offset {offset:,}")
        return self._window[:count]

    def _read_all(self, count: int) -> bytes:
        first = self._file.read(count)
        if len(first) == count or not first:
            return bytes(first)
        # Raw files and sockets may return less than what was asked for.
        parts, got = [first], len(first)
        while got < count and (part := self._file.read(count - got)):
            parts.append(part)
            got += len(part)
        return b"".join(parts)

    def read_into(self, offset: int, target: memoryview) -> None:
        """Fill `target` (flat, bytes) from `offset`."""
        count = len(target)
        if count < _WINDOW or not hasattr(self._file, "readinto"):
            target[:] = self.read(offset, count)
            return
        self._file.seek(self._start + offset)
        done = 0
        while done < count:
            got = self._file.readinto(target[done:])  # type: ignore[attr-defined]
            if not got:
                raise self.error(f"became shorter while it was read: {count - done:,} bytes are missing")
            done += got

    def close(self) -> None:
        """Release what was read ahead; the file is its owner's to close."""
        self._window = b""


class MappedSource(Source):
    """A file mapped into memory; `view` gives parts of it without copying.

    Parameters
    ----------
    path : the file
    shared : writes to the views go to the file; otherwise they stay private
    """

    def __init__(self, path: str, shared: bool) -> None:
        with open(path, "r+b" if shared else "rb") as file:
            super().__init__(file, path)
            if self.size == 0:
                raise EOFError(f"[load] {quoted(path)} is empty")
            access = mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY
            self._map = mmap.mmap(file.fileno(), 0, access=access)
        self._view = memoryview(self._map)

    def read(self, offset: int, count: int) -> bytes:
        if offset + count > self.size:
            left = max(0, self.size - offset)
            raise self.error(f"is cut short: {count:,} bytes are expected at offset {offset:,}, {left:,} are there")
        return bytes(self._view[offset : offset + count])

    def read_into(self, offset: int, target: memoryview) -> None:
        target[:] = self.view(offset, len(target))

    def view(self, offset: int, count: int) -> memoryview:
        return self._view[offset : offset + count]


def path_of(f: Any) -> str | None:
    """The path where `f` is one; None for open files."""
    return os.fspath(f) if isinstance(f, (str, os.PathLike)) else None


def check_readable(f: Any) -> None:
    """Raise what torch raises for an object that a checkpoint cannot be read from."""
    for method in ("seek", "tell", "read"):
        if not hasattr(f, method):
            raise AttributeError(
                f"[load] {type(f).__name__!r} object has no attribute {method!r}; a path or a seekable binary file is "
                "needed. Read the bytes of a stream into io.BytesIO(...) first"
            )
    if isinstance(f, io.TextIOBase):
        raise TypeError('[load] the file is open as text; open it with mode "rb"')
    try:
        f.seek(f.tell())
    except (io.UnsupportedOperation, OSError) as err:
        raise io.UnsupportedOperation(
            f"[load] {type(f).__name__} is not seekable; read its bytes into io.BytesIO(...) first"
        ) from err
