"""Derivatives of operators made by `flambeau.library.custom_op`."""

from __future__ import annotations

from typing import Any

from flambeau._custom_op import CustomOpDef
from flambeau.autograd.function import Function


def make_function(op: CustomOpDef) -> type:
    """The Function of an operator: what its Autograd kernel applies where something is recorded."""
    schema = op._opoverload._schema

    def forward(ctx: Any, keywords: dict, *args: object) -> object:
        result = op._opoverload(*args, **keywords)
        if op._backward is not None and op._setup_context is not None:
            # the dispatcher has filled in defaults: inputs are all there
            more = {"keyword_only_inputs": keywords} if any(a.kwarg_only for a in schema.arguments) else {}
            op._setup_context(ctx=ctx, inputs=args, output=result, **more)
        ctx._num_args = len(args)
        return tuple(result) if isinstance(result, list) else result

    def backward(ctx: Any, *grads: object) -> object:
        if op._backward is None:
            raise RuntimeError(
                f"Trying to backward through {op._opoverload} but no autograd formula was registered. "
                "Please use register_autograd to add one."
            )
        given = op._backward(ctx, *grads)
        given = given if isinstance(given, tuple) else (given,)
        wanted = sum(not a.kwarg_only for a in schema.arguments)
        if len(given) != wanted:
            raise RuntimeError(
                f"[{op._qualname}] backward returned {len(given)} gradients, expected {wanted}: one, or None, for each of "
                f"{[a.name for a in schema.arguments if not a.kwarg_only]}"
            )
        return (None, *given[: ctx._num_args])

    return type(
        f"GeneratedBackwardFor_{op._namespace}_{op._name}_default",
        (Function,),
        {"forward": staticmethod(forward), "backward": staticmethod(backward)},
    )
