"""Modules made without initial values."""

from __future__ import annotations

import inspect
from typing import Any

from flambeau.nn import Module

__all__ = ["skip_init"]


def skip_init(module_cls: type[Module], *args: Any, **kwargs: Any) -> Module:
    """Make a module whose parameters are allocated but not initialised.

    Parameters
    ----------
    module_cls : Module class whose constructor takes `device`
    args, kwargs : for the constructor; "device" is where the result goes

    Raises
    ------
    RuntimeError  if `module_cls` is not a Module class, or does not take `device`
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, **kwargs, device="meta").to_empty(device=device)
