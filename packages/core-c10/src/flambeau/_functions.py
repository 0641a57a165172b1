"""Small functions on tensors and types that need no kernel."""

from __future__ import annotations

import math

from flambeau import _C
from flambeau._C import Tensor, UntypedStorage, as_tensor

TYPE_CHECKING = False  # `import flambeau` does not pay for the import of typing
if TYPE_CHECKING:
    from typing import Any

    from flambeau._stubs.types import _Device, _DType, _memory_format

inf = math.inf
nan = math.nan
pi = math.pi
e = math.e
newaxis = None


def is_storage(obj: object, /) -> bool:
    """Whether the object is a storage."""
    return isinstance(obj, UntypedStorage) or hasattr(obj, "_untyped_storage")


def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype is a floating one."""
    return input.is_floating_point()


def is_complex(input: Tensor) -> bool:
    """Whether the dtype is a complex one."""
    return input.is_complex()


def is_conj(input: Tensor) -> bool:
    """Whether conjugation is pending: never here, conj() is computed at once."""
    return input.is_conj()


def is_neg(input: Tensor) -> bool:
    """Whether negation is pending: never here."""
    return input.is_neg()


def is_inference(input: Tensor) -> bool:
    """Whether the tensor was made in inference mode."""
    return input.is_inference()


def is_signed(input: Tensor) -> bool:
    """Whether the dtype has a sign."""
    return input.is_signed()


def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: _memory_format | None = None) -> Tensor:
    """Change the sizes of a tensor to those of another one."""
    return input.resize_as_(the_template, memory_format=memory_format)


def is_nonzero(input: Tensor) -> bool:
    """The truth of a one-element tensor."""
    return bool(input)


def numel(input: Tensor) -> int:
    """Number of elements."""
    return input.numel()


def typename(obj: object) -> str:
    """Qualified name of an object's type; for tensors the legacy class name, as torch gives it."""
    if isinstance(obj, Tensor):
        return obj.type()
    cls = type(obj) if not hasattr(obj, "__qualname__") else obj
    module = getattr(cls, "__module__", "") or ""
    name = getattr(cls, "__qualname__", "")
    return name if module in ("", "builtins") else f"{module}.{name}"


def set_default_tensor_type(t: object) -> None:
    """Set the default dtype through a legacy tensor class or its name, such as `torch.DoubleTensor`."""
    name = t if isinstance(t, str) else f"torch.{getattr(t, '__name__', t)}"
    kinds = {
        "torch.FloatTensor": _C.float32,
        "torch.DoubleTensor": _C.float64,
        "torch.HalfTensor": _C.float16,
        "torch.BFloat16Tensor": _C.bfloat16,
    }
    if name not in kinds:
        raise TypeError(
            f"only floating-point types are supported as the default type, got {name}; allowed: {', '.join(kinds)}"
        )
    _C.set_default_dtype(kinds[name])


def asarray(
    obj: Any,
    *,
    dtype: _DType | None = None,
    device: _Device | None = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of `obj`, sharing memory where it can unless `copy` says otherwise (None: share if possible)."""
    if isinstance(obj, Tensor):
        out = obj.clone() if copy else obj
        converted = out.to(dtype=dtype or out.dtype, device=device or out.device)
        if copy is False and converted is not out:
            raise ValueError("can't alias tensor with the dtype or device asked for")
        return converted.detach().requires_grad_() if requires_grad and not converted.requires_grad else converted
    if copy:
        return _C.tensor(obj, dtype=dtype, device=device, requires_grad=requires_grad)
    out = as_tensor(obj, dtype=dtype, device=device)
    return out.requires_grad_() if requires_grad else out


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether the shapes are equal."""
    return input.shape == other.shape


def get_device(input: Tensor) -> int:
    """Index of the device; -1 for the CPU."""
    return input.get_device()


def is_distributed(input: Tensor) -> bool:
    """False: tensors are never spread over processes by themselves."""
    return False
