"""backward and grad: arguments checked and completed, then the engine."""

from __future__ import annotations

from collections.abc import Sequence

import flambeau
from flambeau import Tensor
from flambeau.autograd import _C

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

_Tensors: TypeAlias = Tensor | Sequence[Tensor]
_Gradients: TypeAlias = Tensor | Sequence[Tensor | None]


def _as_tuple(x: _Gradients) -> tuple:
    return (x,) if isinstance(x, Tensor) else tuple(x)


def _initial_gradients(outputs: tuple, grads: tuple, is_batched: bool = False) -> tuple:
    """A gradient for every output: what was given, checked against the output, or one for a scalar."""
    full: list[Tensor | None] = []
    for out, grad in zip(outputs, grads):
        if isinstance(grad, Tensor):
            if grad.shape != out.shape:
                raise RuntimeError(
                    f"Mismatch in shape: grad_output has a shape of {grad.shape} and output has a shape of {out.shape}."
                )
            if out.dtype.is_complex != grad.dtype.is_complex:
                raise RuntimeError(
                    "For complex Tensors, both grad_output and output are required to have the same dtype. "
                    f"Mismatch in dtype: grad_output has a dtype of {grad.dtype} and output has a dtype of {out.dtype}."
                )
            full.append(grad)
        elif grad is None:
            if not out.requires_grad:
                full.append(None)
                continue
            if out.numel() != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            if not out.dtype.is_floating_point:
                raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {out.dtype}")
            full.append(flambeau.ones_like(out))
        else:
            raise TypeError(f"gradients can be either Tensors or None, but got {type(grad).__name__}")
    return tuple(full)


def backward(
    tensors: _Tensors,
    grad_tensors: _Gradients | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: _Gradients | None = None,
    inputs: _Tensors | None = None,
) -> None:
    """Accumulate the gradients of `tensors` into the `.grad` of the leaves (of `inputs` only, when given).

    Parameters
    ----------
    grad_tensors : a gradient for each tensor; may be None for scalars
    retain_graph : keep what the graph saved, for another backward; default: `create_graph`
    create_graph : record the backward itself, for higher derivatives

    Raises RuntimeError where shapes do not fit, nothing requires grad, or saved values were freed or modified.
    """
    if grad_variables is not None:
        grad_tensors = grad_variables
    if inputs is not None and len(_as_tuple(inputs)) == 0:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    outputs = _as_tuple(tensors)
    grads: tuple[Tensor | None, ...] = (None,) * len(outputs) if grad_tensors is None else _as_tuple(grad_tensors)
    if len(grads) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(grads)} gradients")
    grads = _initial_gradients(outputs, grads)
    keep = create_graph if retain_graph is None else retain_graph
    _C.run_backward(outputs, grads, keep, create_graph, None if inputs is None else _as_tuple(inputs), True)


def grad(
    outputs: _Tensors,
    inputs: _Tensors,
    grad_outputs: _Gradients | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """Gradients of the sum of `outputs` with respect to `inputs`, without touching any `.grad`.

    Raises RuntimeError when an input does not take part and `allow_unused` is not set.
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    outs, ins = _as_tuple(outputs), _as_tuple(inputs)
    if not ins:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    given: tuple[Tensor | None, ...] = (None,) * len(outs) if grad_outputs is None else _as_tuple(grad_outputs)
    if len(given) != len(outs):
        raise RuntimeError(f"got {len(outs)} outputs and {len(given)} grad_outputs")
    keep = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        size = next(g.shape[0] for g in given if g is not None)
        rows = [
            grad(
                outs,
                ins,
                tuple(None if g is None else g[i] for g in given),
                True,
                create_graph,
                only_inputs,
                allow_unused,
            )
            for i in range(size)
        ]
        columns = ([g for g in column if g is not None] for column in zip(*rows))
        return tuple(flambeau.stack(column) if column else None for column in columns)
    pairs = [(o, g) for o, g in zip(outs, _initial_gradients(outs, given)) if g is not None or o.requires_grad]
    if not pairs:
        raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
    results = _C.run_backward(tuple(o for o, _ in pairs), tuple(g for _, g in pairs), keep, create_graph, ins, False)
    if materialize_grads:
        return tuple(flambeau.zeros_like(i) if r is None else r for i, r in zip(ins, results))
    if not allow_unused and any(r is None for r in results):
        raise RuntimeError(
            "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior."
        )
    return results


def _tensor_backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: _Tensors | None = None,
) -> None:
    """Accumulate the gradients of this tensor into the leaves; see flambeau.autograd.backward."""
    if retain_graph is None:
        retain_graph = create_graph
    if inputs is None and _C.backward_one(self, gradient, bool(retain_graph), bool(create_graph)):
        return
    if not self.requires_grad:
        raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


_tensor_backward.__name__ = _tensor_backward.__qualname__ = "backward"
setattr(Tensor, "backward", _tensor_backward)  # noqa: B010 - to checkers the method is in the stub
