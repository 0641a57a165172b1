"""Weight norm by a hook before forward; `parametrizations.weight_norm` is the newer form."""

from __future__ import annotations

import warnings
from typing import Any

from flambeau.nn import Module, Parameter

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]


def norm_except_dim(v: Any, dim: int) -> Any:
    """Return the norms over all dims but `dim`, those kept with size one; for -1, of everything, 0-d."""
    if dim == -1:
        return v.norm(2)
    others = tuple(d for d in range(v.dim()) if d != dim % v.dim())
    return v.norm(2, dim=others, keepdim=True) if others else v.abs()


def scaled_to_norm(v: Any, g: Any, dim: int) -> Any:
    """Return v with its norms, see `norm_except_dim`, turned into g."""
    return v * (g / norm_except_dim(v, dim))


class WeightNorm:
    """The hook: computes `name` from `name_g` and `name_v`."""

    name: str
    dim: int

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Any:
        """Return the weight for the present length and direction."""
        g, v = getattr(module, self.name + "_g"), getattr(module, self.name + "_v")
        return scaled_to_norm(v, g, self.dim)

    @staticmethod
    def apply(module: Module, name: str, dim: int | None) -> WeightNorm:
        """Put a hook on `module`."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, WeightNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
        fn = WeightNorm(name, dim)
        weight = getattr(module, name)
        del module._parameters[name]
        module.register_parameter(name + "_g", Parameter(norm_except_dim(weight, fn.dim).data))
        module.register_parameter(name + "_v", Parameter(weight.data))
        setattr(module, name, fn.compute_weight(module))
        module.register_forward_pre_hook(fn)
        return fn

    def remove(self, module: Module) -> None:
        """Make the weight a parameter again."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"]
        del module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Replace a parameter by its length `name_g` and direction `name_v`: w = g v / |v|.

    Parameters
    ----------
    module, name : whose parameter, and which
    dim : the norm is taken over all other dims; None, over all
    """
    warnings.warn(
        "`flambeau.nn.utils.weight_norm` is deprecated in favor of `flambeau.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: Module, name: str = "weight") -> Module:
    """Undo `weight_norm`; the weight keeps its value."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
