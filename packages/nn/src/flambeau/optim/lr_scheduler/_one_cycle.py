"""The one-cycle schedule. Source: Smith, Topin 2018, arXiv:1708.07120."""

from __future__ import annotations

import math
from typing import Any

from flambeau.optim.lr_scheduler._base import LRScheduler, own_copy, per_group
from flambeau.optim.lr_scheduler._momentum import set_momentum, uses_beta1
from flambeau.optim.optimizer import Optimizer


class OneCycleLR(LRScheduler):
    """Up from max_lr / div_factor to max_lr, then down to a tiny rate; stepped after every batch.

    Parameters
    ----------
    optimizer, last_epoch : see `LRScheduler`
    max_lr : the peak, or one per group
    total_steps : int; or `epochs` and `steps_per_epoch`, whose product it is
    pct_start : float in [0, 1], share of the steps that go up
    anneal_strategy : "cos" or "linear"
    cycle_momentum : move the momentum against the rate
    base_momentum, max_momentum : its bounds, or one of each per group
    div_factor : initial rate is max_lr / div_factor
    final_div_factor : last rate is the initial one / final_div_factor
    three_phase : go down to the initial rate as fast as up, then to the last rate
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        self.total_steps = _total_steps(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, (int, float)) or not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_func_type = anneal_strategy
        peaks = per_group(optimizer, "max_lr", max_lr)
        if last_epoch == -1:
            for group, peak in zip(optimizer.param_groups, peaks):
                group["initial_lr"] = peak / div_factor
                group["max_lr"] = peak
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = uses_beta1(optimizer)
            lows = per_group(optimizer, "base_momentum", base_momentum)
            highs = per_group(optimizer, "max_momentum", max_momentum)
            if last_epoch == -1:
                for low, high, group in zip(lows, highs, optimizer.param_groups):
                    set_momentum(group, high, self.use_beta1)
                    group["max_momentum"] = high
                    group["base_momentum"] = low
        super().__init__(optimizer, last_epoch)

    def _anneal_func(self, start: Any, end: Any, part: float) -> Any:
        if self._anneal_func_type == "cos":
            return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)
        return (end - start) * part + start

    def get_lr(self) -> list[Any]:
        """Return the rates; sets the momentum on the way, as the two move together."""
        self._warn_if_called_by_user()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is {self.total_steps}")
        phase, part = self._phase_of(step)
        rates = []
        for group in self.optimizer.param_groups:
            start, end = group[phase["start_lr"]], group[phase["end_lr"]]
            rates.append(own_copy(self._anneal_func(start, end, part)))
            if self.cycle_momentum:
                start, end = group[phase["start_momentum"]], group[phase["end_momentum"]]
                set_momentum(group, self._anneal_func(start, end, part), self.use_beta1)
        return rates

    def _phase_of(self, step: int) -> tuple[dict[str, Any], float]:
        """Return the phase that `step` is in, and how much of it has passed."""
        start = 0.0
        for phase in self._schedule_phases[:-1]:
            if step <= phase["end_step"]:
                break
            start = phase["end_step"]
        else:
            phase = self._schedule_phases[-1]
        return phase, (step - start) / (phase["end_step"] - start)


def _total_steps(total: int | None, epochs: int | None, per_epoch: int | None) -> int:
    if total is None and (epochs is None or per_epoch is None):
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    counts = {"total_steps": total} if total is not None else {"epochs": epochs, "steps_per_epoch": per_epoch}
    result = 1
    for name, value in counts.items():
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {value}")
        result *= value
    return result


def _phases(total: int, pct_start: float, three_phase: bool) -> list[dict[str, Any]]:
    def phase(end_step: float, lr: tuple[str, str], momentum: tuple[str, str]) -> dict[str, Any]:
        return {
            "end_step": end_step,
            "start_lr": lr[0],
            "end_lr": lr[1],
            "start_momentum": momentum[0],
            "end_momentum": momentum[1],
        }

    top = float(pct_start * total) - 1
    up = phase(top, ("initial_lr", "max_lr"), ("max_momentum", "base_momentum"))
    if not three_phase:
        return [up, phase(total - 1, ("max_lr", "min_lr"), ("base_momentum", "max_momentum"))]
    down_end = float(2 * pct_start * total) - 2
    down = phase(down_end, ("max_lr", "initial_lr"), ("base_momentum", "max_momentum"))
    return [up, down, phase(total - 1, ("initial_lr", "min_lr"), ("max_momentum", "max_momentum"))]
