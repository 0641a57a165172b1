"""`save`: write an object in torch's zip format."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable
from typing import IO, Any

from . import _tensor_bridge as bridge
from ._atomic import replace_file
from ._foreign_pickler import pickle_foreign
from ._legacy import save_legacy
from ._options import get_crc32_options, is_skipping_data
from ._pickler import StorageTable, pickle_object
from ._source import path_of
from ._zip_writer import ZipWriter

DEFAULT_PROTOCOL = 2
FileLike = str | os.PathLike[str] | IO[bytes]
Write = Callable[[bytes | memoryview], object]

# What torch writes; readers use it to refuse what they do not know.
_FORMAT_RECORDS = {".format_version": b"1", ".storage_alignment": b"64"}
_ALIGNMENT = 64
_VERSION = b"3\n"


def save(
    obj: object,
    f: FileLike,
    pickle_module: Any = pickle,
    pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Save an object to a file that `load`, here or in torch, reads.

    Tensors that share a storage share it in the file: the storage is written once, and whole even where only a part
    is viewed (save `tensor.clone()` to write a part).

    Parameters
    ----------
    obj : anything that `pickle` takes: tensors, containers of them, state dicts, modules
    f : path, or object with a `write` method. A file at a path is written whole or not at all: until the last byte
        is on the disk, the old file stays
    pickle_module : module whose Pickler writes; others than `pickle` name classes as flambeau's, which torch cannot read
    pickle_protocol : 2 to 5; torch loads 2 without `weights_only=False`

    Raises
    ------
    RuntimeError  if the folder of a path does not exist
    AttributeError  if `f` is neither a path nor has `write`
    pickle.PicklingError, TypeError  if something in `obj` cannot be pickled; nothing is written then
    """
    path = path_of(f)
    if path is None and not hasattr(f, "write"):
        raise AttributeError(
            f"[save] expected 'f' to be string, path, or a file-like object with a 'write' attribute, got {type(f).__name__}"
        )
    if not isinstance(pickle_protocol, int) or not 2 <= pickle_protocol <= pickle.HIGHEST_PROTOCOL:
        raise ValueError(f"[save] pickle_protocol is {pickle_protocol!r}; allowed are 2 to {pickle.HIGHEST_PROTOCOL}")
    table = StorageTable()
    is_legacy = not _use_new_zipfile_serialization
    # The pickle is made before the file is touched, so that what cannot be pickled leaves no half of a file.
    data = _pickle(obj, pickle_module, pickle_protocol, table, is_legacy)

    def write_to(write: Write, name: str) -> None:
        if is_legacy:
            storages = [(key, storage, table.itemsizes[key]) for key, storage in table.storages.items()]
            save_legacy(write, data, storages, pickle_protocol)
        else:
            _write_archive(write, name, data, table, not _disable_byteorder_record)

    if path is None:
        write_to(f.write, "archive")  # type: ignore[union-attr]
        return
    with replace_file(path) as file:
        write_to(file.write, os.path.splitext(os.path.basename(path))[0] or "archive")


def _pickle(obj: object, pickle_module: Any, protocol: int, table: StorageTable, is_legacy: bool) -> bytes:
    if pickle_module is pickle:
        return pickle_object(obj, protocol, table, is_legacy)
    return pickle_foreign(obj, pickle_module, protocol, table)


def _write_archive(write: Write, name: str, data: bytes, table: StorageTable, has_byteorder: bool) -> None:
    archive = ZipWriter(write, name, _ALIGNMENT, get_crc32_options())
    archive.add("data.pkl", data)
    for record, content in _FORMAT_RECORDS.items():
        archive.add(record, content)
    if has_byteorder:
        archive.add("byteorder", sys.byteorder.encode())
    for key, storage in table.storages.items():
        if is_skipping_data():
            archive.add_zeros("data/" + key, bridge.storage_nbytes(storage))
        else:
            archive.add("data/" + key, bridge.storage_bytes(bridge.to_cpu(storage)))
    archive.add("version", _VERSION)
    archive.add(".data/serialization_id", archive.fingerprint().encode())
    archive.close()
