"""Several schedules on one optimizer, one after the other or together."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from flambeau.optim.lr_scheduler._base import LRScheduler, own_copy, set_value, values_of
from flambeau.optim.lr_scheduler._plateau import ReduceLROnPlateau
from flambeau.optim.optimizer import Optimizer


class _Composed(LRScheduler):
    """What the two have in common: the states of the parts are in the state."""

    _schedulers: Sequence[Any]

    def state_dict(self) -> dict[str, Any]:
        """Return the state with those of the parts, in order, under "_schedulers"."""
        hidden = ("optimizer", "_schedulers")
        state = {k: v for k, v in self.__dict__.items() if k not in hidden}
        state["_schedulers"] = [s.state_dict() for s in self._schedulers]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` returned."""
        own = {k: v for k, v in state_dict.items() if k != "_schedulers"}
        self.__dict__.update(own)
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"]):
            scheduler.load_state_dict(state)


class SequentialLR(_Composed):
    """schedulers[i] acts from milestones[i - 1] to milestones[i], and counts from zero there.

    Parameters
    ----------
    optimizer, last_epoch : see `LRScheduler`
    schedulers : at least one, all of `optimizer`
    milestones : increasing epochs, one fewer than schedulers
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: list[LRScheduler], milestones: list[int], last_epoch: int = -1
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError("SequentialLR expects at least one scheduler, but got no scheduler.")
        _check_parts("SequentialLR", schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than "
                f"the number of milestone points, but got number of schedulers {len(schedulers)} "
                f"and the number of milestones to be equal to {len(milestones)}"
            )
        self.optimizer = optimizer
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        # Every part took its first step when it was made; only that of the first one counts.
        for group in optimizer.param_groups:
            set_value(group, "lr", own_copy(group["initial_lr"]))
        for scheduler in schedulers:
            _take_back(scheduler)
        schedulers[0]._initial_step()
        self._last_lr = schedulers[0].get_last_lr()

    def step(self) -> None:  # type: ignore[override]
        """Go on by one epoch of the scheduler whose turn it is."""
        self.last_epoch += 1
        i = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[i]
        if i > 0 and self._milestones[i - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()

    def _update_lr(self, epoch: int | None = None) -> None:
        """Start anew as the next part of another SequentialLR."""
        self.last_epoch = 0 if epoch is None else epoch
        self._schedulers[0]._update_lr(epoch)
        self._last_lr = self._schedulers[0].get_last_lr()


class ChainedScheduler(_Composed):
    """All schedulers act in every step, each on the rates that the one before it left.

    Parameters
    ----------
    schedulers : at least one, all of one optimizer
    optimizer : that optimizer; by default, the one of the first scheduler
    """

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        if len(schedulers) < 1:
            raise ValueError("ChainedScheduler expects at least one scheduler to be chained, but got no scheduler.")
        optimizer = optimizer or schedulers[0].optimizer
        _check_parts("ChainedScheduler", schedulers, optimizer)
        self._schedulers = schedulers
        self.optimizer = optimizer
        self._last_lr = values_of(optimizer, "lr")

    def step(self) -> None:  # type: ignore[override]
        """Step every scheduler."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = values_of(self.optimizer, "lr")

    def _update_lr(self, epoch: int | None = None) -> None:
        """Start anew as the next part of a SequentialLR."""
        first, *others = self._schedulers
        first._update_lr(epoch)
        for scheduler in others:
            # In turn on the rates before it, as in the first step of each.
            scheduler.last_epoch = -1
            scheduler._initial_step()
        self._last_lr = values_of(self.optimizer, "lr")


def _check_parts(owner: str, schedulers: Sequence[Any], optimizer: Optimizer) -> None:
    for i, scheduler in enumerate(schedulers):
        kind = type(scheduler).__name__
        if not hasattr(scheduler, "optimizer"):
            raise TypeError(f"{owner} at index {i} should have `optimizer` as its attribute, but {kind} has none")
        if isinstance(scheduler, ReduceLROnPlateau):
            raise ValueError(
                f"{owner} does not support `ReduceLROnPlateau` scheduler as it requires additional "
                f"kwargs to be specified when calling `step`, but got one at index {i} in the given "
                "schedulers sequence."
            )
        if scheduler.optimizer is not optimizer:
            raise ValueError(
                f"{owner} expects all schedulers to belong to the same optimizer, but got scheduler "
                f"{kind} at index {i} with another {type(scheduler.optimizer).__name__}."
            )


def _take_back(scheduler: Any) -> None:
    """Undo the count of the first step; a composed scheduler stands for its parts."""
    if hasattr(scheduler, "_schedulers"):
        for part in scheduler._schedulers:
            _take_back(part)
    else:
        scheduler.last_epoch -= 1
