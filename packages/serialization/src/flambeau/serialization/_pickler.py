"""Turns an object into a pickle that names `torch.*` classes, and lists the storages it needs."""

from __future__ import annotations

import importlib
import io
import pickle
import struct
from collections import OrderedDict
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any

import flambeau
from flambeau._utils import is_wrapper

from . import _tensor_bridge as bridge
from ._locations import location_tag
from ._names import STORAGE_NAMES, written_name
from ._typed_storage import TypedStorage

if TYPE_CHECKING:
    from flambeau import Tensor, UntypedStorage
    from flambeau import dtype as DType


class Global:
    """Stands for a function or class of torch that a pickle names and that need not exist here."""

    __slots__ = ("module", "name")

    def __init__(self, module: str, name: str) -> None:
        self.module = module
        self.name = name

    def __call__(self, *args: Any) -> Any:
        # Only so that it counts as callable; it is written, never called.
        raise NotImplementedError(f"{self.module}.{self.name} is a name in a file")


class StorageReference:
    """Stands for a storage; written as a persistent id."""

    __slots__ = ("key", "location", "numel", "type_name")

    def __init__(self, key: str, type_name: str, location: str, numel: int) -> None:
        self.key = key
        self.type_name = type_name
        self.location = location
        self.numel = numel


def _utils(name: str) -> Global:
    return Global("torch._utils", name)


REBUILD_V2, REBUILD_V3 = _utils("_rebuild_tensor_v2"), _utils("_rebuild_tensor_v3")
REBUILD_PARAMETER, REBUILD_PARAMETER_WITH_STATE = _utils("_rebuild_parameter"), _utils("_rebuild_parameter_with_state")
REBUILD_META, REBUILD_SPARSE = _utils("_rebuild_meta_tensor_no_storage"), _utils("_rebuild_sparse_tensor")
REBUILD_FROM_TYPE = Global("torch._tensor", "_rebuild_from_type_v2")
GET_LAYOUT = Global("torch.serialization", "_get_layout")
SIZE, DEVICE = Global("torch", "Size"), Global("torch", "device")
_STORAGE_CLASSES = {name: Global("torch", name) for name in STORAGE_NAMES.values()}
_STORAGE_CLASSES["UntypedStorage"] = Global("torch.storage", "UntypedStorage")


class StorageTable:
    """The storages that a pickle refers to: each gets a key the first time it is seen."""

    def __init__(self) -> None:
        self.storages: dict[str, UntypedStorage] = {}
        self.itemsizes: dict[str, int] = {}
        # Storages seen stay alive until the file is written, so addresses are not used again.
        self._keys: dict[int, tuple[str, str | None, str]] = {}

    def reference(self, storage: UntypedStorage, dtype: DType | None) -> StorageReference:
        """How the pickle refers to a storage as one of `dtype`; as plain bytes where that is None or has no name.

        torch reads each key as one class only. Where tensors of two dtypes share a storage, the second one refers
        to it as plain bytes and says its dtype itself.
        """
        address = bridge.storage_key(storage)
        wanted = STORAGE_NAMES.get(bridge.dtype_name(dtype)) if dtype is not None else None
        known = self._keys.get(address)
        if known is None:
            known = (str(len(self._keys)), wanted, location_tag(storage))
            self._keys[address] = known
            self.storages[known[0]] = storage
            self.itemsizes[known[0]] = dtype.itemsize if wanted is not None and dtype is not None else 1
        key, first, location = known
        nbytes = bridge.storage_nbytes(storage)
        if wanted is None or wanted != first:
            return StorageReference(key, "UntypedStorage", location, nbytes)
        return StorageReference(key, wanted, location, nbytes // dtype.itemsize)  # type: ignore[union-attr]


_PythonPickler: Any = pickle._Pickler  # type: ignore[attr-defined]


class Pickler(_PythonPickler):
    """Python's pickler in Python, which is the one whose treatment of names can be changed.

    Tensors are written in one piece instead of item by item, which also makes it faster than the one in C with a
    Python function for each tensor.
    """

    dispatch: dict[Any, Any] = dict(_PythonPickler.dispatch)

    def __init__(self, file: io.BytesIO, protocol: int, table: StorageTable, is_legacy: bool = False) -> None:
        super().__init__(file, protocol)
        self._table = table
        # The format before zip has a sixth item in persistent ids, for views; it is always None.
        self._id_end = b"NtQ" if is_legacy else b"tQ"
        self._geometries: dict[tuple[Any, Any], bytes] = {}

    # Names.

    def save_global(self, obj: Any, name: str | None = None) -> None:
        qualname = name or getattr(obj, "__qualname__", None) or obj.__name__
        ours = written_name(obj, qualname)
        if ours is None:
            super().save_global(obj, name)
            return
        _check_importable(obj, qualname)
        if "." in qualname:
            owner, _, attribute = qualname.rpartition(".")
            parent = importlib.import_module(obj.__module__)
            for part in owner.split("."):
                parent = getattr(parent, part)
            self.save_reduce(getattr, (parent, attribute), obj=obj)
            return
        self._write_global(*ours)
        self.memoize(obj)

    dispatch[FunctionType] = save_global
    dispatch[BuiltinFunctionType] = save_global

    def _write_global(self, module: str, name: str) -> None:
        if self.proto >= 4:
            self.save(module)
            self.save(name)
            self.write(pickle.STACK_GLOBAL)
        else:
            self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())

    def _save_stand_in(self, obj: Global) -> None:
        self._write_global(obj.module, obj.name)
        self.memoize(obj)

    dispatch[Global] = _save_stand_in

    # Storages.

    def _save_reference(self, ref: StorageReference) -> None:
        write = self.write
        write(pickle.MARK)
        self.save("storage")
        self.save(_STORAGE_CLASSES[ref.type_name])
        self.save(ref.key)
        self.save(ref.location)
        self.save(ref.numel)
        write(self._id_end)

    dispatch[StorageReference] = _save_reference

    def _save_untyped(self, storage: UntypedStorage) -> None:
        self._save_reference(self._table.reference(storage, None))

    dispatch[flambeau.UntypedStorage] = _save_untyped

    def _save_typed(self, storage: Any) -> None:
        self._save_reference(self._table.reference(storage.untyped(), storage.dtype))

    dispatch[TypedStorage] = _save_typed
    if (_core_typed := getattr(flambeau, "TypedStorage", None)) is not None:
        dispatch[_core_typed] = _save_typed

    # Small types of ours.

    def _save_dtype(self, dtype: DType) -> None:
        self._write_global("torch", bridge.dtype_name(dtype))
        self.memoize(dtype)

    dispatch[flambeau.dtype] = _save_dtype
    # torch cannot save these but reads them under this name.
    dispatch[flambeau.memory_format] = _save_dtype

    def _save_size(self, size: Any) -> None:
        self.save_reduce(SIZE, (tuple(size),), obj=size)

    dispatch[flambeau.Size] = _save_size

    def _save_device(self, device: Any) -> None:
        self.save_reduce(DEVICE, (device.type,) if device.index is None else (device.type, device.index), obj=device)

    dispatch[flambeau.device] = _save_device

    def _save_layout(self, layout: Any) -> None:
        self.save_reduce(GET_LAYOUT, ("torch." + str(layout).rpartition(".")[2],), obj=layout)

    dispatch[flambeau.layout] = _save_layout

    # Tensors.

    def reducer_override(self, obj: Any) -> Any:
        # Subclasses of Tensor; exact types are in `dispatch`.
        if type(obj) is flambeau.Tensor or not isinstance(obj, flambeau.Tensor):
            return NotImplemented
        own = type(obj).__reduce_ex__
        parameter = bridge.parameter_class()
        if parameter is not None and type(obj) is parameter:
            return self._reduce_parameter(obj)
        if own is not flambeau.Tensor.__reduce_ex__ or is_wrapper(obj):  # a wrapper's data is in its attributes
            return NotImplemented
        build, args = self._reduce_plain(obj)
        return REBUILD_FROM_TYPE, (build, type(obj), args, bridge.attributes_of(obj) or None)

    def _reduce_parameter(self, parameter: Tensor) -> tuple[Any, ...]:
        args: tuple[Any, ...] = (parameter.data, bool(parameter.requires_grad), OrderedDict())
        state = bridge.attributes_of(parameter)
        return (REBUILD_PARAMETER_WITH_STATE, (*args, state)) if state else (REBUILD_PARAMETER, args)

    def _save_tensor(self, tensor: Tensor) -> None:
        state = bridge.attributes_of(tensor)
        is_simple = not state and tensor.layout == flambeau.strided and tensor.device.type != "meta"
        if is_simple and not bridge.metadata_of(tensor) and self._write_tensor(tensor):
            return
        build, args = self._reduce_plain(tensor)
        if state:
            build, args = REBUILD_FROM_TYPE, (build, flambeau.Tensor, args, state)
        self.save_reduce(build, args, obj=tensor)

    dispatch[flambeau.Tensor] = _save_tensor

    def _reduce_plain(self, tensor: Tensor) -> tuple[Global, tuple[Any, ...]]:
        """How to build the tensor again as a plain one, without its attributes."""
        size, stride = tuple(tensor.shape), tuple(tensor.stride()) if tensor.layout == flambeau.strided else ()
        if tensor.layout != flambeau.strided:
            return REBUILD_SPARSE, (tensor.layout, _sparse_parts(tensor))
        if tensor.device.type == "meta":
            return REBUILD_META, (tensor.dtype, size, stride, bool(tensor.requires_grad))
        ref = self._table.reference(tensor.untyped_storage(), tensor.dtype)
        args: tuple[Any, ...] = (ref, tensor.storage_offset(), size, stride, bool(tensor.requires_grad), OrderedDict())
        bits = bridge.metadata_of(tensor)
        if ref.type_name == "UntypedStorage":
            return REBUILD_V3, (*args, tensor.dtype, *([bits] if bits else []))
        return REBUILD_V2, (*args, *([bits] if bits else []))

    def _write_tensor(self, tensor: Tensor) -> bool:
        """The opcodes of one plain tensor at once; False where something that they refer to is not in the memo yet.

        The parts that nothing else refers to get no memo slots.
        """
        ref = self._table.reference(tensor.untyped_storage(), tensor.dtype)
        is_bytes = ref.type_name == "UntypedStorage"
        shared = (REBUILD_V3 if is_bytes else REBUILD_V2, "storage", _STORAGE_CLASSES[ref.type_name], ref.location)
        slots = self._slots((*shared, OrderedDict, tensor.dtype) if is_bytes else (*shared, OrderedDict))
        if slots is None:
            return False
        build, word, kind, location, hooks, *dtype = slots
        key = ref.key.encode()
        parts = (
            *(build, b"((", word, kind, b"X", len(key).to_bytes(4, "little"), key, location),
            *(_integer(ref.numel), self._id_end, _integer(tensor.storage_offset())),
            self._geometry(tensor.shape, tensor.stride()),
            *(b"\x88" if tensor.requires_grad else b"\x89", hooks, b")R", *dtype, b"tR"),
        )
        self.write(b"".join(parts))
        self.memoize(tensor)
        return True

    def _slots(self, objects: tuple[Any, ...]) -> list[bytes] | None:
        """Opcodes that push objects from the memo; None where one is not in it."""
        found = [self.memo.get(id(obj)) for obj in objects]
        return None if None in found else [self.get(entry[0]) for entry in found]  # type: ignore[index]

    def _geometry(self, size: Any, stride: Any) -> bytes:
        key = (size, stride)
        written = self._geometries.get(key)
        if written is None:
            written = self._geometries[key] = _integer_tuple(size) + _integer_tuple(stride)
        return written


def _check_importable(obj: Any, qualname: str) -> None:
    found: Any = importlib.import_module(obj.__module__)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    if found is not obj:
        raise pickle.PicklingError(f"[save] can't pickle {obj!r}: {obj.__module__}.{qualname} is another object")


def _sparse_parts(tensor: Any) -> tuple[Any, ...]:
    if tensor.layout == flambeau.sparse_coo:
        return tensor._indices(), tensor._values(), tensor.size(), tensor.is_coalesced()
    by_row = str(tensor.layout).endswith(("csr", "bsr"))
    outer, inner = ("crow_indices", "col_indices") if by_row else ("ccol_indices", "row_indices")
    return getattr(tensor, outer)(), getattr(tensor, inner)(), tensor.values(), tensor.size()


def _integer(value: int) -> bytes:
    if value < 1 << 8:
        return struct.pack("<cB", pickle.BININT1, value)
    if value < 1 << 16:
        return struct.pack("<cH", pickle.BININT2, value)
    if value < 1 << 31:
        return struct.pack("<ci", pickle.BININT, value)
    raw = pickle.encode_long(value)
    return pickle.LONG1 + bytes((len(raw),)) + raw


def _integer_tuple(values: Any) -> bytes:
    body = b"".join(map(_integer, values))
    return (
        pickle.MARK + body + pickle.TUPLE if len(values) > 3 else body + (b")", b"\x85", b"\x86", b"\x87")[len(values)]
    )


def pickle_object(obj: Any, protocol: int, table: StorageTable, is_legacy: bool = False) -> bytes:
    """The pickle of an object; the storages it refers to are added to `table`."""
    stream = io.BytesIO()
    Pickler(stream, protocol, table, is_legacy).dump(obj)
    return stream.getvalue()
