"""Modules whose attributes are operators, looked up when they are first used."""

from typing import Any

from flambeau import _C


class OperatorNamespace:
    """`<module>.<name>` is the operator `<place>_<name>`, where its record names the place; in "nn" plainly `<name>`.

    Parameters
    ----------
    module : the module's name, for the error
    attributes : the module's globals; what was found is kept there
    place : one of the places that records know
    """

    def __init__(self, module: str, attributes: dict[str, Any], place: str) -> None:
        self._module, self._attributes = module, attributes
        self._flag = _C._OP_FLAGS[place]
        self._prefix = "" if place == "nn" else f"{place}_"

    def find(self, name: str) -> Any:
        """The operator. Raises AttributeError."""
        operator = self._prefix + name
        if name.startswith("__") or not _C._op_flags("aten", operator) & self._flag:
            raise AttributeError(f"module '{self._module}' has no attribute {name!r}")
        function = _C._op_function("aten", operator, None, False)
        self._attributes[name] = function
        return function

    def names(self) -> list[str]:
        """All that `find` would find, sorted."""
        operators = (n for n in _C._op_names("aten") if _C._op_flags("aten", n) & self._flag)
        return sorted(n.removeprefix(self._prefix) for n in operators if n.startswith(self._prefix))
