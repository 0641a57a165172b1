"""The names that stand in files: torch's, so that both frameworks read them, and what they mean here."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from typing import Any

# Python 2 names, which protocols below 3 use for builtins.
_PY2_MODULES = {"__builtin__": "builtins", "copy_reg": "copyreg"}

# Ours -> torch's, where the dotted path alone does not tell.
_WRITTEN_AS = {
    "flambeau.nn.parameter._rebuild_parameter": ("torch._utils", "_rebuild_parameter"),
    "flambeau.nn.parameter._rebuild_parameter_with_state": ("torch._utils", "_rebuild_parameter_with_state"),
}

# dtype -> the storage class that stands for it in files. Other dtypes are written as bytes plus their dtype.
STORAGE_NAMES = {
    "float64": "DoubleStorage",
    "float32": "FloatStorage",
    "float16": "HalfStorage",
    "bfloat16": "BFloat16Storage",
    "int64": "LongStorage",
    "int32": "IntStorage",
    "int16": "ShortStorage",
    "int8": "CharStorage",
    "uint8": "ByteStorage",
    "bool": "BoolStorage",
    "complex64": "ComplexFloatStorage",
    "complex128": "ComplexDoubleStorage",
    "qint8": "QInt8Storage",
    "qint32": "QInt32Storage",
    "quint8": "QUInt8Storage",
    "quint4x2": "QUInt4x2Storage",
    "quint2x4": "QUInt2x4Storage",
}
STORAGE_DTYPES = {storage: dtype for dtype, storage in STORAGE_NAMES.items()}

DTYPE_NAMES = (
    *STORAGE_NAMES,
    *("complex32", "uint16", "uint32", "uint64"),
    *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn_x2"),
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in range(1, 8)),
    *("bits8", "bits16", "bits1x8", "bits2x4", "bits4x2"),
)


def current(module: str, name: str) -> str:
    """The dotted name of a global as files of today spell it: torch's package, Python 3's modules."""
    module = _PY2_MODULES.get(module, module)
    if module == "builtins" and name == "unicode":
        name = "str"
    return as_torch(f"{module}.{name}")


def as_torch(dotted: str) -> str:
    return "torch" + dotted[8:] if dotted == "flambeau" or dotted.startswith("flambeau.") else dotted


def as_flambeau(dotted: str) -> str:
    return "flambeau" + dotted[5:] if dotted == "torch" or dotted.startswith("torch.") else dotted


def dotted_name(obj: Any) -> str:
    """The name under which files refer to a class or function."""
    return as_torch(f"{obj.__module__}.{getattr(obj, '__qualname__', obj.__name__)}")


def resolve(module: str, name: str) -> Any:
    """Import what a global of an unrestricted file names; `torch.x` is looked for as `flambeau.x`.

    Raises
    ------
    AttributeError, ModuleNotFoundError  as `pickle` does
    """
    module = as_flambeau(_PY2_MODULES.get(module, module))
    try:
        return _attribute(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        # A class may live in another file of the same public package than in torch.
        for package in _parents(module):
            if (found := getattr(sys.modules.get(package), name, None)) is not None and package != "flambeau":
                return found
        raise


def _attribute(obj: Any, dotted: str) -> Any:
    for part in dotted.split("."):
        obj = getattr(obj, part)
    return obj


def _parents(module: str) -> Iterator[str]:
    while module.startswith("flambeau.") and "." in module:
        module = module.rpartition(".")[0]
        yield module


def written_name(obj: Any, name: str) -> tuple[str, str] | None:
    """(module, name) that a class or function of ours gets in a file; None for everybody else's."""
    module = getattr(obj, "__module__", None)
    if not isinstance(module, str) or as_torch(module) == module:
        return None
    if known := _WRITTEN_AS.get(f"{module}.{name}"):
        return known
    # Inside private modules the public package is the better guess of where torch has the class.
    for public in (module, *_parents(module)):
        if not any(part.startswith("_") for part in public.split(".")):
            found = sys.modules.get(public)
            if found is not None and getattr(found, name.split(".")[0], None) is not None:
                return as_torch(public), name
    return as_torch(module), name
