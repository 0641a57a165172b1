"""Storages with a dtype: the legacy view of a tensor's memory as a flat sequence of numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flambeau import _C
from flambeau._C import Tensor, UntypedStorage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from flambeau._stubs.types import _Device, _Number

__all__ = ["TypedStorage", "UntypedStorage"]


class TypedStorage:
    """The elements of an UntypedStorage; core takes one wherever it takes a storage."""

    __slots__ = ("_untyped_storage", "dtype")

    def __init__(
        self,
        *args: Any,
        wrap_storage: UntypedStorage | None = None,
        dtype: _C.dtype | None = None,
        device: _Device | None = None,
        _internal: bool = False,
    ) -> None:
        self.dtype = dtype or _C.get_default_dtype()
        if wrap_storage is not None:
            if args:
                raise RuntimeError("no positional arguments should be given when using 'wrap_storage'")
            self._untyped_storage = wrap_storage
        elif args and not isinstance(args[0], int):
            self._untyped_storage = _C.tensor(list(args[0]), dtype=self.dtype).untyped_storage()
        else:
            self._untyped_storage = UntypedStorage((args[0] if args else 0) * self.dtype.itemsize, device=device)

    def untyped(self) -> UntypedStorage:
        return self._untyped_storage

    def _tensor(self) -> Tensor:
        return _C.tensor((), dtype=self.dtype)._set_storage(self._untyped_storage, 0, (len(self),), (1,))

    @property
    def device(self) -> _C.device:
        return self._untyped_storage.device

    @property
    def is_cuda(self) -> bool:
        return False

    def nbytes(self) -> int:
        return self._untyped_storage.nbytes()

    def size(self) -> int:
        return len(self)

    def element_size(self) -> int:
        return self.dtype.itemsize

    def data_ptr(self) -> int:
        return self._untyped_storage.data_ptr()

    def resize_(self, size: int) -> TypedStorage:
        self._untyped_storage.resize_(size * self.dtype.itemsize)
        return self

    def fill_(self, value: _Number) -> TypedStorage:
        self._tensor().fill_(value)
        return self

    def tolist(self) -> list[Any]:
        return self._tensor().tolist()

    def clone(self) -> TypedStorage:
        return TypedStorage(wrap_storage=self._tensor().clone().untyped_storage(), dtype=self.dtype)

    def cpu(self) -> TypedStorage:
        return self

    def share_memory_(self) -> TypedStorage:
        self._untyped_storage._share_memory_()
        return self

    def is_shared(self) -> bool:
        return self._untyped_storage.is_shared()

    def __len__(self) -> int:
        return self.nbytes() // self.dtype.itemsize

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __getitem__(self, index: int) -> Any:
        if not isinstance(index, int):
            raise RuntimeError(f"can only index a TypedStorage with an int, got {type(index).__name__}")
        return self._tensor()[index].item()

    def __setitem__(self, index: int, value: _Number) -> None:
        self._tensor()[index] = value

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TypedStorage)
            and self.dtype is other.dtype
            and self._untyped_storage == other._untyped_storage
        )

    def __hash__(self) -> int:
        return hash(self._untyped_storage)

    def __repr__(self) -> str:
        rows = "".join(f" {v}\n" for v in self.tolist())
        return f"{rows}[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size {len(self)}]"
