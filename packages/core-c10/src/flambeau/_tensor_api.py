"""Methods of Tensor that are Python: forms that no operator schema has, and ties to other libraries."""

from __future__ import annotations

from flambeau import _C
from flambeau._C import Tensor

TYPE_CHECKING = False  # `import flambeau` does not pay for the import of typing
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from numpy import ndarray

    from flambeau._stubs.types import _Device, _DType, _layout, _memory_format, _Number

_METHODS: dict[str, Callable] = {}


def _method(function: Callable) -> Callable:
    """Makes the function a method of Tensor; subclasses with __torch_function__ take the call over."""
    name = function.__name__.removeprefix("tensor_")

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        if type(self) is not Tensor and _C._has_torch_function_unary(self):
            return type(self).__torch_function__(method, (type(self),), (self, *args), kwargs)
        return function(self, *args, **kwargs)

    method.__name__ = name
    method.__qualname__ = f"Tensor.{name}"
    method.__doc__ = function.__doc__
    setattr(method, "__wrapped__", function)  # noqa: B010 - functions have no such attribute to checkers
    _METHODS[name] = method
    return function


def _resolve(name: str) -> Callable:
    """What a higher layer registered in its index under a name. Raises AttributeError where it is not installed."""
    from flambeau._lazy import resolve

    return resolve(name)


def install() -> None:
    """Give Tensor the methods of this module."""
    for name, method in _METHODS.items():
        setattr(Tensor, name, method)


# --- linear algebra -------------------------------------------------------------------------------------------------------


@_method
def lu(self: Tensor, pivot: bool = True, get_infos: bool = False) -> tuple[Tensor, ...]:
    """Packed LU factors and pivots, see flambeau.lu."""
    return _resolve("lu")(self, pivot, get_infos)


# --- NumPy and other libraries --------------------------------------------------------------------------------------------


@_method
def numpy(self: Tensor, *, force: bool = False) -> ndarray:
    """An array over the same memory. `force`: detached, moved to the CPU, copied where that is needed."""
    import numpy as np

    if force:
        self = self.detach().cpu()
    elif self.requires_grad:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    if self.device.type != "cpu":
        raise TypeError(
            f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
        )
    try:
        return (
            np.asarray(memoryview(self)) if not self.is_complex() else np.asarray(_C.Tensor.as_subclass(self, Tensor))
        )
    except BufferError:
        raise TypeError(f"Got unsupported ScalarType {self.dtype}") from None


@_method
def __array__(self: Tensor, dtype: Any = None, copy: bool | None = None) -> ndarray:
    """What numpy.asarray asks for."""
    array = self.numpy()
    if dtype is not None:
        return array.astype(dtype, copy=bool(copy))
    return array.copy() if copy else array


@_method
def __array_wrap__(self: Tensor, array: ndarray, context: object = None, return_scalar: bool = False) -> Tensor:
    """Results of NumPy functions on tensors become tensors."""
    if array.dtype == bool:
        array = array.astype("uint8")
    return _C.from_numpy(array)


@_method
def __dlpack__(self: Tensor, **options: Any) -> object:
    """A DLPack capsule over the same memory."""
    from flambeau._dlpack import tensor_dlpack

    return tensor_dlpack(self, **options)


@_method
def __dlpack_device__(self: Tensor) -> tuple[int, int]:
    """Where the memory is, in DLPack's numbering."""
    from flambeau._dlpack import tensor_dlpack_device

    return tensor_dlpack_device(self)


# --- Python's own protocols -----------------------------------------------------------------------------------------------


@_method
def __format__(self: Tensor, spec: str) -> str:
    """Numbers of 0-d tensors take a format; other tensors only the empty one."""
    if self.dim() == 0 and self.device.type != "meta" and type(self) is Tensor:
        return format(self.item(), spec)
    return object.__format__(self, spec)


@_method
def __complex__(self: Tensor) -> complex:
    """The element of a one-element tensor."""
    return complex(self.item())


@_method
def __rdiv__(self: Tensor, other: Any) -> Tensor:
    """other / self, under the name that Python 2 had for it."""
    return other / self


@_method
def __reversed__(self: Tensor) -> Tensor:
    """The tensor with its first dimension reversed."""
    return self if self.dim() == 0 else self.flip(0)


@_method
def is_nonzero(self: Tensor) -> bool:
    """The truth of a one-element tensor."""
    return bool(self)


# --- geometry in place ----------------------------------------------------------------------------------------------------


@_method
def resize_(self: Tensor, *sizes: Any, memory_format: _memory_format | None = None) -> Tensor:
    """Change the sizes, growing the storage where it is too small; new elements are not set."""
    shape = sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    self._resize(tuple(int(s) for s in shape))
    if memory_format in (_C.channels_last, _C.channels_last_3d):
        like = _C._op_function("aten", "empty", None, False)(
            tuple(self.shape), dtype=self.dtype, device=self.device, memory_format=memory_format
        )
        self._set_storage(self.untyped_storage(), self.storage_offset(), tuple(like.shape), like.stride())
    return self


@_method
def resize_as_(self: Tensor, the_template: Tensor, *, memory_format: _memory_format | None = None) -> Tensor:
    """resize_ to the sizes of another tensor."""
    return self.resize_(tuple(the_template.shape), memory_format=memory_format)


@_method
def set_(self: Tensor, source: Any = None, storage_offset: int = 0, size: Any = None, stride: Any = None) -> Tensor:
    """View the memory of another tensor, or of a storage with the given geometry."""
    if source is None:
        source = _C.UntypedStorage(0)
    if self.requires_grad and _C.is_grad_enabled():
        if self.is_leaf:
            raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation. [set_]")
        raise RuntimeError("derivative for set_ is not implemented: the tensor has a history; use x = x.detach() first")
    if isinstance(source, Tensor) and size is None:
        if source.dtype is not self.dtype:
            raise RuntimeError(f"Could not set tensor of type {source.dtype} to a tensor of type {self.dtype}")
        return self._set_storage(
            source.untyped_storage(), source.storage_offset(), tuple(source.shape), source.stride()
        )
    storage = source.untyped_storage() if isinstance(source, Tensor) else getattr(source, "_untyped_storage", source)
    if size is None:
        size = (storage.nbytes() // self.element_size(),)
    if stride is None:
        stride, step = [], 1
        for s in reversed(size):
            stride.insert(0, step)
            step *= max(s, 1)
    return self._set_storage(storage, storage_offset, tuple(size), tuple(stride))


def _refuse_history(self: Tensor, view: str) -> None:
    if self.requires_grad and _C.is_grad_enabled():
        if self.is_leaf:
            raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
        raise NotImplementedError(
            f"[{view}_] changing the geometry of a tensor with history in place is not supported; use x = x.{view}(...)"
        )


def _view_in_place(name: str) -> None:
    """`x.t_()`: the tensor itself takes the geometry of the view."""
    view = name.removesuffix("_")

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        _refuse_history(self, view)
        new = getattr(self.detach(), view)(*args, **kwargs)
        return self._set_storage(self.untyped_storage(), new.storage_offset(), tuple(new.shape), new.stride())

    method.__name__ = name
    method.__doc__ = f"{view}() that changes the tensor itself."
    _method(method)


for _name in ("t_", "transpose_", "squeeze_", "unsqueeze_", "swapaxes_", "swapdims_"):
    _view_in_place(_name)


@_method
def as_strided_(self: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """as_strided() that changes the tensor itself."""
    _refuse_history(self, "as_strided")
    return self._set_storage(
        self.untyped_storage(),
        self.storage_offset() if storage_offset is None else storage_offset,
        tuple(size),
        tuple(stride),
    )


# --- types and devices ----------------------------------------------------------------------------------------------------

_LEGACY = {
    "float64": "Double", "float32": "Float", "float16": "Half", "bfloat16": "BFloat16", "uint8": "Byte", "int8": "Char", "int16": "Short",
    "int32": "Int", "int64": "Long", "bool": "Bool", "complex64": "ComplexFloat", "complex128": "ComplexDouble", "complex32": "ComplexHalf",
    "uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64",
}  # fmt: skip


@_method
def tensor_type(self: Tensor, dtype: object = None, non_blocking: bool = False, **_: object) -> object:
    """The name of the legacy tensor class, or a conversion to a dtype or to such a class."""
    if dtype is None:
        name = str(self.dtype).removeprefix("torch.")
        return f"torch.{_LEGACY.get(name, name.capitalize())}Tensor"
    if isinstance(dtype, _C.dtype):
        return self.to(dtype)
    wanted = dtype if isinstance(dtype, str) else getattr(dtype, "__name__", str(dtype))
    for name, legacy in _LEGACY.items():
        if wanted.removeprefix("torch.").removeprefix("flambeau.") == f"{legacy}Tensor":
            return self.to(getattr(_C, name))
    if dtype in (float, int, bool, complex):
        return self.to({float: _C.float64, int: _C.int64, bool: _C.bool, complex: _C.complex128}[dtype])
    raise ValueError(f"invalid type: {wanted!r}")


@_method
def get_device(self: Tensor) -> int:
    """Index of the device; -1 for the CPU."""
    return -1 if self.device.index is None else self.device.index


@_method
def cuda(self: Tensor, device: object = None, non_blocking: bool = False, memory_format: object = None) -> Tensor:
    """A copy on a GPU: raises where there is none."""
    raise RuntimeError("[cuda] this build has no CUDA backend; tensors live on 'cpu' or 'meta'")


@_method
def pin_memory(self: Tensor, device: object = None) -> Tensor:
    """Page-locked memory serves copies to accelerators; without one the tensor itself is returned."""
    return self


@_method
def is_pinned(self: Tensor, device: object = None) -> bool:
    """Whether the memory is page-locked: never here."""
    return False


@_method
def record_stream(self: Tensor, stream: object) -> None:
    """Accepted for programs that use accelerators' streams."""


@_method
def is_same_size(self: Tensor, other: Tensor) -> bool:
    """Whether the shapes are equal."""
    return self.shape == other.shape


@_method
def dim_order(self: Tensor, *, ambiguity_check: object = False) -> tuple[int, ...]:
    """Dimensions from the outermost in memory to the innermost."""
    strides = self.stride()
    return tuple(sorted(range(self.dim()), key=lambda d: (-strides[d], d)))


# --- new tensors ----------------------------------------------------------------------------------------------------------


@_method
def new_tensor(
    self: Tensor,
    data: object,
    *,
    dtype: _DType | None = None,
    device: _Device | None = None,
    requires_grad: bool = False,
    layout: _layout | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """tensor(data) with the dtype and device of self."""
    return _C.tensor(data, dtype=dtype or self.dtype, device=device or self.device, requires_grad=requires_grad)


@_method
def new(self: Tensor, *args: Any, device: object = None) -> Tensor:
    """Legacy: an unset tensor of sizes, or one from a sequence, with the dtype of self."""
    if not args:
        return self.new_empty(0)
    first = args[0]
    if isinstance(first, Tensor):
        return first.detach()
    if isinstance(first, int) or type(first) is _C.Size:
        return self.new_empty(args if isinstance(first, int) else first)
    return self.new_tensor(first)


# --- storages -------------------------------------------------------------------------------------------------------------


@_method
def storage(self: Tensor) -> object:
    """The storage as elements of the tensor's dtype (legacy; see untyped_storage)."""
    from flambeau.storage import TypedStorage

    return TypedStorage(wrap_storage=self.untyped_storage(), dtype=self.dtype, _internal=True)


@_method
def storage_type(self: Tensor) -> type:
    """Class of what storage() returns."""
    return type(self.storage())


@_method
def share_memory_(self: Tensor) -> Tensor:
    """Move the storage to memory that forked processes share."""
    self.untyped_storage()._share_memory_()
    return self


@_method
def is_shared(self: Tensor) -> bool:
    """Whether the storage is shared between processes."""
    return self.untyped_storage().is_shared()


# --- operators in method form ---------------------------------------------------------------------------------------------


@_method
def where(self: Tensor, condition: Tensor, other: object) -> Tensor:
    """self where condition is true, else other."""
    return _C._op_function("aten", "where", None, False)(condition, self, other)


@_method
def polygamma(self: Tensor, n: int) -> Tensor:
    """n-th derivative of the digamma function."""
    return _C._op_function("aten", "polygamma", None, False)(n, self)


@_method
def polygamma_(self: Tensor, n: int) -> Tensor:
    """In-place form of polygamma()."""
    return self.copy_(self.polygamma(n))


@_method
def nonzero(self: Tensor, *, as_tuple: bool = False) -> object:
    """Coordinates of the elements that are not zero: one a row, or as a tuple of one tensor a dimension."""
    if as_tuple:
        return _C._op_function("aten", "where", "", False)(self)
    return _C._op_function("aten", "nonzero", None, False)(self)


@_method
def fill_diagonal_(self: Tensor, fill_value: _Number, wrap: bool = False) -> Tensor:
    """Write a number on the main diagonal; `wrap`: again and again down a tall matrix."""
    if self.dim() < 2:
        raise RuntimeError("dimensions must larger than 1")
    if self.dim() > 2 and len(set(self.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    height, width = self.shape[0], self.shape[1]
    step = sum(self.stride())
    count = min(self.shape)
    self.as_strided((count,), (step,)).fill_(fill_value)
    if wrap and self.dim() == 2 and height > width + 1:
        row = width + 1
        while row < height:
            self[row:].as_strided(
                (min(height - row, width),), (step,), self.storage_offset() + row * self.stride(0)
            ).fill_(fill_value)
            row += width + 1
    return self


@_method
def apply_(self: Tensor, callable: Callable) -> Tensor:
    """Replace every element by what a Python function of it returns: slow."""
    flat = [callable(v) for v in self.reshape(-1).tolist()]
    return self.copy_(_C.tensor(flat, dtype=self.dtype).reshape(self.shape))


@_method
def map_(self: Tensor, tensor: Tensor, callable: Callable) -> Tensor:
    """Replace every element by what a Python function of it and of another tensor's returns: slow."""
    other = tensor.expand(self.shape).reshape(-1).tolist()
    flat = [callable(a, b) for a, b in zip(self.reshape(-1).tolist(), other)]
    return self.copy_(_C.tensor(flat, dtype=self.dtype).reshape(self.shape))


@_method
def unique(
    self: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Distinct elements; see flambeau.unique."""
    return _resolve("unique")(self, sorted, return_inverse, return_counts, dim)


@_method
def unique_consecutive(
    self: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Elements that differ from the one before; see flambeau.unique_consecutive."""
    return _resolve("unique_consecutive")(self, return_inverse, return_counts, dim)
