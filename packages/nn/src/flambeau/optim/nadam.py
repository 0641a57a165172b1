"""NAdam."""

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
    check_not_negative,
    decayed_or_shrunk,
    new_step,
    option,
    scalar_dtype,
    zeros_like,
)
from flambeau.optim.optimizer import ParamsT

__all__ = ["NAdam"]


class NAdam(GroupwiseOptimizer):
    """Adam with Nesterov momentum.

    u_t = b1 (1 - 0.96^(t momentum_decay) / 2); m, v as in Adam; d = sqrt(v / (1 - b2^t)) + eps;
    p -= lr ((1 - u_t) g / (1 - prod u) + u_{t+1} m / (1 - u_{t+1} prod u)) / d

    Parameters
    ----------
    params : see `Optimizer`
    momentum_decay : float >= 0
    lr, betas, eps, weight_decay, decoupled_weight_decay, ... : see `Adam`

    State: "step", "mu_product" (0-d), "exp_avg", "exp_avg_sq".

    Source: Dozat 2016 (ICLR workshop).
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_adam_options(lr, betas, eps, weight_decay, foreach, capturable)
        check_not_negative("momentum_decay", momentum_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "momentum_decay": momentum_decay,
                "decoupled_weight_decay": decoupled_weight_decay,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "differentiable": differentiable,
            },
        )

    def _init_state(self, state: State, p: Any, group: Group) -> None:
        state["step"] = new_step(group)
        state["mu_product"] = flambeau.ones((), dtype=scalar_dtype())
        state["exp_avg"] = zeros_like(p)
        state["exp_avg_sq"] = zeros_like(p)

    def _update(self, group: Group, p: Any, grad: Any, state: State) -> None:
        lr = option(group, group["lr"])
        beta1, beta2 = group["betas"]
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        t = advance(state)
        grad = decayed_or_shrunk(group, p, grad, lr)
        mu, mu_next = (beta1 * (1.0 - 0.5 * 0.96 ** (s * group["momentum_decay"])) for s in (t, t + 1))
        state["mu_product"] *= mu
        product = state["mu_product"].item()
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        denom = square.div(1 - beta2**t).sqrt().add(group["eps"])
        add_scaled_quotient(p, grad, denom, -lr * (1.0 - mu) / (1.0 - product))
        add_scaled_quotient(p, mean, denom, -lr * mu_next / (1.0 - product * mu_next))
