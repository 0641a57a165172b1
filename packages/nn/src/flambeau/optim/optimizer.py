"""The base of all optimizers: parameter groups, state, hooks, checkpoints.

How a step is computed is in `_groupwise`; this file knows nothing of any update rule.
"""

from __future__ import annotations

import functools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any, TypeAlias

import flambeau
from flambeau.optim import _state_dict
from flambeau.utils.hooks import RemovableHandle

ParamsT: TypeAlias = Iterable[Any]
params_t: TypeAlias = ParamsT
StateDict: TypeAlias = dict[str, Any]

_global_optimizer_pre_hooks: dict[int, Callable[..., Any]] = OrderedDict()
_global_optimizer_post_hooks: dict[int, Callable[..., Any]] = OrderedDict()

__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook"]


class _RequiredParameter:
    """Marks a default that every parameter group has to give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _RequiredParameter()


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` before every step of every optimizer."""
    return _add_hook(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` after every step of every optimizer."""
    return _add_hook(_global_optimizer_post_hooks, hook)


class Optimizer:
    """Updates parameters from their gradients.

    Parameters
    ----------
    params : iterable of Tensors, of `(name, Tensor)` pairs, or of group dicts with the key "params"
    defaults : options for groups that do not give their own

    Attributes
    ----------
    param_groups : list of dicts; options may be changed between steps
    state : parameter -> dict of its running values

    Raises
    ------
    TypeError   if `params` is a Tensor or a set, or holds something that is not a Tensor
    ValueError  if it is empty, holds a non-leaf, or names a parameter in two groups
    """

    def __init__(self, params: ParamsT, defaults: dict[str, Any]) -> None:
        if isinstance(params, flambeau.Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"but got a {type(params).__name__}; wrap it in a list"
            )
        self.defaults = defaults
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self._init_hooks()
        self._patch_step_function()
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def _init_hooks(self) -> None:
        self._optimizer_step_pre_hooks: dict[int, Callable[..., Any]] = OrderedDict()
        self._optimizer_step_post_hooks: dict[int, Callable[..., Any]] = OrderedDict()
        self._optimizer_state_dict_pre_hooks: dict[int, Callable[..., Any]] = OrderedDict()
        self._optimizer_state_dict_post_hooks: dict[int, Callable[..., Any]] = OrderedDict()
        self._optimizer_load_state_dict_pre_hooks: dict[int, Callable[..., Any]] = OrderedDict()
        self._optimizer_load_state_dict_post_hooks: dict[int, Callable[..., Any]] = OrderedDict()

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "_optimizer_step_pre_hooks" not in self.__dict__:
            self._init_hooks()
        self._patch_step_function()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self) -> str:
        lines = [type(self).__name__ + " ("]
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
            lines.append("")
        if self.param_groups:
            lines.pop()
        return "\n".join(lines) + "\n)"

    # ---- the step and its hooks

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters once; subclasses say how.

        Parameters
        ----------
        closure : re-evaluates the model and returns the loss, optional for most optimizers
        """
        raise NotImplementedError(f"[{type(self).__name__}] does not define step()")

    def _patch_step_function(self) -> None:
        """Wrap the class's `step` once, so that hooks run for optimizers written by users too."""
        step = type(self).step
        if not getattr(step, "hooked", False):
            wrapped = self.profile_hook_step(step)
            wrapped.hooked = True  # type: ignore[attr-defined]
            type(self).step = wrapped  # type: ignore[method-assign]

    @staticmethod
    def profile_hook_step(func: Callable[..., Any]) -> Callable[..., Any]:
        """Return `func` preceded and followed by the step hooks."""

        @functools.wraps(func)
        def step(*args: Any, **kwargs: Any) -> Any:
            self = args[0]
            self._opt_called = True
            if (
                self._optimizer_step_pre_hooks
                or self._optimizer_step_post_hooks
                or _global_optimizer_pre_hooks
                or _global_optimizer_post_hooks
            ):
                return _step_with_hooks(func, self, args, kwargs)
            return func(*args, **kwargs)

        return step

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` before each step; it may return new `(args, kwargs)`."""
        return _add_hook(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` after each step."""
        return _add_hook(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer)` before `state_dict` reads anything."""
        return _add_hook(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` on the result; it may return another."""
        return _add_hook(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` before loading; it may return another."""
        return _add_hook(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer)` after loading."""
        return _add_hook(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    # ---- gradients

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients, or with `set_to_none=False` fill them with zeros in place."""
        for group in self.param_groups:
            for p in group["params"]:
                if set_to_none:
                    p.grad = None
                elif p.grad is not None:
                    if p.grad.grad_fn is not None:
                        p.grad.detach_()
                    else:
                        p.grad.requires_grad_(False)
                    p.grad.zero_()

    # ---- groups

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Append a group; options it lacks come from the defaults. The dict itself is kept."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        _normalise_params(param_group)
        for p in param_group["params"]:
            self._check_param(p)
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        self._check_membership(param_group)
        self.param_groups.append(param_group)

    def _check_param(self, p: Any) -> None:
        if not isinstance(p, flambeau.Tensor):
            raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(p).__name__}")
        if not self.defaults.get("differentiable", None) and not (p.is_leaf or p.retains_grad):
            raise ValueError("can't optimize a non-leaf Tensor")

    def _check_membership(self, param_group: dict[str, Any]) -> None:
        ids = {id(p) for p in param_group["params"]}
        if len(ids) != len(param_group["params"]):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; "
                "each of them is updated once per occurrence",
                stacklevel=4,
            )
        for group in self.param_groups:
            if ("param_names" in group) != ("param_names" in param_group):
                known = "names" if "param_names" in param_group else "no names"
                raise ValueError(
                    "all optimizer param groups should be with/without names. "
                    f"cannot add param group with {known} to the optimizer"
                )
            if not ids.isdisjoint(map(id, group["params"])):
                raise ValueError("some parameters appear in more than one parameter group")

    # ---- checkpoints

    def state_dict(self) -> StateDict:
        """Return `{"state": {index: dict}, "param_groups": [dict]}`, parameters by position.

        Tensors are the optimizer's own, not copies.
        """
        for hook in list(self._optimizer_state_dict_pre_hooks.values()):
            hook(self)
        packed = _state_dict.pack(self.state, self.param_groups)
        for hook in list(self._optimizer_state_dict_post_hooks.values()):
            changed = hook(self, packed)
            if changed is not None:
                packed = changed
        return packed

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Take over a copy of `state_dict`; nothing of it is shared afterwards.

        State is matched by parameter name where both sides know the names and the sets of
        names are equal, otherwise by position. Values are cast to the parameter's dtype and
        device, except "step".

        Raises
        ------
        ValueError  if the number of groups, or of parameters in a group, differs
        """
        state_dict = dict(state_dict)
        for hook in list(self._optimizer_load_state_dict_pre_hooks.values()):
            changed = hook(self, state_dict)
            if changed is not None:
                state_dict = changed
        saved_groups = deepcopy(state_dict["param_groups"])
        params_of = _state_dict.match_params(saved_groups, self.param_groups)
        state = _state_dict.unpack(state_dict["state"], params_of, saved_groups, self)
        groups = _state_dict.merge_groups(saved_groups, self.param_groups)
        self.__setstate__({"state": state, "param_groups": groups})
        for hook in list(self._optimizer_load_state_dict_post_hooks.values()):
            hook(self)

    @staticmethod
    def _process_value_according_to_param_policy(
        param: Any, value: Any, param_id: int, param_groups: list[dict[str, Any]], key: Any = None
    ) -> Any:
        """Copy one loaded tensor into the dtype and device that its parameter asks for."""
        return _state_dict.cast_value(param, value, param_id, param_groups, key)


def _normalise_params(param_group: dict[str, Any]) -> None:
    """Turn group["params"] into a list of tensors and pull out names where given."""
    params = param_group["params"]
    if isinstance(params, flambeau.Tensor):
        param_group["params"] = [params]
    elif isinstance(params, set):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering "
            "of tensors in sets will change between runs. Please use a list instead."
        )
    else:
        param_group["params"] = list(params)
    items = param_group["params"]
    if not any(isinstance(item, tuple) for item in items):
        return
    if not all(isinstance(item, tuple) for item in items):
        raise ValueError("all optimizer params should be with/without names. Some param names are missing")
    param_group["param_names"] = [name for name, _ in items]
    param_group["params"] = [p for _, p in items]


def _step_with_hooks(func: Callable[..., Any], self: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    pre = chain(list(_global_optimizer_pre_hooks.values()), list(self._optimizer_step_pre_hooks.values()))
    for hook in pre:
        changed = hook(self, args, kwargs)
        if changed is None:
            continue
        if not (isinstance(changed, tuple) and len(changed) == 2):
            raise RuntimeError(
                f"[{type(self).__name__}.step] a step pre-hook must return None or a tuple of "
                f"(new_args, new_kwargs), but got {changed}"
            )
        args, kwargs = changed
    out = func(*args, **kwargs)
    post = chain(list(self._optimizer_step_post_hooks.values()), list(_global_optimizer_post_hooks.values()))
    for hook in post:
        hook(self, args, kwargs)
    return out


def _add_hook(table: dict[int, Callable[..., Any]], hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
    handle = RemovableHandle(table)
    table[handle.id] = hook
    if prepend:
        table.move_to_end(handle.id, last=False)  # type: ignore[attr-defined]
    return handle
