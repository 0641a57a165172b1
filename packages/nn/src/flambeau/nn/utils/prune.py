"""Pruning: parameters multiplied by masks of zeros and ones.

Note [How a pruned parameter works]
`weight` becomes `weight_orig`, which is learnt, and `weight_mask`, a buffer; a hook before forward sets
the attribute `weight` to their product. Pruning again combines masks in a `PruningContainer`; each
further method sees only what the masks before it have left.
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

import flambeau
from flambeau.nn import Module

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]


class BasePruningMethod(ABC):
    """A way to choose a mask; an instance is also the hook that applies it.

    Subclasses give `compute_mask` and `PRUNING_TYPE`: "unstructured" and "global" look at elements,
    "structured" at whole slices along `dim`.
    """

    PRUNING_TYPE: str
    dim: int  # of structured methods
    _tensor_name: str

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Return a mask for `t` that is zero wherever `default_mask` is."""

    def apply_mask(self, module: Module) -> Any:
        """Return the learnt tensor times the mask."""
        name = self._name()
        mask = getattr(module, name + "_mask")
        original = getattr(module, name + "_orig")
        return mask.to(dtype=original.dtype) * original

    def _name(self) -> str:
        name = getattr(self, "_tensor_name", None)
        if name is None:
            raise AssertionError(f"{type(self).__name__} has to be applied to a module first")
        return name

    @classmethod
    def apply(
        cls, module: Module, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any
    ) -> BasePruningMethod:
        """Prune `module.<name>`, on top of what was pruned before.

        Parameters
        ----------
        module, name : whose parameter, and which
        args, kwargs : for the constructor of the method
        importance_scores : Tensor of the parameter's shape, looked at in its place; optional
        """
        old = _hook_of(module, name)
        method: Any = cls(*args, **kwargs)
        method._tensor_name = name
        if old is not None:
            container = old
            if not isinstance(old, PruningContainer):
                container = PruningContainer(old)
            container.add_pruning_method(method)
            method = container
        parameter = getattr(module, name)
        scores = parameter if importance_scores is None else importance_scores
        if scores.shape != parameter.shape:
            raise AssertionError(
                "importance_scores should have the same shape as parameter "
                f"{name} of {module}, got {scores.shape} vs {parameter.shape}"
            )
        if old is None:
            original = getattr(module, name)
            module.register_parameter(name + "_orig", original)
            del module._parameters[name]
            before = flambeau.ones_like(original)
        else:
            before = getattr(module, name + "_mask").detach().clone()
        try:
            mask = method.compute_mask(scores, default_mask=before)
        except BaseException:
            if old is None:
                module.register_parameter(name, module._parameters.pop(name + "_orig"))
            elif isinstance(old, PruningContainer):
                old._pruning_methods = old._pruning_methods[:-1]
            raise
        module.register_buffer(name + "_mask", mask)
        if old is not None:
            _remove_hook(module, old)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Any, default_mask: Any = None, importance_scores: Any = None) -> Any:
        """Return `t` times a mask, without touching any module."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as tensor t, got {scores.shape} vs {t.shape}"
            )
        before = flambeau.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=before)

    def remove(self, module: Module) -> None:
        """Make the product the parameter again; the pruning itself cannot be undone."""
        name = self._name()
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = getattr(module, name + "_orig")
        original.data = weight.data
        del module._parameters[name + "_orig"]
        del module._buffers[name + "_mask"]
        module.register_parameter(name, original)


class PruningContainer(BasePruningMethod):
    """Several methods for one parameter, in order."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        methods = args[0] if len(args) == 1 and isinstance(args[0], Iterable) else args
        for method in methods:
            if not hasattr(self, "_tensor_name"):
                self._tensor_name = method._tensor_name
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod | None) -> None:
        """Append a method for the same parameter."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if self._tensor_name != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Return the mask of the last method, applied to what the masks before it have left."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        if method.PRUNING_TYPE == "unstructured":
            left = mask == 1
        elif method.PRUNING_TYPE == "structured":
            dim = method.dim % t.dim()
            others = [d for d in range(t.dim()) if d != dim]
            kept = mask.sum(dim=others) != 0
            left = (slice(None),) * dim + (kept,)
        elif method.PRUNING_TYPE == "global":
            left = ...
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        mask = mask.clone()
        mask[left] = method.compute_mask(t[left], default_mask=mask[left]).to(dtype=mask.dtype)
        return mask


class Identity(BasePruningMethod):
    """Prunes nothing, but sets up the mask."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        return default_mask


class _Unstructured(BasePruningMethod):
    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: float) -> None:
        _check_amount(amount)
        self.amount = amount


class RandomUnstructured(_Unstructured):
    """Prunes elements at random: an amount of them, or a share."""

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        count = _count(self.amount, t.nelement())
        scores = flambeau.rand_like(t)
        return _without(default_mask, scores.view(-1), count, largest=True)


class L1Unstructured(_Unstructured):
    """Prunes the elements of least magnitude: an amount of them, or a share."""

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        count = _count(self.amount, t.nelement())
        return _without(default_mask, t.detach().abs().reshape(-1), count, largest=False)


class RandomStructured(BasePruningMethod):
    """Prunes whole slices along `dim` at random."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        _check_amount(amount)
        self.amount = amount
        self.dim = dim

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        _check_structured(t, self.dim)
        count = _count(self.amount, t.shape[self.dim])
        scores = flambeau.rand(t.shape[self.dim])
        return _without_slices(t, default_mask, scores, count, self.dim)


class LnStructured(BasePruningMethod):
    """Prunes the slices along `dim` of least n-norm."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        _check_amount(amount)
        self.amount = amount
        self.n = n
        self.dim = dim

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        _check_structured(t, self.dim)
        count = _count(self.amount, t.shape[self.dim])
        others = [d for d in range(t.dim()) if d != self.dim % t.dim()]
        scores = flambeau.norm(t.detach(), p=self.n, dim=others)
        return _without_slices(t, default_mask, scores, count, self.dim)


class CustomFromMask(BasePruningMethod):
    """Prunes where a given mask is zero."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Any) -> None:
        self.mask = mask

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"[prune] the mask has shape {tuple(self.mask.shape)}, the parameter {tuple(default_mask.shape)}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def identity(module: Module, name: str) -> Module:
    """Set up a mask that prunes nothing; returns `module`, as all of these."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Prune `amount` elements (an int), or that share of them (a float), at random."""
    RandomUnstructured.apply(module, name, amount=amount)
    return module


def l1_unstructured(module: Module, name: str, amount: float, importance_scores: Any = None) -> Module:
    """Prune the `amount` elements, or that share, of least magnitude."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Prune `amount` slices along `dim`, or that share of them, at random."""
    RandomStructured.apply(module, name, amount=amount, dim=dim)
    return module


def ln_structured(module: Module, name: str, amount: float, n: Any, dim: int, importance_scores: Any = None) -> Module:
    """Prune the `amount` slices along `dim`, or that share, of least n-norm."""
    LnStructured.apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Any) -> Module:
    """Prune where `mask` is zero."""
    CustomFromMask.apply(module, name, mask=mask)
    return module


def global_unstructured(parameters: Any, pruning_method: Any, importance_scores: Any = None, **kwargs: Any) -> None:
    """Prune several parameters as if they were one.

    Parameters
    ----------
    parameters : iterable of (module, name)
    pruning_method : class with PRUNING_TYPE "unstructured"
    importance_scores : dict (module, name) -> Tensor, optional
    kwargs : for the method, such as `amount`
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    parameters = list(parameters)
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    tensors = [getattr(m, n) for m, n in parameters]
    looked_at = [scores.get(key, t) for key, t in zip(parameters, tensors)]
    flat = flambeau.cat([t.detach().reshape(-1) for t in looked_at])
    before = flambeau.cat(
        [getattr(m, n + "_mask", flambeau.ones_like(t)).reshape(-1) for (m, n), t in zip(parameters, tensors)]
    )
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    container.add_pruning_method(method)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. '
            f"Found method {pruning_method} of type {method.PRUNING_TYPE}"
        )
    mask = container.compute_mask(flat, before)
    start = 0
    for (module, name), t in zip(parameters, tensors):
        end = start + t.numel()
        custom_from_mask(module, name, mask=mask[start:end].view_as(t))
        start = end


def is_pruned(module: Module) -> bool:
    """True if any parameter of `module`, or of a module in it, is pruned."""
    return any(isinstance(hook, BasePruningMethod) for m in module.modules() for hook in m._forward_pre_hooks.values())


def remove(module: Module, name: str) -> Module:
    """Make a pruned parameter plain again, zeros included.

    Raises
    ------
    ValueError  if it is not pruned
    """
    hook = _hook_of(module, name)
    if hook is None:
        raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    hook.remove(module)
    _remove_hook(module, hook)
    return module


def _hook_of(module: Module, name: str) -> Any:
    for hook in module._forward_pre_hooks.values():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            return hook
    return None


def _remove_hook(module: Module, hook: BasePruningMethod) -> None:
    for key, other in module._forward_pre_hooks.items():
        if other is hook:
            del module._forward_pre_hooks[key]
            return


def _check_amount(amount: Any) -> None:
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    is_count = isinstance(amount, numbers.Integral)
    if (is_count and amount < 0) or (not is_count and not 0.0 <= float(amount) <= 1.0):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _count(amount: Any, size: int) -> int:
    if not isinstance(amount, numbers.Integral):
        return round(float(amount) * size)
    if int(amount) > size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={size}")
    return int(amount)


def _check_structured(t: Any, dim: int) -> None:
    if t.dim() <= 1:
        raise ValueError(
            "Structured pruning can only be applied to multidimensional tensors. "
            f"Found tensor of shape {t.shape} with {t.dim()} dims"
        )
    if dim >= t.dim() or dim < -t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


def _without(mask: Any, scores: Any, count: int, largest: bool) -> Any:
    """Return a copy of `mask` with zeros at the `count` largest or smallest scores."""
    mask = mask.clone(memory_format=flambeau.contiguous_format)
    if count:
        mask.view(-1)[flambeau.topk(scores, k=count, largest=largest).indices] = 0
    return mask


def _without_slices(t: Any, mask: Any, scores: Any, count: int, dim: int) -> Any:
    """Return `mask` with zeros in the `count` slices along `dim` of the smallest scores."""
    if not count:
        return mask
    kept = flambeau.topk(scores, k=t.shape[dim] - count, largest=True).indices
    slices = flambeau.zeros_like(t)
    slices[(slice(None),) * (dim % t.dim()) + (kept,)] = 1
    return mask * slices.to(dtype=mask.dtype)
