"""Finds the names of `flambeau` on first use, and says what to install when a layer is missing."""

import importlib
import sys

from flambeau import _C, _tensor_api

_FUNCTION = 1
_NATIVE_LAYERS = ("flambeau.aten", "flambeau.autograd")

# What each optional layer is called on disk, for the message that says how to get it.
_DISTRIBUTIONS = {
    "aten": "flambeau-aten-kernels",
    "linalg": "flambeau-aten-kernels",
    "fft": "flambeau-aten-kernels",
    "special": "flambeau-aten-kernels",
    "sparse": "flambeau-aten-kernels",
    "autograd": "flambeau-autograd",
    "func": "flambeau-autograd",
    "nn": "flambeau-nn",
    "optim": "flambeau-nn",
    "utils": "flambeau-nn",
    "distributions": "flambeau-nn",
    "amp": "flambeau-nn",
    "compiler": "flambeau-compiler",
    "fx": "flambeau-compiler",
    "distributed": "flambeau-distributed",
    "serialization": "flambeau-serialization",
    "save": "flambeau-serialization",
    "load": "flambeau-serialization",
}

_index: dict[str, str] | None = None


def load_layers() -> None:
    """Load the native layers that are installed, lowest first, and give Tensor the methods they bring."""
    for layer in _NATIVE_LAYERS:
        try:
            importlib.import_module(layer)
        except ModuleNotFoundError as error:
            if error.name != layer:
                raise
            break
    _tensor_api.install()
    _C._install_methods()


def index() -> dict[str, str]:
    """Names that packages bring: `{"save": "flambeau.serialization:save", "nn": "flambeau.nn"}`."""
    global _index
    if _index is None:
        _index = {}
        import pkgutil

        import flambeau._index as folder

        for module in pkgutil.iter_modules(folder.__path__):
            _index.update(importlib.import_module(f"flambeau._index.{module.name}").NAMES)
    return _index


def resolve(name: str) -> object:
    """The object that `flambeau.<name>` stands for. Raises AttributeError."""
    if name.startswith("__"):
        raise AttributeError(f"module 'flambeau' has no attribute {name!r}")
    target = index().get(name)
    if target is not None:
        module, _, attribute = target.partition(":")
        try:
            loaded = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name and error.name.startswith("flambeau") and name in _DISTRIBUTIONS:
                raise missing(name, error) from error
            raise
        return getattr(loaded, attribute) if attribute else loaded
    if _C._op_flags("aten", name) & _FUNCTION:
        return _C._op_function("aten", name, None, False)
    try:  # a submodule asked for as an attribute
        return importlib.import_module(f"flambeau.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"flambeau.{name}":
            raise
    if name in _DISTRIBUTIONS:
        raise missing(name, None)
    raise AttributeError(f"module 'flambeau' has no attribute {name!r}{_near(name)}")


def missing(name: str, cause: BaseException | None) -> AttributeError:
    distribution = _DISTRIBUTIONS[name]
    return AttributeError(f"flambeau.{name} is in {distribution}, which is not installed: pip install {distribution}")


def _near(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, public_names(), n=3)
    return f"; did you mean {', '.join(near)}?" if near else ""


def public_names() -> list[str]:
    operators = [n for n in _C._op_names("aten") if _C._op_flags("aten", n) & _FUNCTION]
    return [n for n in {*index(), *operators, *dir(_C)} if not n.startswith("_")]


def _native_attribute(name: str) -> object:
    """Attributes of `flambeau._C` that are Python."""
    if name == "_nn":
        value = importlib.import_module("flambeau._nn")
        setattr(_C, name, value)
        return value
    if name in ("DisableTorchFunction", "DisableTorchFunctionSubclass"):
        value = getattr(importlib.import_module("flambeau._torch_function_switch"), name)
        setattr(_C, name, value)
        return value
    raise AttributeError(f"module 'flambeau._C' has no attribute {name!r}")


setattr(_C, "__getattr__", _native_attribute)  # noqa: B010 - a module has no such method to checkers


class _MissingLayer:
    """Import hook of last resort: `import flambeau.nn` without the package says what to install."""

    @staticmethod
    def find_spec(fullname: str, path: object = None, target: object = None) -> None:
        prefix, _, name = fullname.partition(".")
        if prefix == "flambeau" and name in _DISTRIBUTIONS and "." not in name and name not in ("aten", "autograd"):
            raise ModuleNotFoundError(str(missing(name, None)), name=fullname)


sys.meta_path.append(_MissingLayer)
