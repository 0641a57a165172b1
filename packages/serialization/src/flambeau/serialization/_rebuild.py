"""The functions that files name to build tensors. Every argument comes from the file and is checked."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import flambeau

from . import _tensor_bridge as bridge
from ._errors import UnpicklingError, shown
from ._typed_storage import TypedStorage, is_untyped

if TYPE_CHECKING:
    from flambeau import Tensor
    from flambeau import dtype as DType
    from flambeau import layout as Layout

_MAX_NUMEL = 2**63 - 1
MAX_DIMS = 64


def _fail(problem: str) -> UnpicklingError:
    return UnpicklingError(f"[load] {problem}")


def _check_ints(what: str, values: Any) -> tuple[int, ...]:
    """Sizes or strides: a tuple of integers, none negative."""
    if not isinstance(values, (tuple, list)):
        raise _fail(f"the {what} of a tensor must be a tuple of integers, got {shown(values)}")
    if len(values) > MAX_DIMS:
        raise _fail(f"a tensor has {len(values):,} dimensions; at most {MAX_DIMS} are allowed")
    for value in values:
        if type(value) is not int or not 0 <= value <= _MAX_NUMEL:
            raise _fail(f"the {what} of a tensor must be integers from 0 to 2**63 - 1, got {shown(tuple(values))}")
    return tuple(values)


def check_geometry(dtype: DType, nbytes: int | None, offset: Any, size: Any, stride: Any) -> None:
    """Raise where a view does not lie inside a storage of `nbytes` bytes; None where there is no storage."""
    size, stride = _check_ints("sizes", size), _check_ints("strides", stride)
    if len(size) != len(stride):
        raise _fail(
            f"a tensor has sizes {shown(size)} but strides {shown(stride)}; there must be one for each dimension"
        )
    if type(offset) is not int or not 0 <= offset <= _MAX_NUMEL:
        raise _fail(f"the offset of a tensor must be an integer from 0 to 2**63 - 1, got {shown(offset)}")
    if math.prod(size) > _MAX_NUMEL:
        raise _fail(f"a tensor of sizes {shown(size)} has more elements than can be counted in 63 bits")
    last = 0 if 0 in size else offset + 1 + sum((n - 1) * step for n, step in zip(size, stride))
    if nbytes is not None and max(last, offset) * dtype.itemsize > nbytes:
        raise _fail(
            f"a tensor of sizes {shown(size)}, strides {shown(stride)} and offset {shown(offset)} needs {max(last, offset):,} "
            f"elements of {bridge.dtype_name(dtype)}, its storage has {nbytes // dtype.itemsize:,} ({nbytes:,} bytes)"
        )


def _check_flag(what: str, value: Any) -> bool:
    if type(value) is not bool:
        raise _fail(f"{what} must be True or False, got {shown(value)}")
    return value


def _check_tensor(function: str, value: Any) -> Tensor:
    if not isinstance(value, flambeau.Tensor):
        raise _fail(f"{function} takes a tensor, got {shown(value)}")
    return value


def build(storage: Any, dtype: DType, offset: Any, size: Any, stride: Any, requires_grad: Any) -> Tensor:
    """A tensor on a storage, checked."""
    check_geometry(dtype, bridge.storage_nbytes(storage), offset, size, stride)
    tensor = bridge.tensor_over(storage, dtype, offset, size, stride)
    return with_grad(tensor, requires_grad) if requires_grad is not False else tensor


def with_grad(tensor: Tensor, requires_grad: Any) -> Tensor:
    if _check_flag("requires_grad of a tensor", requires_grad):
        if not (tensor.dtype.is_floating_point or tensor.dtype.is_complex):
            raise _fail(f"a tensor of dtype {bridge.dtype_name(tensor.dtype)} cannot require a gradient")
        bridge.require_grad(tensor)
    return tensor


def _with_metadata(tensor: Tensor, metadata: Any) -> Tensor:
    if metadata is None:
        return tensor
    if not isinstance(metadata, dict) or not set(metadata) <= {"conj", "neg"}:
        raise _fail(f"the metadata of a tensor must be a dict with the keys 'conj' and 'neg', got {shown(metadata)}")
    return bridge.apply_metadata(tensor, metadata)


def _check_dtype(value: Any) -> DType:
    if not isinstance(value, flambeau.dtype):
        raise _fail(f"the dtype of a tensor must be a dtype, got {shown(value)}")
    return value


def rebuild_tensor(storage: Any, storage_offset: Any, size: Any, stride: Any) -> Tensor:
    """`torch._utils._rebuild_tensor`."""
    return rebuild_tensor_v2(storage, storage_offset, size, stride, False, None)


def rebuild_tensor_v2(
    storage: Any,
    storage_offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    backward_hooks: Any,
    metadata: Any = None,
) -> Tensor:
    """`torch._utils._rebuild_tensor_v2`: the dtype is that of the storage."""
    if type(storage) is not TypedStorage:
        raise _fail(f"_rebuild_tensor_v2 takes a storage with a dtype, got {shown(storage)}")
    tensor = build(storage.untyped(), storage.dtype, storage_offset, size, stride, False)
    return with_grad(_with_metadata(tensor, metadata), requires_grad)


def rebuild_tensor_v3(
    storage: Any,
    storage_offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    backward_hooks: Any,
    dtype: Any,
    metadata: Any = None,
) -> Tensor:
    """`torch._utils._rebuild_tensor_v3`: the storage is plain bytes, the dtype is given."""
    if type(storage) is TypedStorage:
        storage = storage.untyped()
    if not is_untyped(storage):
        raise _fail(f"_rebuild_tensor_v3 takes a storage, got {shown(storage)}")
    tensor = build(storage, _check_dtype(dtype), storage_offset, size, stride, False)
    return with_grad(_with_metadata(tensor, metadata), requires_grad)


def rebuild_parameter(data: Any, requires_grad: Any, backward_hooks: Any) -> Tensor:
    """`torch._utils._rebuild_parameter`."""
    _check_tensor("_rebuild_parameter", data)
    return bridge.make_parameter(data, _check_flag("requires_grad of a parameter", requires_grad))


def rebuild_parameter_with_state(data: Any, requires_grad: Any, backward_hooks: Any, state: Any) -> Tensor:
    """`torch._utils._rebuild_parameter_with_state`: a parameter with attributes that the user has set."""
    return _with_attributes(rebuild_parameter(data, requires_grad, backward_hooks), state)


def _with_attributes(tensor: Tensor, state: Any) -> Tensor:
    if state is None:
        return tensor
    if isinstance(state, tuple) and len(state) == 2 and isinstance(state[0], dict):
        state = {**state[0], **(state[1] or {})}  # __dict__ and __slots__, as torch writes them
    if not isinstance(state, dict) or not all(type(key) is str for key in state):
        raise _fail(f"the attributes of a tensor must be a dict with names as keys, got {shown(state)}")
    for name, value in state.items():
        if name.startswith("__") or (hasattr(type(tensor), name) and name != "persistent"):
            raise _fail(f"{shown(name)} is not an attribute that a file may set on a tensor")
        setattr(tensor, name, value)
    return tensor


def rebuild_from_type_v2(func: Any, new_type: Any, args: Any, state: Any) -> Tensor:
    """`torch._tensor._rebuild_from_type_v2`: a tensor of a subclass, or with attributes."""
    if func not in TENSOR_BUILDERS:
        raise _fail(f"_rebuild_from_type_v2 takes a function that builds tensors, got {shown(func)}")
    if not (isinstance(new_type, type) and issubclass(new_type, flambeau.Tensor)):
        raise _fail(f"_rebuild_from_type_v2 takes a tensor class, got {shown(new_type)}")
    if not isinstance(args, tuple):
        raise _fail(f"_rebuild_from_type_v2 takes a tuple of arguments, got {shown(args)}")
    tensor = bridge.as_subclass(func(*args), new_type)
    own = getattr(new_type, "__setstate__", None)
    if state is not None and own is not None and own is not getattr(flambeau.Tensor, "__setstate__", None):
        own(tensor, state)
        return tensor
    return _with_attributes(tensor, state)


def rebuild_meta_tensor(dtype: Any, size: Any, stride: Any, requires_grad: Any) -> Tensor:
    """`torch._utils._rebuild_meta_tensor_no_storage`."""
    check_geometry(_check_dtype(dtype), None, 0, size, stride)
    return with_grad(bridge.meta_tensor(dtype, size, stride), requires_grad)


def _factory(name: str) -> Any:
    return getattr(flambeau, name)  # by name: not every flambeau has sparse tensors


def rebuild_sparse_tensor(layout: Any, data: Any) -> Tensor:
    """`torch._utils._rebuild_sparse_tensor`: indices, values and sizes, whose indices are checked."""
    if not isinstance(layout, flambeau.layout) or not isinstance(data, tuple):
        raise _fail(f"_rebuild_sparse_tensor takes a layout and a tuple, got {shown(layout)} and {shown(data)}")
    if layout == flambeau.sparse_coo and len(data) in (3, 4):
        indices, values, size = data[:3]
        sparse = _factory("sparse_coo_tensor")(indices, values, size, check_invariants=True)
        return sparse._coalesced_(True) if len(data) == 4 and data[3] is True else sparse
    if len(data) == 4:
        outer, inner, values, size = data
        return _factory("sparse_compressed_tensor")(outer, inner, values, size, layout=layout, check_invariants=True)
    raise _fail(f"_rebuild_sparse_tensor does not know layout {layout} with {len(data)} parts")


def get_layout(name: Any) -> Layout:
    """`torch.serialization._get_layout`."""
    known = ("strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "_mkldnn")
    short = str(name).rsplit(".", 1)[-1]
    found = getattr(flambeau, short, None) if short in known else None
    if not isinstance(found, flambeau.layout):
        raise _fail(f"{shown(name)} is not a layout; known are {', '.join(known)}")
    return found


TENSOR_BUILDERS = (
    rebuild_tensor,
    rebuild_tensor_v2,
    rebuild_tensor_v3,
    rebuild_parameter,
    rebuild_parameter_with_state,
    rebuild_meta_tensor,
    rebuild_sparse_tensor,
)

# Where files look for the functions above.
BUILDERS: dict[str, Any] = {
    "torch._utils._rebuild_tensor": rebuild_tensor,
    "torch._utils._rebuild_tensor_v2": rebuild_tensor_v2,
    "torch._utils._rebuild_tensor_v3": rebuild_tensor_v3,
    "torch._utils._rebuild_parameter": rebuild_parameter,
    "torch._utils._rebuild_parameter_with_state": rebuild_parameter_with_state,
    "torch._utils._rebuild_meta_tensor_no_storage": rebuild_meta_tensor,
    "torch._utils._rebuild_sparse_tensor": rebuild_sparse_tensor,
    "torch._tensor._rebuild_from_type_v2": rebuild_from_type_v2,
    "torch.serialization._get_layout": get_layout,
}
