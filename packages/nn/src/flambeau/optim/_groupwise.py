"""What our own optimizers share: one step is, for each group, one update of its parameters.

Note [How a step is computed]
A subclass gives `_init_state`, `_update` (the rule for one parameter, written with plain operators)
and, where a C++ kernel exists, `_fused`. `_fused` takes the whole group in one call and is what
runs by default: a step of a small model then costs a few list comprehensions and one call
(PAINS 11). The plain rule is the reference, and runs for everything that a kernel does not take:
tensor-valued options, `differentiable`, `foreach=True`, `fused=False`, complex or mixed parameters.

State dicts are read anew in every step instead of being cached: users exchange parameters and
state between steps (pruning, splitting, growing), and reading costs about 0.1 us a parameter.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import attrgetter, itemgetter
from typing import Any

import flambeau
from flambeau.optim.optimizer import Optimizer, ParamsT

Group = dict[str, Any]
State = dict[str, Any]

_grad = attrgetter("grad")
_dtype = attrgetter("dtype")
_is_sparse = attrgetter("is_sparse")

# For 16-bit parameters the plain rule rounds after every operation, as torch does.
_KERNEL_DTYPES = frozenset((flambeau.float32, flambeau.float64))


class GroupwiseOptimizer(Optimizer):
    """Template of a step; see Note [How a step is computed]."""

    _SPARSE_HINT = ""

    def __init__(self, params: ParamsT, defaults: dict[str, Any]) -> None:
        super().__init__(params, defaults)
        _check_fused_flags(self.param_groups)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        # Options that came into being after the checkpoint was written.
        for group in self.param_groups:
            for key, value in self.defaults.items():
                group.setdefault(key, value)
        for value in self.state.values():
            step = value.get("step") if isinstance(value, dict) else None
            if step is not None and not isinstance(step, flambeau.Tensor):
                value["step"] = flambeau.tensor(float(step), dtype=scalar_dtype())

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient, once.

        Parameters
        ----------
        closure : re-evaluates the model and returns the loss; called with gradients enabled

        Returns
        -------
        what the closure returned, or None

        Raises
        ------
        RuntimeError  if a gradient is sparse
        """
        loss = None
        if closure is not None:
            with flambeau.enable_grad():
                loss = closure()
        with flambeau.set_grad_enabled(bool(self.defaults.get("differentiable"))):
            for group in self.param_groups:
                self._update_group(group)
        return loss

    def _update_group(self, group: Group) -> None:
        params, grads = with_gradients(group["params"])
        if not params:
            return
        self._refuse_sparse(grads)
        states = list(map(self.state.__getitem__, params))
        for p, state in zip(params, states):
            if not state:
                self._init_state(state, p, group)
        if wants_fused(group, params) and self._fused(group, params, grads, states):
            return
        for p, grad, state in zip(params, grads, states):
            if p.is_complex():
                p, grad, state = _real_views(p, grad, state)
            self._update(group, p, grad, state)

    def _refuse_sparse(self, grads: list[Any]) -> None:
        if any_sparse(grads):
            raise RuntimeError(f"{type(self).__name__} does not support sparse gradients{self._SPARSE_HINT}")

    def _init_state(self, state: State, p: Any, group: Group) -> None:
        """Fill the empty `state` of `p` before its first update."""
        raise NotImplementedError

    def _update(self, group: Group, p: Any, grad: Any, state: State) -> None:
        """Update one parameter in place; `grad` must not be written to."""
        raise NotImplementedError

    def _fused(self, group: Group, params: list[Any], grads: list[Any], states: list[State]) -> bool:
        """Update all of `params` by one kernel; False where there is none for these options."""
        return False


def with_gradients(params: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return the parameters that have a gradient, and the gradients."""
    grads = list(map(_grad, params))
    for g in grads:
        if g is None:
            pairs = [(p, g) for p, g in zip(params, grads) if g is not None]
            return [p for p, _ in pairs], [g for _, g in pairs]
    return params, grads


def any_sparse(grads: list[Any]) -> bool:
    """True if any of the gradients is sparse."""
    return any(map(_is_sparse, grads))


def wants_fused(group: Group, params: list[Any]) -> bool:
    """True if the group's options let a kernel take all of `params` in one call."""
    if group.get("fused") is False or group.get("foreach") or group.get("capturable"):
        return False
    if group.get("differentiable") or isinstance(group["lr"], flambeau.Tensor):
        return False
    if isinstance(group.get("weight_decay"), flambeau.Tensor):
        return False
    dtypes = set(map(_dtype, params))
    return len(dtypes) == 1 and _KERNEL_DTYPES.issuperset(dtypes) and params[0].is_cpu


@cache
def kernel(name: str) -> Callable[..., None] | None:
    """Return the operator `flambeau.<name>`, or None where no installed package has it."""
    return getattr(flambeau, name, None)


def columns(states: list[State], *keys: str) -> list[list[Any]]:
    """Return one list per key, over all states."""
    if len(keys) == 1:
        return [list(map(itemgetter(keys[0]), states))]
    return [list(column) for column in zip(*map(itemgetter(*keys), states))]


def increment(steps: list[Any]) -> None:
    """Add one to each of the 0-d step counters."""
    add = kernel("_foreach_add_")
    if add is not None:
        add(steps, 1)
        return
    for step in steps:
        step += 1


def advance(state: State) -> float:
    """Count one step and return the count."""
    step = state["step"]
    step += 1
    return step.item()


def scalar_dtype(fused: bool | None = None) -> Any:
    """dtype of step counters: float32 unless float64 is the default and no kernel reads them."""
    wide = not fused and flambeau.get_default_dtype() == flambeau.float64
    return flambeau.float64 if wide else flambeau.float32


def new_step(group: Group) -> Any:
    """Return a 0-d counter at zero, on the CPU, where the loop reads it at no cost."""
    return flambeau.tensor(0.0, dtype=scalar_dtype(group.get("fused")))


def zeros_like(p: Any) -> Any:
    """Return zeros of the shape, dtype and strides of `p`."""
    return flambeau.zeros_like(p, memory_format=flambeau.preserve_format)


def option(group: Group, value: Any) -> Any:
    """Return a tensor-valued option as a number, except where gradients must flow through it."""
    if isinstance(value, flambeau.Tensor) and not group.get("differentiable"):
        return value.item()
    return value


def add_scaled_quotient(p: Any, num: Any, denom: Any, scale: Any) -> None:
    """p += scale * num / denom, in place; `scale` may be a tensor."""
    if isinstance(scale, flambeau.Tensor):
        p.add_(num / denom * scale)
    else:
        p.addcdiv_(num, denom, value=scale)


def add_scaled(p: Any, x: Any, scale: Any) -> None:
    """p += scale * x, in place; `scale` may be a tensor."""
    if isinstance(scale, flambeau.Tensor):
        p.add_(x * scale)
    else:
        p.add_(x, alpha=scale)


def decayed(group: Group, p: Any, grad: Any) -> Any:
    """Return the gradient to descend: turned round for `maximize`, with the weight decay added."""
    if group["maximize"]:
        grad = -grad
    decay = option(group, group["weight_decay"])
    if isinstance(decay, flambeau.Tensor):
        return grad + p * decay
    return grad.add(p, alpha=decay) if decay != 0 else grad


def decayed_or_shrunk(group: Group, p: Any, grad: Any, lr: Any) -> Any:
    """`decayed`, but with `decoupled_weight_decay` it is p that loses lr * weight_decay of itself."""
    if group["maximize"]:
        grad = -grad
    decay = group["weight_decay"]
    if decay == 0:
        return grad
    if group["decoupled_weight_decay"]:
        p.mul_(1 - lr * decay)
        return grad
    return grad.add(p, alpha=decay)


def scaling(optimizer: Any) -> dict[str, Any]:
    """Scale and overflow flag that a gradient scaler left on the optimizer for its kernel."""
    scale = getattr(optimizer, "grad_scale", None)
    found = getattr(optimizer, "found_inf", None)
    return {} if scale is None and found is None else {"grad_scale": scale, "found_inf": found}


def _check_fused_flags(groups: list[Group]) -> None:
    for group in groups:
        if not group.get("fused"):
            continue
        if group.get("differentiable"):
            raise RuntimeError("`fused` does not support `differentiable`")
        if group.get("foreach"):
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
        for p in group["params"]:
            if not p.is_floating_point():
                raise RuntimeError(
                    f"`fused=True` requires all the params to be floating point Tensors, but one has dtype {p.dtype}"
                )


def _real_views(p: Any, grad: Any, state: State) -> tuple[Any, Any, State]:
    """View complex tensors as pairs of reals: every rule here works element by element."""
    real = {
        k: flambeau.view_as_real(v) if isinstance(v, flambeau.Tensor) and v.is_complex() else v
        for k, v in state.items()
    }
    return flambeau.view_as_real(p), flambeau.view_as_real(grad), real


# ---- checks of options


def check_lr(lr: Any, foreach: bool | None = None, capturable: bool = False) -> None:
    if isinstance(lr, flambeau.Tensor):
        if lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
    elif not lr >= 0.0:
        raise ValueError(f"Invalid learning rate: {lr}")


def check_not_negative(name: str, value: Any) -> None:
    if not value >= 0.0:
        raise ValueError(f"Invalid {name} value: {value}")


def check_betas(betas: tuple[Any, Any]) -> None:
    for i, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}")


def check_adam_options(
    lr: Any, betas: tuple[Any, Any], eps: float, weight_decay: float, foreach: bool | None, capturable: bool
) -> None:
    check_lr(lr, foreach, capturable)
    check_not_negative("epsilon", eps)
    check_betas(betas)
    check_not_negative("weight_decay", weight_decay)
