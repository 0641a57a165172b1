"""Special functions: `flambeau.special.<name>` is the operator `special_<name>`, found on first use."""

from flambeau import _operator_namespace

TYPE_CHECKING = False  # checkers take it for true, and read the operators from their stub

_operators = _operator_namespace.OperatorNamespace(__name__, globals(), "special")


if TYPE_CHECKING:
    from flambeau._stubs.aten_special import *  # noqa: F403
else:

    def __getattr__(name: str) -> object:
        return _operators.find(name)


def __dir__() -> list[str]:
    return _operators.names()
