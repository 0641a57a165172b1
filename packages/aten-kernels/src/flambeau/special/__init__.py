"""Special functions: `flambeau.special.<name>` is the operator `special_<name>`, found on first use."""

from flambeau import _C

_PREFIX, _FLAG = "special_", 2048


def __getattr__(name: str):  # no return type, so that checkers take operators as Any
    if name.startswith("_") or not _C._op_flags("aten", _PREFIX + name) & _FLAG:
        raise AttributeError(f"module 'flambeau.special' has no attribute {name!r}")
    function = _C._op_function("aten", _PREFIX + name, None, False)
    globals()[name] = function
    return function


def __dir__() -> list[str]:
    return sorted(
        n.removeprefix(_PREFIX)
        for n in _C._op_names("aten")
        if n.startswith(_PREFIX) and _C._op_flags("aten", n) & _FLAG
    )
