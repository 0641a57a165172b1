"""Keep gradients from growing too large."""

from __future__ import annotations

import types
import warnings
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import flambeau

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]


def get_total_norm(
    tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Any:
    """Return the norm of all elements of all tensors taken together.

    Parameters
    ----------
    tensors : Tensor, or iterable of them
    norm_type : float, may be inf
    error_if_nonfinite : raise if the result is inf or nan
    foreach : None or True, one kernel call for all tensors where there is one

    Returns
    -------
    Tensor, 0-d; zero if there are no tensors

    Raises
    ------
    RuntimeError  see `error_if_nonfinite`
    """
    tensors = [tensors] if isinstance(tensors, flambeau.Tensor) else list(tensors)
    norm_type = float(norm_type)
    if not tensors:
        return flambeau.tensor(0.0)
    with flambeau.no_grad():
        device = tensors[0].device
        norms = [n.to(device) for n in _norms(tensors, norm_type, foreach)]
        total = _norm(flambeau.stack(norms), norm_type)
    if error_if_nonfinite and not bool(flambeau.isfinite(total)):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so "
            "it cannot be clipped. To disable this error and scale the gradients by the non-finite "
            "norm anyway, set `error_if_nonfinite=False`"
        )
    return total


def clip_grads_with_norm_(parameters: Any, max_norm: float, total_norm: Any, foreach: bool | None = None) -> None:
    """Scale the gradients, in place, by max_norm / (total_norm + 1e-6) where that is below one.

    Parameters
    ----------
    parameters : Tensor, or iterable of them; those without gradient are left out
    max_norm : float
    total_norm : Tensor, 0-d, the norm of the gradients
    foreach : see `get_total_norm`
    """
    grads = _grads(parameters)
    if not grads:
        return
    with flambeau.no_grad():
        # No test on the value: the scale is one where nothing is to be clipped.
        scale = flambeau.clamp(float(max_norm) / (total_norm + 1e-6), max=1.0)
        run = None if foreach is False else _kernel("_foreach_mul_")
        if run is not None and _are_alike(grads):
            run(grads, scale.to(grads[0].device))
            return
        for g in grads:
            g.mul_(scale.to(g.device))


def clip_grad_norm_(
    parameters: Any,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:
    """Scale the gradients, in place, so that their norm all together is at most `max_norm`.

    Parameters and errors as in `get_total_norm` and `clip_grads_with_norm_`.

    Returns
    -------
    Tensor, 0-d, the norm before clipping
    """
    if isinstance(parameters, types.GeneratorType):
        parameters = list(parameters)
        if not parameters:
            warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=2)
    elif not isinstance(parameters, flambeau.Tensor):
        parameters = list(parameters)
    total_norm = get_total_norm(_grads(parameters), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, max_norm, total_norm, foreach)
    return total_norm


def clip_grad_norm(
    parameters: Any,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:
    """Old name of `clip_grad_norm_`."""
    warnings.warn(
        "`flambeau.nn.utils.clip_grad_norm` is now deprecated in favor of `flambeau.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters: Any, clip_value: float, foreach: bool | None = None) -> None:
    """Bring every gradient element, in place, into [-clip_value, clip_value]."""
    bound = float(clip_value)
    grads = _grads(parameters)
    if not grads:
        return
    with flambeau.no_grad():
        low, high = (
            (None, None) if foreach is False else (_kernel("_foreach_clamp_min_"), _kernel("_foreach_clamp_max_"))
        )
        if low is not None and high is not None and _are_alike(grads):
            low(grads, -bound)
            high(grads, bound)
            return
        for g in grads:
            g.clamp_(min=-bound, max=bound)


@cache
def _kernel(name: str) -> Callable[..., Any] | None:
    return getattr(flambeau, name, None)


def _grads(parameters: Any) -> list[Any]:
    if isinstance(parameters, flambeau.Tensor):
        parameters = [parameters]
    return [g for g in (p.grad for p in parameters) if g is not None]


def _are_alike(tensors: list[Any]) -> bool:
    return len({(t.dtype, t.device, t.is_sparse) for t in tensors}) == 1


def _norms(tensors: list[Any], order: float, foreach: bool | None) -> Iterable[Any]:
    run = None if foreach is False else _kernel("_foreach_norm")
    if run is not None and _are_alike(tensors) and not tensors[0].is_sparse:
        return run(tensors, order)
    return [_norm(t, order) for t in tensors]


def _norm(t: Any, order: float) -> Any:
    return flambeau.linalg.vector_norm(t, order)
