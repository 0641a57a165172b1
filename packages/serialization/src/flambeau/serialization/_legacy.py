"""The format from before torch 1.6: five pickles one after the other, then the storages.

magic number, version, facts about the machine, the object, the list of storage keys; then for each key its number of
elements in 8 bytes and the elements.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import _tensor_bridge as bridge
from ._archive import StorageLoader, swap_bytes
from ._errors import shown
from ._locations import MapLocation
from ._source import Source
from ._typed_storage import StorageKind

if TYPE_CHECKING:
    from flambeau import UntypedStorage

MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001
_MACHINE_FACTS = {
    "protocol_version": PROTOCOL_VERSION,
    "little_endian": sys.byteorder == "little",
    "type_sizes": {"short": 2, "int": 4, "long": 4},
}
_COUNT_BYTES = 8
# Elements are read after the tensors are made, so indices of sparse tensors could not be checked.
NOT_IN_LEGACY = frozenset({"torch._utils._rebuild_sparse_tensor"})
_TAR_MAGIC_AT = 257


class LegacyStorages(StorageLoader):
    """Storages that are made while the object is read and filled afterwards, in the order that the file gives."""

    def __init__(self, source: Source, map_location: MapLocation) -> None:
        super().__init__(source.name, map_location)
        self._source = source
        self._kinds: dict[str, StorageKind] = {}
        self._declared = 0

    def _storage(self, kind: StorageKind, key: str, location: str, count: int, view: Any) -> UntypedStorage:
        if view is not None:
            raise self._source.error(
                f"has a view of storage {key!r} in the form of torch 0.1; load and save it with torch first"
            )
        storage = self._loaded.get(key)
        if storage is None:
            self._declared += count * kind.itemsize
            if self._declared > self._source.size:
                raise self._source.error(
                    f"declares {count * kind.itemsize:,} bytes for storage {key!r}, {self._declared:,} in all, "
                    f"but is {self._source.size:,} bytes long"
                )
            nbytes = count * kind.itemsize
            fresh = (
                bridge.meta_storage(nbytes)
                if self._is_meta(location)
                else self._place(bridge.new_storage(nbytes), location)
            )
            storage = self._loaded[key] = fresh
            self._kinds[key] = kind
        elif bridge.storage_nbytes(storage) // kind.itemsize != count:
            raise self._source.error(f"declares storage {key!r} with {count:,} elements; earlier it had another size")
        return storage

    def fill(self, data: memoryview, at: int, keys: Any, swap: bool) -> None:
        """Read the elements of every storage from `data`, which goes on at `at` behind the pickles."""
        if not isinstance(keys, list) or not all(type(key) is str for key in keys) or len(set(keys)) != len(keys):
            raise self._source.error(
                f"is damaged: its storage keys must be a list of different strings, got {shown(keys)}"
            )
        if missing := sorted(set(self._loaded) - set(keys)):
            raise self._source.error(f"is damaged: it uses storage {missing[0]!r} and has no elements for it")
        for key in keys:
            if key not in self._loaded:
                raise self._source.error(f"is damaged: it has elements for storage {key!r}, which nothing uses")
            at = self._fill_one(data, at, key, swap)

    def _fill_one(self, data: memoryview, at: int, key: str, swap: bool) -> int:
        storage, kind = self._loaded[key], self._kinds[key]
        nbytes, begin = bridge.storage_nbytes(storage), at + _COUNT_BYTES
        count = int.from_bytes(data[at:begin], "big" if swap else "little", signed=True)
        if begin + nbytes > len(data) or count != nbytes // kind.itemsize:
            raise self._source.error(
                f"is cut short or damaged: storage {key!r} must have {nbytes // kind.itemsize:,} elements at byte {at:,}; "
                f"{count:,} are declared and {max(0, len(data) - begin):,} bytes are left"
            )
        if bridge.storage_device(storage) == "cpu" and nbytes:
            target = bridge.storage_bytes(storage)
            target[:] = data[begin : begin + nbytes]
            if swap:
                swap_bytes(
                    target, kind.itemsize // 2 if kind.dtype is not None and kind.dtype.is_complex else kind.itemsize
                )
        return begin + nbytes


def load_legacy(source: Source, map_location: MapLocation, read: Callable[..., tuple[Any, int]]) -> Any:
    """Load a file that is no zip archive; `read` runs one pickle of it."""
    data = source.read(0, source.size)
    _check_magic(source, data)
    storages = LegacyStorages(source, map_location)
    _, at = read(data, 0, storages)
    version, at = read(data, at, storages)
    if version != PROTOCOL_VERSION:
        raise source.error(f"is of version {shown(version)} of the format before zip; {PROTOCOL_VERSION} is known")
    facts, at = read(data, at, storages)
    if not isinstance(facts, dict) or not isinstance(facts.get("little_endian"), bool):
        raise source.error(f"is damaged: it must say the byte order of its machine, got {shown(facts)}")
    result, at = read(data, at, storages)
    keys, at = read(data, at, storages)
    storages.fill(memoryview(data), at, keys, facts["little_endian"] != (sys.byteorder == "little"))
    return result


def _check_magic(source: Source, data: bytes) -> None:
    magics = [pickle.dumps(MAGIC_NUMBER, protocol=protocol) for protocol in range(2, 6)]
    if any(data.startswith(magic) for magic in magics):
        return
    start = f"it begins with {data[:8]!r}"
    if data[_TAR_MAGIC_AT : _TAR_MAGIC_AT + 5] == b"ustar":
        raise source.error("is a tar archive, as torch 0.1 wrote; load and save it with an old torch first")
    if data[8:9] == b"{" and int.from_bytes(data[:8], "little") < len(data):
        raise source.error("looks like a safetensors file; read it with flambeau.serialization.load_safetensors")
    if data[:1] == b"\x80" and data[1:2] and data[1] <= 5:
        raise source.error(f"is a pickle, but not of a checkpoint: {start}; write it with flambeau.save")
    raise source.error(f"is no checkpoint: {start}; a zip archive (b'PK\\x03\\x04') is expected")


def save_legacy(
    write: Callable[[bytes | memoryview], object], data: bytes, storages: Sequence[tuple[str, Any, int]], protocol: int
) -> None:
    """Write the format from before torch 1.6.

    Parameters
    ----------
    data : the pickle of the object
    storages : (key, storage, bytes of an element) of each storage that it names
    """
    keys = [key for key, _, _ in storages]
    for part in (MAGIC_NUMBER, PROTOCOL_VERSION, _MACHINE_FACTS):
        write(pickle.dumps(part, protocol=protocol))
    write(data)
    write(pickle.dumps(keys, protocol=protocol))
    for _, storage, itemsize in storages:
        content = bridge.storage_bytes(bridge.to_cpu(storage))
        write((len(content) // itemsize).to_bytes(_COUNT_BYTES, sys.byteorder))
        write(content)
