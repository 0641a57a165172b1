"""Momentum that goes up where the rate goes down, for the cyclic schedules."""

from __future__ import annotations

from typing import Any

from flambeau.optim.optimizer import Optimizer


def uses_beta1(optimizer: Optimizer) -> bool:
    """True if the momentum is the first of "betas"; an error if there is no momentum at all."""
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
    return "betas" in optimizer.defaults


def set_momentum(group: dict[str, Any], value: float, beta1: bool) -> None:
    if beta1:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value
