"""Cyclic rates. Source: Smith 2017, arXiv:1506.01186."""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from typing import Any

from flambeau.optim.lr_scheduler._base import LRScheduler, per_group, set_value
from flambeau.optim.lr_scheduler._momentum import set_momentum, uses_beta1
from flambeau.optim.optimizer import Optimizer

_MODES = ("triangular", "triangular2", "exp_range")


class CyclicLR(LRScheduler):
    """Up and down between two rates in straight lines, stepped after every batch.

    Parameters
    ----------
    optimizer, last_epoch : see `LRScheduler`
    base_lr, max_lr : the two rates, or one of each per group
    step_size_up, step_size_down : steps of the two halves; equal by default
    mode : "triangular", "triangular2" (half the height each cycle), "exp_range" (gamma ** step)
    gamma : float, for "exp_range"
    scale_fn : own factor of the height, a function of the cycle or the step; `mode` is then ignored
    scale_mode : "cycle" or "iterations", what `scale_fn` is a function of
    cycle_momentum : move the momentum against the rate
    base_momentum, max_momentum : its bounds, or one of each per group
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.8,
        max_momentum: float | list[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        base_lrs = per_group(optimizer, "base_lr", base_lr)
        if last_epoch == -1:
            for lr, group in zip(base_lrs, optimizer.param_groups):
                set_value(group, "lr", lr)
        self.max_lrs = per_group(optimizer, "max_lr", max_lr)
        up = float(step_size_up)
        down = float(step_size_down) if step_size_down is not None else up
        self.total_size = up + down
        self.step_ratio = up / self.total_size
        if mode not in _MODES and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._init_momentum(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _init_momentum(self, base: Any, largest: Any, last_epoch: int) -> None:
        self.use_beta1 = uses_beta1(self.optimizer)
        self.base_momentums = per_group(self.optimizer, "base_momentum", base)
        self.max_momentums = per_group(self.optimizer, "max_momentum", largest)
        if last_epoch != -1:
            return
        groups = self.optimizer.param_groups
        for high, low, group in zip(self.max_momentums, self.base_momentums, groups):
            set_momentum(group, high, self.use_beta1)
            group["max_momentum"] = high
            group["base_momentum"] = low

    def scale_fn(self, x: float) -> float:
        """Return the factor of the height in cycle, or at step, `x`."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        if self.mode == "triangular2":
            return 1 / (2.0 ** (x - 1))
        return self.gamma**x

    def get_lr(self) -> list[Any]:
        """Return the rates; sets the momentum on the way, as the two move together."""
        self._warn_if_called_by_user()
        position = 1 + self.last_epoch / self.total_size
        cycle = math.floor(position)
        x = position - cycle
        ratio = self.step_ratio
        height = x / ratio if x <= ratio else (x - 1) / (ratio - 1)
        height *= self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            groups = self.optimizer.param_groups
            for low, high, group in zip(self.base_momentums, self.max_momentums, groups):
                set_momentum(group, high - (high - low) * height, self.use_beta1)
        return [low + (high - low) * height for low, high in zip(self.base_lrs, self.max_lrs)]

    def state_dict(self) -> dict[str, Any]:
        """Return the state; of a `scale_fn` object the attributes, of a function nothing."""
        state = super().state_dict()
        own = state.pop("_scale_fn_custom")
        has_attributes = own is not None and not isinstance(own, types.FunctionType)
        state["_scale_fn_custom"] = dict(own.__dict__) if has_attributes else None
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the state; a `scale_fn` function stays that of this scheduler."""
        state = dict(state_dict)
        attributes = state.pop("_scale_fn_custom", None)
        super().load_state_dict(state)
        if attributes is not None and self._scale_fn_custom is not None:
            self._scale_fn_custom.__dict__.update(attributes)
