"""Rprop."""

from __future__ import annotations

from typing import Any

import flambeau
from flambeau.optim._groupwise import (
    Group,
    GroupwiseOptimizer,
    State,
    advance,
    check_lr,
    new_step,
    option,
    zeros_like,
)
from flambeau.optim.optimizer import ParamsT

__all__ = ["Rprop"]


class Rprop(GroupwiseOptimizer):
    """Resilient propagation: only the sign of the gradient counts.

    Each element has its own step size, grown by etas[1] while the sign stays and shrunk by
    etas[0] when it changes; after a change the element rests for one step.

    Parameters
    ----------
    params : see `Optimizer`
    lr : float or one-element Tensor, >= 0, the first step size
    etas : (shrink, grow) with 0 < shrink < 1 < grow
    step_sizes : (smallest, largest)
    capturable, foreach, maximize, differentiable : see `Adam`

    State: "step", "prev" (the last gradient), "step_size".

    Source: Riedmiller, Braun 1993 (ICNN), without weight backtracking.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr, foreach, capturable)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(
            params,
            {
                "lr": lr,
                "etas": etas,
                "step_sizes": step_sizes,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

    def _init_state(self, state: State, p: Any, group: Group) -> None:
        lr = option(group, group["lr"])
        state["step"] = new_step(group)
        state["prev"] = zeros_like(p)
        # Both parts of a complex parameter start from lr.
        first = complex(lr, lr) if p.is_complex() else lr
        state["step_size"] = flambeau.full_like(p, first)

    def _update(self, group: Group, p: Any, grad: Any, state: State) -> None:
        shrink, grow = group["etas"]
        smallest, largest = group["step_sizes"]
        advance(state)
        if group["maximize"]:
            grad = -grad
        agreement = grad * state["prev"]
        factor = flambeau.ones_like(grad)
        factor.masked_fill_(agreement > 0, grow).masked_fill_(agreement < 0, shrink)
        step_size = state["step_size"]
        step_size.mul_(factor).clamp_(smallest, largest)
        grad = grad.masked_fill(agreement < 0, 0)
        p.addcmul_(grad.sign(), step_size, value=-1)
        state["prev"].copy_(grad)
