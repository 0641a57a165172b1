"""Adam for sparse gradients."""

from __future__ import annotations

from typing import Any

import flambeau
from flambeau.optim._groupwise import Group, GroupwiseOptimizer, State, check_betas, check_lr, option, zeros_like
from flambeau.optim.optimizer import ParamsT

__all__ = ["SparseAdam"]


class SparseAdam(GroupwiseOptimizer):
    """Adam that touches only the rows which a sparse gradient names.

    Parameters
    ----------
    params : see `Optimizer`; dense tensors
    lr, betas, eps, maximize : see `Adam`

    State: "step" (an int), "exp_avg", "exp_avg_sq".
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        check_lr(lr)
        if not eps > 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for value in self.state.values():
            if "step" in value:
                value["step"] = int(value["step"])

    def _refuse_sparse(self, grads: list[Any]) -> None:
        if not all(g.is_sparse for g in grads):
            raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")

    def _init_state(self, state: State, p: Any, group: Group) -> None:
        state["step"] = 0
        state["exp_avg"] = zeros_like(p)
        state["exp_avg_sq"] = zeros_like(p)

    def _update(self, group: Group, p: Any, grad: Any, state: State) -> None:
        lr, (beta1, beta2) = option(group, group["lr"]), group["betas"]
        state["step"] += 1
        t = state["step"]
        grad = (-grad if group["maximize"] else grad).coalesce()
        index, values = grad._indices(), grad._values()
        if values.numel() == 0:
            return

        def sparse(v: Any) -> Any:
            return getattr(flambeau, "sparse_coo_tensor")(  # noqa: B009 - not every flambeau has it
                index, v, grad.size()
            )

        mean, square = state["exp_avg"], state["exp_avg_sq"]
        old_mean = mean.sparse_mask(grad)._values()
        old_square = square.sparse_mask(grad)._values()
        mean_change = (values - old_mean) * (1 - beta1)
        square_change = (values * values - old_square) * (1 - beta2)
        mean.add_(sparse(mean_change))
        square.add_(sparse(square_change))
        root = (old_square + square_change).sqrt_().add_(group["eps"])
        rate = lr * (1 - beta2**t) ** 0.5 / (1 - beta1**t)
        p.add_(sparse((old_mean + mean_change) / root), alpha=-rate)
