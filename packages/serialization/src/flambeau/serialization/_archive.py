"""Storages of one archive: read when a tensor first asks for them, then shared by all that name them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from . import _tensor_bridge as bridge
from ._errors import UnpicklingError, shown
from ._locations import MapLocation, default_restore_location, make_restorer, needs_no_data
from ._options import LoadEndianness, get_default_load_endianness, is_skipping_data
from ._source import Source
from ._typed_storage import StorageKind, TypedStorage
from ._zip_reader import Record, ZipReader

if TYPE_CHECKING:
    from flambeau import UntypedStorage


class StorageLoader:
    """What the two formats share: persistent ids, and where storages go once they are read."""

    def __init__(self, name: str, map_location: MapLocation) -> None:
        self._name = name
        self._map_location = map_location
        self._restorer = make_restorer(map_location)
        self._loaded: dict[str, UntypedStorage] = {}
        self._meta: dict[str, bool] = {}

    def persistent(self, identity: Any) -> Any:
        """The object that a persistent id of a file stands for."""
        if not (isinstance(identity, tuple) and len(identity) in (5, 6) and identity[0] == "storage"):
            raise UnpicklingError(
                f'[load] "{self._name}": a persistent id must be ("storage", class, key, location, count), '
                f"got {shown(identity)}"
            )
        kind, key, location, count = identity[1:5]
        if type(kind) is not StorageKind or type(key) is not str or type(location) is not str:
            raise UnpicklingError(
                f'[load] "{self._name}": a storage is named by {shown(kind)}, {shown(key)}, {shown(location)}; '
                "a storage class and two strings are expected"
            )
        if type(count) is not int or not 0 <= count < 2**63:
            raise UnpicklingError(
                f'[load] "{self._name}": storage {shown(key)} declares {shown(count)} elements; '
                "an integer of at least 0 and less than 2**63 is expected"
            )
        storage = self._storage(kind, key, location, count, identity[5] if len(identity) == 6 else None)
        return storage if kind.dtype is None else TypedStorage(storage, kind.dtype)

    def _storage(self, kind: StorageKind, key: str, location: str, count: int, view: Any) -> UntypedStorage:
        raise NotImplementedError

    def _is_meta(self, location: str) -> bool:
        known = self._meta.get(location)
        if known is None:
            known = self._meta[location] = needs_no_data(self._restorer, self._map_location, location)
        return known

    def _place(self, storage: UntypedStorage, location: str) -> UntypedStorage:
        if self._restorer is None:
            return storage if location == "cpu" else default_restore_location(storage, location)
        placed = self._restorer(storage, location)
        return placed.untyped() if hasattr(placed, "untyped") else placed


class ArchiveStorages(StorageLoader):
    """Storages of a zip archive.

    Parameters
    ----------
    archive, source : the records, and the file they are in, for its name
    map_location : see `load`
    """

    def __init__(self, archive: ZipReader, source: Source, map_location: MapLocation) -> None:
        super().__init__(source.name, map_location)
        self._archive = archive
        self._source = source
        self._swap = _is_other_byte_order(archive, source)
        self._skip = is_skipping_data()

    def load(self, kind: StorageKind, key: str, location: str, count: int) -> UntypedStorage:
        """The storage of a key; read from its record the first time."""
        storage = self._loaded.get(key)
        if storage is None:
            storage = self._loaded[key] = self._read(kind, key, location, count)
        elif bridge.storage_nbytes(storage) // kind.itemsize != count:
            raise self._source.error(
                f'declares storage "{key}" with {count:,} elements of {kind.itemsize} bytes; '
                f"earlier it had {bridge.storage_nbytes(storage):,} bytes"
            )
        return storage

    def _storage(self, kind: StorageKind, key: str, location: str, count: int, view: Any) -> UntypedStorage:
        return self.load(kind, key, location, count)

    def _read(self, kind: StorageKind, key: str, location: str, count: int) -> UntypedStorage:
        record = self._archive.records.get("data/" + key)
        if record is None:
            raise self._source.error(
                f'declares {count * kind.itemsize:,} bytes for storage "{key}", but has no record for it'
            )
        if record.size // kind.itemsize != count:
            raise self._source.error(
                f'declares {count * kind.itemsize:,} bytes for storage "{key}", but record "{record.name}" has {record.size:,}'
            )
        if self._is_meta(location):
            return bridge.meta_storage(record.size)
        return self._place(self._on_cpu(record, kind), location)

    def _on_cpu(self, record: Record, kind: StorageKind) -> UntypedStorage:
        if not self._swap and (view := self._archive.view(record)) is not None:
            return bridge.storage_over(view)
        if self._swap and kind.dtype is None:
            raise self._source.error(
                f'has the other byte order than this machine, and record "{record.name}" is plain bytes, whose width is not '
                "known; load and save the file with torch on this machine"
            )
        storage = bridge.new_storage(record.size)
        if record.size and not self._skip:
            target = bridge.storage_bytes(storage)
            self._archive.read_into(record, target)
            if self._swap and kind.dtype is not None:  # the width of its numbers is known
                swap_bytes(target, kind.itemsize // 2 if kind.dtype.is_complex else kind.itemsize)
        return storage


def _is_other_byte_order(archive: ZipReader, source: Source) -> bool:
    if "byteorder" in archive.records:
        order = archive.read("byteorder").decode("latin1")
        if order not in ("little", "big"):
            raise source.error(f"has byte order {shown(order)}; 'little' and 'big' are known")
    else:
        default = get_default_load_endianness()
        order = sys.byteorder if default in (None, LoadEndianness.NATIVE) else default.name.lower()
    return order != sys.byteorder


def swap_bytes(target: memoryview, width: int) -> None:
    """Reverse the bytes of each number of `width` bytes, in place."""
    if width < 2:
        return
    data = bytearray(target)
    usable = len(data) - len(data) % width
    for position in range(width):
        target[position:usable:width] = memoryview(data)[width - 1 - position : usable : width]
