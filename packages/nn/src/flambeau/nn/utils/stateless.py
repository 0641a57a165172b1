"""Call a module with other parameters and buffers than its own."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import flambeau
from flambeau.nn import Module

__all__ = ["functional_call"]

_ABSENT = object()


def functional_call(
    module: Module,
    parameters_and_buffers: dict[str, Any],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Old home of `flambeau.func.functional_call`."""
    warnings.warn(
        "`flambeau.nn.utils.stateless.functional_call` is deprecated. Please use "
        "`flambeau.func.functional_call` instead which is a drop-in replacement.",
        FutureWarning,
        stacklevel=2,
    )
    return _functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)


def _functional_call(
    module: Module,
    parameters_and_buffers: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Return module(*args, **kwargs) with the given tensors in place of those of the same names.

    Parameters
    ----------
    module : Module, unchanged afterwards
    parameters_and_buffers : name -> Tensor, or several such dicts with different names
    args : tuple, or one positional argument
    tie_weights : a tensor given for one name stands for all names of the same parameter
    strict : the names must be those of the module, all of them and no others

    Raises
    ------
    RuntimeError  see `strict`
    ValueError    if a name is given twice, or tied names get different tensors
    TypeError     if a value is not a Tensor
    """
    if args is None:
        args = ()
    elif not isinstance(args, tuple):
        args = (args,)
    tensors = _merged(parameters_and_buffers)
    with _reparametrize_module(module, tensors, tie_weights=tie_weights, strict=strict):
        return module(*args, **(kwargs or {}))


def _merged(dicts: Any) -> dict[str, Any]:
    if isinstance(dicts, dict):
        return dicts
    if not isinstance(dicts, (list, tuple)) or not all(isinstance(d, dict) for d in dicts):
        raise ValueError(
            f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(dicts)}"
        )
    merged: dict[str, Any] = {}
    twice = [name for i, d in enumerate(dicts) for name in d if any(name in e for e in dicts[:i])]
    if twice:
        raise ValueError(f"{twice} appeared in multiple dictionaries; behavior of functional call is ambiguous")
    for d in dicts:
        merged.update(d)
    return merged


@contextmanager
def _reparametrize_module(
    module: Module, parameters_and_buffers: dict[str, Any], tie_weights: bool = False, strict: bool = False
) -> Iterator[None]:
    """Within the context the module has the given tensors."""
    tensors = dict(parameters_and_buffers)
    if tie_weights:
        tensors = _with_tied_names(module, tensors)
    if strict:
        _check_names(module, tensors)
    places = {name: _place(module, name) for name in tensors}
    before: dict[str, Any] = {}
    try:
        for name, (table, key) in places.items():
            if not isinstance(tensors[name], flambeau.Tensor):
                raise TypeError(f"{tensors[name]} is not an instance of flambeau.Tensor")
            before[name] = table.get(key, _ABSENT)
            table[key] = tensors[name]
        yield
    finally:
        for name, old in reversed(before.items()):
            table, key = places[name]
            # What the call assigned, such as new running statistics, goes back to the caller.
            if name in parameters_and_buffers and key in table:
                parameters_and_buffers[name] = table[key]
            if old is _ABSENT:
                table.pop(key, None)
            else:
                table[key] = old


def _place(module: Module, name: str) -> tuple[dict[str, Any], str]:
    """Return the table that `name` is in, and its key there; for new names, that of plain attributes."""
    *path, key = name.split(".")
    for part in path:
        if part not in module._modules:
            raise AttributeError(f"{type(module).__name__} has no attribute `{part}`")
        module = module._modules[part]
    for table in (module._parameters, module._buffers):
        if key in table:
            return table, key
    return module.__dict__, key


def _names(module: Module) -> dict[str, Any]:
    named: dict[str, Any] = dict(module.named_parameters(remove_duplicate=False))
    named.update(module.named_buffers(remove_duplicate=False))
    return named


def _with_tied_names(module: Module, tensors: dict[str, Any]) -> dict[str, Any]:
    names_of: dict[int, list[str]] = {}
    for name, tensor in _names(module).items():
        names_of.setdefault(id(tensor), []).append(name)
    tied = [names for names in names_of.values() if len(names) > 1]
    out = dict(tensors)
    for names in tied:
        given = [n for n in names if n in tensors]
        if len({id(tensors[n]) for n in given}) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(given)}, which are tied. "
                "Consider using tie_weights=False"
            )
        if given:
            out.update((n, tensors[given[0]]) for n in names)
    return out


def _check_names(module: Module, tensors: dict[str, Any]) -> None:
    own = _names(module)
    lines = []
    unexpected = [n for n in tensors if n not in own]
    missing = [n for n in own if n not in tensors]
    for what, names in (("Unexpected", unexpected), ("Missing", missing)):
        if names:
            lines.append(f"\n\t{what} key(s): " + ", ".join(f"'{n}'" for n in sorted(names)) + ".")
    if lines:
        raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:" + "".join(lines))
