"""Finds the names of `flambeau` on first use, and says what to install when a layer is missing."""

from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType

from flambeau import _C, _tensor_api

TYPE_CHECKING = False  # `import flambeau` does not pay for the import of typing
if TYPE_CHECKING:
    from typing import Any

_FUNCTION = _C._OP_FLAGS["function"]

# Distributions that are there when the module `flambeau.<first name>` is, with the names they are known for: what to install
# cannot be asked of a package that is missing.
_DISTRIBUTIONS = {
    "flambeau-aten-kernels": ("aten", "linalg", "fft", "special"),
    "flambeau-autograd": ("autograd", "_custom_op_function"),
    "flambeau-nn": ("nn", "optim", "utils", "_Parameter"),
    "flambeau-serialization": ("serialization", "save", "load"),
}

_index: dict[str, str] | None = None


def load_layers() -> None:
    """Load the native layers that are installed, and give Tensor the methods they bring.

    A layer asks for it with `LOAD = "flambeau.<module>"` in its index, and imports the layers it stands on itself.
    """
    for module in _index_modules():
        layer = getattr(module, "LOAD", None)
        if layer is None:
            continue
        try:
            importlib.import_module(layer)
        except ModuleNotFoundError as error:
            if error.name is None or not error.name.startswith("flambeau."):
                raise  # a layer below that one is not installed: flambeau works without both
        except ImportError as error:
            raise _explained(layer, error) from error
    _tensor_api.install()
    _C._install_methods()


def _explained(layer: str, error: ImportError) -> ImportError:
    """The error of a layer that was built for another core; the library's name ends in the number of its ABI."""
    _, found, built = str(error).partition("libflambeau_core.so.")
    if not found:
        return error
    number = built.split(":")[0]
    return ImportError(
        f"[{layer}] built against core ABI {number}, ABI {_C._CORE_ABI} is installed; install both from one release",
        name=layer,
    )


def _index_modules() -> list[ModuleType]:
    """The index modules of all installed packages, `flambeau/_index/<package>.py`."""
    import flambeau._index as folder

    names = {name.partition(".")[0] for path in folder.__path__ for name in os.listdir(path) if ".py" in name}
    return [importlib.import_module(f"flambeau._index.{name}") for name in sorted(names)]


def index() -> dict[str, str]:
    """Names that packages bring: `{"save": "flambeau.serialization:save", "nn": "flambeau.nn"}`."""
    global _index
    if _index is None:
        _index = {}
        for module in _index_modules():
            _index.update(module.NAMES)
    return _index


def resolve(name: str) -> Any:
    """The object that `flambeau.<name>` stands for. Raises AttributeError."""
    if name.startswith("__"):
        raise AttributeError(f"module 'flambeau' has no attribute {name!r}")
    target = index().get(name)
    if target is not None:
        module, _, attribute = target.partition(":")
        loaded = importlib.import_module(module)
        return getattr(loaded, attribute) if attribute else loaded
    if _C._op_flags("aten", name) & _FUNCTION:
        return _C._op_function("aten", name, None, False)
    try:  # a submodule asked for as an attribute
        return importlib.import_module(f"flambeau.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"flambeau.{name}":
            raise
        if why := missing(name):
            raise AttributeError(why) from None
    raise AttributeError(f"module 'flambeau' has no attribute {name!r}{_hint(name)}")


def missing(name: str) -> str | None:
    """What to install for `flambeau.<name>`; None where that is installed, or nobody knows the name."""
    for distribution, names in _DISTRIBUTIONS.items():
        if name in names and not _is_installed(names[0]):
            return f"flambeau.{name} is in {distribution}, which is not installed: pip install {distribution}"
    return None


def _is_installed(probe: str) -> bool:
    import flambeau

    return any(os.path.isdir(os.path.join(folder, probe)) for folder in flambeau.__path__)


def _hint(name: str) -> str:
    if not _is_installed("aten"):
        return "; operators are in flambeau-aten-kernels, which is not installed: pip install flambeau-aten-kernels"
    import difflib

    near = difflib.get_close_matches(name, public_names(), n=3)
    return f"; did you mean {', '.join(near)}?" if near else ""


def public_names() -> list[str]:
    operators = [n for n in _C._op_names("aten") if _C._op_flags("aten", n) & _FUNCTION]
    return [n for n in {*index(), *operators, *dir(_C)} if not n.startswith("_")]


def _native_attribute(name: str) -> Any:
    """Attributes of `flambeau._C` that are Python."""
    if name == "_nn":
        value = importlib.import_module("flambeau._nn")
        setattr(_C, name, value)
        return value
    if name in ("DisableTorchFunction", "DisableTorchFunctionSubclass"):  # torch has them in both places
        value = resolve(name)
        setattr(_C, name, value)
        return value
    raise AttributeError(f"module 'flambeau._C' has no attribute {name!r}")


setattr(_C, "__getattr__", _native_attribute)  # noqa: B010 - a module has no such method to checkers


class _MissingLayer:
    """Import hook of last resort: `import flambeau.nn` without the package says what to install."""

    @staticmethod
    def find_spec(fullname: str, path: object = None, target: object = None) -> None:
        prefix, _, name = fullname.partition(".")
        if prefix == "flambeau" and (why := missing(name)):
            raise ModuleNotFoundError(why, name=fullname)


sys.meta_path.append(_MissingLayer)
