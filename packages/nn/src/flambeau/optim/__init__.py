"""Optimizers, learning-rate schedulers and weight averaging. Each module is loaded on first use."""

from __future__ import annotations

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from flambeau.optim import adadelta as adadelta
    from flambeau.optim import adafactor as adafactor
    from flambeau.optim import adagrad as adagrad
    from flambeau.optim import adam as adam
    from flambeau.optim import adamax as adamax
    from flambeau.optim import asgd as asgd
    from flambeau.optim import lbfgs as lbfgs
    from flambeau.optim import lr_scheduler as lr_scheduler
    from flambeau.optim import nadam as nadam
    from flambeau.optim import optimizer as optimizer
    from flambeau.optim import radam as radam
    from flambeau.optim import rmsprop as rmsprop
    from flambeau.optim import rprop as rprop
    from flambeau.optim import sgd as sgd
    from flambeau.optim import sparse_adam as sparse_adam
    from flambeau.optim import swa_utils as swa_utils
    from flambeau.optim._muon import Muon as Muon
    from flambeau.optim._swap import swap_in_optimizer_params_and_state as swap_in_optimizer_params_and_state
    from flambeau.optim.adadelta import Adadelta as Adadelta
    from flambeau.optim.adafactor import Adafactor as Adafactor
    from flambeau.optim.adagrad import Adagrad as Adagrad
    from flambeau.optim.adam import Adam as Adam
    from flambeau.optim.adam import AdamW as AdamW
    from flambeau.optim.adamax import Adamax as Adamax
    from flambeau.optim.asgd import ASGD as ASGD
    from flambeau.optim.lbfgs import LBFGS as LBFGS
    from flambeau.optim.nadam import NAdam as NAdam
    from flambeau.optim.optimizer import Optimizer as Optimizer
    from flambeau.optim.radam import RAdam as RAdam
    from flambeau.optim.rmsprop import RMSprop as RMSprop
    from flambeau.optim.rprop import Rprop as Rprop
    from flambeau.optim.sgd import SGD as SGD
    from flambeau.optim.sparse_adam import SparseAdam as SparseAdam

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
