"""Stochastic gradient descent, with momentum."""

from __future__ import annotations

from typing import Any

import flambeau
from flambeau.optim._groupwise import (
    Group,
    GroupwiseOptimizer,
    add_scaled,
    any_sparse,
    check_lr,
    check_not_negative,
    decayed,
    kernel,
    option,
    scaling,
    wants_fused,
    with_gradients,
)
from flambeau.optim.optimizer import ParamsT

__all__ = ["SGD"]


class SGD(GroupwiseOptimizer):
    """Gradient descent: b = momentum b + (1 - dampening) g;  p -= lr b.

    The first b is g itself. With `nesterov` the step is g + momentum b.

    Parameters
    ----------
    params : see `Optimizer`
    lr : float or one-element Tensor, >= 0
    momentum, dampening : float; momentum >= 0
    weight_decay : float >= 0, added to the gradient as weight_decay * p
    nesterov : needs momentum > 0 and dampening = 0
    maximize, foreach, differentiable, fused : see `Adam`

    State: "momentum_buffer", as p, only with momentum. Sparse gradients are taken.

    Source: Sutskever, Martens, Dahl, Hinton 2013 (ICML), with the learning rate outside b.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr, foreach)
        check_not_negative("momentum", momentum)
        check_not_negative("weight_decay", weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "dampening": dampening,
                "weight_decay": weight_decay,
                "nesterov": nesterov,
                "maximize": maximize,
                "foreach": foreach,
                "differentiable": differentiable,
                "fused": fused,
            },
        )

    def _update_group(self, group: Group) -> None:
        params, grads = with_gradients(group["params"])
        if not params:
            return
        run = kernel("_fused_sgd_")
        if run is not None and wants_fused(group, params) and not any_sparse(grads):
            self._run_kernel(run, group, params, grads)
            return
        for p, grad in zip(params, grads):
            self._update_one(group, p, grad)

    def _run_kernel(self, run: Any, group: Group, params: list[Any], grads: list[Any]) -> None:
        if group["momentum"] == 0:
            self._call(run, group, params, grads, [], False)
            return
        states = list(map(self.state.__getitem__, params))
        buffers = [state.get("momentum_buffer") for state in states]
        new = [i for i, b in enumerate(buffers) if b is None]
        if not new:
            self._call(run, group, params, grads, buffers, False)
            return
        for i in new:
            buffers[i] = states[i]["momentum_buffer"] = flambeau.empty_like(params[i])
        old = sorted(set(range(len(params))) - set(new))
        for rows, first in ((new, True), (old, False)):
            if rows:
                some = [[column[i] for i in rows] for column in (params, grads, buffers)]
                self._call(run, group, some[0], some[1], some[2], first)

    def _call(
        self, run: Any, group: Group, params: list[Any], grads: list[Any], buffers: list[Any], is_first_step: bool
    ) -> None:
        run(
            params,
            grads,
            buffers,
            weight_decay=group["weight_decay"],
            momentum=group["momentum"],
            lr=group["lr"],
            dampening=group["dampening"],
            nesterov=group["nesterov"],
            maximize=group["maximize"],
            is_first_step=is_first_step,
            **scaling(self),
        )

    def _update_one(self, group: Group, p: Any, grad: Any) -> None:
        grad = decayed(group, p, grad)
        momentum = group["momentum"]
        if momentum != 0:
            state = self.state[p]
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = grad.detach().clone()
            else:
                buffer.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
            grad = grad.add(buffer, alpha=momentum) if group["nesterov"] else buffer
        add_scaled(p, grad, -option(group, group["lr"]))
