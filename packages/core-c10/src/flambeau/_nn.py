"""`flambeau._C._nn`: the operators behind `flambeau.nn.functional`, looked up when they are first used."""

from flambeau._operator_namespace import OperatorNamespace

_operators = OperatorNamespace("flambeau._C._nn", globals(), flag=4)  # OpFlags::kNNModule


def __getattr__(name: str) -> object:
    return _operators.find(name)


def __dir__() -> list[str]:
    return _operators.names()
