"""state_dict and load_state_dict."""

from __future__ import annotations

import warnings
from collections import OrderedDict, namedtuple
from collections.abc import Mapping

import flambeau as torch
from flambeau.nn.modules._hooks import RemovableHandle, add_hook
from flambeau.nn.parameter import Parameter, is_lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What load_state_dict found: keys it missed and keys it could not place."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class _WithModule:
    """A load-state pre-hook that is given its module first.

    A class, not a closure, so that a module with such a hook can be copied and pickled.
    """

    def __init__(self, hook: Callable, module: Any) -> None:
        self.hook = hook
        self.module = module

    def __call__(self, *args: Any) -> Any:
        return self.hook(self.module, *args)


class StateDict:
    """The state_dict half of Module; see Module."""

    _version: int = 1
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _state_dict_hooks: OrderedDict[int, Callable]
    _state_dict_pre_hooks: OrderedDict[int, Callable]
    _load_state_dict_pre_hooks: OrderedDict[int, Callable]
    _load_state_dict_post_hooks: OrderedDict[int, Callable]

    def get_extra_state(self) -> Any:
        """Return what state_dict shall hold besides tensors; override with set_extra_state."""
        raise RuntimeError(
            f"[Module.get_extra_state] {type(self).__name__} defines no extra state; "
            "override get_extra_state and set_extra_state together"
        )

    def set_extra_state(self, state: Any) -> None:
        """Take what get_extra_state returned when the state dict was made."""
        raise RuntimeError(
            f"[Module.set_extra_state] {type(self).__name__} defines no extra state; "
            "override get_extra_state and set_extra_state together"
        )

    def register_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, prefix, keep_vars)` before this module's state is collected."""
        return add_hook(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)` after it; in-place edits only."""
        # The mark tells these from the older private hooks, whose results count.
        setattr(hook, "_from_public_api", True)  # noqa: B010 - functions have no such attribute to checkers
        return add_hook(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook: Callable) -> RemovableHandle:
        """Like register_state_dict_post_hook, but a returned dict replaces the state dict."""
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was "
                "previously registered via register_state_dict_post_hook"
            )
        return add_hook(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata, strict, missing_keys,
        unexpected_keys, error_msgs)` before this module takes its state."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(self, hook: Callable, with_module: bool = False) -> RemovableHandle:
        return add_hook(self._load_state_dict_pre_hooks, _WithModule(hook, self) if with_module else hook)

    def register_load_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, incompatible_keys)` after loading; it may edit the lists in place."""
        return add_hook(self._load_state_dict_post_hooks, hook)

    # ---- writing ----

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Add this module's own parameters, persistent buffers and extra state."""
        for name, param in self._parameters.items():
            if param is not None:
                destination[prefix + name] = param if keep_vars else param.detach()
        for name, buf in self._buffers.items():
            if buf is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = buf if keep_vars else buf.detach()
        if type(self).get_extra_state is not StateDict.get_extra_state:
            destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = self.get_extra_state()

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """Return parameters and persistent buffers by dotted name.

        Parameters
        ----------
        destination : mapping to add to; a new OrderedDict by default
        prefix : put before every key
        keep_vars : give the tensors themselves, not detached aliases

        Returns
        -------
        OrderedDict of tensors that share memory with the module's; its `_metadata` attribute
        holds every module's version.
        """
        if args:
            warnings.warn(
                "Positional args are being deprecated, use kwargs instead: "
                "state_dict(destination=..., prefix=..., keep_vars=...).",
                FutureWarning,
                stacklevel=2,
            )
            given = dict(zip(("destination", "prefix", "keep_vars"), args))
            destination = given.get("destination", destination)
            prefix = given.get("prefix", prefix)
            keep_vars = given.get("keep_vars", keep_vars)
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata

        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=prefix + name + ".", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            result = hook(self, destination, prefix, local_metadata)
            if getattr(hook, "_from_public_api", False):
                if result is not None:
                    raise RuntimeError("state_dict post-hook must return None")
            elif result is not None:
                destination = result
        return destination

    # ---- reading ----

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Take parameters and buffers from a state dict.

        Parameters
        ----------
        state_dict : mapping, dotted name -> tensor; it is not changed
        strict : require that the keys match exactly
        assign : put the given tensors in place of the module's, instead of copying into them
            (keeps their device, dtype and strides; requires_grad stays the module's)

        Returns
        -------
        (missing_keys, unexpected_keys)

        Raises
        ------
        RuntimeError  listing every missing or unexpected key (if strict), every mismatched
            shape, every entry that is no tensor. What fits has been loaded by then.
        TypeError     if `state_dict` is no mapping
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing_keys: list[str] = []
        unexpected_keys: list[str] = []
        error_msgs: list[str] = []
        metadata = getattr(state_dict, "_metadata", None)
        state_dict = OrderedDict(state_dict)
        if metadata is not None:
            setattr(state_dict, "_metadata", metadata)  # noqa: B010 - nor have dicts

        def load(module: Any, local_state: Any, prefix: str) -> None:
            local_metadata = {} if metadata is None else metadata.get(prefix[:-1], {})
            if assign:
                local_metadata["assign_to_params_buffers"] = assign
            module._load_from_state_dict(
                local_state, prefix, local_metadata, True, missing_keys, unexpected_keys, error_msgs
            )
            below = _by_child(local_state, prefix)
            for name, child in module._modules.items():
                if child is not None:
                    load(child, below.get(name, {}), prefix + name + ".")
            incompatible = _IncompatibleKeys(missing_keys, unexpected_keys)
            for hook in module._load_state_dict_post_hooks.values():
                if hook(module, incompatible) is not None:
                    raise AssertionError(
                        "Hooks registered with ``register_load_state_dict_post_hook`` are not "
                        "expected to return new values, if incompatible_keys need to be "
                        "modified, it should be done inplace."
                    )

        load(self, state_dict, "")
        if strict:
            for kind, keys in (("Unexpected", unexpected_keys), ("Missing", missing_keys)):
                if keys:
                    names = ", ".join(f'"{k}"' for k in keys)
                    error_msgs.insert(0, f"{kind} key(s) in state_dict: {names}. ")
        if error_msgs:
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(error_msgs)
            )
        return _IncompatibleKeys(missing_keys, unexpected_keys)

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: dict,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Take this module's own entries; report through the three lists."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        own = dict(self._parameters)
        for name, buf in self._buffers.items():
            if name not in self._non_persistent_buffers_set:
                own[name] = buf
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, param in own.items():
            if param is None:
                continue
            key = prefix + name
            if key in state_dict:
                error = _load_one(self, name, param, key, state_dict[key], assign)
                if error:
                    error_msgs.append(error)
            elif strict:
                missing_keys.append(key)

        extra_key = prefix + _EXTRA_STATE_KEY_SUFFIX
        takes_extra = type(self).set_extra_state is not StateDict.set_extra_state
        if takes_extra:
            if extra_key in state_dict:
                self.set_extra_state(state_dict[extra_key])
            elif strict:
                missing_keys.append(extra_key)
        elif strict and extra_key in state_dict:
            unexpected_keys.append(extra_key)
        if strict:
            _find_unexpected(self, state_dict, prefix, own, extra_key, unexpected_keys)


def _by_child(state_dict: Mapping[str, Any], prefix: str) -> dict[str, dict[str, Any]]:
    """Sort the entries under `prefix` by the child they belong to.

    One pass a level: filtering anew for each child is quadratic in wide models.
    """
    below: dict[str, dict[str, Any]] = {}
    n = len(prefix)
    for key, value in state_dict.items():
        if key.startswith(prefix):
            child, dot, _ = key[n:].partition(".")
            if dot:
                below.setdefault(child, {})[key] = value
    return below


def _find_unexpected(
    module: Any, state_dict: Mapping[str, Any], prefix: str, own: dict, extra_key: str, unexpected_keys: list[str]
) -> None:
    n = len(prefix)
    for key in state_dict:
        if not key.startswith(prefix) or key == extra_key:
            continue
        name, dot, _ = key[n:].partition(".")
        # A key with a dot is the child's business if there is such a child.
        if name not in module._modules if dot else name not in own:
            unexpected_keys.append(key)


def _load_one(module: Any, name: str, param: Any, key: str, value: Any, assign: bool) -> str | None:
    """Copy (or assign) one entry; returns what is wrong with it, if anything."""
    if not isinstance(value, torch.Tensor):
        return (
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like '
            f"object from checkpoint but received {type(value)}"
        )
    lazy = is_lazy(param)
    if not lazy and param.dim() == 0 and value.dim() == 1 and value.shape[0] == 1:
        # Files from before 0-dimensional tensors hold scalars as one element.
        value = value[0]
    if not lazy and value.shape != param.shape:
        return (
            f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, "
            f"the shape in current model is {param.shape}."
        )
    if param.is_meta and not value.is_meta and not assign:
        warnings.warn(
            f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter "
            "in the current model, which is a no-op. (Did you mean to pass `assign=True` to "
            "assign items in the state dictionary to their corresponding key in the module "
            "instead of copying them in place?)",
            stacklevel=5,
        )
    try:
        if assign:
            _assign_one(module, name, param, value)
        else:
            with torch.no_grad():
                param.copy_(value)
    except Exception as err:
        # All problems are collected into one report, so this one cannot propagate here.
        return (
            f'While copying the parameter named "{key}", whose dimensions in the model are '
            f"{param.size()} and whose dimensions in the checkpoint are {value.size()}, an "
            f"exception occurred : {err.args}."
        )
    return None


def _assign_one(module: Any, name: str, param: Any, value: Any) -> None:
    if isinstance(param, Parameter):
        if isinstance(value, Parameter):
            value.requires_grad_(param.requires_grad)
        else:
            value = Parameter(value, requires_grad=param.requires_grad)
    setattr(module, name, value)
