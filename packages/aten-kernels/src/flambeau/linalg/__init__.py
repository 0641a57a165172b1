"""Linear algebra: `flambeau.linalg.<name>` is the operator `linalg_<name>`, found on first use."""

from flambeau import _C

_PREFIX, _FLAG = "linalg_", 1024


class LinAlgError(RuntimeError):
    """A matrix has no inverse or no such factors, or an iteration did not converge."""


LinAlgError.__module__ = "flambeau.linalg"
_C._LinAlgError = LinAlgError


def __getattr__(name: str):  # no return type, so that checkers take operators as Any
    if name.startswith("_") or not _C._op_flags("aten", _PREFIX + name) & _FLAG:
        raise AttributeError(f"module 'flambeau.linalg' has no attribute {name!r}")
    function = _C._op_function("aten", _PREFIX + name, None, False)
    globals()[name] = function
    return function


def __dir__() -> list[str]:
    names = (
        n.removeprefix(_PREFIX)
        for n in _C._op_names("aten")
        if n.startswith(_PREFIX) and _C._op_flags("aten", n) & _FLAG
    )
    return sorted({*names, "LinAlgError"})
