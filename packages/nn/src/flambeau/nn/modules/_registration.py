"""How a module keeps parameters, buffers and children: registration and attribute access."""

from __future__ import annotations

from collections import OrderedDict

from flambeau import Tensor
from flambeau.nn.modules._hooks import RemovableHandle, add_hook
from flambeau.nn.parameter import Buffer, Parameter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_global_buffer_registration_hooks: OrderedDict[int, Callable] = OrderedDict()
_global_module_registration_hooks: OrderedDict[int, Callable] = OrderedDict()
_global_parameter_registration_hooks: OrderedDict[int, Callable] = OrderedDict()


def register_module_buffer_registration_hook(hook: Callable[..., None]) -> RemovableHandle:
    """Call `hook(module, name, buffer)` whenever any module registers a buffer.

    A result other than None replaces the buffer.
    """
    return add_hook(_global_buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook: Callable[..., None]) -> RemovableHandle:
    """Call `hook(module, name, submodule)` whenever any module registers a child."""
    return add_hook(_global_module_registration_hooks, hook)


def register_module_parameter_registration_hook(hook: Callable[..., None]) -> RemovableHandle:
    """Call `hook(module, name, param)` whenever any module registers a parameter."""
    return add_hook(_global_parameter_registration_hooks, hook)


def typename(value: Any) -> str:
    """The name of a value's type for messages; a tensor's says its dtype."""
    if isinstance(value, Tensor):
        return value.type()
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _through(hooks: OrderedDict[int, Callable], module: Any, name: str, value: Any) -> Any:
    for hook in hooks.values():
        new = hook(module, name, value)
        if new is not None:
            value = new
    return value


def _check_name(module: Any, kind: str, name: Any, held: dict, dot_detail: str = "") -> None:
    """Refuse names that are no attribute names, or that are taken by something else."""
    if not isinstance(name, str):
        raise TypeError(f"{kind} name should be a string. Got {typename(name)}")
    if "." in name:
        raise KeyError(f'{kind} name can\'t contain "."{dot_detail}')
    if name == "":
        raise KeyError(f'{kind} name can\'t be empty string ""')
    if name not in held and hasattr(module, name):
        raise KeyError(f"attribute '{name}' already exists")


class Registration:
    """The attribute half of Module; see Module."""

    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _non_persistent_buffers_set: set[str]
    _modules: dict[str, Any]

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Keep `tensor` as a buffer: state that moves with the module but is not trained.

        Parameters
        ----------
        name : attribute name
        tensor : Tensor or None; None reserves the name and is left out of state_dict
        persistent : whether the buffer is part of state_dict

        Raises
        ------
        TypeError  if `tensor` is neither Tensor nor None, or `name` is no string
        KeyError   if `name` is empty, has a dot, or names another attribute
        """
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        _check_name(self, "buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        self._buffers[name] = _through(_global_buffer_registration_hooks, self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Keep `param` as a parameter named `name`; None reserves the name.

        Raises
        ------
        TypeError  if `param` is neither Parameter nor None
        KeyError   if `name` is empty, has a dot, or names another attribute
        ValueError if `param` is the result of operations (not a leaf)
        """
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        _check_name(self, "parameter", name, self._parameters)
        if param is not None:
            if not isinstance(param, Parameter):
                raise TypeError(
                    f"cannot assign '{typename(param)}' object to parameter '{name}' "
                    "(torch.nn.Parameter or None required)"
                )
            if param.grad_fn is not None:
                raise ValueError(
                    f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must "
                    "be created explicitly. To express it as a function of another Tensor, "
                    "compute the value in the forward() method."
                )
            param = _through(_global_parameter_registration_hooks, self, name, param)
        self._parameters[name] = param

    def add_module(self, name: str, module: Any) -> None:
        """Keep `module` (a Module or None) as the child `name`.

        Raises
        ------
        TypeError  if `module` is neither Module nor None
        KeyError   if `name` is empty, has a dot, or names another attribute
        """
        if module is not None and not isinstance(module, Registration):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        dot_detail = f", got: {name}"
        _check_name(self, "module", name, self._modules, dot_detail)
        self._modules[name] = _through(_global_module_registration_hooks, self, name, module)

    def register_module(self, name: str, module: Any) -> None:
        """Alias for `add_module`."""
        self.add_module(name, module)

    # Python asks for this only after the ordinary look-up has failed, so what is stored in
    # the instance itself (hooks, flags, plain attributes) never comes here.
    def __getattr__(self, name: str) -> Any:
        state = self.__dict__
        try:
            return state["_parameters"][name]
        except KeyError:
            pass
        for kind in ("_modules", "_buffers"):
            held = state.get(kind)
            if held is not None and name in held:
                return held[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        state = self.__dict__
        params = state.get("_parameters")
        if isinstance(value, Tensor):
            self._set_tensor(state, params, name, value)
        elif isinstance(value, Registration):
            self._set_module(state, name, value)
        elif params is not None and name in params:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)"
                )
            self.register_parameter(name, None)
        elif name in state.get("_modules", ()):
            self._set_known_module(name, value)
        elif name in state.get("_buffers", ()):
            self._set_known_buffer(name, value)
        else:
            super().__setattr__(name, value)

    def _set_tensor(self, state: dict, params: dict | None, name: str, value: Tensor) -> None:
        if isinstance(value, Parameter):
            if params is None:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            _forget(self, name, "_buffers", "_modules")
            self.register_parameter(name, value)
        elif params is not None and name in params:
            raise TypeError(
                f"cannot assign '{typename(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)"
            )
        elif name in state.get("_modules", ()):
            self._set_known_module(name, value)
        elif isinstance(value, Buffer):
            _forget(self, name, "_parameters", "_modules")
            self.register_buffer(name, value, value.persistent)
        elif name in state.get("_buffers", ()):
            self._set_known_buffer(name, value)
        else:
            super().__setattr__(name, value)

    def _set_module(self, state: dict, name: str, value: Any) -> None:
        modules = state.get("_modules")
        if modules is None:
            raise AttributeError("cannot assign module before Module.__init__() call")
        if name in state["_parameters"]:
            raise TypeError(
                f"cannot assign '{typename(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)"
            )
        _forget(self, name, "_buffers")
        modules[name] = _through(_global_module_registration_hooks, self, name, value)

    def _set_known_module(self, name: str, value: Any) -> None:
        if value is not None:
            raise TypeError(
                f"cannot assign '{typename(value)}' as child module '{name}' (torch.nn.Module or None expected)"
            )
        self._modules[name] = _through(_global_module_registration_hooks, self, name, None)

    def _set_known_buffer(self, name: str, value: Any) -> None:
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(
                f"cannot assign '{typename(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor or None expected)"
            )
        self._buffers[name] = _through(_global_buffer_registration_hooks, self, name, value)

    def __delattr__(self, name: str) -> None:
        if name in self._parameters:
            del self._parameters[name]
        elif name in self._buffers:
            del self._buffers[name]
            self._non_persistent_buffers_set.discard(name)
        elif name in self._modules:
            del self._modules[name]
        else:
            super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = set(dir(type(self)))
        names.update(self.__dict__, self._parameters, self._modules, self._buffers)
        # Names such as "0" are children of containers, not attributes that can be written.
        return sorted(name for name in names if not name[0].isdigit())


def _forget(module: Registration, name: str, *kinds: str) -> None:
    """Drop `name` from the instance and from the other registries before it moves."""
    state = module.__dict__
    state.pop(name, None)
    for kind in kinds:
        state[kind].pop(name, None)
    module._non_persistent_buffers_set.discard(name)
