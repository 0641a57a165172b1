"""Optimizers, learning-rate schedulers and weight averaging. Each module is loaded on first use."""

from __future__ import annotations

import importlib
from typing import Any

_HOME = {
    "ASGD": "asgd",
    "Adadelta": "adadelta",
    "Adafactor": "adafactor",
    "Adagrad": "adagrad",
    "Adam": "adam",
    "AdamW": "adam",
    "Adamax": "adamax",
    "LBFGS": "lbfgs",
    "Muon": "_muon",
    "NAdam": "nadam",
    "Optimizer": "optimizer",
    "RAdam": "radam",
    "RMSprop": "rmsprop",
    "Rprop": "rprop",
    "SGD": "sgd",
    "SparseAdam": "sparse_adam",
    "swap_in_optimizer_params_and_state": "_swap",
}
_SUBMODULES = ("lr_scheduler", "swa_utils", "optimizer", *{m for m in _HOME.values() if m[0] != "_"})

__all__ = [*_HOME, "lr_scheduler", "swa_utils"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f"flambeau.optim.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    if name in _SUBMODULES:
        return importlib.import_module(f"flambeau.optim.{name}")
    raise AttributeError(f"[flambeau.optim] there is no {name!r}; there are {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
