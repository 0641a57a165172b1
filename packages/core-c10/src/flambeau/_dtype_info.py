"""Limits of the dtypes: `flambeau.finfo` and `flambeau.iinfo`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import flambeau

if TYPE_CHECKING:
    from flambeau import dtype as DType


class _FloatFacts(NamedTuple):
    """bits in memory; fraction bits; exponents of the smallest normal and of the largest number; decimal digits."""

    bits: int
    fraction: int
    min_exponent: int
    max_exponent: int
    digits: int
    # What is missing from an all-ones fraction in the largest number, in units of the last place:
    # the formats that have no infinity keep that code for nan.
    max_gap: int = 0

    # torch reports half the true distance for float8_e5m2fnuz, and programs compare against it.
    eps_exponent: int | None = None

    @property
    def eps(self) -> float:
        return 2.0 ** (-self.fraction if self.eps_exponent is None else self.eps_exponent)

    @property
    def max(self) -> float:
        return (2.0 - 2.0**-self.fraction * (1 + self.max_gap)) * 2.0**self.max_exponent

    @property
    def tiny(self) -> float:
        return 2.0**self.min_exponent


_FLOATS = {
    "float64": _FloatFacts(64, 52, -1022, 1023, 15),
    "float32": _FloatFacts(32, 23, -126, 127, 6),
    "float16": _FloatFacts(16, 10, -14, 15, 3),
    "bfloat16": _FloatFacts(16, 7, -126, 127, 2),
    "float8_e5m2": _FloatFacts(8, 2, -14, 15, 0),
    "float8_e5m2fnuz": _FloatFacts(8, 2, -15, 15, 0, eps_exponent=-3),
    "float8_e4m3fn": _FloatFacts(8, 3, -6, 8, 0, max_gap=1),
    "float8_e4m3fnuz": _FloatFacts(8, 3, -7, 7, 0),
    # Only powers of two: no fraction, no sign, no zero.
    "float8_e8m0fnu": _FloatFacts(8, 0, -127, 127, 0),
}
_COMPLEX_PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
# Two numbers in a byte: the size is known, but no single number has it.
_PACKED_FLOATS = {"float4_e2m1fn_x2": 8}

_INTS = {f"{sign}int{bits}": (bits, sign == "") for bits in (8, 16, 32, 64) for sign in ("", "u")}
_QUANTIZED = {
    "qint8": (8, True),
    "quint8": (8, False),
    "qint32": (32, True),
    "quint4x2": (8, False),
    "quint2x4": (8, False),
}


def _name(caller: str, type: DType) -> str:
    if not isinstance(type, flambeau.dtype):
        raise TypeError(f"{caller}(): argument 'type' (position 1) must be a dtype, not {type.__class__.__name__}")
    return str(type).rsplit(".", 1)[-1]


class finfo:
    """Limits of a floating dtype, or of the parts of a complex one; of the default dtype if none is given.

    Attributes
    ----------
    bits : int, size of one number
    eps : float, distance from 1 to the next number
    max, min : float, largest and lowest finite number
    tiny, smallest_normal : float, smallest positive number of full precision
    resolution : float, 10 to the power of minus the decimal digits that survive a round trip
    dtype : str, name of the dtype

    Raises
    ------
    TypeError  for a dtype that is not floating (see `iinfo`)
    NotImplementedError  when an attribute is read that the dtype does not have
    """

    __slots__ = ("_facts", "_title", "bits")

    _facts: _FloatFacts | None
    _title: str
    bits: int

    def __init__(self, type: DType | None = None) -> None:
        name = _name("finfo", flambeau.get_default_dtype() if type is None else type)
        name = _COMPLEX_PARTS.get(name, name)
        if name not in _FLOATS and name not in _PACKED_FLOATS:
            raise TypeError(
                f"[finfo] {name} is not a floating dtype; use iinfo for integers. finfo() requires a floating point "
                f"input type: {', '.join([*_FLOATS, *_COMPLEX_PARTS])}"
            )
        facts = _FLOATS.get(name)
        object.__setattr__(self, "_title", name)
        object.__setattr__(self, "_facts", facts)
        object.__setattr__(self, "bits", _PACKED_FLOATS[name] if facts is None else facts.bits)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"attribute {name!r} of 'finfo' objects is not writable")

    def _known(self, attribute: str) -> _FloatFacts:
        if self._facts is None:
            raise NotImplementedError(f"[finfo] {self._title} packs several numbers in a byte and has no {attribute}")
        return self._facts

    @property
    def dtype(self) -> str:
        self._known("dtype")
        return self._title

    @property
    def eps(self) -> float:
        return self._known("eps").eps

    @property
    def max(self) -> float:
        return self._known("max").max

    @property
    def min(self) -> float:
        facts = self._known("min")
        return facts.tiny if self._title == "float8_e8m0fnu" else -facts.max

    @property
    def tiny(self) -> float:
        return self._known("tiny").tiny

    @property
    def smallest_normal(self) -> float:
        return self._known("smallest_normal").tiny

    @property
    def resolution(self) -> float:
        return float(f"1e-{self._known('resolution').digits}")

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, finfo) and self._title == other._title

    def __hash__(self) -> int:
        return hash(self._title)

    def __reduce__(self) -> tuple[type, tuple[DType]]:
        return (finfo, (getattr(flambeau, self._title),))


class iinfo:
    """Limits of an integer dtype.

    Attributes
    ----------
    bits : int, size of one number
    max, min : int, largest and lowest number
    dtype : str, name of the dtype

    Raises
    ------
    TypeError  for a dtype that is not an integer (see `finfo`)
    """

    __slots__ = ("_title", "bits", "max", "min")

    _title: str
    bits: int
    max: int
    min: int

    def __init__(self, type: DType) -> None:
        name = _name("iinfo", type)
        facts = _INTS.get(name) or _QUANTIZED.get(name)
        if facts is None:
            raise TypeError(
                f"[iinfo] {name} is not an integer dtype with limits; use finfo for floating ones. iinfo() requires an "
                f"integer input type: {', '.join(_INTS)}"
            )
        bits, signed = facts
        top = 2 ** (bits - signed) - 1
        for attribute, value in (("_title", name), ("bits", bits), ("max", top), ("min", -top - 1 if signed else 0)):
            object.__setattr__(self, attribute, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"attribute {name!r} of 'iinfo' objects is not writable")

    @property
    def dtype(self) -> str:
        if self._title in _QUANTIZED:
            raise NotImplementedError(f"[iinfo] {self._title} is a quantized dtype and has no integer name")
        return self._title

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, iinfo) and self._title == other._title

    def __hash__(self) -> int:
        return hash(self._title)

    def __reduce__(self) -> tuple[type, tuple[DType]]:
        return (iinfo, (getattr(flambeau, self._title),))
