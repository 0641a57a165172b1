"""Fourier transforms: `flambeau.fft.<name>` is the operator `fft_<name>`, found on first use."""

from flambeau import _operator_namespace

TYPE_CHECKING = False  # checkers take it for true, and read the operators from their stub

_operators = _operator_namespace.OperatorNamespace(__name__, globals(), "fft")


if TYPE_CHECKING:
    from flambeau._stubs.aten_fft import *  # noqa: F403
else:

    def __getattr__(name: str) -> object:
        return _operators.find(name)


def __dir__() -> list[str]:
    return _operators.names()
