"""Small public functions of `torch.serialization` that other people's code calls."""

from __future__ import annotations

import tempfile
from contextlib import AbstractContextManager
from typing import Any

import flambeau

from . import _tensor_bridge as bridge
from ._names import STORAGE_NAMES


def mkdtemp() -> AbstractContextManager[str]:
    """A temporary folder that is removed at the end of the `with` block."""
    return tempfile.TemporaryDirectory()


def check_module_version_greater_or_equal(
    module: Any, req_version_tuple: tuple[Any, ...], error_if_malformed: bool = True
) -> bool:
    """Whether `module.__version__` is at least the required one.

    Raises
    ------
    RuntimeError  if the version cannot be read and `error_if_malformed`
    """
    text = str(getattr(module, "__version__", ""))
    try:
        parts = text.split(".")[: len(req_version_tuple)]
        found = tuple(type(required)(part) for required, part in zip(req_version_tuple, parts))
    except ValueError as err:
        if error_if_malformed:
            raise RuntimeError(f"'{module.__name__}' module version is malformed string: {text!r}") from err
        return True
    return found >= req_version_tuple


def normalize_storage_type(storage_type: type) -> type:
    """The storage class that a class from another module stands for: the one of the same name here."""
    return getattr(flambeau, storage_type.__name__, storage_type)


def storage_to_tensor_type(storage: Any) -> str:
    """Name of the tensor type of a storage, such as "torch.FloatTensor"."""
    kind = STORAGE_NAMES.get(bridge.dtype_name(storage.dtype), "")
    return "torch." + kind.replace("Storage", "Tensor")


class StorageType:
    """Stands for a storage class that pickles name: a name and a dtype."""

    def __init__(self, name: str) -> None:
        self._dtype = {v: k for k, v in STORAGE_NAMES.items()}[name]

    @property
    def dtype(self) -> Any:
        return bridge.dtype_of(self._dtype)

    def __str__(self) -> str:
        return f"StorageType(dtype={self.dtype})"


def _validate(kind: str, location: str) -> Any:
    module = getattr(flambeau, kind, None)
    if module is None or not module.is_available():
        raise RuntimeError(
            f"[load] Attempting to deserialize object on a {kind.upper()} device but flambeau.{kind} is not available; "
            'pass map_location="cpu"'
        )
    return flambeau.device(location)


def validate_cuda_device(location: str) -> Any:
    """The CUDA device of a location; RuntimeError where there is none."""
    return _validate("cuda", location)


def validate_hpu_device(location: str) -> Any:
    """The HPU device of a location; RuntimeError where there is none."""
    return _validate("hpu", location)
