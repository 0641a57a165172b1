"""Special functions: `flambeau.special.<name>` is the operator `special_<name>`, found on first use."""

from flambeau import _operator_namespace

_operators = _operator_namespace.OperatorNamespace(__name__, globals(), flag=2048, prefix="special_")


def __getattr__(name: str):  # no return type, so that checkers take operators as Any
    return _operators.find(name)


def __dir__() -> list[str]:
    return _operators.names()
