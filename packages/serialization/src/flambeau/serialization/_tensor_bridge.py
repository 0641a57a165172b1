"""Everything that serialization asks of tensors and storages. No other file here touches their memory.

Core's `UntypedStorage(nbytes)` is a block of bytes and a writable buffer (`memoryview(storage)` is flat
uint8); `Tensor._set_storage(storage, offset, size, stride)` makes a tensor view it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import flambeau

if TYPE_CHECKING:
    from flambeau import Tensor, UntypedStorage
    from flambeau import dtype as DType


def dtype_name(dtype: DType) -> str:
    return str(dtype).rsplit(".", 1)[-1]


def dtype_of(name: str) -> DType:
    """The dtype of a name; AttributeError where this version has none."""
    return getattr(flambeau, name)


def new_storage(nbytes: int) -> UntypedStorage:
    """Memory that is not initialised."""
    return flambeau.UntypedStorage(nbytes)


def meta_storage(nbytes: int) -> UntypedStorage:
    """A storage that has a size and no memory."""
    return flambeau.UntypedStorage(nbytes, device="meta")


def storage_bytes(storage: UntypedStorage) -> memoryview:
    """The bytes of a CPU storage: flat, writable, not a copy."""
    return memoryview(storage)


def storage_over(buffer: memoryview) -> UntypedStorage:
    """A storage in the memory of `buffer`, which it keeps alive."""
    if len(buffer) == 0:
        return new_storage(0)
    return flambeau.frombuffer(buffer, dtype=flambeau.uint8).untyped_storage()


def storage_nbytes(storage: UntypedStorage) -> int:
    return storage.nbytes()


def storage_key(storage: UntypedStorage) -> int:
    """A number that two handles of the same memory share, and no other storage alive."""
    return storage._cdata()


def storage_device(storage: UntypedStorage) -> str:
    return storage.device.type


def to_cpu(storage: UntypedStorage) -> UntypedStorage:
    return storage if storage_device(storage) == "cpu" else storage.cpu()


def tensor_over(
    storage: UntypedStorage, dtype: DType, offset: int, size: Sequence[int], stride: Sequence[int]
) -> Tensor:
    """A tensor that views `storage`, on its device; the caller has checked that it lies inside."""
    return flambeau.tensor((), dtype=dtype)._set_storage(storage, offset, size, stride)


def meta_tensor(dtype: DType, size: Sequence[int], stride: Sequence[int]) -> Tensor:
    """A tensor that has sizes and no memory."""
    last = -1 if 0 in size else sum((n - 1) * step for n, step in zip(size, stride))
    return tensor_over(meta_storage((last + 1) * dtype.itemsize), dtype, 0, size, stride)


def require_grad(tensor: Tensor) -> None:
    tensor.requires_grad = True


def metadata_of(tensor: Tensor) -> dict[str, bool]:
    """Bits beside the memory that change what the elements are; torch has them, flambeau applies them at once."""
    bits = {}
    if tensor.dtype.is_complex and tensor.is_conj():
        bits["conj"] = True
    if tensor.is_neg():
        bits["neg"] = True
    return bits


def apply_metadata(tensor: Tensor, bits: dict[str, Any]) -> Tensor:
    """The elements that torch's lazily conjugated and negated tensors stand for, in memory of their own."""
    for bit, operator in (("conj", "conj_physical"), ("neg", "neg")):
        if bits.get(bit):
            if not hasattr(tensor, operator):
                raise NotImplementedError(f"a tensor with the {bit} bit needs flambeau-aten-kernels to be loaded")
            tensor = getattr(tensor, operator)()
    return tensor


def parameter_class() -> type | None:
    """nn's Parameter where nn is in use: a Parameter cannot exist before it is loaded."""
    return getattr(sys.modules.get("flambeau.nn"), "Parameter", None)


def make_parameter(data: Tensor, requires_grad: bool) -> Tensor:
    """A Parameter; the missing-package error of `flambeau.nn` where nn is not installed."""
    from flambeau._utils import _rebuild_parameter

    return _rebuild_parameter(data, requires_grad, None)


def as_subclass(tensor: Tensor, kind: type) -> Tensor:
    return tensor if kind is flambeau.Tensor else tensor.as_subclass(kind)


def attributes_of(tensor: Tensor) -> dict[str, Any]:
    """What the user has set on the tensor object."""
    return {k: v for k, v in tensor.__dict__.items() if k != "_backward_hooks"}


def address(tensor: Tensor) -> int:
    """Where the first element lies in memory."""
    return tensor.data_ptr()


def element_bytes(tensor: Tensor) -> bytes:
    """The bytes of a row-major tensor, copied."""
    itemsize = tensor.dtype.itemsize
    begin = tensor.storage_offset() * itemsize
    return bytes(storage_bytes(tensor.untyped_storage())[begin : begin + tensor.numel() * itemsize])


def extent(tensor: Tensor) -> tuple[int, int, int]:
    """(storage, first byte, byte after the last) of the memory that a dense tensor views."""
    itemsize, size = tensor.dtype.itemsize, tensor.shape
    first = tensor.storage_offset() * itemsize
    if 0 in size:
        return storage_key(tensor.untyped_storage()), first, first
    last = sum((n - 1) * step for n, step in zip(size, tensor.stride()))
    return storage_key(tensor.untyped_storage()), first, first + (last + 1) * itemsize


def is_same_view(a: Tensor, b: Tensor) -> bool:
    return extent(a) == extent(b) and a.dtype == b.dtype and a.shape == b.shape and a.stride() == b.stride()
