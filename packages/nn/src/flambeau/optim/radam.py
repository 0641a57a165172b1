"""RAdam."""

from __future__ import annotations

from typing import Any

from flambeau.optim._groupwise import (
    Group,
    GroupwiseOptimizer,
    State,
    add_scaled,
    advance,
    check_adam_options,
    decayed_or_shrunk,
    new_step,
    option,
    zeros_like,
)
from flambeau.optim.optimizer import ParamsT

__all__ = ["RAdam"]


class RAdam(GroupwiseOptimizer):
    """Adam that steps by plain momentum until the variance of its scaling is known well enough.

    rho_inf = 2 / (1 - b2) - 1;  rho = rho_inf - 2 t b2^t / (1 - b2^t).  Where rho > 5 the step is
    that of Adam times sqrt((rho-4)(rho-2)rho_inf / ((rho_inf-4)(rho_inf-2)rho)); else p -= lr m / (1 - b1^t).

    Parameters
    ----------
    params : see `Optimizer`
    lr, betas, eps, weight_decay, decoupled_weight_decay, ... : see `Adam`

    State: "step", "exp_avg", "exp_avg_sq".

    Source: Liu et al. 2020, arXiv:1908.03265, with eps added to the root.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_adam_options(lr, betas, eps, weight_decay, foreach, capturable)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "decoupled_weight_decay": decoupled_weight_decay,
                "differentiable": differentiable,
            },
        )

    def _init_state(self, state: State, p: Any, group: Group) -> None:
        state["step"] = new_step(group)
        state["exp_avg"] = zeros_like(p)
        state["exp_avg_sq"] = zeros_like(p)

    def _update(self, group: Group, p: Any, grad: Any, state: State) -> None:
        lr = option(group, group["lr"])
        beta1, beta2 = group["betas"]
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        t = advance(state)
        grad = decayed_or_shrunk(group, p, grad, lr)
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        step = mean / (1 - beta1**t)
        rectify = _rectification(beta2, t)
        if rectify is not None:
            root_correction = (1 - beta2**t) ** 0.5
            step = step * (root_correction / square.sqrt().add(group["eps"])) * rectify
        add_scaled(p, step, -lr)


def _rectification(beta2: float, t: float) -> float | None:
    """Factor of the adaptive step, or None while the variance is not tractable."""
    longest = 2 / (1 - beta2) - 1
    length = longest - 2 * t * beta2**t / (1 - beta2**t)
    if length <= 5.0:
        return None
    ratio = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
    return float(ratio**0.5)
