"""Linear algebra: `flambeau.linalg.<name>` is the operator `linalg_<name>`, found on first use."""

from flambeau import _C, _operator_namespace

TYPE_CHECKING = False  # checkers take it for true, and read the operators from their stub

_operators = _operator_namespace.OperatorNamespace(__name__, globals(), "linalg")


class LinAlgError(RuntimeError):
    """A matrix has no inverse or no such factors, or an iteration did not converge."""


LinAlgError.__module__ = "flambeau.linalg"
_C._LinAlgError = LinAlgError


if TYPE_CHECKING:
    from flambeau._stubs.aten_linalg import *  # noqa: F403
else:

    def __getattr__(name: str) -> object:
        return _operators.find(name)


def __dir__() -> list[str]:
    return sorted({*_operators.names(), "LinAlgError"})
