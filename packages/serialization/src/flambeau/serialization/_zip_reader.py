"""Reads a zip archive, trusting nothing in it.

Every offset and size is compared with the size of the file before a byte is taken, and records may not overlap, so
memory in use stays in proportion to the file.
"""

from __future__ import annotations

import zlib
from operator import attrgetter
from typing import NamedTuple

from . import _zip_layout as zl
from ._source import MappedSource, Source

# A comment can follow the end record; its length is a 16-bit number.
_MAX_COMMENT = zl.LIMIT16
# Archives that other tools packed again may be compressed. Deflate can expand 1,032 times; what is believed is less.
_MAX_EXPANSION = 64
_SMALL = 1 << 22
_CHUNK = 1 << 20


class Record(NamedTuple):
    """Where one record lies: offset of its local header, sizes in the file and unpacked."""

    name: str
    method: int
    crc: int
    packed: int
    size: int
    header: int


class ZipReader:
    """The records of an archive.

    Attributes
    ----------
    prefix : str, the folder inside the archive that all records lie in
    records : dict from name without prefix to Record
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        offset, size, count = self._find_directory()
        entries = self._read_directory(offset, size, count)
        self._check_overlap(entries, offset)
        self.prefix = entries[0].name.split("/", 1)[0] if entries else ""
        self.records = self._by_name(entries)
        # Archives written without checksums have zero in every record.
        self._checksums = any(entry.crc for entry in entries)

    def _find_directory(self) -> tuple[int, int, int]:
        source = self._source
        tail_size = min(source.size, zl.END.size + _MAX_COMMENT)
        tail = source.read(source.size - tail_size, tail_size)
        at = tail.rfind(zl.END_MAGIC)
        while at >= 0 and not _ends_here(tail, at):
            at = tail.rfind(zl.END_MAGIC, 0, at)
        if at < 0:
            raise source.error("has no zip directory at its end: the file is cut short or damaged")
        _, disk, first, here, count, size, offset, _ = zl.END.unpack_from(tail, at)
        end = source.size - tail_size + at
        if zl.LIMIT16 in (here, count) or zl.LIMIT32 in (size, offset) or self._has_locator(end):
            disk, first, here, count, size, offset, end = self._read_end64(end)
        if disk or first or here != count:
            raise source.error(f"is one part of an archive in several (part {disk}, {here} of {count} records)")
        if offset + size > end or count * zl.CENTRAL.size > size:
            raise source.error(
                f"is damaged: its directory of {count:,} records is said to be {size:,} bytes at offset {offset:,}, "
                f"but must end at {end:,} and hold {zl.CENTRAL.size} bytes a record"
            )
        return offset, size, count

    def _has_locator(self, end: int) -> bool:
        at = end - zl.LOCATOR.size
        return at >= 0 and self._source.read(at, 4) == zl.LOCATOR_MAGIC

    def _read_end64(self, end: int) -> tuple[int, int, int, int, int, int, int]:
        source, at = self._source, end - zl.LOCATOR.size
        magic, _, where, _ = zl.LOCATOR.unpack(source.read(max(at, 0), zl.LOCATOR.size))
        if magic != zl.LOCATOR_MAGIC or where + zl.END64.size > at:
            raise source.error(f"is damaged: its zip64 end record is said to be at offset {where:,} of {source.size:,}")
        magic, _, _, _, disk, first, here, count, size, offset = zl.END64.unpack(source.read(where, zl.END64.size))
        if magic != zl.END64_MAGIC:
            raise source.error(f"is damaged: there is no zip64 end record at offset {where:,}")
        return disk, first, here, count, size, offset, where

    def _read_directory(self, offset: int, size: int, count: int) -> list[Record]:
        data, at, entries = self._source.read(offset, size), 0, []
        unpack, fixed = zl.CENTRAL.unpack_from, zl.CENTRAL.size
        for index in range(count):
            if at + fixed > size:
                raise self._source.error(f"is damaged: its directory ends inside record {index} of {count}")
            # signature, made by, version, flags, method, time, date, crc, packed, size, name, extra, comment, disk, ...
            magic, _, _, flags, method, _, _, crc, packed, full, n, e, c, _, _, _, header = unpack(data, at)
            begin, at = at + fixed, at + fixed + n + e + c
            if magic != zl.CENTRAL_MAGIC or at > size:
                raise self._source.error(f"is damaged: record {index} of its directory is malformed")
            name = self._decode(data[begin : begin + n], index)
            if zl.LIMIT32 in (packed, full, header):
                full, packed, header = self._zip64(data[begin + n : begin + n + e], name, full, packed, header)
            if flags & zl.FLAG_ENCRYPTED:
                raise self._source.error(f'holds record "{name}" encrypted; only plain records are read')
            self._check_sizes(name, method, packed, full)
            entries.append(Record(name, method, crc, packed, full, header))
        return entries

    def _decode(self, raw: bytes, index: int) -> str:
        try:
            return raw.decode()
        except UnicodeDecodeError as err:
            raise self._source.error(f"is damaged: the name of record {index} is not UTF-8: {raw[:40]!r}") from err

    def _zip64(self, extra: bytes, name: str, *fields: int) -> list[int]:
        """Replace the fields that are at their 32-bit limit by the ones in the zip64 extra field."""
        at = 0
        while at + 4 <= len(extra):
            kind = int.from_bytes(extra[at : at + 2], "little")
            length = int.from_bytes(extra[at + 2 : at + 4], "little")
            body, at = extra[at + 4 : at + 4 + length], at + 4 + length
            if kind == zl.ZIP64_EXTRA:
                words = iter(int.from_bytes(body[i : i + 8], "little") for i in range(0, len(body) - 7, 8))
                found = [next(words, None) if value == zl.LIMIT32 else value for value in fields]
                if None not in found:
                    return found  # type: ignore[return-value]
        raise self._source.error(f'is damaged: record "{name}" has a zip64 size and no zip64 field')

    def _check_sizes(self, name: str, method: int, packed: int, full: int) -> None:
        source = self._source
        if method not in (zl.STORED, zl.DEFLATED):
            raise source.error(f'holds record "{name}" packed by method {method}; 0 (stored) and 8 (deflated) are read')
        if packed > source.size or (method == zl.STORED and packed != full):
            raise source.error(
                f'is damaged: record "{name}" is said to be {full:,} bytes in {packed:,}, the file has {source.size:,}'
            )
        if full > max(_SMALL, _MAX_EXPANSION * packed):
            raise source.error(
                f'is refused: record "{name}" is said to unpack {packed:,} bytes to {full:,}, '
                f"more than {_MAX_EXPANSION} times; unpack the archive and store it without compression"
            )

    def _check_overlap(self, entries: list[Record], directory: int) -> None:
        """Records that share bytes could make a small file fill the memory."""
        limit = directory
        for entry in sorted(entries, key=attrgetter("header"), reverse=True):
            if entry.header + zl.LOCAL.size + len(entry.name) + entry.packed > limit:
                raise self._source.error(
                    f'is damaged: record "{entry.name}" of {entry.packed:,} bytes at offset {entry.header:,} '
                    f"does not end before offset {limit:,}"
                )
            limit = entry.header

    def _by_name(self, entries: list[Record]) -> dict[str, Record]:
        skip, records = len(self.prefix) + 1, {}
        for entry in entries:
            if not entry.name.startswith(self.prefix + "/"):
                raise self._source.error(
                    f'holds record "{entry.name}" outside the folder "{self.prefix}/" of the others'
                )
            if entry.name[skip:] in records:
                raise self._source.error(f'is damaged: it holds record "{entry.name}" twice')
            records[entry.name[skip:]] = entry
        return records

    def data_offset(self, record: Record) -> int:
        """Where the bytes of a record begin, from its own header."""
        magic, name, extra = zl.LOCAL_LENGTHS.unpack(self._source.read(record.header, zl.LOCAL.size))
        offset = record.header + zl.LOCAL.size + name + extra
        if magic != zl.LOCAL_MAGIC or offset + record.packed > self._source.size:
            raise self._source.error(f'is damaged: record "{record.name}" has no valid header at {record.header:,}')
        return offset

    def read(self, name: str) -> bytes:
        """All bytes of one record, checked."""
        record = self.records[name]
        data = bytearray(record.size)
        self.read_into(record, memoryview(data))
        return bytes(data)

    def read_into(self, record: Record, target: memoryview) -> None:
        """Fill `target` with a record and compare checksums."""
        offset = self.data_offset(record)
        if record.method == zl.DEFLATED:
            crc = self._inflate(record, offset, target)
        elif record.size < _CHUNK:
            data = self._source.read(offset, record.size)
            target[:] = data
            crc = zlib.crc32(data)
        else:
            # In pieces, so that the checksum is taken while the bytes are still in the cache.
            crc = 0
            for start in range(0, record.size, _CHUNK):
                piece = target[start : start + _CHUNK]
                self._source.read_into(offset + start, piece)
                crc = zlib.crc32(piece, crc)
        if self._checksums and crc != record.crc:
            raise self._source.error(
                f'is damaged: record "{record.name}" has checksum {crc:08x}, its directory says {record.crc:08x}'
            )

    def _inflate(self, record: Record, offset: int, target: memoryview) -> int:
        machine = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            data = machine.decompress(self._source.read(offset, record.packed), record.size + 1)
        except zlib.error as err:
            raise self._source.error(f'is damaged: record "{record.name}" does not unpack: {err}') from err
        if len(data) != record.size:
            raise self._source.error(f'is damaged: record "{record.name}" does not unpack to {record.size:,} bytes')
        target[:] = data
        return zlib.crc32(data)

    def view(self, record: Record) -> memoryview | None:
        """The bytes of a record inside the mapped file; None where they must be copied out."""
        if record.method != zl.STORED or not isinstance(self._source, MappedSource):
            return None
        return self._source.view(self.data_offset(record), record.size)


def _ends_here(tail: bytes, at: int) -> bool:
    return at + zl.END.size <= len(tail) and at + zl.END.size + zl.END.unpack_from(tail, at)[7] == len(tail)
