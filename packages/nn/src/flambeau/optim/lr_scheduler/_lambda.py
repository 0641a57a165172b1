"""Schedules given by functions of the epoch."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from flambeau.optim.lr_scheduler._base import LRScheduler
from flambeau.optim.optimizer import Optimizer

Lambdas = Callable[[int], float] | list[Callable[[int], float]]


class _ByFunctions(LRScheduler):
    def __init__(self, optimizer: Optimizer, lr_lambda: Lambdas, last_epoch: int = -1) -> None:
        self.optimizer = optimizer
        self.lr_lambdas = _one_per_group(optimizer, lr_lambda)
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """Return the state; of callable objects the attributes, of functions nothing."""
        hidden = ("optimizer", "lr_lambdas")
        state = {k: v for k, v in self.__dict__.items() if k not in hidden}
        state["lr_lambdas"] = [None if isinstance(f, types.FunctionType) else dict(f.__dict__) for f in self.lr_lambdas]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the state; functions stay those of this scheduler."""
        self.__dict__.update({k: v for k, v in state_dict.items() if k != "lr_lambdas"})
        for f, attributes in zip(self.lr_lambdas, state_dict["lr_lambdas"]):
            if attributes is not None:
                f.__dict__.update(attributes)


class LambdaLR(_ByFunctions):
    """initial rate * lr_lambda(epoch).

    Parameters
    ----------
    optimizer, last_epoch : see `LRScheduler`
    lr_lambda : a function, or one per group
    """

    def get_lr(self) -> list[Any]:
        self._warn_if_called_by_user()
        return [base * f(self.last_epoch) for f, base in zip(self.lr_lambdas, self.base_lrs)]


class MultiplicativeLR(_ByFunctions):
    """present rate * lr_lambda(epoch).

    Parameters
    ----------
    optimizer, last_epoch : see `LRScheduler`
    lr_lambda : a function, or one per group
    """

    def get_lr(self) -> list[Any]:
        self._warn_if_called_by_user()
        if self._is_initial:
            return self._unchanged()
        groups = self.optimizer.param_groups
        return [group["lr"] * f(self.last_epoch) for f, group in zip(self.lr_lambdas, groups)]


def _one_per_group(optimizer: Optimizer, lr_lambda: Lambdas) -> list[Callable[[int], float]]:
    n = len(getattr(optimizer, "param_groups", ()))
    if not isinstance(lr_lambda, (list, tuple)):
        return [lr_lambda] * n
    if len(lr_lambda) != n:
        raise ValueError(f"Expected {n} lr_lambdas, but got {len(lr_lambda)}")
    return list(lr_lambda)
