"""All parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import flambeau

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Any]) -> Any:
    """Return the elements of all parameters, one after the other, as one new 1-d Tensor.

    Raises
    ------
    TypeError  if the parameters are on different devices
    """
    parts, device = [], None
    for p in parameters:
        device = _same_device(p, device)
        parts.append(p.view(-1))
    return flambeau.cat(parts)


def vector_to_parameters(vec: Any, parameters: Iterable[Any]) -> None:
    """Give each parameter its slice of `vec` as data; the slices are shared with `vec`.

    Raises
    ------
    TypeError  if `vec` is not a Tensor, or the parameters are on different devices
    """
    if not isinstance(vec, flambeau.Tensor):
        raise TypeError(f"expected flambeau.Tensor, but got: {type(vec).__name__}")
    device = None
    start = 0
    for p in parameters:
        device = _same_device(p, device)
        end = start + p.numel()
        p.data = vec[start:end].view_as(p).data
        start = end


def _same_device(p: Any, device: Any) -> Any:
    if device is not None and p.device != device:
        raise TypeError(
            f"Found two parameters on different devices, this is currently not supported: {device} and {p.device}"
        )
    return p.device
