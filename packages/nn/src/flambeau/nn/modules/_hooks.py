"""Registering hooks, and the autograd taps behind full backward hooks."""

from __future__ import annotations

import flambeau as torch
from flambeau.utils.hooks import RemovableHandle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import OrderedDict
    from collections.abc import Callable
    from typing import Any

    from flambeau.autograd import Function


def add_hook(
    hooks: OrderedDict[int, Any], hook: Callable, extra: list | None = None, prepend: bool = False
) -> RemovableHandle:
    """Put `hook` last (first if `prepend`) into `hooks` and return its handle."""
    handle = RemovableHandle(hooks, extra_dict=extra)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def _tap_class() -> type[Function]:
    """The identity Function whose backward hands the gradients to a callback.

    Built on first use: modules must import without the autograd package doing any work.
    """
    global _Tap
    if _Tap is not None:
        return _Tap
    from flambeau.autograd import Function

    class BackwardHookFunction(Function):
        @staticmethod
        def forward(ctx: Any, on_grad: Callable, materialize: bool, *tensors: Any) -> tuple:
            ctx.on_grad = on_grad
            ctx.set_materialize_grads(materialize)
            # Fresh views, so that the caller's own tensors keep their place in the graph.
            outs = tuple(t.view_as(t) for t in tensors)
            ctx.mark_non_differentiable(*[o for o, t in zip(outs, tensors) if not t.requires_grad])
            return outs

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> tuple:
            return (None, None, *ctx.on_grad(grads))

    _Tap = BackwardHookFunction
    return _Tap


_Tap: type[Function] | None = None


def _tap(values: tuple, on_grad: Callable, materialize: bool) -> tuple[tuple, list[int] | None]:
    """Route the tensors among `values` through an identity that calls `on_grad` in backward.

    Returns the new values and the tensors' positions (None when nothing needs a gradient).
    """
    where = [i for i, v in enumerate(values) if isinstance(v, torch.Tensor)]
    if not (torch.is_grad_enabled() and any(values[i].requires_grad for i in where)):
        return values, None
    tapped = _tap_class().apply(on_grad, materialize, *(values[i] for i in where))
    out = list(values)
    for i, t in zip(where, tapped):
        out[i] = t
    if isinstance(values, tuple) and hasattr(values, "_fields"):
        return type(values)(*out), where
    return tuple(out), where


class BackwardHook:
    """One forward call's full backward hooks: a tap on its inputs and one on its outputs.

    The output tap runs the pre-hooks and remembers grad_output; the input tap then has
    grad_input and runs the hooks. A call without differentiable inputs has no input tap,
    so the output tap runs the hooks itself.
    """

    def __init__(self, module: Any, user_hooks: list, user_pre_hooks: list) -> None:
        self.module = module
        self.user_hooks = user_hooks
        self.user_pre_hooks = user_pre_hooks
        self.grad_outputs: tuple | None = None
        self.n_inputs = -1
        self.input_positions: list[int] | None = None
        self.n_outputs = -1
        self.output_positions: list[int] | None = None

    def setup_input_hook(self, args: tuple) -> tuple:
        """Tap the positional arguments; returns those to call forward with."""
        self.n_inputs = len(args)
        args, self.input_positions = _tap(args, self._on_grad_input, materialize=True)
        return args

    def setup_output_hook(self, result: Any) -> Any:
        """Tap a tensor, or the tensors directly inside a tuple or list; others pass."""
        is_tuple = isinstance(result, (tuple, list))
        values = tuple(result) if isinstance(result, list) else result if is_tuple else (result,)
        self.n_outputs = len(values)
        values, self.output_positions = _tap(values, self._on_grad_output, materialize=False)
        if self.output_positions is None:
            return result
        return values if is_tuple else values[0]

    def _spread(self, grads: tuple, positions: list[int], n: int) -> tuple:
        full = [None] * n
        for i, g in zip(positions, grads):
            full[i] = g
        return tuple(full)

    def _on_grad_output(self, grads: tuple) -> tuple:
        assert self.output_positions is not None
        full = self._spread(grads, self.output_positions, self.n_outputs)
        for hook in self.user_pre_hooks:
            new = hook(self.module, full)
            if new is not None:
                full = _replaced("pre hook", "grad_output", new, self.n_outputs)
        self.grad_outputs = full
        if self.input_positions is None:
            self._hooks_without_input_grad(full)
        return tuple(full[i] for i in self.output_positions)

    def _hooks_without_input_grad(self, grad_outputs: tuple) -> None:
        nothing = (None,) * self.n_inputs
        for hook in self.user_hooks:
            new = hook(self.module, nothing, grad_outputs)
            if new is not None and not (isinstance(new, tuple) and all(g is None for g in new)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always "
                    f"return None or None for all gradients, got {type(new).__name__}."
                )
        self.grad_outputs = None

    def _on_grad_input(self, grads: tuple) -> tuple:
        assert self.input_positions is not None
        if self.grad_outputs is None:
            # The gradient reached the inputs without passing the outputs (a tensor that
            # forward kept elsewhere); there is nothing to show to the hooks.
            return grads
        full = self._spread(grads, self.input_positions, self.n_inputs)
        for hook in self.user_hooks:
            new = hook(self.module, full, self.grad_outputs)
            if new is not None:
                full = _replaced("hook", "grad_input", new, self.n_inputs)
        self.grad_outputs = None
        return tuple(full[i] for i in self.input_positions)


def _replaced(kind: str, what: str, new: Any, expected: int) -> tuple:
    new = new if isinstance(new, tuple) else (new,)
    if len(new) != expected:
        raise RuntimeError(
            f"Backward {kind} returned an invalid number of {what}, got {len(new)}, but expected {expected}"
        )
    return new
