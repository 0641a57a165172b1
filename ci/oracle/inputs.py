"""The same inputs in two frameworks: made by NumPy from one seed, in the order in which the expression asks for them."""

from __future__ import annotations

import importlib
import math
from types import ModuleType
from typing import Any

import numpy as np

DTYPES = {
    "f": ["float32", "float64"],
    "h": ["float32", "float64", "float16", "bfloat16"],
    "n": ["float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8"],
    "a": ["float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8", "bool", "complex64"],
    "i": ["int64", "int32", "uint8"],
    "b": ["bool", "int64", "int32", "uint8"],
    "c": ["float32", "float64", "complex64"],
    "-": ["float32"],
}
EVERY_DTYPE = [*DTYPES["a"], "int16", "int8", "complex128"]


class Inputs:
    """Makers of tensors for one expression in one framework. Floating and complex ones ask for gradients.

    `form` (see forms.py) changes how they are stored or shaped, never which numbers they hold otherwise.
    """

    def __init__(self, fl: ModuleType, dtype: str, seed: int = 0, form: str = "") -> None:
        self.fl = fl
        self.dtype = dtype
        self.form = form
        self.rng = np.random.default_rng(seed)
        self.leaves: list[Any] = []

    def names(self) -> dict[str, Any]:
        """The names that an expression may use."""
        return {
            "fl": self.fl, "F": importlib.import_module(f"{self.fl.__name__}.nn.functional"), "dt": getattr(self.fl, self.dtype),
            "t": self.values, "p": self.positive, "u": self.unit, "nc": self.transposed, "sl": self.strided,
            "i": self.indices, "m": self.mask, "f": self.floats, "spd": self.definite,
        }  # fmt: skip

    def values(self, *shape: int) -> Any:
        return self._leaf(self._numbers(self._shape(shape)))

    def positive(self, *shape: int) -> Any:
        numbers = np.abs(self._numbers(self._shape(shape)))
        return self._leaf(numbers + 0.25 if self.floating else np.maximum(numbers, 1))

    def unit(self, *shape: int) -> Any:
        shape = self._shape(shape)
        return self._leaf(self.rng.uniform(-0.9, 0.9, shape) if self.floating else self._numbers(shape))

    def transposed(self, *shape: int) -> Any:
        numbers = self._numbers(self._shape(shape)[::-1])
        return self._leaf(numbers).permute(*reversed(range(numbers.ndim))) if numbers.ndim else self._leaf(numbers)

    def strided(self, *shape: int) -> Any:
        numbers = self._numbers(tuple(2 * n for n in self._shape(shape)))
        return self._leaf(numbers)[(slice(1, None, 2),) * numbers.ndim]

    def indices(self, below: int, *shape: int) -> Any:
        return self._tensor(self.rng.integers(0, below, self._shape(shape)), "int64")

    def mask(self, *shape: int) -> Any:
        return self._tensor(self.rng.integers(0, 2, self._shape(shape)), "bool")

    def floats(self, *shape: int) -> Any:
        return self._leaf(self.rng.standard_normal(self._shape(shape)), "float32")

    def definite(self, *shape: int) -> Any:
        """Symmetric positive definite: `spd(4)` one of 4x4, `spd(2, 3)` two of 3x3."""
        shape = self._shape(shape) or (1,)
        n = shape[-1]
        a = self.rng.standard_normal((*shape[:-1], n, n))
        return self._leaf(a @ np.swapaxes(a, -1, -2) + n * np.eye(n))

    @property
    def floating(self) -> bool:
        return "float" in self.dtype or "complex" in self.dtype

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        if self.form == "0-d":
            return ()
        if self.form.startswith("size 0 for "):
            emptied = int(self.form.removeprefix("size 0 for "))
            return tuple(0 if n == emptied else n for n in shape)
        return shape

    def _numbers(self, shape: tuple[int, ...]) -> np.ndarray:
        if self.dtype.startswith("complex"):
            return self.rng.standard_normal(shape) + 1j * self.rng.standard_normal(shape)
        if self.floating:
            return self.rng.standard_normal(shape)
        low, high = {"bool": (0, 2), "uint8": (0, 9)}.get(self.dtype, (-5, 6))
        return self.rng.integers(low, high, shape)

    def _leaf(self, numbers: np.ndarray, dtype: str | None = None) -> Any:
        return self._tensor(numbers, dtype or self.dtype)

    def _tensor(self, numbers: np.ndarray, dtype: str) -> Any:
        """The numbers in the layout of the form, behind a leaf that takes the gradient."""
        numbers, back = self._stored(np.asarray(numbers))
        carrier = {"bfloat16": "float32", "float16": "float32"}.get(dtype, dtype)
        tensor = self.fl.from_numpy(np.array(numbers, dtype=carrier)).to(getattr(self.fl, dtype))
        if "float" in dtype or "complex" in dtype:
            tensor.requires_grad_(True)
            self.leaves.append(tensor)
            tensor = tensor * 1  # not a leaf: in-place forms are allowed
        return back(tensor)

    def _stored(self, numbers: np.ndarray) -> tuple[np.ndarray, Any]:
        """What memory holds, and how to view it as `numbers`."""
        if self.form == "transposed" and numbers.ndim > 1:
            order = tuple(reversed(range(numbers.ndim)))
            return np.ascontiguousarray(numbers.transpose(order)), lambda x: x.permute(*order)
        if self.form == "strided" and numbers.ndim:
            wide = np.zeros([2 * n + 1 for n in numbers.shape], numbers.dtype)
            places = (slice(1, None, 2),) * numbers.ndim
            wide[places] = numbers
            return wide, lambda x: x[places]
        return numbers, lambda x: x


def seed_of(text: str) -> int:
    """A seed that depends on the expression only."""
    return sum((k + 1) * ord(c) for k, c in enumerate(text)) % (2**31)


def to_numpy(tensor: Any) -> np.ndarray:
    """Values of a tensor of any dtype; half types widened, lazy conjugates carried out."""
    tensor = tensor.detach()
    if str(tensor.dtype).endswith("float16"):
        tensor = tensor.float()
    # torch keeps some zeros and conjugates unevaluated until it is forced
    return tensor.numpy(force=True) if type(tensor).__module__ == "torch" else tensor.numpy()


def weights_like(shape: tuple[int, ...]) -> np.ndarray:
    """What a result is multiplied with before it is summed for the backward pass."""
    return np.cos(np.arange(math.prod(shape), dtype=np.float64)).reshape(shape)
