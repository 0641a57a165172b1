"""Methods of Tensor that are written in Python, called from the native type."""

from __future__ import annotations

from flambeau import _C
from flambeau._C import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def default_torch_function(cls: type, args: tuple) -> object:
    """Run the function on plain tensors and give results the class of the subclass that was passed."""
    func, types, *rest = args
    call_args = rest[0] if rest else ()
    kwargs = (rest[1] if len(rest) > 1 else None) or {}
    if not all(issubclass(cls, t) for t in types):
        return NotImplemented
    saved = _C._set_torch_function_disabled(True)
    try:
        result = func(*call_args, **kwargs)
    finally:
        _C._set_torch_function_disabled(saved)
    return _convert(result, cls)


def _convert(result: Any, cls: type) -> Any:
    if cls is Tensor:
        return result
    if isinstance(result, Tensor) and not isinstance(result, cls):
        return result.as_subclass(cls)
    if isinstance(result, (tuple, list)):
        items = [_convert(x, cls) for x in result]
        return (
            type(result)(items)
            if type(result) in (tuple, list) or hasattr(result, "n_fields")
            else type(result)(*items)
        )
    return result


def contains(self: Tensor, element: object) -> bool:
    """`element in tensor`: whether any element is equal."""
    if not isinstance(element, (Tensor, bool, int, float, complex)):
        raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")
    return bool((self == element).any())
