"""Writes a zip archive front to back, so that any object with a `write` method can take it.

Records are stored, not compressed, and their bytes begin at multiples of an alignment, so that they can be
mapped into memory. The archive always ends with zip64 structures: records and files may exceed 4 GB.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable
from typing import NamedTuple

from . import _zip_layout as zl

# What torch puts in the extra field in front of aligned records: id "FB", length, padding.
_PAD_ID = b"FB"
_PAD_BYTE = b"Z"
_VERSION = 45  # the first version of the format with zip64
_CHUNK = 1 << 20
_ZEROS = bytes(_CHUNK)


class _Written(NamedTuple):
    name: bytes
    crc: int
    size: int
    offset: int


class ZipWriter:
    """An archive under construction.

    Parameters
    ----------
    write : takes bytes-like objects, in order
    prefix : folder inside the archive that all records lie in
    alignment : the bytes of each record begin at a multiple of this many bytes
    checksums : False leaves the checksum fields zero, which saves reading the data once
    """

    def __init__(
        self, write: Callable[[bytes | memoryview], object], prefix: str, alignment: int = 64, checksums: bool = True
    ) -> None:
        self._write = write
        self._prefix = prefix
        self._alignment = alignment
        self._checksums = checksums
        self._position = 0
        self._records: list[_Written] = []

    def _put(self, data: bytes | memoryview) -> None:
        self._write(data)
        self._position += len(data)

    def add(self, name: str, data: bytes | memoryview) -> None:
        """Write one record."""
        view = memoryview(data).cast("B") if not isinstance(data, bytes) else data
        crc = zlib.crc32(view) if self._checksums else 0
        self._header(name, len(view), crc)
        self._put(view)

    def add_zeros(self, name: str, size: int) -> None:
        """Write one record of zero bytes: room for data that is filled in later."""
        crc = 0
        for start in range(0, size if self._checksums else 0, _CHUNK):
            crc = zlib.crc32(_ZEROS[: min(_CHUNK, size - start)], crc)
        self._header(name, size, crc)
        for start in range(0, size, _CHUNK):
            self._put(_ZEROS[: min(_CHUNK, size - start)])

    def _header(self, name: str, size: int, crc: int) -> None:
        path = f"{self._prefix}/{name}".encode()
        large = size >= zl.LIMIT32
        sizes = zl.LIMIT32 if large else size
        extra = (zl.ZIP64_EXTRA.to_bytes(2, "little") + b"\x10\x00" + 2 * size.to_bytes(8, "little")) if large else b""
        end = self._position + zl.LOCAL.size + len(path) + len(extra) + len(_PAD_ID) + 2
        padding = -end % self._alignment
        extra += _PAD_ID + padding.to_bytes(2, "little") + _PAD_BYTE * padding
        self._records.append(_Written(path, crc, size, self._position))
        fields = (_VERSION, zl.FLAG_UTF8, zl.STORED, 0, 0x21, crc, sizes, sizes, len(path), len(extra))
        self._put(zl.LOCAL.pack(zl.LOCAL_MAGIC, *fields) + path + extra)

    def fingerprint(self) -> str:
        """Forty digits that depend on the names and the checksums of the records so far."""
        names = hashlib.blake2b(b"\0".join(record.name for record in self._records), digest_size=8)
        sums = hashlib.blake2b(
            b"".join(b"%d,%d;" % (record.crc, record.size) for record in self._records), digest_size=8
        )
        return "".join(f"{int.from_bytes(part.digest(), 'little'):020d}" for part in (names, sums))

    def close(self) -> None:
        """Write the directory. Without it the archive is refused by every reader."""
        start = self._position
        for record in self._records:
            self._put(_central_entry(record))
        count, size, end = len(self._records), self._position - start, self._position
        rest = zl.END64.size - 12
        self._put(zl.END64.pack(zl.END64_MAGIC, rest, _VERSION, _VERSION, 0, 0, count, count, size, start))
        self._put(zl.LOCATOR.pack(zl.LOCATOR_MAGIC, 0, end, 1))
        few = min(count, zl.LIMIT16)
        last = (0, 0, few, few, min(size, zl.LIMIT32), min(start, zl.LIMIT32), 0)
        self._put(zl.END.pack(zl.END_MAGIC, *last))


def _central_entry(record: _Written) -> bytes:
    large = [value for value in (record.size, record.size, record.offset) if value >= zl.LIMIT32]
    extra = b"".join(value.to_bytes(8, "little") for value in large)
    if extra:
        extra = zl.ZIP64_EXTRA.to_bytes(2, "little") + len(extra).to_bytes(2, "little") + extra
    size, offset = min(record.size, zl.LIMIT32), min(record.offset, zl.LIMIT32)
    fields = (_VERSION, _VERSION, zl.FLAG_UTF8, zl.STORED, 0, 0x21, record.crc, size, size)
    lengths = (len(record.name), len(extra), 0, 0, 0, 0, offset)
    return zl.CENTRAL.pack(zl.CENTRAL_MAGIC, *fields, *lengths) + record.name + extra
