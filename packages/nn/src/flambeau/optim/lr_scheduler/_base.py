"""The base of the schedulers.

Note [Two forms of a schedule]
`get_lr` derives the next rate from the present one, so that several schedulers can act on one
optimizer. `_get_closed_form_lr`, where a scheduler has it, gives the rate of any epoch from
`base_lrs` alone; `step(epoch)` and the hand-over in `SequentialLR` use it.
"""

from __future__ import annotations

import warnings
from typing import Any

import flambeau
from flambeau.optim.optimizer import Optimizer

EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where "
    "possible. Please use `scheduler.step()` to step the scheduler. If epoch is different from "
    "None, the closed form is used instead of the chainable form, where available."
)


class LRScheduler:
    """Sets the learning rate of each group of an optimizer; subclasses give `get_lr`.

    Parameters
    ----------
    optimizer : its groups get the key "initial_lr"
    last_epoch : int, the epoch to resume after; -1 starts anew

    Raises
    ------
    TypeError  if `optimizer` is not an Optimizer
    KeyError   on resuming, if a group has no "initial_lr"
    """

    _is_initial: bool = False
    _get_lr_called_within_step: bool = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        if last_epoch == -1:
            for group in optimizer.param_groups:
                group.setdefault("initial_lr", own_copy(group["lr"]))
        else:
            for i, group in enumerate(optimizer.param_groups):
                if "initial_lr" not in group:
                    raise KeyError(
                        f"param 'initial_lr' is not specified in param_groups[{i}] when resuming "
                        f"scheduler with last_epoch >= 0. This typically happens when:\n"
                        "1. You're trying to resume training from a checkpoint but haven't loaded the optimizer state\n"
                        "2. You're using last_epoch >= 0 for a fresh training run (use last_epoch=-1)"
                    )
        self.base_lrs: list[Any] = values_of(optimizer, "initial_lr")
        self.last_epoch: int = last_epoch
        # What tells the user of a scheduler that steps before its optimizer; see `step`.
        optimizer._opt_called = False  # type: ignore[attr-defined]
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """Return everything but the optimizer, by reference."""
        return {k: v for k, v in self.__dict__.items() if k != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` returned; the optimizer's rates are in the optimizer's state."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Any]:
        """Return the rates that the last step set, one per group."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """Return the rates for `last_epoch`, one per group."""
        raise NotImplementedError(f"[{type(self).__name__}] does not define get_lr()")

    def step(self, epoch: int | None = None) -> None:
        """Go on by one epoch and set the rates; call it after the optimizer's step.

        Parameters
        ----------
        epoch : deprecated, the epoch to jump to
        """
        if self._step_count == 1 and not getattr(self.optimizer, "_opt_called", True):
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. Call them in the "
                "opposite order: `optimizer.step()` before `lr_scheduler.step()`; otherwise the "
                "first value of the learning rate schedule is skipped.",
                UserWarning,
                stacklevel=2,
            )
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        self._get_lr_called_within_step = True
        try:
            if epoch is None:
                self.last_epoch += 1
                values = self.get_lr()
            else:
                self.last_epoch = epoch
                closed = getattr(self, "_get_closed_form_lr", None)
                values = self.get_lr() if closed is None else closed()
        finally:
            self._get_lr_called_within_step = False
        for group, lr in zip(self.optimizer.param_groups, values):
            set_value(group, "lr", lr)
        self._last_lr: list[Any] = values_of(self.optimizer, "lr")

    def _warn_if_called_by_user(self) -> None:
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
                UserWarning,
                stacklevel=3,
            )

    def _scaled(self, factor: float) -> list[Any]:
        """Return the present rates times `factor`."""
        return [group["lr"] * factor for group in self.optimizer.param_groups]

    def _unchanged(self) -> list[Any]:
        return values_of(self.optimizer, "lr")


class _LRScheduler(LRScheduler):
    """The old name of `LRScheduler`."""


def own_copy(value: Any) -> Any:
    """Copy a tensor-valued rate, which is changed in place; numbers need no copy."""
    return value.clone() if isinstance(value, flambeau.Tensor) else value


def values_of(optimizer: Optimizer, key: str) -> list[Any]:
    """Return `key` of every group, tensors copied."""
    return [own_copy(group[key]) for group in optimizer.param_groups]


def set_value(group: dict[str, Any], key: str, value: Any) -> None:
    """Set group[key], in place where it is a tensor: graphs and kernels may hold on to it."""
    if isinstance(group[key], flambeau.Tensor):
        group[key].fill_(value)
    else:
        group[key] = value.item() if isinstance(value, flambeau.Tensor) else value


def per_group(optimizer: Optimizer, name: str, value: Any) -> list[Any]:
    """Return one value per group from a number or a sequence."""
    n = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [value] * n
    if len(value) != n:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. "
            f"{name} has {len(value)} values, param_groups has {n}."
        )
    return [own_copy(v) for v in value]
