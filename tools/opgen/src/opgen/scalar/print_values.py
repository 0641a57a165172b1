"""Texts that block functions of both kinds share: element storage and parameters."""

from __future__ import annotations

from opgen.scalar.types import BOOL, ScalarType

_PARAM_MEMBER = {"float": "d", "int": "i", "uint": "i", "bool": "b"}


def storage(t: ScalarType) -> str:
    """C++ type of an element in memory."""
    # A bool array may hold any byte (NumPy views), which reading as C++ bool does not allow.
    return "uint8_t" if t is BOOL else t.cpp


def param_value(k: int, t: ScalarType) -> str:
    """Parameter `k` as a value of `t`."""
    if t.is_complex:
        part = t.real.cpp
        return f"{t.cpp}{{static_cast<{part}>(params[{k}].c[0]), static_cast<{part}>(params[{k}].c[1])}}"
    value = f"params[{k}].{_PARAM_MEMBER[t.kind]}"
    return value if t.cpp in ("double", "bool", "int64_t") else f"static_cast<{t.cpp}>({value})"
