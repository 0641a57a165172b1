"""Averages of weights over training: stochastic weight averaging, and exponential means.

Source: Izmailov et al. 2018, arXiv:1803.05407.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

import flambeau
from flambeau.nn import Module
from flambeau.optim.lr_scheduler._base import LRScheduler, per_group
from flambeau.optim.optimizer import Optimizer

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]


def get_ema_avg_fn(decay: float = 0.999) -> Callable[..., Any]:
    """Return f(averaged, current, n) = decay * averaged + (1 - decay) * current."""
    _check_decay(decay)

    @flambeau.no_grad()
    def ema_update(ema_param: Any, current_param: Any, num_averaged: Any) -> Any:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[..., None]:
    """As `get_ema_avg_fn`, for lists of tensors, in place."""
    _check_decay(decay)

    @flambeau.no_grad()
    def ema_update(ema_params: list[Any], current_params: list[Any], num_averaged: Any) -> None:
        _move_towards(ema_params, current_params, 1 - decay)

    return ema_update


def get_swa_avg_fn() -> Callable[..., Any]:
    """Return f(averaged, current, n), the mean of n + 1 values from that of n."""

    @flambeau.no_grad()
    def swa_update(averaged_param: Any, current_param: Any, num_averaged: Any) -> Any:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


def get_swa_multi_avg_fn() -> Callable[..., None]:
    """As `get_swa_avg_fn`, for lists of tensors, in place."""

    @flambeau.no_grad()
    def swa_update(averaged: list[Any], current: list[Any], num_averaged: Any) -> None:
        _move_towards(averaged, current, 1 / (float(num_averaged) + 1))

    return swa_update


class AveragedModel(Module):
    """A copy of a model whose parameters are an average over those of the model.

    Parameters
    ----------
    model : Module, copied
    device : where the copy goes, optional
    avg_fn : f(averaged, current, n) -> new average of one tensor, optional
    multi_avg_fn : f(averaged, current, n), on lists, in place, optional; by default the plain mean
    use_buffers : average the buffers too, instead of copying them
    """

    n_averaged: Any

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Callable[..., Any] | None = None,
        multi_avg_fn: Callable[..., Any] | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", flambeau.tensor(0, dtype=flambeau.long, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Run the averaged model."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take the present parameters of `model` into the average."""
        own, new = (_tensors(m, self.use_buffers) for m in (self.module, model))
        new = [n.detach().to(o.device) for o, n in zip(own, new)]
        if self.n_averaged == 0:
            for o, n in zip(own, new):
                o.copy_(n)
        elif self.avg_fn is not None:
            for o, n in zip(own, new):
                o.copy_(self.avg_fn(o, n, self.n_averaged.to(o.device)))
        elif own:
            (self.multi_avg_fn or get_swa_multi_avg_fn())(own, new, self.n_averaged)
        if not self.use_buffers:
            for b, n in zip(self.module.buffers(), model.buffers()):
                b.detach().copy_(n.detach().to(b.device))
        self.n_averaged += 1


@flambeau.no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Compute the running statistics of all batch norms anew, as the mean over `loader`.

    Parameters
    ----------
    loader : gives batches, or lists and tuples whose first item is one
    model : run in training mode; its mode is restored
    device : where batches go before they enter the model, optional
    """
    momenta = {
        m: m.momentum
        for m in model.modules()
        if hasattr(m, "running_mean")
        and hasattr(m, "momentum")
        and getattr(m, "track_running_stats", False)
        and hasattr(m, "reset_running_stats")
    }
    if not momenta:
        return
    was_training = model.training
    for m in momenta:
        m.reset_running_stats()
        # None: the plain mean over all batches.
        m.momentum = None
    model.train()
    for batch in loader:
        if isinstance(batch, (list, tuple)):
            batch = batch[0]
        model(batch if device is None else batch.to(device))
    for m, momentum in momenta.items():
        m.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Move the rate of each group to `swa_lr` within `anneal_epochs`, and keep it there.

    Parameters
    ----------
    optimizer, last_epoch : see `LRScheduler`
    swa_lr : float, or one per group
    anneal_epochs : int >= 0
    anneal_strategy : "cos" or "linear"
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | list[float],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        rates = per_group(optimizer, "swa_lr", swa_lr)
        for rate, group in zip(rates, optimizer.param_groups):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_strategy = anneal_strategy
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_if_called_by_user()
        before, now = (self._share(e) for e in (self._step_count - 2, self._step_count - 1))
        rates = []
        for group in self.optimizer.param_groups:
            lr, target = group["lr"], group["swa_lr"]
            # The present rate is a mix of the first one and the target; undo it.
            first = lr if before == 1 else (lr - before * target) / (1 - before)
            rates.append(target * now + first * (1 - now))
        return rates

    def _share(self, epoch: int) -> float:
        """Return how much of the target the rate of `epoch` is made of, in [0, 1]."""
        if self.anneal_epochs == 0:
            part = 1.0 if epoch >= 0 else 0.0
        else:
            part = max(0.0, min(1.0, epoch / self.anneal_epochs))
        return part if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * part)) / 2


def _tensors(model: Module, with_buffers: bool) -> list[Any]:
    found = itertools.chain(model.parameters(), model.buffers() if with_buffers else ())
    return [t.detach() for t in found]


def _move_towards(averaged: list[Any], current: list[Any], share: float) -> None:
    """averaged += share * (current - averaged), in place; integers are rounded towards zero."""
    for a, c in zip(averaged, current):
        if a.is_floating_point() or a.is_complex():
            a.lerp_(c.to(a.dtype), share)
        else:
            a.copy_(a + (c - a) * share)


def _check_decay(decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")
