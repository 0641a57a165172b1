"""Adagrad."""

from __future__ import annotations

from typing import Any

import flambeau
from flambeau.optim._groupwise import (
    Group,
    GroupwiseOptimizer,
    State,
    add_scaled_quotient,
    advance,
    any_sparse,
    check_lr,
    check_not_negative,
    columns,
    decayed,
    increment,
    kernel,
    option,
    scalar_dtype,
    scaling,
)
from flambeau.optim.optimizer import ParamsT

__all__ = ["Adagrad"]


class Adagrad(GroupwiseOptimizer):
    """Divide the gradient by the root of the sum of all its squares so far.

    s += g^2;  p -= lr / (1 + (t - 1) lr_decay) g / (sqrt(s) + eps)

    Parameters
    ----------
    params : see `Optimizer`
    lr : float or one-element Tensor, >= 0
    lr_decay : float >= 0
    weight_decay : float >= 0, added to the gradient
    initial_accumulator_value : float >= 0, the first s
    eps : float >= 0, added to the root
    foreach, maximize, differentiable, fused : see `Adam`

    State, made at once: "step", "sum".

    Source: Duchi, Hazan, Singer 2011 (JMLR 12).
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr, foreach)
        check_not_negative("lr_decay", lr_decay)
        check_not_negative("weight_decay", weight_decay)
        check_not_negative("initial_accumulator_value", initial_accumulator_value)
        check_not_negative("epsilon", eps)
        super().__init__(
            params,
            {
                "lr": lr,
                "lr_decay": lr_decay,
                "eps": eps,
                "weight_decay": weight_decay,
                "initial_accumulator_value": initial_accumulator_value,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "fused": fused,
            },
        )
        for group in self.param_groups:
            for p in group["params"]:
                self._init_state(self.state[p], p, group)

    def share_memory(self) -> None:
        """Move the sums into shared memory, for training from several processes."""
        for state in self.state.values():
            state["sum"].share_memory_()

    def _init_state(self, state: State, p: Any, group: Group) -> None:
        start = group["initial_accumulator_value"]
        start = complex(start, start) if p.is_complex() else start
        state["step"] = flambeau.tensor(0.0, dtype=scalar_dtype(group.get("fused")))
        state["sum"] = flambeau.full_like(p, start, memory_format=flambeau.preserve_format)

    def _refuse_sparse(self, grads: list[Any]) -> None:
        pass

    def _fused(self, group: Group, params: list[Any], grads: list[Any], states: list[State]) -> bool:
        run = kernel("_fused_adagrad_")
        if run is None or any_sparse(grads):
            return False
        steps, sums = columns(states, "step", "sum")
        increment(steps)
        run(
            params,
            grads,
            sums,
            steps,
            lr=group["lr"],
            lr_decay=group["lr_decay"],
            weight_decay=group["weight_decay"],
            eps=group["eps"],
            maximize=group["maximize"],
            **scaling(self),
        )
        return True

    def _update(self, group: Group, p: Any, grad: Any, state: State) -> None:
        t = advance(state)
        lr = option(group, group["lr"]) / (1 + (t - 1) * group["lr_decay"])
        if grad.is_sparse:
            self._update_sparse(group, p, grad, state["sum"], lr)
            return
        grad = decayed(group, p, grad)
        total = state["sum"]
        total.addcmul_(grad, grad, value=1)
        root = total.sqrt()
        denom = root.add(group["eps"]) if group["differentiable"] else root.add_(group["eps"])
        add_scaled_quotient(p, grad, denom, -lr)

    def _update_sparse(self, group: Group, p: Any, grad: Any, total: Any, lr: Any) -> None:
        """Touch only the rows that the gradient names."""
        if group["weight_decay"] != 0:
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")
        grad = (-grad if group["maximize"] else grad).coalesce()
        index, values = grad._indices(), grad._values()

        def sparse(v: Any) -> Any:
            return getattr(flambeau, "sparse_coo_tensor")(  # noqa: B009 - not every flambeau has it
                index, v, grad.size()
            )

        total.add_(sparse(values.pow(2)))
        root = total.sparse_mask(grad)._values().sqrt_().add_(group["eps"])
        p.add_(sparse(values / root), alpha=-lr)
