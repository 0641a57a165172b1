"""L-BFGS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flambeau
from flambeau.optim._line_search import Trial, strong_wolfe
from flambeau.optim.optimizer import Optimizer, ParamsT

__all__ = ["LBFGS"]


class LBFGS(Optimizer):
    """Quasi-Newton steps from the last `history_size` changes of parameters and gradient.

    One group only; real parameters on one device. `step` needs a closure, which it calls up to
    `max_eval` times.

    Parameters
    ----------
    params : see `Optimizer`
    lr : float or one-element Tensor, >= 0, the (first) step length
    max_iter : int, iterations in one `step`
    max_eval : int or None (max_iter * 5 / 4), closure calls in one `step`
    tolerance_grad : float, stop when no gradient element is larger
    tolerance_change : float, stop when no parameter, or the loss, changes by more
    history_size : int
    line_search_fn : None, or "strong_wolfe"

    Source: Nocedal, Wright 2006, algorithm 7.4.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: Any = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        if isinstance(lr, flambeau.Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr >= 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        super().__init__(
            params,
            {
                "lr": lr,
                "max_iter": max_iter,
                "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
                "tolerance_grad": tolerance_grad,
                "tolerance_change": tolerance_change,
                "history_size": history_size,
                "line_search_fn": line_search_fn,
            },
        )
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._params = self.param_groups[0]["params"]

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Run up to `max_iter` iterations.

        Parameters
        ----------
        closure : clears the gradients, computes and returns the loss, and calls backward

        Returns
        -------
        the loss at the parameters that `step` started from
        """
        group = self.param_groups[0]
        if group["line_search_fn"] not in (None, "strong_wolfe"):
            raise RuntimeError(
                f"[LBFGS] line_search_fn is {group['line_search_fn']!r}; only 'strong_wolfe' is supported"
            )
        with flambeau.no_grad():
            return self._run(flambeau.enable_grad()(closure), group)

    def _run(self, closure: Callable[[], Any], group: dict[str, Any]) -> Any:
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss = closure()
        loss, grad = _number(first_loss), self._flat_grad()
        state["func_evals"] += 1
        evaluations = 1
        converged = bool(grad.abs().max() <= group["tolerance_grad"])
        if converged:
            return first_loss
        for n in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            direction = self._direction(state, grad, group["history_size"])
            previous_loss = state["prev_loss"] = loss
            state["prev_flat_grad"] = grad.clone()
            lr = float(group["lr"])
            t = min(1.0, 1.0 / float(grad.abs().sum())) * lr if state["n_iter"] == 1 else lr
            slope = float(grad.dot(direction))
            state["d"], state["t"] = direction, t
            if slope > -group["tolerance_change"]:
                break
            calls = 0
            if group["line_search_fn"] is not None:
                trial, calls = self._search(closure, direction, Trial(0.0, loss, grad, slope), t)
                t, loss, grad = trial.t, trial.loss, trial.grad
                self._move(t, direction)
            else:
                self._move(t, direction)
                # The last point is not evaluated: the next step would do it again.
                if n != group["max_iter"]:
                    loss, grad, calls = _number(closure()), self._flat_grad(), 1
            converged = bool(grad.abs().max() <= group["tolerance_grad"])
            state["t"] = t
            evaluations += calls
            state["func_evals"] += calls
            if n == group["max_iter"] or evaluations >= group["max_eval"] or converged:
                break
            if float(direction.mul(t).abs().max()) <= group["tolerance_change"]:
                break
            if abs(loss - previous_loss) < group["tolerance_change"]:
                break
        return first_loss

    def _direction(self, state: dict[str, Any], grad: Any, history_size: int) -> Any:
        """Return minus the inverse Hessian estimate times the gradient."""
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return grad.neg()
        y = grad.sub(state["prev_flat_grad"])
        s = state["d"].mul(state["t"])
        ys = y.dot(s)
        # A pair without positive curvature would make the estimate indefinite.
        if ys > 1e-10:
            if len(state["old_dirs"]) == history_size:
                for key in ("old_dirs", "old_stps", "ro"):
                    state[key].pop(0)
            state["old_dirs"].append(y)
            state["old_stps"].append(s)
            state["ro"].append(1.0 / ys)
            state["H_diag"] = ys / y.dot(y)
        return _two_loops(state, grad, history_size)

    def _search(self, closure: Callable[[], Any], direction: Any, start: Trial, t: float) -> tuple[Trial, int]:
        saved = [p.clone(memory_format=flambeau.contiguous_format) for p in self._params]

        def evaluate(length: float) -> Trial:
            self._move(length, direction)
            loss, grad = _number(closure()), self._flat_grad()
            for p, value in zip(self._params, saved):
                p.copy_(value)
            return Trial(length, loss, grad, float(grad.dot(direction)))

        return strong_wolfe(evaluate, start, t, float(direction.abs().max()))

    def _flat_grad(self) -> Any:
        parts = []
        for p in self._params:
            if p.grad is None:
                part = p.new_zeros(p.numel())
            elif p.grad.is_sparse:
                part = p.grad.to_dense().view(-1)
            else:
                part = p.grad.reshape(-1)
            parts.append(flambeau.view_as_real(part).view(-1) if part.is_complex() else part)
        return flambeau.cat(parts, 0)

    def _move(self, t: float, direction: Any) -> None:
        offset = 0
        for p in self._params:
            p = flambeau.view_as_real(p) if p.is_complex() else p
            n = p.numel()
            p.add_(direction[offset : offset + n].view_as(p), alpha=t)
            offset += n


def _number(loss: Any) -> float:
    return float(loss.detach() if isinstance(loss, flambeau.Tensor) else loss)


def _two_loops(state: dict[str, Any], grad: Any, history_size: int) -> Any:
    ys, ss, ro = state["old_dirs"], state["old_stps"], state["ro"]
    al = state.setdefault("al", [None] * history_size)
    q = grad.neg()
    for i in reversed(range(len(ys))):
        al[i] = ss[i].dot(q) * ro[i]
        q.add_(ys[i] * -al[i])
    d = q * state["H_diag"]
    for i in range(len(ys)):
        d.add_(ss[i] * (al[i] - ys[i].dot(d) * ro[i]))
    return d
