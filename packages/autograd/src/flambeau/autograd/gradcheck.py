"""Gradients against finite differences."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import flambeau
from flambeau import Tensor

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class GradcheckError(RuntimeError):
    """Analytical and numerical gradients differ."""


def _tensors(x: Tensor | Sequence[Any]) -> tuple:
    return (x,) if isinstance(x, Tensor) else tuple(x)


def _output(outputs_of: Callable[[], tuple], k: int) -> Tensor:
    return outputs_of()[k]


def _differentiable(outputs: tuple) -> list[Tensor]:
    return [o for o in outputs if isinstance(o, Tensor) and o.requires_grad]


def _numerical(function: Callable[[], Tensor], x: Tensor, eps: float) -> list[list[Tensor]]:
    """Jacobian (elements of x, elements of the output) by central differences; complex x along both axes."""
    rows = []
    flat = x.detach().view(-1)  # writes through to x
    for i in range(flat.numel()):
        saved = flat[i].item()
        steps = (eps, eps * 1j) if x.dtype.is_complex else (eps,)
        parts = []
        for step in steps:
            flat[i] = saved + step
            high = function().detach().reshape(-1).clone()
            flat[i] = saved - step
            low = function().detach().reshape(-1).clone()
            flat[i] = saved
            parts.append((high - low) / (2 * eps))
        rows.append(parts)
    return rows


def _analytical(output: Tensor, x: Tensor, direction: Tensor) -> Tensor:
    (g,) = flambeau.autograd.grad(output, x, direction, retain_graph=True, allow_unused=True)
    return flambeau.zeros_like(x) if g is None else g


def _check_pair(
    numerical: list[list[Tensor]], output: Tensor, x: Tensor, which: tuple[int, int], atol: float, rtol: float
) -> None:
    units = (1.0, 1j) if output.dtype.is_complex else (1.0,)
    for j in range(output.numel()):
        for unit in units:
            direction = flambeau.zeros(output.numel(), dtype=output.dtype)
            direction[j] = unit
            grad = _analytical(output, x, direction.reshape(output.shape)).reshape(-1)
            for i, parts in enumerate(numerical):
                # the gradient of Re(conj(unit) * y) along the real axis and, for complex x, along the imaginary one
                slopes = [(p[j].item() * complex(unit).conjugate()).real for p in parts]
                want = complex(slopes[0], slopes[1] if len(slopes) > 1 else 0.0)
                got = complex(grad[i].item())
                if not abs(got - want) <= atol + rtol * abs(want):
                    raise GradcheckError(
                        f"Jacobian mismatch for output {which[0]} with respect to input {which[1]},\n"
                        f"numerical: {want} at element {i} of the input and {j} of the output\nanalytical: {got}"
                    )


def gradcheck(
    func: Callable,
    inputs: Tensor | Sequence[object],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare the gradients of `func` at `inputs` with central differences of step `eps`, element by element.

    Inputs that require gradients should be float64 or complex128. Options about forward mode and batching are accepted;
    backward mode alone is checked, always in full.

    Raises GradcheckError naming output, input and element, or returns False when `raise_exception` is not set.
    Raises ValueError when no input requires gradients.
    """
    args = _tensors(inputs)
    leaves = [(i, a) for i, a in enumerate(args) if isinstance(a, Tensor) and a.requires_grad]
    if not leaves:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of the them have requires_grad=True."
        )

    def outputs_of() -> tuple:
        return _tensors(func(*args))

    outputs = outputs_of()
    positions = [k for k, o in enumerate(outputs) if isinstance(o, Tensor) and o.requires_grad]
    try:
        if not positions:
            for i, leaf in leaves:
                for o in outputs:
                    if isinstance(o, Tensor) and any(
                        (p.abs() > atol).any()
                        for parts in _numerical(lambda: outputs_of()[0], leaf, eps)
                        for p in parts
                    ):
                        raise GradcheckError(f"no output requires grad, but output depends on input {i}")
            return True
        # The steps write to the inputs, so the graph that is differentiated is made after them.
        pairs = [(k, i, leaf) for k in positions for i, leaf in leaves]
        numerical = [_numerical(partial(_output, outputs_of, k), leaf, eps) for k, _, leaf in pairs]
        outputs = outputs_of()
        for slopes, (k, i, leaf) in zip(numerical, pairs):
            _check_pair(slopes, outputs[k], leaf, (k, i), atol, rtol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable,
    inputs: Tensor | Sequence[object],
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    **options: object,
) -> bool:
    """gradcheck of the gradients of `func`, in its inputs and in `grad_outputs` (random when not given)."""
    args = _tensors(inputs)
    if grad_outputs is None:
        outputs = _differentiable(_tensors(func(*args)))
        directions = tuple(flambeau.randn_like(o).requires_grad_() for o in outputs)
    else:
        directions = _tensors(grad_outputs)
    count = len(args)

    def gradients(*values: Any) -> tuple:
        call, given = values[:count], values[count:]
        outputs = _differentiable(_tensors(func(*call)))
        wanted = [v for v in call if isinstance(v, Tensor) and v.requires_grad]
        found = flambeau.autograd.grad(outputs, wanted, given, create_graph=True, allow_unused=True)
        return tuple(flambeau.zeros_like(w) if g is None else g for w, g in zip(wanted, found))

    return gradcheck(gradients, (*args, *directions), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception)
