"""LazyModuleMixin: modules that take their shapes from the first input."""

from __future__ import annotations

from flambeau.nn.parameter import is_lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """Mix into a Module whose parameters are Uninitialized until `initialize_parameters`.

    The first call runs initialize_parameters with its arguments and makes the object one of
    `cls_to_become`, if that is set. Until then the state dict keeps the parameters as they
    are, and loading a state dict gives them the shapes that are in it.
    """

    cls_to_become: type | None = None

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def _save_to_state_dict(self: Any, destination: Any, prefix: str, keep_vars: bool) -> None:
        # A parameter without a shape cannot be detached.
        own = [*self._parameters.items()]
        own += [(name, buf) for name, buf in self._buffers.items() if name not in self._non_persistent_buffers_set]
        for name, value in own:
            if value is not None:
                as_is = keep_vars or is_lazy(value)
                destination[prefix + name] = value if as_is else value.detach()

    def _lazy_load_hook(
        self: Any,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: Any,
        missing_keys: Any,
        unexpected_keys: Any,
        error_msgs: Any,
    ) -> None:
        """Give this module's shapeless tensors the shapes of those to be loaded."""
        import flambeau as torch

        for name, value in [*self._parameters.items(), *self._buffers.items()]:
            key = prefix + name
            if value is None or key not in state_dict or not is_lazy(value):
                continue
            given = state_dict[key]
            if not is_lazy(given):
                with torch.no_grad():
                    value.materialize(given.shape)

    def initialize_parameters(self: Any, *args: Any, **kwargs: Any) -> None:
        """Give the parameters their shapes; takes what forward takes. Subclasses define it."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self: Any) -> bool:
        """Whether any of this module's own parameters or buffers has no shape yet."""
        return any(is_lazy(v) for v in [*self._parameters.values(), *self._buffers.values()])

    def _infer_parameters(self: Any, module: Any, args: tuple, kwargs: dict | None = None) -> None:
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook
        del module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _replicate_for_data_parallel(self: Any) -> Any:
        raise RuntimeError(
            "Modules with uninitialized parameters can't be used with `DataParallel`. "
            "Run a dummy forward pass to correctly initialize the modules"
        )
