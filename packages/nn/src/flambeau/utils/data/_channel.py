"""Messages between the loader and one worker, with tensor data passed in shared memory.

Note [How a batch travels]
A message is pickled (protocol 5) with the bytes of tensors and arrays left out. Pickle and bytes
together are a blob. A small blob goes through the socket; a larger one is written to an anonymous
memory file whose descriptor goes through the socket, and the receiver maps it: tensors are views
of the map, without a copy, and the memory is given back when the last of them dies. The file has no
name, so nothing is left behind by processes that are killed, and no limit of /dev/shm applies. How
files are used again is in Note [Segments].

A socket of type SEQPACKET keeps messages apart, and one descriptor arrives with its message. The
loader's end never blocks on sending: with both sides full, it would wait for a worker that waits
for it.
"""

from __future__ import annotations

import array
import os
import pickle
import socket
import struct
from collections import deque
from typing import Any

from flambeau.utils.data import _tensor_pickle
from flambeau.utils.data._segments import SegmentReceiver, SegmentSender, map_file, new_file, write_file

INLINE_BYTES = 32 * 1024
_ALIGNMENT = 64
_HEADER = struct.Struct("<QQ")
# What a packet starts with: its kind, the size of the blob, the segment, the segment given up. Its size
# is a multiple of what the elements of tensors have to be aligned to.
_PACKET = struct.Struct("<B7xQqq")
_INLINE, _OWN_FILE, _IN_SEGMENT = range(3)


class Closed(Exception):
    """The other end is gone."""


class Channel:
    """One end of a connection.

    Parameters
    ----------
    sock : a connected SEQPACKET socket, owned from here on
    sends_batches : this is the worker's end, which puts large messages into segments
    """

    def __init__(self, sock: socket.socket, sends_batches: bool = False) -> None:
        self._sock = sock
        # Packets to send, each with a descriptor or -1, and whether it is to be closed then.
        self._waiting: deque[tuple[bytes, int, bool]] = deque()
        self._sender = SegmentSender() if sends_batches else None
        self._receiver = None if sends_batches else SegmentReceiver()

    def __reduce__(self) -> Any:
        # Only a process that is just being spawned can take over a socket.
        return Channel, (self._sock, self._sender is not None)

    def fileno(self) -> int:
        """Return the descriptor, for polling."""
        return self._sock.fileno()

    def close(self) -> None:
        """Close this end; what waits to be sent is dropped."""
        while self._waiting:
            _, fd, owned = self._waiting.popleft()
            if owned:
                os.close(fd)
        for side in (self._sender, self._receiver):
            if side is not None:
                side.close()
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
        self._waiting.append(self._pack(message))
        self.flush()

    def flush(self) -> None:
        """Send what waits, as far as there is room."""
        while self._waiting:
            data, fd, owned = self._waiting[0]
            try:
                _send_packet(self._sock, data, fd)
            except BlockingIOError:
                return
            except OSError as err:
                raise Closed from err
            self._waiting.popleft()
            if owned:
                os.close(fd)

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
        fd = fds[0] if fds else -1
        try:
            kind, size, segment, evicted = _PACKET.unpack_from(data)
            if kind == _INLINE:
                return _unpack(memoryview(data)[_PACKET.size :])[0]
            if kind == _OWN_FILE:
                return _unpack(memoryview(map_file(fd, size)))[0]
            assert self._receiver is not None
            blob = self._receiver.open(segment, fd, size, evicted)
        finally:
            if fd >= 0:
                os.close(fd)
        message, buffers = _unpack(blob)
        self._receiver.watch(segment, buffers)
        return message

    def released(self) -> tuple[list[int], list[int]] | None:
        """Return the segments that the worker may use again or drop, to be sent to it."""
        return self._receiver.released() if self._receiver is not None else None

    def recycle(self, released: tuple[list[int], list[int]] | None) -> None:
        """Take back what the other end's `released` returned."""
        if released is not None and self._sender is not None:
            self._sender.recycle(*released)

    def _pack(self, message: Any) -> tuple[bytes, int, bool]:
        parts, size = _blob(message)
        if size <= INLINE_BYTES:
            return b"".join([_PACKET.pack(_INLINE, size, -1, -1), *parts]), -1, False
        placed = self._sender.place(parts, size) if self._sender is not None else None
        if placed is not None:
            packet = _PACKET.pack(_IN_SEGMENT, size, placed.segment, placed.evicted)
            return packet, placed.fd, False
        fd = new_file(size)
        write_file(fd, parts)
        return _PACKET.pack(_OWN_FILE, size, -1, -1), fd, True


def channel_pair() -> tuple[Channel, Channel]:
    """Return the loader's end and the worker's of a new connection."""
    if not hasattr(os, "memfd_create"):
        raise NotImplementedError("[DataLoader] worker processes need Linux's memfd_create; use num_workers=0")
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    return Channel(a), Channel(b, sends_batches=True)


def _blob(message: Any) -> tuple[list[Any], int]:
    """Return the parts of the blob of `message`, and its size."""
    payload, buffers = _tensor_pickle.dumps(message)
    sizes = [b.nbytes for b in buffers]
    head = _HEADER.pack(len(payload), len(sizes)) + struct.pack(f"<{len(sizes)}Q", *sizes) + payload
    parts: list[Any] = []
    total = _append(parts, 0, head)
    for buffer in buffers:
        total = _append(parts, total, buffer)
    return parts, total


def _append(parts: list[Any], offset: int, part: Any) -> int:
    """Append `part` and the gap to the next aligned offset, which is returned."""
    size = len(part)
    gap = -(offset + size) % _ALIGNMENT
    parts.append(part)
    if gap:
        parts.append(bytes(gap))
    return offset + size + gap


def _unpack(blob: memoryview) -> tuple[Any, list[memoryview]]:
    """Return the message, and the buffers that its tensors are over."""
    payload_size, count = _HEADER.unpack_from(blob)
    sizes = struct.unpack_from(f"<{count}Q", blob, _HEADER.size)
    start = _HEADER.size + 8 * count
    end = start + payload_size
    buffers, offset = [], _aligned(end)
    for size in sizes:
        buffers.append(blob[offset : offset + size])
        offset = _aligned(offset + size)
    return pickle.loads(blob[start:end], buffers=buffers), buffers


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
    data = bytearray(_PACKET.size + INLINE_BYTES)
    rights = array.array("i")
    size, ancillary, _, _ = sock.recvmsg_into([data], socket.CMSG_SPACE(rights.itemsize))
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            rights.frombytes(content[: len(content) - len(content) % rights.itemsize])
    del data[size:]
    return data, list(rights)
