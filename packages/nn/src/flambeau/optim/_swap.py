"""Step an optimizer on other tensors for a while."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flambeau.optim.optimizer import Optimizer

__all__ = ["swap_in_optimizer_params_and_state"]


@contextmanager
def swap_in_optimizer_params_and_state(
    optimizer: Optimizer, swapin_parameters: dict[str, Any], swapin_optim_state: dict[str, Any]
) -> Iterator[None]:
    """Within the context `optimizer` has the given parameters, state and options, not copies of them.

    Parameters
    ----------
    optimizer : restored on exit
    swapin_parameters : name -> tensor, in the order of the optimizer's own parameters
    swapin_optim_state : as `optimizer.state_dict()` returns it

    Raises
    ------
    ValueError  if the numbers of parameters or groups differ
    """
    tensors = list(swapin_parameters.values())
    groups = optimizer.param_groups
    saved = swapin_optim_state["param_groups"]
    count = sum(len(g["params"]) for g in groups)
    if len(tensors) != count or len(saved) != len(groups):
        raise ValueError(
            f"[swap_in_optimizer_params_and_state] the optimizer has {count} parameters in "
            f"{len(groups)} groups, given are {len(tensors)} in {len(saved)}"
        )
    by_number = {n: tensors[i] for i, n in enumerate(n for g in saved for n in g["params"])}
    state: defaultdict[Any, Any] = defaultdict(dict)
    for number, value in swapin_optim_state["state"].items():
        state[by_number.get(number, number)] = dict(value) if isinstance(value, dict) else value
    kept_state, kept_groups = optimizer.state, optimizer.param_groups
    optimizer.state = state
    optimizer.param_groups = [{**g, "params": [by_number[n] for n in g["params"]]} for g in saved]
    try:
        yield
    finally:
        optimizer.state, optimizer.param_groups = kept_state, kept_groups
