"""`flambeau.FloatTensor` and its kin: constructors of one dtype, and what isinstance() of old programs asks about."""

from flambeau import _C
from flambeau._C import Size, Tensor
from flambeau.storage import TypedStorage


class _TensorType(type):
    """A class whose calls make plain tensors of one dtype, and whose instances are the tensors of that dtype."""

    dtype: _C.dtype

    def __instancecheck__(cls, obj: object) -> bool:
        return isinstance(obj, Tensor) and obj.dtype is cls.dtype and obj.device.type == "cpu"

    def __call__(cls, *args: object, device: object = None) -> Tensor:
        if not args:
            return _C.tensor((), dtype=cls.dtype)
        first = args[0]
        if isinstance(first, int) or type(first) is Size:
            return Tensor.new_empty(_C.tensor((), dtype=cls.dtype), args if isinstance(first, int) else first)
        if isinstance(first, Tensor):
            if first.dtype is not cls.dtype:
                raise TypeError(f"expected {cls.dtype} (got {first.dtype})")
            return first.detach()
        return _C.tensor(first, dtype=cls.dtype)


class _StorageType(type):
    """A class whose calls make typed storages of one dtype."""

    dtype: _C.dtype

    def __instancecheck__(cls, obj: object) -> bool:
        return isinstance(obj, TypedStorage) and obj.dtype is cls.dtype

    def __call__(cls, *args: object) -> TypedStorage:
        return TypedStorage(*args, dtype=cls.dtype)


_DTYPES = {
    "BFloat16": _C.bfloat16, "Bool": _C.bool, "Byte": _C.uint8, "Char": _C.int8, "Double": _C.float64, "Float": _C.float32, "Half": _C.float16,
    "Int": _C.int32, "Long": _C.int64, "Short": _C.int16, "ComplexFloat": _C.complex64, "ComplexDouble": _C.complex128,
}  # fmt: skip

for _name, _dtype in _DTYPES.items():
    _body = {"dtype": _dtype, "__module__": "flambeau"}
    globals()[f"{_name}Tensor"] = _TensorType(f"{_name}Tensor", (), {**_body, "__doc__": f"Tensors of {_dtype}."})
    globals()[f"{_name}Storage"] = _StorageType(f"{_name}Storage", (), {**_body, "__doc__": f"Storages of {_dtype}."})
