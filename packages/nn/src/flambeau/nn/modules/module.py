"""Module, the base of everything with parameters."""

from __future__ import annotations

from collections import OrderedDict

import flambeau as torch
from flambeau.nn.modules import _calls
from flambeau.nn.modules._calls import (
    Calls,
    _global_backward_hooks,
    _global_backward_pre_hooks,
    _global_forward_hooks,
    _global_forward_hooks_always_called,
    _global_forward_hooks_with_kwargs,
    _global_forward_pre_hooks,
    register_module_backward_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
)
from flambeau.nn.modules._conversion import Conversion
from flambeau.nn.modules._registration import (  # noqa: F401
    Registration,
    _global_buffer_registration_hooks,
    _global_module_registration_hooks,
    _global_parameter_registration_hooks,
    register_module_buffer_registration_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from flambeau.nn.modules._state import _EXTRA_STATE_KEY_SUFFIX, StateDict, _IncompatibleKeys  # noqa: F401
from flambeau.nn.parameter import Buffer, Parameter  # noqa: F401
from flambeau.utils.hooks import RemovableHandle  # noqa: F401

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "Module",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

_HOOK_TABLES = (
    "_backward_pre_hooks",
    "_backward_hooks",
    "_forward_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
    "_state_dict_hooks",
    "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)


def _addindent(text: str, num_spaces: int) -> str:
    """Indent every line of `text` but the first."""
    return text.replace("\n", "\n" + " " * num_spaces)


def _has_any_global_hook() -> bool:
    return bool(
        _global_backward_pre_hooks
        or _global_backward_hooks
        or _global_forward_hooks
        or _global_forward_pre_hooks
        or _global_forward_hooks_always_called
        or _global_forward_hooks_with_kwargs
    )


# Note [Reading parameters]
# `self.weight` first fails in the instance and in the class, then finds the parameter through
# __getattr__: half a microsecond for weight and bias, more than a small layer's arithmetic.
# The layers that are called most take them from `_parameters`. A parametrised or
# weight-normed layer does not have them there, and goes the ordinary way.


class Module(Registration, StateDict, Conversion, Calls):
    """Base class of layers and models.

    A subclass calls `super().__init__()`, assigns Parameters, Buffers and other Modules to
    attributes, which registers them, and defines `forward`. The parts are in files of their
    own: registration and attribute access, state_dict, conversion and traversal, calls and
    hooks.

    Attributes
    ----------
    training : bool, set by train() and eval()
    call_super_init : class attribute; True makes `__init__` pass its arguments on to the next
        class in the MRO, for multiple inheritance
    """

    dump_patches: bool = False
    call_super_init: bool = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init:
            if kwargs:
                raise TypeError(
                    f"{type(self).__name__}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'"
                )
            if args:
                raise TypeError(
                    f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were given"
                )
        # Written past __setattr__, which needs these entries to exist.
        state = self.__dict__
        state["training"] = True
        state["_parameters"] = {}
        state["_buffers"] = {}
        state["_non_persistent_buffers_set"] = set()
        state["_backward_pre_hooks"] = OrderedDict()
        state["_backward_hooks"] = OrderedDict()
        state["_is_full_backward_hook"] = None
        state["_forward_hooks"] = OrderedDict()
        state["_forward_hooks_with_kwargs"] = OrderedDict()
        state["_forward_hooks_always_called"] = OrderedDict()
        state["_forward_pre_hooks"] = OrderedDict()
        state["_forward_pre_hooks_with_kwargs"] = OrderedDict()
        state["_state_dict_hooks"] = OrderedDict()
        state["_state_dict_pre_hooks"] = OrderedDict()
        state["_load_state_dict_pre_hooks"] = OrderedDict()
        state["_load_state_dict_post_hooks"] = OrderedDict()
        state["_modules"] = {}
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Compile this module's call in place; arguments as for `flambeau.compile`.

        Without a compiler installed, the module keeps running eagerly.
        """
        compiler = getattr(torch, "compile", None)
        if compiler is not None:
            self._compiled_call_impl = compiler(self._call_impl, *args, **kwargs)

    def __getstate__(self) -> dict:
        state = self.__dict__.copy()
        state.pop("_compiled_call_impl", None)
        return state

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
        # Files of older versions lack the younger tables.
        own = self.__dict__
        for table in _HOOK_TABLES:
            if table not in own:
                own[table] = OrderedDict()
        own.setdefault("_non_persistent_buffers_set", set())
        own.setdefault("_is_full_backward_hook", None)

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What stands between the parentheses of the repr; one line or several."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        extra_lines = extra.split("\n") if extra else []
        child_lines = [f"({name}): {_addindent(repr(module), 2)}" for name, module in self._modules.items()]
        head = self._get_name() + "("
        if len(extra_lines) == 1 and not child_lines:
            return head + extra_lines[0] + ")"
        lines = extra_lines + child_lines
        if not lines:
            return head + ")"
        return head + "\n  " + "\n  ".join(lines) + "\n)"


def __getattr__(name: str) -> Any:
    # The one global that is rebound rather than filled.
    if name == "_global_is_full_backward_hook":
        return _calls._global_is_full_backward_hook
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
