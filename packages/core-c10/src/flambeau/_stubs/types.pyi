# Names for what operators take, under names that no operator or method of Tensor hides.
from collections.abc import Sequence
from typing import TypeAlias

from flambeau._C import device as _device
from flambeau._C import dtype as _dtype
from flambeau._C import layout as _layout
from flambeau._C import memory_format as _memory_format

_bool: TypeAlias = bool
_int: TypeAlias = int
_float: TypeAlias = float
_complex: TypeAlias = complex
_str: TypeAlias = str

_Number: TypeAlias = int | float | bool | complex
_Ints: TypeAlias = Sequence[int]  # at run time a list or a tuple
_Device: TypeAlias = _device | str | int
_DType: TypeAlias = _dtype | type[int] | type[float] | type[bool] | type[complex]

__all__ = [
    "_Device", "_DType", "_Ints", "_Number", "_bool", "_complex", "_device", "_dtype", "_float", "_int",
    "_layout", "_memory_format", "_str",
]  # fmt: skip
