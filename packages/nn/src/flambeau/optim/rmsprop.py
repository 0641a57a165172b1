"""RMSprop."""

from __future__ import annotations

from typing import Any

from flambeau.optim._groupwise import (
    Group,
    GroupwiseOptimizer,
    State,
    add_scaled,
    add_scaled_quotient,
    advance,
    check_lr,
    check_not_negative,
    columns,
    decayed,
    increment,
    kernel,
    new_step,
    option,
    zeros_like,
)
from flambeau.optim.optimizer import ParamsT

__all__ = ["RMSprop"]


class RMSprop(GroupwiseOptimizer):
    """Divide the gradient by the root of the running mean of its square.

    v = alpha v + (1 - alpha) g^2;  p -= lr g / (sqrt(v) + eps)

    Parameters
    ----------
    params : see `Optimizer`
    lr : float or one-element Tensor, >= 0
    alpha : float >= 0, how much of the running mean is kept
    eps : float >= 0, added to the root
    weight_decay : float >= 0, added to the gradient
    momentum : float >= 0; the quotients are summed up in a buffer that keeps this share
    centered : subtract the square of the running mean of the gradient under the root
    capturable, foreach, maximize, differentiable : see `Adam`

    State: "step", "square_avg"; "momentum_buffer" and "grad_avg" where used.

    Source: Tieleman, Hinton 2012 (lecture 6.5); centered: Graves 2013, arXiv:1308.0850.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr, foreach, capturable)
        check_not_negative("epsilon", eps)
        check_not_negative("momentum", momentum)
        check_not_negative("weight_decay", weight_decay)
        check_not_negative("alpha", alpha)
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "alpha": alpha,
                "eps": eps,
                "centered": centered,
                "weight_decay": weight_decay,
                "capturable": capturable,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
            },
        )

    def _init_state(self, state: State, p: Any, group: Group) -> None:
        state["step"] = new_step(group)
        state["square_avg"] = zeros_like(p)
        if group["momentum"] > 0:
            state["momentum_buffer"] = zeros_like(p)
        if group["centered"]:
            state["grad_avg"] = zeros_like(p)

    def _fused(self, group: Group, params: list[Any], grads: list[Any], states: list[State]) -> bool:
        # torch has no such kernel; this one is ours.
        run = kernel("_fused_rmsprop_")
        if run is None:
            return False
        steps, square_avgs = columns(states, "step", "square_avg")
        momentum, centered = group["momentum"], group["centered"]
        increment(steps)
        run(
            params,
            grads,
            square_avgs,
            columns(states, "grad_avg")[0] if centered else [],
            columns(states, "momentum_buffer")[0] if momentum > 0 else [],
            lr=group["lr"],
            alpha=group["alpha"],
            eps=group["eps"],
            weight_decay=group["weight_decay"],
            momentum=momentum,
            centered=centered,
            maximize=group["maximize"],
        )
        return True

    def _update(self, group: Group, p: Any, grad: Any, state: State) -> None:
        lr, alpha = option(group, group["lr"]), group["alpha"]
        advance(state)
        grad = decayed(group, p, grad)
        square_avg = state["square_avg"]
        square_avg.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"]
            mean.lerp_(grad, 1 - alpha)
            root = square_avg.addcmul(mean, mean, value=-1).sqrt_()
        else:
            root = square_avg.sqrt()
        # Out of place where autograd needs the root itself for its gradient.
        denom = root.add(group["eps"]) if group["differentiable"] else root.add_(group["eps"])
        if group["momentum"] > 0:
            buffer = state["momentum_buffer"]
            buffer.mul_(group["momentum"]).addcdiv_(grad, denom)
            add_scaled(p, buffer, -lr)
        else:
            add_scaled_quotient(p, grad, denom, -lr)
