"""The globals that any file may name, and what stands for them while it is read."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

import flambeau

from . import _tensor_bridge as bridge
from ._errors import UnpicklingError, shown
from ._hashable import check_hashable
from ._machine import Callee
from ._names import DTYPE_NAMES, STORAGE_DTYPES, current
from ._rebuild import BUILDERS
from ._safe_globals import allowed_by_user, is_blocked
from ._typed_storage import StorageKind

# The only codecs that pickles of bytes use; others compress, and could fill the memory when they expand.
_CODECS = ("latin1", "latin-1", "iso-8859-1", "utf-8", "utf8", "ascii")
_MEMORY_FORMATS = ("contiguous_format", "channels_last", "channels_last_3d", "preserve_format")


class Refused(Exception):
    """A file names a global that is not on the allow-list."""


def _encode(text: Any, codec: Any = "utf-8", errors: Any = "strict") -> bytes:
    if type(text) is not str or codec not in _CODECS:
        raise UnpicklingError(
            f"[load] bytes must be text in one of {', '.join(_CODECS)}, got {shown(text)} in {shown(codec)}"
        )
    return text.encode(codec, errors)


def _bytearray(data: Any = b"", *encoding: Any) -> bytearray:
    # Not of an integer: that would be memory in the size of the file's choosing.
    return bytearray(_encode(data, *encoding) if encoding else memoryview(data))


def _complex(real: Any = 0.0, imag: Any = 0.0) -> complex:
    if type(real) not in (int, float) or type(imag) not in (int, float):
        raise UnpicklingError(f"[load] a complex number must have two numbers, got {shown(real)} and {shown(imag)}")
    return complex(real, imag)


def _collection(kind: type) -> Callable[..., Any]:
    def make(items: Any = ()) -> Any:
        if not isinstance(items, (list, tuple, set, frozenset)):
            raise UnpicklingError(f"[load] a {kind.__name__} must be made of a list, got {shown(items)}")
        for item in items:
            check_hashable(item)
        return kind(items)

    return make


def _mapping(kind: type) -> Callable[..., Any]:
    def make(items: Any = ()) -> Any:
        pairs: Iterable[Any] = items.items() if isinstance(items, dict) else items
        made = kind()
        for key, value in pairs:
            check_hashable(key)
            made[key] = value
        return made

    return make


def _default_globals() -> dict[str, Any]:
    table: dict[str, Any] = {name: Callee(name, function) for name, function in BUILDERS.items()}
    callables: dict[str, tuple[Any, Any]] = {
        "collections.OrderedDict": (OrderedDict, _mapping(OrderedDict)),
        "collections.Counter": (Counter, _mapping(Counter)),
        "builtins.set": (set, _collection(set)),
        "builtins.frozenset": (frozenset, _collection(frozenset)),
        "builtins.bytearray": (bytearray, _bytearray),
        "builtins.complex": (complex, _complex),
        "_codecs.encode": (_encode, None),
        "torch.Size": (flambeau.Size, None),
        "torch.device": (flambeau.device, None),
    }
    table |= {name: Callee(name, value, call) for name, (value, call) in callables.items()}
    table |= {f"torch.{name}": dtype for name in DTYPE_NAMES if (dtype := getattr(flambeau, name, None)) is not None}
    table |= {
        f"torch.{name}": found for name in _MEMORY_FORMATS if (found := getattr(flambeau, name, None)) is not None
    }
    table |= storage_kinds()
    table["torch.Tensor"] = flambeau.Tensor
    return table


def storage_kinds() -> dict[str, StorageKind]:
    """Storage classes by the names that files use, those of CUDA included: placement is said elsewhere."""
    kinds = {}
    for name, dtype in STORAGE_DTYPES.items():
        if (found := getattr(flambeau, dtype, None)) is not None:
            kinds[f"torch.{name}"] = kinds[f"torch.cuda.{name}"] = StorageKind(name, found)
    kinds["torch.storage.UntypedStorage"] = kinds["torch.UntypedStorage"] = StorageKind("UntypedStorage", None)
    return kinds


_defaults: dict[str, Any] = {}


def default_globals() -> dict[str, Any]:
    """Name in files -> Callee or plain value; made on first use."""
    if not _defaults:
        _defaults.update(_default_globals())
    return _defaults


class AllowList:
    """The globals that one load accepts: the defaults but `without`, and what the user has allowed at its beginning."""

    def __init__(self, without: frozenset[str] = frozenset()) -> None:
        self._defaults = {name: found for name, found in default_globals().items() if name not in without}
        self._user = {name: Callee(name, value, None, is_user=True) for name, value in allowed_by_user().items()}

    def find(self, module: str, name: str) -> Any:
        """What a file gets for a global; Refused where it is on no list."""
        dotted = current(module, name)
        if (found := self._defaults.get(dotted)) is not None:
            return found
        if dotted == "torch.nn.parameter.Parameter" and (parameter := bridge.parameter_class()) is not None:
            return parameter
        if (found := self._user.get(dotted)) is not None and not is_blocked(dotted):
            return found
        raise Refused(dotted)

    def accepts(self, module: str, name: str) -> bool:
        try:
            self.find(module, name)
        except Refused:
            return False
        return True
