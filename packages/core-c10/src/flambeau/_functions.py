"""Small functions on tensors and types that need no kernel."""

from __future__ import annotations

import math

from flambeau import _C
from flambeau._C import Size, Tensor, UntypedStorage, as_tensor, dtype

TYPE_CHECKING = False  # `import flambeau` does not pay for the import of typing
if TYPE_CHECKING:
    from typing import Any

    from flambeau._stubs.types import _Device, _DType, _Ints, _memory_format

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


def broadcast_shapes(*shapes: _Ints | int) -> Size:
    """The shape that tensors of these shapes broadcast to. Raises RuntimeError when they do not."""
    out: list[int] = []
    for shape in shapes:
        sizes = [shape] if isinstance(shape, int) else list(shape)
        for size in sizes:
            if size < 0:
                raise RuntimeError(f"Trying to create tensor with negative dimension ({size}): ({size})")
        width = max(len(out), len(sizes))
        left, right = [1] * (width - len(out)) + out, [1] * (width - len(sizes)) + sizes
        out = []
        for a, b in zip(left, right):
            if a != b and 1 not in (a, b):
                raise RuntimeError(
                    f"Shape mismatch: objects cannot be broadcast to a single shape: {shapes}. Attempting to broadcast a dimension of length {b} to {a}"
                )
            out.append(b if a == 1 else a)
    return Size(out)


def _category(t: dtype) -> int:
    return 3 if t.is_complex else 2 if t.is_floating_point else 0 if t is _C.bool else 1


def result_type(tensor1: object, tensor2: object) -> dtype:
    """dtype of arithmetic between the two, tensors or numbers, by torch's promotion rules."""
    groups: dict[int, dtype | None] = {0: None, 1: None, 2: None}  # dimensioned, zero-dimensional, numbers
    for x in (tensor1, tensor2):
        if isinstance(x, Tensor):
            level, t = (0 if x.dim() else 1), x.dtype
        else:
            level, t = 2, as_tensor(x).dtype
        known = groups[level]
        groups[level] = t if known is None else _C.promote_types(known, t)
    kinds = [t for t in groups.values() if t is not None]
    result = kinds[0]
    for t in kinds[1:]:
        if _category(t) > _category(result):
            result = _C.promote_types(result, t) if _category(t) == 3 and _category(result) == 2 else t
    return result


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


_interop_threads = [1]


def get_num_interop_threads() -> int:
    """Threads for independent operators: operators of one program run one after another here."""
    return _interop_threads[0]


def set_num_interop_threads(num: int, /) -> None:
    """Accepted for programs that set it."""
    if num <= 0:
        raise RuntimeError(f"expected a positive number of threads, got {num}")
    _interop_threads[0] = num


_deterministic = [False, False]  # on, only warn


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Every CPU algorithm here is deterministic already; the flag is kept for are_deterministic_algorithms_enabled."""
    _deterministic[:] = [bool(mode), bool(warn_only)]


def are_deterministic_algorithms_enabled() -> bool:
    """What use_deterministic_algorithms set last."""
    return _deterministic[0]


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether use_deterministic_algorithms was asked to warn instead of refusing."""
    return _deterministic[1]


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """use_deterministic_algorithms by number or name: 0 'default', 1 'warn', 2 'error'."""
    names = {"default": 0, "warn": 1, "error": 2}
    mode = names.get(debug_mode, debug_mode) if isinstance(debug_mode, str) else debug_mode
    if mode not in (0, 1, 2):
        raise RuntimeError(f"invalid value for debug_mode: {debug_mode!r}; allowed: 0 'default', 1 'warn', 2 'error'")
    use_deterministic_algorithms(mode != 0, warn_only=mode == 1)


def get_deterministic_debug_mode() -> int:
    """0: off, 1: warns, 2: refuses."""
    return 0 if not _deterministic[0] else 1 if _deterministic[1] else 2


_precision = ["highest"]


def get_float32_matmul_precision() -> str:
    """What set_float32_matmul_precision set last."""
    return _precision[0]


def set_float32_matmul_precision(precision: str) -> None:
    """Products of float32 matrices are float32 on the CPU whatever is asked for; the word is kept."""
    if precision not in ("highest", "high", "medium"):
        raise RuntimeError(f"{precision} is not one of 'highest', 'high', or 'medium'")
    _precision[0] = precision


_warn_always = [False]


def set_warn_always(b: bool, /) -> None:
    """Accepted for programs that set it: Python's filters decide how often a warning is shown."""
    _warn_always[0] = bool(b)


def is_warn_always_enabled() -> bool:
    """What set_warn_always set last."""
    return _warn_always[0]


def set_flush_denormal(mode: bool) -> bool:
    """Denormal numbers are always kept. Returns whether the setting took effect: False for flushing."""
    return not mode


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether the shapes are equal."""
    return input.shape == other.shape


def get_device(input: Tensor) -> int:
    """Index of the device; -1 for the CPU."""
    return input.get_device()


def is_distributed(input: Tensor) -> bool:
    """False: tensors are never spread over processes by themselves."""
    return False
