"""Averaged stochastic gradient descent."""

from __future__ import annotations

from typing import Any

import flambeau
from flambeau.optim._groupwise import (
    Group,
    GroupwiseOptimizer,
    State,
    add_scaled,
    advance,
    check_lr,
    check_not_negative,
    decayed,
    new_step,
    option,
    scalar_dtype,
    zeros_like,
)
from flambeau.optim.optimizer import ParamsT

__all__ = ["ASGD"]


class ASGD(GroupwiseOptimizer):
    """Gradient descent with a decaying rate that also keeps the mean of the parameters.

    p = (1 - lambd eta) p - eta g;  eta = lr / (1 + lambd lr t)^alpha;
    ax += (p - ax) / max(1, t - t0)

    Parameters
    ----------
    params : see `Optimizer`
    lr : float or one-element Tensor, >= 0
    lambd : float, the decay of parameters and rate
    alpha : float, the power of the rate's decay
    t0 : float, the step from which on the mean is taken
    weight_decay : float >= 0, added to the gradient
    foreach, maximize, differentiable, capturable : see `Adam`

    State: "step", "eta", "mu" (0-d), "ax" (the mean).

    Source: Polyak, Juditsky 1992 (SIAM J. Control Optim. 30); rates of Bottou 2012.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr, foreach, capturable)
        check_not_negative("weight_decay", weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "lambd": lambd,
                "alpha": alpha,
                "t0": t0,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

    def _init_state(self, state: State, p: Any, group: Group) -> None:
        dtype = scalar_dtype()
        state["step"] = new_step(group)
        state["eta"] = flambeau.tensor(float(group["lr"]), dtype=dtype)
        state["mu"] = flambeau.ones((), dtype=dtype)
        state["ax"] = zeros_like(p)

    def _update(self, group: Group, p: Any, grad: Any, state: State) -> None:
        lambd = group["lambd"]
        t = advance(state)
        grad = decayed(group, p, grad)
        eta, mu, mean = state["eta"].item(), state["mu"].item(), state["ax"]
        p.mul_(1 - lambd * eta)
        add_scaled(p, grad, -eta)
        if mu == 1:
            mean.copy_(p)
        else:
            mean.add_(p.sub(mean).mul(mu))
        lr = float(option(group, group["lr"]))
        state["eta"].fill_(lr / (1 + lambd * lr * t) ** group["alpha"])
        state["mu"].fill_(1 / max(1, t - group["t0"]))
