"""`flambeau._C._nn`: the operators behind `flambeau.nn.functional`, looked up when they are first used."""

from flambeau import _C

_NN = 4  # OpFlags::kNNModule


def __getattr__(name: str) -> object:
    if name.startswith("__") or not _C._op_flags("aten", name) & _NN:
        raise AttributeError(f"module 'flambeau._C._nn' has no attribute {name!r}")
    function = _C._op_function("aten", name, None, False)
    globals()[name] = function
    return function


def __dir__() -> list[str]:
    return sorted(n for n in _C._op_names("aten") if _C._op_flags("aten", n) & _NN)
