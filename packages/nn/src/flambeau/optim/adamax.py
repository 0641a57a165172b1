"""Adamax."""

from __future__ import annotations

from typing import Any

import flambeau
from flambeau.optim._groupwise import (
    Group,
    GroupwiseOptimizer,
    State,
    add_scaled_quotient,
    advance,
    check_adam_options,
    decayed,
    new_step,
    option,
    zeros_like,
)
from flambeau.optim.optimizer import ParamsT

__all__ = ["Adamax"]


class Adamax(GroupwiseOptimizer):
    """Adam with the largest decayed magnitude in place of the root mean square.

    m = b1 m + (1 - b1) g;  u = max(b2 u, |g| + eps);  p -= lr / (1 - b1^t) m / u

    Parameters
    ----------
    params : see `Optimizer`
    lr, betas, eps, weight_decay, foreach, maximize, differentiable, capturable : see `Adam`

    State: "step", "exp_avg", "exp_inf".

    Source: Kingma, Ba 2015, arXiv:1412.6980, section 7.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_adam_options(lr, betas, eps, weight_decay, foreach, capturable)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

    def _init_state(self, state: State, p: Any, group: Group) -> None:
        state["step"] = new_step(group)
        state["exp_avg"] = zeros_like(p)
        state["exp_inf"] = zeros_like(p)

    def _update(self, group: Group, p: Any, grad: Any, state: State) -> None:
        beta1, beta2 = group["betas"]
        t = advance(state)
        grad = decayed(group, p, grad)
        mean, largest = state["exp_avg"], state["exp_inf"]
        mean.lerp_(grad, 1 - beta1)
        largest.copy_(flambeau.maximum(largest.mul(beta2), grad.abs().add(group["eps"])))
        add_scaled_quotient(p, mean, largest, -option(group, group["lr"]) / (1 - beta1**t))
