"""Adadelta."""

from __future__ import annotations

from typing import Any

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
    zeros_like,
)
from flambeau.optim.optimizer import ParamsT

__all__ = ["Adadelta"]


class Adadelta(GroupwiseOptimizer):
    """Scale each step by the root mean square of the steps before it over that of the gradients.

    v = rho v + (1 - rho) g^2;  d = sqrt(a + eps) / sqrt(v + eps) g;
    a = rho a + (1 - rho) d^2;  p -= lr d

    Parameters
    ----------
    params : see `Optimizer`
    lr : float or one-element Tensor, >= 0
    rho : float in [0, 1], how much of the running means is kept
    eps : float >= 0, added under the roots
    weight_decay : float >= 0, added to the gradient
    foreach, capturable, maximize, differentiable : see `Adam`

    State: "step", "square_avg", "acc_delta".

    Source: Zeiler 2012, arXiv:1212.5701.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr, foreach, capturable)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_not_negative("epsilon", eps)
        check_not_negative("weight_decay", weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "rho": rho,
                "eps": eps,
                "weight_decay": weight_decay,
                "maximize": maximize,
                "capturable": capturable,
                "foreach": foreach,
                "differentiable": differentiable,
            },
        )

    def _init_state(self, state: State, p: Any, group: Group) -> None:
        state["step"] = new_step(group)
        state["square_avg"] = zeros_like(p)
        state["acc_delta"] = zeros_like(p)

    def _update(self, group: Group, p: Any, grad: Any, state: State) -> None:
        rho, eps = group["rho"], group["eps"]
        advance(state)
        grad = decayed(group, p, grad)
        square_avg, acc_delta = state["square_avg"], state["acc_delta"]
        square_avg.mul_(rho).addcmul_(grad, grad, value=1 - rho)
        delta = acc_delta.add(eps).sqrt() / square_avg.add(eps).sqrt() * grad
        acc_delta.mul_(rho).addcmul_(delta, delta, value=1 - rho)
        add_scaled(p, delta, -option(group, group["lr"]))
