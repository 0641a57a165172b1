"""Pickling and copying of tensors and storages: what the native types call, and what pickles name.

Files written by `flambeau.save` take another way (flambeau.serialization), in which storages are records of their own.
"""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import flambeau
from flambeau import _C
from flambeau._lazy import resolve

if TYPE_CHECKING:
    from flambeau import Tensor, UntypedStorage
    from flambeau import dtype as DType


def _rebuild_storage(data: Any) -> UntypedStorage:
    """A storage with a copy of the bytes."""
    source = memoryview(data)
    storage = flambeau.UntypedStorage(source.nbytes)
    memoryview(storage)[:] = source
    return storage


def _rebuild_meta_storage(nbytes: int) -> UntypedStorage:
    return flambeau.UntypedStorage(nbytes, device="meta")


def _rebuild_tensor(storage: UntypedStorage, offset: int, size: Any, stride: Any, dtype: DType) -> Tensor:
    """A tensor that views `storage`; raises where it does not lie inside."""
    return flambeau.tensor((), dtype=dtype)._set_storage(storage, offset, size, stride)


def _rebuild_tensor_v2(
    storage: Any,
    storage_offset: int,
    size: Any,
    stride: Any,
    requires_grad: bool,
    backward_hooks: Any,
    metadata: Any = None,
) -> Tensor:
    """As torch's: the dtype is that of the storage, which must be a typed one."""
    return _rebuild_tensor_v3(
        storage, storage_offset, size, stride, requires_grad, backward_hooks, storage.dtype, metadata
    )


def _rebuild_tensor_v3(
    storage: Any,
    storage_offset: int,
    size: Any,
    stride: Any,
    requires_grad: bool,
    backward_hooks: Any,
    dtype: DType,
    metadata: Any = None,
) -> Tensor:
    """As torch's: the storage is plain bytes, the dtype is given. Hooks are not restored."""
    tensor = _rebuild_tensor(storage, storage_offset, size, stride, dtype)
    if requires_grad:
        tensor.requires_grad = True
    return tensor


def _rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks: Any) -> Tensor:
    """As torch's; needs flambeau-nn."""
    return resolve("_Parameter")(data, requires_grad=requires_grad)


def _rebuild_parameter_with_state(
    data: Tensor, requires_grad: bool, backward_hooks: Any, state: dict[str, Any]
) -> Tensor:
    """As torch's; needs flambeau-nn."""
    parameter = resolve("_Parameter")(data, requires_grad=requires_grad)
    parameter.__dict__.update(state)
    return parameter


def _rebuild_from_type(function: Callable[..., Tensor], kind: type, args: tuple[Any, ...], state: Any) -> Tensor:
    """A tensor of a subclass, or with attributes that were set on it."""
    tensor = function(*args)
    if kind is not flambeau.Tensor:
        tensor = tensor.as_subclass(kind)
    if state:
        tensor.__dict__.update(state)
    return tensor


def is_wrapper(tensor: Tensor) -> bool:
    """Whether it is of a class with `__torch_dispatch__` and has no memory of its own."""
    dispatch = getattr(type(tensor), "__torch_dispatch__", None)
    return dispatch not in (None, _C._disabled_torch_dispatch_impl) and (tensor.data_ptr() == 0)


def _rebuild_wrapper_subclass(
    kind: type, dtype: Any, size: tuple, stride: tuple, offset: int, device: Any, requires_grad: bool, state: dict
) -> Tensor:
    tensor: Tensor = flambeau.Tensor._make_wrapper_subclass(
        kind, size, strides=stride, storage_offset=offset, dtype=dtype, device=device, requires_grad=requires_grad
    )
    tensor.__dict__.update(state)
    return tensor


def _wrapper_geometry(tensor: Tensor) -> tuple[type, Any, tuple, tuple, int, Any]:
    shape, stride, offset = tuple(tensor.shape), tuple(tensor.stride()), tensor.storage_offset()
    return type(tensor), tensor.dtype, shape, stride, offset, tensor.device


def storage_reduce_ex(storage: UntypedStorage, protocol: int) -> tuple[Any, ...]:
    """`storage.__reduce_ex__`: the bytes; out of band where protocol 5 is given buffers."""
    if storage.device.type == "meta":
        return _rebuild_meta_storage, (storage.nbytes(),)
    view = memoryview(storage)
    return _rebuild_storage, (pickle.PickleBuffer(view) if protocol >= 5 else bytes(view),)


def storage_deepcopy(storage: UntypedStorage, memo: dict[int, Any]) -> UntypedStorage:
    """`copy.deepcopy(storage)`: new memory with the same bytes; once for each storage of a deep copy."""
    known = memo.get(id(storage))
    if known is None:
        is_meta = storage.device.type == "meta"
        known = _rebuild_meta_storage(storage.nbytes()) if is_meta else _rebuild_storage(memoryview(storage))
        memo[id(storage)] = known
    return known


def _state(tensor: Tensor) -> dict[str, Any]:
    return {name: value for name, value in tensor.__dict__.items() if name != "_backward_hooks"}


def tensor_reduce_ex(tensor: Tensor, protocol: int) -> tuple[Any, ...]:
    """`tensor.__reduce_ex__`: its storage and geometry. Tensors of one pickle that share a storage share it again."""
    if type(tensor) is not flambeau.Tensor and is_wrapper(tensor):
        return _rebuild_wrapper_subclass, (*_wrapper_geometry(tensor), bool(tensor.requires_grad), _state(tensor))
    size, stride = tuple(tensor.shape), tuple(tensor.stride())
    grad, storage = bool(tensor.requires_grad), tensor.untyped_storage()
    args: tuple[Any, ...] = (storage, tensor.storage_offset(), size, stride, grad, OrderedDict(), tensor.dtype)
    state = _state(tensor)
    if type(tensor) is flambeau.Tensor and not state:
        return _rebuild_tensor_v3, args
    return _rebuild_from_type, (_rebuild_tensor_v3, type(tensor), args, state)


def tensor_deepcopy(tensor: Tensor, memo: dict[int, Any]) -> Tensor:
    """`copy.deepcopy(tensor)`: new memory; storages that are shared inside the copied object stay shared.

    Raises
    ------
    RuntimeError  if the tensor was computed and requires a gradient: its history cannot be copied
    """
    if (known := memo.get(id(tensor))) is not None:
        return known
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "[deepcopy] Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
            "moment. If you were attempting to deepcopy a module, a tensor of it is the result of an operation: copy "
            "tensor.detach() instead"
        )
    if type(tensor) is not flambeau.Tensor and is_wrapper(tensor):  # what it wraps is in its attributes
        copied = _rebuild_wrapper_subclass(*_wrapper_geometry(tensor), requires_grad=False, state={})
    else:
        storage = copy.deepcopy(tensor.untyped_storage(), memo)
        copied = _rebuild_tensor(
            storage, tensor.storage_offset(), tuple(tensor.shape), tuple(tensor.stride()), tensor.dtype
        )
        if type(tensor) is not flambeau.Tensor:
            copied = copied.as_subclass(type(tensor))
    memo[id(tensor)] = copied
    if tensor.requires_grad:
        copied.requires_grad = True
        if tensor.grad is not None:
            copied.grad = copy.deepcopy(tensor.grad, memo)
    if state := _state(tensor):
        copied.__dict__.update(copy.deepcopy(state, memo))
    return copied
