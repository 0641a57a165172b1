"""Spectral norm by a hook before forward; `parametrizations.spectral_norm` is the newer form."""

from __future__ import annotations

from typing import Any

import flambeau
from flambeau.nn import Module, Parameter

__all__ = ["SpectralNorm", "SpectralNormLoadStateDictPreHook", "remove_spectral_norm", "spectral_norm"]


class SpectralNorm:
    """The hook: divides `name_orig` by its largest singular value, from `name_u` and `name_v`."""

    _version: int = 1

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        self.name = name
        self.dim = dim
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def reshape_weight_to_matrix(self, weight: Any) -> Any:
        """Return the weight as a matrix with its rows along `dim`."""
        if self.dim != 0:
            weight = weight.permute(self.dim, *(d for d in range(weight.dim()) if d != self.dim))
        return weight.reshape(weight.size(0), -1)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Any:
        """Return the weight divided by its norm; with `do_power_iteration`, update u and v in place."""
        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with flambeau.no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(_unit(flambeau.mv(matrix.t(), u), self.eps))
                    u.copy_(_unit(flambeau.mv(matrix, v), self.eps))
            # Copies for the graph: a second forward before backward changes u and v again.
            u = u.clone(memory_format=flambeau.contiguous_format)
            v = v.clone(memory_format=flambeau.contiguous_format)
        return weight / flambeau.dot(u, flambeau.mv(matrix, v))

    def remove(self, module: Module) -> None:
        """Make the weight, divided by its norm, a parameter again."""
        with flambeau.no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        delattr(module, self.name)
        for suffix in ("_u", "_v", "_orig"):
            delattr(module, self.name + suffix)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Module, inputs: Any) -> None:
        weight = self.compute_weight(module, do_power_iteration=module.training)
        setattr(module, self.name, weight)

    @staticmethod
    def apply(module: Module, name: str, n_power_iterations: int, dim: int, eps: float) -> SpectralNorm:
        """Put a hook on `module`."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        fn = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        with flambeau.no_grad():
            h, w = fn.reshape_weight_to_matrix(weight).size()
            u = _unit(weight.new_empty(h).normal_(0, 1), eps)
            v = _unit(weight.new_empty(w).normal_(0, 1), eps)
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        # A plain attribute, so that the name exists before the first forward.
        setattr(module, name, weight.data)
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(fn)
        module._register_state_dict_hook(SpectralNormStateDictHook(fn))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(fn))
        return fn


class SpectralNormLoadStateDictPreHook:
    """Checks that v is there; state dicts from before it was saved are refused by name."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        key = prefix + self.fn.name
        if key + "_orig" in state_dict and key + "_v" not in state_dict:
            error_msgs.append(f"{key}_v is missing: the state dict is from a version that did not save it")


class SpectralNormStateDictHook:
    """Records the version of the format."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(self, module: Module, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any]) -> None:
        versions = local_metadata.setdefault("spectral_norm", {})
        versions[self.fn.name + ".version"] = self.fn._version


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divide a parameter by its largest singular value; see `parametrizations.spectral_norm`."""
    if dim is None:
        from flambeau.nn.utils.parametrizations import default_dim

        dim = default_dim(module)
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Undo `spectral_norm`; the weight keeps the value divided by its norm."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            break
    else:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    for hooks in (module._state_dict_hooks, module._load_state_dict_pre_hooks):
        for key, hook in hooks.items():
            fn = getattr(getattr(hook, "hook", hook), "fn", None)
            if isinstance(fn, SpectralNorm) and fn.name == name:
                del hooks[key]
                break
    return module


def _unit(x: Any, eps: float) -> Any:
    return x / x.norm(2).clamp_min(eps)
