"""What stands for a storage between reading its name and building tensors on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import flambeau

from . import _tensor_bridge as bridge

if TYPE_CHECKING:
    from flambeau import UntypedStorage
    from flambeau import dtype as DType


class StorageKind:
    """Stands for a storage class such as `torch.FloatStorage`, which only files still name.

    `dtype` is None for plain bytes.
    """

    __slots__ = ("dtype", "itemsize", "name")

    def __init__(self, name: str, dtype: DType | None) -> None:
        self.name = name
        self.dtype = dtype
        self.itemsize = 1 if dtype is None else dtype.itemsize


class TypedStorage:
    """A storage whose bytes are numbers of one dtype; `untyped()` is the memory.

    Core takes an object with `_untyped_storage` wherever it takes a storage.
    """

    __slots__ = ("_untyped_storage", "dtype")

    def __init__(self, storage: UntypedStorage, dtype: DType) -> None:
        self._untyped_storage = storage
        self.dtype = dtype

    def untyped(self) -> UntypedStorage:
        return self._untyped_storage

    def nbytes(self) -> int:
        return bridge.storage_nbytes(self._untyped_storage)

    def __len__(self) -> int:
        return self.nbytes() // self.dtype.itemsize

    def tolist(self) -> list[Any]:
        return bridge.tensor_over(self._untyped_storage, self.dtype, 0, (len(self),), (1,)).tolist()

    def __repr__(self) -> str:
        return f"TypedStorage(dtype={self.dtype}, size={len(self)})"


def is_untyped(obj: Any) -> bool:
    return isinstance(obj, flambeau.UntypedStorage)
