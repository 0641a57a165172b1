"""Optimizers, learning-rate schedulers and weight averaging. Each module is loaded on first use."""

from __future__ import annotations

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from flambeau.optim import (
        adadelta,
        adafactor,
        adagrad,
        adam,
        adamax,
        asgd,
        lbfgs,
        lr_scheduler,
        nadam,
        optimizer,
        radam,
        rmsprop,
        rprop,
        sgd,
        sparse_adam,
        swa_utils,
    )
    from flambeau.optim._muon import Muon
    from flambeau.optim._swap import swap_in_optimizer_params_and_state
    from flambeau.optim.adadelta import Adadelta
    from flambeau.optim.adafactor import Adafactor
    from flambeau.optim.adagrad import Adagrad
    from flambeau.optim.adam import Adam, AdamW
    from flambeau.optim.adamax import Adamax
    from flambeau.optim.asgd import ASGD
    from flambeau.optim.lbfgs import LBFGS
    from flambeau.optim.nadam import NAdam
    from flambeau.optim.optimizer import Optimizer
    from flambeau.optim.radam import RAdam
    from flambeau.optim.rmsprop import RMSprop
    from flambeau.optim.rprop import Rprop
    from flambeau.optim.sgd import SGD
    from flambeau.optim.sparse_adam import SparseAdam

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


if not TYPE_CHECKING:  # to checkers the names are those imported above, and no others
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
