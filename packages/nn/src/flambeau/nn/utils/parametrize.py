"""Parameters computed from others: `module.weight` becomes a function of what is learnt.

Note [How a parametrized module works]
The module's class is replaced by a subclass of it, made for this one module, with a property in
place of each parametrized tensor. The property calls `module.parametrizations[name]`, which holds
the tensors that are learnt ("original") and the modules that are applied to them in turn.
"""

from __future__ import annotations

import collections
import copyreg
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from typing import Any

import flambeau
from flambeau.nn import Module, ModuleDict, ModuleList, Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

_cache_enabled = 0
_cache: dict[tuple[int, str], Any] = {}


@contextmanager
def cached() -> Iterator[None]:
    """Within the context each parametrized tensor is computed once, on first use."""
    global _cache_enabled
    _cache_enabled += 1
    try:
        yield
    finally:
        _cache_enabled -= 1
        if not _cache_enabled:
            _cache.clear()


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, applied in turn, and the tensors that they start from.

    Parameters
    ----------
    modules : parametrizations, at least one
    original : Tensor or Parameter; what is learnt is found by `right_inverse`, where there is one
    unsafe : do not check that shape and dtype stay the same
    """

    original: Any
    unsafe: bool

    def __init__(self, modules: Sequence[Module], original: Any, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        original_shape, original_dtype = original.shape, original.dtype
        with flambeau.no_grad():
            new = self._invert(original)
        self.is_tensor = isinstance(new, flambeau.Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            if original.dtype != new.dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {new.dtype}"
                )
            with flambeau.no_grad():
                # The parameter stays the same object: optimizers may hold it already.
                _put(original, new)
            _register(self, "original", original)
        else:
            for i, item in enumerate(new):
                if not isinstance(item, flambeau.Tensor):
                    raise ValueError(
                        "right_inverse must return a Tensor or a Sequence of tensors (list, tuple...). "
                        f"Got element {i} of the sequence with type {type(item).__name__}."
                    )
                item = Parameter(item) if isinstance(original, Parameter) else item
                item.requires_grad_(original.requires_grad)
                _register(self, f"original{i}", item)
        if not unsafe:
            self._check_result(original_shape, original_dtype)

    def _invert(self, value: Any) -> Any:
        new = value
        for module in reversed(self):  # type: ignore[call-overload]
            if hasattr(module, "right_inverse"):
                with suppress(NotImplementedError):
                    new = module.right_inverse(new)
        if not isinstance(new, flambeau.Tensor) and not isinstance(new, collections.abc.Sequence):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(new).__name__}"
            )
        return new

    def _check_result(self, shape: Any, dtype: Any) -> None:
        result = self()
        if not isinstance(result, flambeau.Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
        if result.dtype != dtype:
            raise ValueError(
                "Registering a parametrization may not change the dtype of the tensor, unless "
                f"`unsafe` flag is enabled.\nunparametrized dtype: {dtype}\n"
                f"parametrized dtype: {result.dtype}"
            )
        if result.shape != shape:
            raise ValueError(
                "Registering a parametrization may not change the shape of the tensor, unless "
                f"`unsafe` flag is enabled.\nunparametrized shape: {shape}\n"
                f"parametrized shape: {result.shape}"
            )

    def right_inverse(self, value: Any) -> None:
        """Set what is learnt such that the result becomes `value`, through the inverses in reverse order."""
        with flambeau.no_grad():
            for module in reversed(self):  # type: ignore[call-overload]
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            if self.is_tensor:
                if not isinstance(value, flambeau.Tensor):
                    raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
                self._check_dtype("original", self.original, value)
                _put(self.original, value)
                return
            if not isinstance(value, collections.abc.Sequence):
                raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {type(value).__name__}.")
            if len(value) != self.ntensors:
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors of length "
                    f"{self.ntensors}. Got a sequence of length {len(value)}."
                )
            for i, item in enumerate(value):
                name = f"original{i}"
                if not isinstance(item, flambeau.Tensor):
                    raise ValueError(
                        f"`right_inverse` must return a sequence of tensors. Got element {i} of type "
                        f"{type(item).__name__}"
                    )
                self._check_dtype(name, getattr(self, name), item)
                _put(getattr(self, name), item)

    @staticmethod
    def _check_dtype(name: str, old: Any, new: Any) -> None:
        if old.dtype != new.dtype:
            raise ValueError(
                f"Tensor returned by `right_inverse` has dtype {new.dtype} while `{name}` has dtype {old.dtype}"
            )

    def forward(self) -> Any:
        """Compute the tensor."""
        if self.is_tensor:
            x = self[0](self.original)
        else:
            x = self[0](*(getattr(self, f"original{i}") for i in range(self.ntensors)))
        # Not self[1:], which would be another list of this class.
        for i in range(1, len(self)):
            x = self[i](x)
        return x


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Compute `module.<tensor_name>` by `parametrization` from now on.

    Parameters
    ----------
    module : gets a class of its own; see Note [How a parametrized module works]
    tensor_name : of a parameter or buffer; if it is parametrized already, the new one comes last
    parametrization : called with the learnt tensor or tensors; `right_inverse`, optional, gives
        those from a value that is assigned
    unsafe : do not check that shape and dtype stay the same

    Returns
    -------
    `module`

    Raises
    ------
    ValueError  if there is no such tensor, or its shape or dtype would change
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        _append(module, tensor_name, parametrization, unsafe)
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        parametrizations = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject_new_class(module)
            module.parametrizations = ModuleDict()
        _inject_property(module, tensor_name)
        module.parametrizations[tensor_name] = parametrizations
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with "
            f"name '{tensor_name}'"
        )
    return module


def _append(module: Module, tensor_name: str, parametrization: Module, unsafe: bool) -> None:
    if not unsafe:
        value = getattr(module, tensor_name)
        result = parametrization(value)
        if not isinstance(result, flambeau.Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
        for what in ("dtype", "shape"):
            if getattr(result, what) != getattr(value, what):
                raise ValueError(
                    f"Registering a parametrization may not change the {what} of the tensor, unless "
                    f"the `unsafe` flag is enabled.\nmodule.{tensor_name}.{what}: "
                    f"{getattr(value, what)}\nparametrization(module.{tensor_name}).{what}: "
                    f"{getattr(result, what)}"
                )
        if hasattr(parametrization, "right_inverse"):
            _check_inverse(parametrization, value)
    module.parametrizations[tensor_name].append(parametrization)
    module.parametrizations[tensor_name].unsafe |= unsafe


def _check_inverse(parametrization: Module, value: Any) -> None:
    try:
        inverse = parametrization.right_inverse(value)
    except NotImplementedError:
        return
    if not isinstance(inverse, flambeau.Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(inverse).__name__}")
    for what in ("dtype", "shape"):
        if getattr(inverse, what) != getattr(value, what):
            raise ValueError(
                f"parametrization.right_inverse outputs a tensor with another {what} than the value: "
                f"{getattr(inverse, what)} instead of {getattr(value, what)}"
            )


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """True if `module`, or its tensor of that name, is parametrized."""
    parametrizations = getattr(module, "parametrizations", None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    if tensor_name is None:
        return len(parametrizations) > 0
    return tensor_name in parametrizations


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Make `module.<tensor_name>` a plain parameter or buffer again.

    Parameters
    ----------
    leave_parametrized : keep the computed value; False, the learnt one, of which there must be one

    Raises
    ------
    ValueError  if the tensor is not parametrized, or there are several learnt tensors to leave
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    parametrizations = module.parametrizations[tensor_name]
    if not parametrizations.is_tensor and not leave_parametrized:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized "
            "in terms of a sequence of tensors."
        )
    if parametrizations.is_tensor:
        original = parametrizations.original
        if leave_parametrized:
            with flambeau.no_grad():
                _put(original, getattr(module, tensor_name))
    else:
        learns = any(p.requires_grad for p in parametrizations.parameters(recurse=False))
        value = getattr(module, tensor_name).detach()
        original = Parameter(value) if learns else value
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type_before_parametrizations(module)
    return module


def type_before_parametrizations(module: Module) -> type:
    """Return the class that `module` had before it was parametrized."""
    return type(module).__bases__[0] if is_parametrized(module) or _is_injected(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Parametrize `to_module` as `from_module`, with copies of its parametrizations and tensors.

    Parameters
    ----------
    tensor_name : only this tensor; None, all that are parametrized
    """
    if not is_parametrized(from_module):
        return to_module
    names = [tensor_name] if tensor_name is not None else list(from_module.parametrizations)
    for name in names:
        source = from_module.parametrizations[name]
        if not hasattr(to_module, name):
            _register(to_module, name, deepcopy(getattr(from_module, name).detach()))
        for parametrization in source:
            register_parametrization(to_module, name, deepcopy(parametrization), unsafe=True)
        target = to_module.parametrizations[name]
        keys = ["original"] if source.is_tensor else [f"original{i}" for i in range(source.ntensors)]
        for key in keys:
            setattr(target, key, deepcopy(getattr(source, key)))
    return to_module


def _is_injected(module: Module) -> bool:
    return "_flambeau_parametrized" in type(module).__dict__


def _inject_new_class(module: Module) -> None:
    cls = type(module)

    def __getstate__(self: Any) -> Any:
        raise RuntimeError("Serialization of parametrized modules is only supported through state_dict().")

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Any:
        # Around the refusal of __getstate__ and the class that pickle cannot name.
        done = memo.get(id(self))
        if done is not None:
            return done
        replica = self.__new__(type(self))
        memo[id(self)] = replica
        replica.__dict__ = deepcopy(self.__dict__, memo)
        for slot in copyreg._slotnames(type(self)):  # type: ignore[attr-defined]
            if hasattr(self, slot):
                setattr(replica, slot, deepcopy(getattr(self, slot), memo))
        return replica

    names: dict[str, Any] = {"__getstate__": __getstate__, "_flambeau_parametrized": True}
    if not hasattr(cls, "__deepcopy__"):
        names["__deepcopy__"] = __deepcopy__
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), names)


def _inject_property(module: Module, tensor_name: str) -> None:
    def get(self: Any) -> Any:
        if not _cache_enabled:
            return self.parametrizations[tensor_name]()
        key = (id(self), tensor_name)
        if key not in _cache:
            _cache[key] = self.parametrizations[tensor_name]()
        return _cache[key]

    def set_(self: Any, value: Any) -> None:
        self.parametrizations[tensor_name].right_inverse(value)

    setattr(type(module), tensor_name, property(get, set_))


def _register(module: Module, name: str, value: Any) -> None:
    if isinstance(value, Parameter):
        module.register_parameter(name, value)
    else:
        module.register_buffer(name, value)


def _put(target: Any, value: Any) -> None:
    """Give `target` the contents of `value`; a `value` that shares its memory is copied first."""
    if value is not target:
        target.data = value.detach().clone() if value.shape == target.shape else value.detach()
