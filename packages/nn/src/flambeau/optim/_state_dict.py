"""Optimizer state to and from checkpoints. See PAINS 14: what is loaded is a copy, by name where known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from copy import deepcopy
from itertools import chain
from typing import TYPE_CHECKING, Any

import flambeau

if TYPE_CHECKING:
    from flambeau.optim.optimizer import Optimizer

Group = dict[str, Any]


def pack(state: dict[Any, Any], groups: list[Group]) -> dict[str, Any]:
    """Replace parameters by their running number over all groups."""
    number: dict[int, int] = {}
    packed_groups = []
    for group in groups:
        packed = {k: v for k, v in group.items() if k != "params"}
        for p in group["params"]:
            number.setdefault(id(p), len(number))
        packed["params"] = [number[id(p)] for p in group["params"]]
        packed_groups.append(packed)
    packed_state = {(number[id(k)] if isinstance(k, flambeau.Tensor) else k): v for k, v in state.items()}
    return {"state": packed_state, "param_groups": packed_groups}


def match_params(saved: list[Group], own: list[Group]) -> dict[int, Any]:
    """Return saved number -> own parameter, by name if possible, else by position."""
    if len(saved) != len(own):
        raise ValueError(
            "loaded state dict has a different number of parameter groups: "
            f"{len(saved)} in the state dict, {len(own)} in the optimizer"
        )
    for i, (s, o) in enumerate(zip(saved, own)):
        if len(s["params"]) != len(o["params"]):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group: "
                f"group {i} has {len(s['params'])} parameters in the state dict, {len(o['params'])} here"
            )
    by_name = _match_by_name(saved, own)
    if by_name is not None:
        return by_name
    return dict(zip(_flat(saved), _flat(own)))


def _match_by_name(saved: list[Group], own: list[Group]) -> dict[int, Any] | None:
    if not all("param_names" in g for g in chain(saved, own)):
        return None
    number = dict(zip(_flat(saved, "param_names"), _flat(saved)))
    own_names = list(_flat(own, "param_names"))
    # Equal sets only: with a renamed model position is the better guess, as in torch.
    if number.keys() != set(own_names) or len(number) != len(own_names):
        return None
    return {number[name]: p for name, p in zip(own_names, _flat(own))}


def unpack(
    state: dict[Any, Any], params: dict[int, Any], groups: list[Group], optimizer: Optimizer
) -> defaultdict[Any, Any]:
    """Return parameter -> a deep copy of its saved state, cast by the optimizer's policy."""
    out: defaultdict[Any, Any] = defaultdict(dict)
    for key, value in state.items():
        if key in params:
            out[params[key]] = _cast(params[key], value, key, groups, None, optimizer)
        else:
            out[key] = deepcopy(value)
    return out


def _cast(param: Any, value: Any, number: int, groups: list[Group], key: Any, optimizer: Optimizer) -> Any:
    if isinstance(value, flambeau.Tensor):
        return optimizer._process_value_according_to_param_policy(param, value, number, groups, key)
    if isinstance(value, dict):
        return {k: _cast(param, v, number, groups, k, optimizer) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        items = [_cast(param, v, number, groups, None, optimizer) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return deepcopy(value)


def cast_value(param: Any, value: Any, number: int, groups: list[Group], key: Any) -> Any:
    """Copy `value` to the dtype and device of `param`; "step" keeps its own unless a kernel reads it."""
    if key == "step":
        group = next((g for g in groups if number in g["params"]), {})
        if group.get("capturable") or group.get("fused"):
            return value.detach().to(dtype=flambeau.float32, device=param.device, copy=True)
        return value.detach().clone()
    if param.is_floating_point():
        return value.detach().to(dtype=param.dtype, device=param.device, copy=True)
    return value.detach().to(device=param.device, copy=True)


def merge_groups(saved: list[Group], own: list[Group]) -> list[Group]:
    """Take the saved options; the parameters, and their names where we have some, stay ours."""
    merged = []
    for s, o in zip(saved, own):
        group = {**s, "params": o["params"]}
        if "param_names" in o:
            group["param_names"] = o["param_names"]
        merged.append(group)
    return merged


def _flat(groups: list[Group], key: str = "params") -> Iterable[Any]:
    return chain.from_iterable(g[key] for g in groups)
