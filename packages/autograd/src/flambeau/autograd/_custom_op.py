"""Derivatives of operators made by `flambeau.library.custom_op`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from flambeau._custom_op import CustomOpDef
from flambeau.autograd.function import Function

# How many values each argument, or result, takes once lists of tensors are laid flat; None: it is no list.
Counts = Sequence[int | None]


class _Call:
    """What a call's forward needs beside tensors, and what its caller needs to put results in lists again."""

    def __init__(self, keywords: dict, counts: Counts) -> None:
        self.keywords, self.counts = keywords, counts
        self.result_counts: Counts = ()


def _counts(values: Sequence, types: Sequence[str]) -> list[int | None]:
    return [
        len(v) if isinstance(v, list | tuple) and t.startswith("Tensor") else None
        for v, t in zip(values, types, strict=True)
    ]


def _flat(values: Sequence, counts: Counts) -> list:
    flat: list = []
    for value, n in zip(values, counts, strict=True):
        flat.extend([value] if n is None else value)
    return flat


def _nested(flat: Sequence, counts: Counts) -> tuple:
    values, at = [], 0
    for n in counts:
        values.append(flat[at] if n is None else list(flat[at : at + n]))
        at += 1 if n is None else n
    return tuple(values)


def _flat_gradients(op: CustomOpDef, given: tuple, counts: Counts) -> list:
    """A gradient, or None, for each tensor of the arguments. Raises RuntimeError where there are too many or too few."""
    names = [a.name for a in op._opoverload._schema.arguments if not a.kwarg_only]
    if len(given) != len(counts):
        raise RuntimeError(
            f"[{op._qualname}] backward returned {len(given)} gradients, expected {len(counts)}: one, or None, for each of {names}"
        )
    flat: list = []
    for gradient, n, name in zip(given, counts, names, strict=True):
        if n is None:
            flat.append(gradient)
            continue
        gradients = [None] * n if gradient is None else gradient
        if not isinstance(gradients, list | tuple) or len(gradients) != n:
            got = f"{len(gradients)} of them" if isinstance(gradients, list | tuple) else type(gradients).__name__
            raise RuntimeError(
                f"[{op._qualname}] the gradient of {name} must be None or a list of {n}, one for each of its tensors, got {got}"
            )
        flat.extend(gradients)
    return flat


def make_function(op: CustomOpDef) -> Callable[[dict, tuple], Any]:
    """What an operator's Autograd kernel calls where something is recorded: (keyword arguments, arguments) -> results.

    Tensors in lists are inputs and outputs of the graph like the others; backward, and `ctx.needs_input_grad`, have the
    lists' structure again.
    """
    schema = op._opoverload._schema
    arguments = [a.type for a in schema.arguments if not a.kwarg_only]
    returns = [r.type for r in schema.returns]
    takes_keywords = any(a.kwarg_only for a in schema.arguments)

    def forward(ctx: Any, *flat: Any) -> object:
        *values, call = flat
        inputs = _nested(values, call.counts)
        ctx._counts, ctx.needs_input_grad = call.counts, _nested(ctx.needs_input_grad, call.counts)
        output = op._opoverload(*inputs, **call.keywords)
        results = (output,) if len(returns) == 1 else () if output is None else tuple(output)
        ctx._result_counts = call.result_counts = _counts(results, returns)
        results = _nested(_flat(results, call.result_counts), call.result_counts)
        if op._backward is not None and op._setup_context is not None:
            # the dispatcher has filled in defaults: inputs are all there
            more = {"keyword_only_inputs": call.keywords} if takes_keywords else {}
            op._setup_context(
                ctx=ctx, inputs=inputs, output=results[0] if len(returns) == 1 else results or None, **more
            )
        return tuple(_flat(results, call.result_counts))

    def backward(ctx: Any, *grads: object) -> object:
        if op._backward is None:
            raise RuntimeError(
                f"Trying to backward through {op._opoverload} but no autograd formula was registered. "
                "Please use register_autograd to add one."
            )
        given = op._backward(ctx, *_nested(grads, ctx._result_counts))
        return (*_flat_gradients(op, given if isinstance(given, tuple) else (given,), ctx._counts), None)

    function = type(
        f"GeneratedBackwardFor_{op._namespace}_{op._name}_default",
        (Function,),
        {"forward": staticmethod(forward), "backward": staticmethod(backward)},
    )

    def run(keywords: dict, args: tuple) -> object:
        call = _Call(keywords, _counts(args, arguments))
        results = _nested(function.apply(*_flat(args, call.counts), call), call.result_counts)  # type: ignore[attr-defined]
        return results[0] if len(returns) == 1 else results or None

    return run
