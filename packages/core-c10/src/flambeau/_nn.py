"""`flambeau._C._nn`: the operators behind `flambeau.nn.functional`, looked up when they are first used."""

from flambeau._operator_namespace import OperatorNamespace

TYPE_CHECKING = False  # checkers take it for true, and read the operators from their stub

_operators = OperatorNamespace("flambeau._C._nn", globals(), "nn")


if TYPE_CHECKING:
    from flambeau._stubs.aten_nn import *  # noqa: F403
else:

    def __getattr__(name: str) -> object:
        return _operators.find(name)


def __dir__() -> list[str]:
    return _operators.names()
