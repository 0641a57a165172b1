"""Adafactor."""

from __future__ import annotations

from typing import Any

import flambeau
from flambeau.optim._groupwise import Group, GroupwiseOptimizer, State, advance, check_lr, new_step, option
from flambeau.optim.optimizer import ParamsT

__all__ = ["Adafactor"]


class Adafactor(GroupwiseOptimizer):
    """Adaptive steps from the row and column means of the squared gradient: memory grows with rows + columns.

    rate = max(eps2, rms(p)) min(lr, 1 / sqrt(t)); v = outer(rows, columns) / mean(rows);
    u = g / sqrt(v);  p -= rate u / max(1, rms(u) / d)

    Parameters
    ----------
    params : see `Optimizer`
    lr : float or one-element Tensor, >= 0, the ceiling of the relative rate
    beta2_decay : float <= 0; the running means forget at the rate t^beta2_decay
    eps : (eps1, eps2); eps1 keeps v away from zero (None: the dtype's eps), eps2 the rate
    d : float >= 1, the ceiling of rms(u)
    weight_decay : float >= 0, decoupled
    foreach, maximize : see `Adam`

    State: "step"; "row_var" and "col_var" from two dims on, else "variance".

    Source: Shazeer, Stern 2018, arXiv:1804.04235.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        check_lr(lr)
        if not beta2_decay <= 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and not eps[0] >= 0.0:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if not eps[1] >= 0.0:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if not d >= 1.0:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not weight_decay >= 0.0:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        super().__init__(
            params,
            {
                "lr": lr,
                "beta2_decay": beta2_decay,
                "eps": eps,
                "d": d,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
            },
        )

    def _init_state(self, state: State, p: Any, group: Group) -> None:
        if p.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        state["step"] = new_step(group)
        if p.dim() > 1:
            state["row_var"] = p.new_zeros((*p.shape[:-1], 1))
            state["col_var"] = p.new_zeros((*p.shape[:-2], 1, p.shape[-1]))
        else:
            state["variance"] = flambeau.zeros_like(p, memory_format=flambeau.preserve_format)

    def _update(self, group: Group, p: Any, grad: Any, state: State) -> None:
        lr, (eps1, eps2) = option(group, group["lr"]), group["eps"]
        eps1 = flambeau.finfo(p.dtype).eps if eps1 is None else eps1
        t = advance(state)
        if group["maximize"]:
            grad = -grad
        forget = t ** group["beta2_decay"]
        rate = max(eps2, _rms(p)) * min(lr, 1 / t**0.5)
        if group["weight_decay"] != 0:
            p.mul_(1 - lr * group["weight_decay"])
        variance = _variance(state, grad, forget, eps1)
        update = variance.clamp(min=eps1 * eps1).rsqrt_().mul_(grad)
        p.add_(update, alpha=-rate / max(1.0, _rms(update) / group["d"]))


def _rms(x: Any) -> float:
    return float(x.norm(2).item()) / x.numel() ** 0.5


def _variance(state: State, grad: Any, forget: float, eps: float) -> Any:
    """Take the squared gradient into the running means and return the estimate they give."""
    if grad.dim() < 2:
        state["variance"].lerp_(grad.square(), forget)
        return state["variance"].clone()
    rows, cols = state["row_var"], state["col_var"]
    rows.lerp_(grad.norm(dim=-1, keepdim=True).square().div(grad.size(-1)), forget)
    cols.lerp_(grad.norm(dim=-2, keepdim=True).square().div(grad.size(-2)), forget)
    return (rows @ cols).div_(rows.mean(dim=-2, keepdim=True).clamp(min=eps))
