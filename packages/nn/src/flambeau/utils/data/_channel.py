"""Messages between the loader and one worker, with tensor data passed in shared memory.

Note [How a batch travels]
A message is pickled (protocol 5) with the bytes of tensors and arrays left out. Pickle and bytes
together are a blob. A small blob goes through the socket; a larger one is written to an anonymous
memory file whose descriptor goes through the socket, and the receiver maps it: tensors are views
of the map, without a copy, and the memory is given back when the last of them dies. The file has no
name, so nothing is left behind by processes that are killed, and no limit of /dev/shm applies.

A socket of type SEQPACKET keeps messages apart, and one descriptor arrives with its message. The
loader's end never blocks on sending: with both sides full, it would wait for a worker that waits
for it.
"""

from __future__ import annotations

import array
import mmap
import os
import pickle
import socket
import struct
from collections import deque
from typing import Any

from flambeau.utils.data import _tensor_pickle

INLINE_BYTES = 32 * 1024
_ALIGNMENT = 64
_HEADER = struct.Struct("<QQ")
_MAX_PARTS = 1000


class Closed(Exception):
    """The other end is gone."""


class Channel:
    """One end of a connection.

    Parameters
    ----------
    sock : a connected SEQPACKET socket, owned from here on
    """

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._waiting: deque[tuple[bytes, int]] = deque()

    def __getstate__(self) -> dict[str, Any]:
        # Only a process that is just being spawned can take over a socket.
        return {"_sock": self._sock}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["_sock"])  # type: ignore[misc]

    def fileno(self) -> int:
        """Return the descriptor, for polling."""
        return self._sock.fileno()

    def close(self) -> None:
        """Close this end; what waits to be sent is dropped."""
        while self._waiting:
            _close_fd(self._waiting.popleft()[1])
        self._sock.close()

    def set_blocking(self, blocking: bool) -> None:
        """Choose whether `send` may wait for the other side."""
        self._sock.setblocking(blocking)

    @property
    def has_unsent(self) -> bool:
        """True if messages wait for room in the socket."""
        return bool(self._waiting)

    def send(self, message: Any) -> None:
        """Pickle and send; without blocking, what does not fit waits for `flush`.

        Raises
        ------
        Closed  if the other end is gone
        """
        self._waiting.append(_pack(message))
        self.flush()

    def flush(self) -> None:
        """Send what waits, as far as there is room."""
        while self._waiting:
            data, fd = self._waiting[0]
            try:
                _send_packet(self._sock, data, fd)
            except BlockingIOError:
                return
            except (BrokenPipeError, ConnectionError, OSError) as err:
                raise Closed from err
            self._waiting.popleft()
            _close_fd(fd)

    def receive(self) -> Any:
        """Wait for a message and return it.

        Raises
        ------
        Closed  if the other end is gone
        BlockingIOError  without blocking, if there is none
        """
        try:
            data, fds = _receive_packet(self._sock)
        except BlockingIOError:
            raise
        except OSError as err:
            raise Closed from err
        if not data:
            raise Closed
        if not fds:
            return _unpack(memoryview(data))
        try:
            (size,) = struct.unpack("<Q", data)
            # Filled in one go: the pages are there already, only the table of this process is not.
            blob = mmap.mmap(fds[0], size, flags=mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0))
        finally:
            for fd in fds:
                os.close(fd)
        return _unpack(memoryview(blob))


def channel_pair() -> tuple[Channel, Channel]:
    """Return both ends of a new connection."""
    if not hasattr(os, "memfd_create"):
        raise NotImplementedError("[DataLoader] worker processes need Linux's memfd_create; use num_workers=0")
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    return Channel(a), Channel(b)


def _pack(message: Any) -> tuple[bytes, int]:
    """Return the packet to send, and the descriptor to go with it or -1."""
    payload, buffers = _tensor_pickle.dumps(message)
    sizes = [b.nbytes for b in buffers]
    head = _HEADER.pack(len(payload), len(sizes)) + struct.pack(f"<{len(sizes)}Q", *sizes) + payload
    parts: list[Any] = []
    total = _append(parts, 0, head)
    for buffer in buffers:
        total = _append(parts, total, buffer)
    if total <= INLINE_BYTES:
        return b"".join(parts), -1
    fd = os.memfd_create("flambeau-batch", os.MFD_CLOEXEC)
    try:
        os.ftruncate(fd, total)
        _write_all(fd, parts)
    except BaseException:
        os.close(fd)
        raise
    return struct.pack("<Q", total), fd


def _append(parts: list[Any], offset: int, part: Any) -> int:
    """Append `part` and the gap to the next aligned offset, which is returned."""
    size = len(part)
    gap = -(offset + size) % _ALIGNMENT
    parts.append(part)
    if gap:
        parts.append(bytes(gap))
    return offset + size + gap


def _write_all(fd: int, parts: list[Any]) -> None:
    # Writing fills pages of the file without mapping them here: half the page faults.
    for start in range(0, len(parts), _MAX_PARTS):
        chunk = [memoryview(p) for p in parts[start : start + _MAX_PARTS]]
        while chunk:
            written = os.writev(fd, chunk)
            while chunk and written >= len(chunk[0]):
                written -= len(chunk.pop(0))
            if written:
                chunk[0] = chunk[0][written:]


def _unpack(blob: memoryview) -> Any:
    payload_size, count = _HEADER.unpack_from(blob)
    sizes = struct.unpack_from(f"<{count}Q", blob, _HEADER.size)
    start = _HEADER.size + 8 * count
    end = start + payload_size
    buffers, offset = [], _aligned(end)
    for size in sizes:
        buffers.append(blob[offset : offset + size])
        offset = _aligned(offset + size)
    return pickle.loads(blob[start:end], buffers=buffers)


def _aligned(offset: int) -> int:
    return offset + -offset % _ALIGNMENT


def _send_packet(sock: socket.socket, data: bytes, fd: int) -> None:
    if fd < 0:
        sock.send(data)
        return
    rights = array.array("i", [fd])
    sock.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])


def _receive_packet(sock: socket.socket) -> tuple[bytearray, list[int]]:
    # A bytearray: tensors over it can be written to.
    data = bytearray(INLINE_BYTES)
    rights = array.array("i")
    size, ancillary, _, _ = sock.recvmsg_into([data], socket.CMSG_SPACE(rights.itemsize))
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            rights.frombytes(content[: len(content) - len(content) % rights.itemsize])
    del data[size:]
    return data, list(rights)


def _close_fd(fd: int) -> None:
    if fd >= 0:
        os.close(fd)
