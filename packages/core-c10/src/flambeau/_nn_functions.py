"""`flambeau._C._nn`: the neural operators by name, resolved on first use."""

import sys

from flambeau import _C

_NN = 4  # OpFlags::kNNModule


class _Module(type(sys)):
    def __getattr__(self, name: str) -> object:
        if name.startswith("__") or not _C._op_flags("aten", name) & _NN:
            raise AttributeError(f"module 'flambeau._C._nn' has no attribute {name!r}")
        value = _C._op_function("aten", name, None, False)
        self.__dict__[name] = value
        return value

    def __dir__(self) -> list[str]:
        return [n for n in _C._op_names("aten") if _C._op_flags("aten", n) & _NN]


def install() -> None:
    """Make the module an attribute of `flambeau._C`."""
    _C._nn = sys.modules["flambeau._C._nn"] = _Module("flambeau._C._nn", "Neural operators.")
