"""Adam, and AdamW, which is Adam with the weight decay taken out of the gradient."""

from __future__ import annotations

from typing import Any

import flambeau
from flambeau.optim._groupwise import (
    Group,
    GroupwiseOptimizer,
    State,
    add_scaled_quotient,
    advance,
    check_betas,
    check_lr,
    check_not_negative,
    columns,
    decayed_or_shrunk,
    increment,
    kernel,
    new_step,
    option,
    scaling,
    zeros_like,
)
from flambeau.optim.optimizer import ParamsT

__all__ = ["Adam", "AdamW"]


class Adam(GroupwiseOptimizer):
    """Adam: steps scaled by running means of the gradient and of its square.

    m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;
    p -= lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps)

    Parameters
    ----------
    params : see `Optimizer`
    lr : float or one-element Tensor, >= 0
    betas : (b1, b2), both in [0, 1), both floats or both Tensors
    eps : float >= 0, added to the root
    weight_decay : float >= 0, added to the gradient as weight_decay * p
    amsgrad : divide by the largest v so far
    maximize : ascend instead
    decoupled_weight_decay : shrink p by lr * weight_decay instead of adding to the gradient
    fused : None, the C++ kernel where it applies; False, never; True, required
    foreach, capturable : accepted; the numbers are the same
    differentiable : let autograd record the step

    State: "step" (0-d), "exp_avg", "exp_avg_sq", and with amsgrad "max_exp_avg_sq", as p.

    Source: Kingma, Ba 2015, arXiv:1412.6980; Loshchilov, Hutter 2019, arXiv:1711.05101.
    """

    _SPARSE_HINT = ", please consider SparseAdam instead"

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        check_lr(lr, foreach, capturable)
        check_not_negative("epsilon", eps)
        check_betas(betas)
        _check_tensor_betas(betas, foreach, capturable)
        check_not_negative("weight_decay", weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "amsgrad": amsgrad,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "differentiable": differentiable,
                "fused": fused,
                "decoupled_weight_decay": decoupled_weight_decay,
            },
        )

    def _init_state(self, state: State, p: Any, group: Group) -> None:
        state["step"] = new_step(group)
        state["exp_avg"] = zeros_like(p)
        state["exp_avg_sq"] = zeros_like(p)
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = zeros_like(p)

    def _fused(self, group: Group, params: list[Any], grads: list[Any], states: list[State]) -> bool:
        decoupled = group["decoupled_weight_decay"]
        run = kernel("_fused_adamw_" if decoupled else "_fused_adam_")
        beta1, beta2 = group["betas"]
        if run is None or isinstance(beta1, flambeau.Tensor):
            return False
        steps, m, v = columns(states, "step", "exp_avg", "exp_avg_sq")
        amsgrad = group["amsgrad"]
        largest = columns(states, "max_exp_avg_sq")[0] if amsgrad else []
        increment(steps)
        run(
            params,
            grads,
            m,
            v,
            largest,
            steps,
            lr=group["lr"],
            beta1=beta1,
            beta2=beta2,
            weight_decay=group["weight_decay"],
            eps=group["eps"],
            amsgrad=amsgrad,
            maximize=group["maximize"],
            **scaling(self),
        )
        return True

    def _update(self, group: Group, p: Any, grad: Any, state: State) -> None:
        lr = option(group, group["lr"])
        beta1, beta2 = (option(group, b) for b in group["betas"])
        m, v = state["exp_avg"], state["exp_avg_sq"]
        t = advance(state)
        grad = decayed_or_shrunk(group, p, grad, lr)
        m.lerp_(grad, 1 - beta1)
        if isinstance(beta2, flambeau.Tensor):
            v.mul_(beta2).add_(grad * grad * (1 - beta2))
        else:
            v.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        if group["amsgrad"]:
            v = state["max_exp_avg_sq"].copy_(flambeau.maximum(state["max_exp_avg_sq"], v))
        root_correction = (1 - beta2**t) ** 0.5
        denom = (v.sqrt() / root_correction).add_(group["eps"])
        add_scaled_quotient(p, m, denom, -lr / (1 - beta1**t))


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameters by lr * weight_decay; see `Adam`."""

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        # An older checkpoint, or one of plain Adam, must not turn this into Adam.
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True


def _check_tensor_betas(betas: tuple[Any, Any], foreach: bool | None, capturable: bool) -> None:
    tensors = [isinstance(b, flambeau.Tensor) for b in betas]
    if any(tensors) and not all(tensors):
        raise ValueError("betas must be either both floats or both Tensors")
    for i, (beta, is_tensor) in enumerate(zip(betas, tensors)):
        if is_tensor and foreach and not capturable:
            raise ValueError(f"betas[{i}] as a Tensor is not supported for capturable=False and foreach=True")
        if is_tensor and beta.numel() != 1:
            raise ValueError(f"Tensor betas[{i}] must be 1-element")
