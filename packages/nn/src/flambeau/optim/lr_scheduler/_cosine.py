"""Cosine schedules. Source: Loshchilov, Hutter 2017, arXiv:1608.03983."""

from __future__ import annotations

import math
from typing import Any

from flambeau.optim.lr_scheduler._base import LRScheduler
from flambeau.optim.optimizer import Optimizer


class CosineAnnealingLR(LRScheduler):
    """Half a cosine from the initial rate to `eta_min` in `T_max` epochs, and back again after that."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_if_called_by_user()
        epoch, period, low = self.last_epoch, self.T_max, self.eta_min
        if self._is_initial:
            return self._unchanged()
        if self._step_count == 1 and epoch > 0:
            return self._get_closed_form_lr()
        groups = self.optimizer.param_groups
        if (epoch - 1 - period) % (2 * period) == 0:
            # The quotient below would be 0 / 0: the epoch before was at the bottom.
            rise = (1 - math.cos(math.pi / period)) / 2
            return [g["lr"] + (base - low) * rise for base, g in zip(self.base_lrs, groups)]
        now, before = (1 + math.cos(math.pi * e / period) for e in (epoch, epoch - 1))
        return [now / before * (g["lr"] - low) + low for g in groups]

    def _get_closed_form_lr(self) -> list[Any]:
        height = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine down to `eta_min`, again and again; each run `T_mult` times as long as the last.

    `step` takes fractional epochs: `scheduler.step(epoch + i / iterations)`.
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_if_called_by_user()
        height = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Go on by one epoch, or to the (fractional) `epoch`."""
        self._update_lr(epoch)

    def _update_lr(self, epoch: float | None = None) -> None:
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        else:
            if epoch < 0:
                raise ValueError(f"Expected non-negative epoch, but got {epoch}")
            self._place(epoch)
        super()._update_lr(math.floor(epoch))

    def _place(self, epoch: float) -> None:
        """Find the run that `epoch` falls in."""
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_i, self.T_cur = self.T_0, epoch % self.T_0
        else:
            run = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            start = self.T_0 * (self.T_mult**run - 1) / (self.T_mult - 1)
            self.T_cur = epoch - start
            self.T_i = self.T_0 * self.T_mult**run
