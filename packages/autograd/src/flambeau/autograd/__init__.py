"""Automatic differentiation: backward, grad, custom functions, hooks, checks."""

import flambeau.aten  # noqa: F401  the operators are there before their derivatives
from flambeau._grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from flambeau.autograd import _C  # noqa: F401
from flambeau.autograd._backward import backward, grad

TYPE_CHECKING = False  # checkers take it for true

__all__ = [
    "Function", "Variable", "anomaly_mode", "backward", "detect_anomaly", "enable_grad", "grad", "gradcheck", "gradgradcheck",
    "graph", "inference_mode", "no_grad", "set_detect_anomaly", "set_grad_enabled", "set_multithreading_enabled",
]  # fmt: skip

# What few programs touch is loaded when they do.
_LAZY = {
    "Function": ("flambeau.autograd.function", "Function"),
    "function": ("flambeau.autograd.function", None),
    "graph": ("flambeau.autograd.graph", None),
    "gradcheck": ("flambeau.autograd.gradcheck", "gradcheck"),
    "gradgradcheck": ("flambeau.autograd.gradcheck", "gradgradcheck"),
    "anomaly_mode": ("flambeau.autograd.anomaly_mode", None),
    "detect_anomaly": ("flambeau.autograd.anomaly_mode", "detect_anomaly"),
    "set_detect_anomaly": ("flambeau.autograd.anomaly_mode", "set_detect_anomaly"),
    "set_multithreading_enabled": ("flambeau.autograd.graph", "set_multithreading_enabled"),
    "Variable": ("flambeau", "Tensor"),
    "grad_mode": ("flambeau.autograd.grad_mode", None),
}


if TYPE_CHECKING:
    from flambeau import Tensor as Variable
    from flambeau.autograd import anomaly_mode as anomaly_mode
    from flambeau.autograd import function as function
    from flambeau.autograd import grad_mode as grad_mode
    from flambeau.autograd import graph as graph
    from flambeau.autograd.anomaly_mode import detect_anomaly as detect_anomaly
    from flambeau.autograd.anomaly_mode import set_detect_anomaly as set_detect_anomaly
    from flambeau.autograd.function import Function as Function
    from flambeau.autograd.gradcheck import gradcheck as gradcheck
    from flambeau.autograd.gradcheck import gradgradcheck as gradgradcheck
    from flambeau.autograd.graph import set_multithreading_enabled as set_multithreading_enabled
else:

    def __getattr__(name: str) -> object:
        import importlib

        if name not in _LAZY:
            raise AttributeError(f"module 'flambeau.autograd' has no attribute {name!r}")
        module, attribute = _LAZY[name]
        loaded = importlib.import_module(module)
        value = loaded if attribute is None else getattr(loaded, attribute)
        globals()[name] = value
        return value
