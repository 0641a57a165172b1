"""Muon."""

from __future__ import annotations

from typing import Any

import flambeau
from flambeau.optim._groupwise import Group, GroupwiseOptimizer, State, check_lr, zeros_like
from flambeau.optim.optimizer import ParamsT

__all__ = ["Muon"]


class Muon(GroupwiseOptimizer):
    """Momentum whose step, a matrix, is made nearly orthogonal by Newton-Schulz iterations.

    Parameters
    ----------
    params : see `Optimizer`; matrices only
    lr : float >= 0
    weight_decay : float >= 0, decoupled
    momentum : float, the share of the running mean that is kept
    nesterov : look ahead by one step of the mean
    ns_coefficients : (a, b, c) of x -> a x + (b y + c y^2) x with y = x x^T
    eps : float, floor of the norm that the step is divided by first
    ns_steps : int, number of iterations
    adjust_lr_fn : None or "original", rate times sqrt(max(1, rows / columns));
        "match_rms_adamw", rate times 0.2 sqrt(max(rows, columns))

    State: "momentum_buffer". The iterations run in bfloat16.

    Source: Jordan et al. 2024 (Muon); Liu et al. 2025, arXiv:2502.16982.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        check_lr(lr)
        if not momentum >= 0.0:
            raise ValueError(f"momentum should be >= 0 but is: {momentum}")
        if not weight_decay >= 0.0:
            raise ValueError(f"weight decay should be >= 0 but is: {weight_decay}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(
                f"Adjust learning rate function {adjust_lr_fn} is not supported; "
                "it is None, 'original' or 'match_rms_adamw'"
            )
        super().__init__(
            params,
            {
                "lr": lr,
                "weight_decay": weight_decay,
                "momentum": momentum,
                "nesterov": nesterov,
                "ns_coefficients": ns_coefficients,
                "eps": eps,
                "ns_steps": ns_steps,
                "adjust_lr_fn": adjust_lr_fn,
            },
        )
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(
                        f"Muon only supports 2D parameters whereas we found a parameter with size: {tuple(p.shape)}"
                    )

    def _init_state(self, state: State, p: Any, group: Group) -> None:
        state["momentum_buffer"] = zeros_like(p)

    def _update(self, group: Group, p: Any, grad: Any, state: State) -> None:
        momentum, lr = group["momentum"], group["lr"]
        buffer = state["momentum_buffer"]
        buffer.lerp_(grad, 1 - momentum)
        update = grad.lerp(buffer, momentum) if group["nesterov"] else buffer
        update = orthogonalise(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
        p.mul_(1 - lr * group["weight_decay"])
        p.add_(update, alpha=-lr * _rate_factor(group["adjust_lr_fn"], *p.shape))


def orthogonalise(grad: Any, coefficients: tuple[float, float, float], steps: int, eps: float) -> Any:
    """Return the bfloat16 matrix with the singular vectors of `grad` and values near one."""
    a, b, c = coefficients
    x = grad.bfloat16()
    wide = grad.size(0) <= grad.size(1)
    x = x if wide else x.T
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        gram = x @ x.T
        x = flambeau.addmm(x, flambeau.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x if wide else x.T


def _rate_factor(rule: str | None, rows: int, cols: int) -> float:
    if rule == "match_rms_adamw":
        return 0.2 * float(max(rows, cols)) ** 0.5
    return max(1.0, rows / cols) ** 0.5
