"""Hooks around `module(...)`, and the call that runs them."""

from __future__ import annotations

import warnings
from collections import OrderedDict

import flambeau as torch
from flambeau.nn.modules._hooks import BackwardHook, RemovableHandle, add_hook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_global_backward_pre_hooks: OrderedDict[int, Callable] = OrderedDict()
_global_backward_hooks: OrderedDict[int, Callable] = OrderedDict()
_global_forward_pre_hooks: OrderedDict[int, Callable] = OrderedDict()
_global_forward_hooks: OrderedDict[int, Callable] = OrderedDict()
_global_forward_hooks_always_called: OrderedDict[int, bool] = OrderedDict()
_global_forward_hooks_with_kwargs: OrderedDict[int, bool] = OrderedDict()
# None until the first global backward hook says which of the two kinds all of them are.
_global_is_full_backward_hook: bool | None = None

_MIXED = (
    "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only one of them."
)
_MIXED_GLOBAL = (
    "Cannot use both regular backward hooks and full backward hooks as a global Module hook. "
    "Please use only one of them."
)


def register_module_forward_pre_hook(hook: Callable[..., None]) -> RemovableHandle:
    """Call `hook(module, args)` before every module's forward; a result replaces args."""
    return add_hook(_global_forward_pre_hooks, hook)


def register_module_forward_hook(
    hook: Callable[..., None], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call `hook(module, args, output)` after every module's forward; a result replaces output.

    Parameters
    ----------
    with_kwargs : call `hook(module, args, kwargs, output)` instead
    always_call : call it also when forward raises
    """
    extra = [_global_forward_hooks_with_kwargs, _global_forward_hooks_always_called]
    handle = add_hook(_global_forward_hooks, hook, extra)
    if with_kwargs:
        _global_forward_hooks_with_kwargs[handle.id] = True
    if always_call:
        _global_forward_hooks_always_called[handle.id] = True
    return handle


def register_module_full_backward_pre_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, grad_output)` before every module's backward."""
    return add_hook(_global_backward_pre_hooks, hook)


def register_module_full_backward_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` after every module's backward."""
    _claim_global_kind(full=True)
    return add_hook(_global_backward_hooks, hook)


def register_module_backward_hook(hook: Callable) -> RemovableHandle:
    """Deprecated form of register_module_full_backward_hook: sees only the last node."""
    _claim_global_kind(full=False)
    return add_hook(_global_backward_hooks, hook)


def _claim_global_kind(full: bool) -> None:
    global _global_is_full_backward_hook
    if _global_is_full_backward_hook is (not full):
        raise RuntimeError(_MIXED_GLOBAL)
    _global_is_full_backward_hook = full


class Calls:
    """The calling half of Module; see Module."""

    training: bool
    _forward_hooks: OrderedDict[int, Callable]
    _forward_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks_always_called: OrderedDict[int, bool]
    _forward_pre_hooks: OrderedDict[int, Callable]
    _forward_pre_hooks_with_kwargs: OrderedDict[int, bool]
    _backward_hooks: OrderedDict[int, Callable]
    _backward_pre_hooks: OrderedDict[int, Callable]
    _is_full_backward_hook: bool | None
    _compiled_call_impl: Callable | None = None

    if TYPE_CHECKING:  # subclasses take what arguments they like
        forward: Callable[..., Any]
    else:

        def forward(self, *input: Any) -> Any:
            """Compute the module's result; every subclass defines it."""
            raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    # Almost every call finds no hooks: it pays for five truth tests and nothing else.
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if (
            self._forward_hooks
            or self._forward_pre_hooks
            or self._backward_hooks
            or self._backward_pre_hooks
            or _global_forward_hooks
            or _global_forward_pre_hooks
            or _global_backward_hooks
            or _global_backward_pre_hooks
            or self._compiled_call_impl is not None
        ):
            return self._wrapped_call_impl(*args, **kwargs)
        return self.forward(*args, **kwargs)

    def _wrapped_call_impl(self, *args: Any, **kwargs: Any) -> Any:
        if self._compiled_call_impl is not None:
            return self._compiled_call_impl(*args, **kwargs)
        return self._call_impl(*args, **kwargs)

    def _call_impl(self, *args: Any, **kwargs: Any) -> Any:
        """Run forward with every hook around it."""
        called_always: set[int] = set()
        try:
            return self._call_with_hooks(args, kwargs, called_always)
        except Exception:
            self._run_always_hooks(args, kwargs, called_always)
            raise

    def _call_with_hooks(self, args: tuple, kwargs: dict, called_always: set[int]) -> Any:
        args, kwargs = self._run_forward_pre_hooks(args, kwargs)
        full, non_full = self._get_backward_hooks()
        pre = self._get_backward_pre_hooks()
        tap = BackwardHook(self, full, pre) if full or pre else None
        if tap is not None:
            args = tap.setup_input_hook(args)
        result = self.forward(*args, **kwargs)
        for hook_id, hook, with_kwargs, always in self._all_forward_hooks():
            if always:
                called_always.add(hook_id)
            new = hook(self, args, kwargs, result) if with_kwargs else hook(self, args, result)
            if new is not None:
                result = new
        if tap is not None:
            result = tap.setup_output_hook(result)
        if non_full:
            _attach_non_full_hooks(self, non_full, args, result)
        return result

    def _run_forward_pre_hooks(self, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        for hook_id, hook in (*_global_forward_pre_hooks.items(), *self._forward_pre_hooks.items()):
            if hook_id in self._forward_pre_hooks_with_kwargs:
                new = hook(self, args, kwargs)
                if new is None:
                    continue
                if not (isinstance(new, tuple) and len(new) == 2):
                    raise RuntimeError(
                        f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {new}."
                    )
                args, kwargs = new
            else:
                new = hook(self, args)
                if new is not None:
                    args = new if isinstance(new, tuple) else (new,)
        return args, kwargs

    def _all_forward_hooks(self) -> list[tuple[int, Callable, bool, bool]]:
        """(id, hook, with_kwargs, always_call), global ones first."""
        found = [
            (i, h, i in _global_forward_hooks_with_kwargs, i in _global_forward_hooks_always_called)
            for i, h in _global_forward_hooks.items()
        ]
        found += [
            (i, h, i in self._forward_hooks_with_kwargs, i in self._forward_hooks_always_called)
            for i, h in self._forward_hooks.items()
        ]
        return found

    def _run_always_hooks(self, args: tuple, kwargs: dict, called: set[int]) -> None:
        """After an error: run the always_call hooks that have not run, with no result."""
        for hook_id, hook, with_kwargs, always in self._all_forward_hooks():
            if not always or hook_id in called:
                continue
            try:
                if with_kwargs:
                    hook(self, args, kwargs, None)
                else:
                    hook(self, args, None)
            except Exception as err:
                # The error of forward itself must reach the caller, not this one.
                warnings.warn(
                    "module forward hook with ``always_call=True`` raised an exception that was "
                    f"silenced as another error was raised in forward: {err}",
                    stacklevel=3,
                )

    def _get_backward_hooks(self) -> tuple[list[Callable], list[Callable]]:
        """(full hooks, hooks of the old kind), global ones first."""
        full: list[Callable] = []
        non_full: list[Callable] = []
        if _global_backward_hooks:
            kind = full if _global_is_full_backward_hook else non_full
            kind.extend(_global_backward_hooks.values())
        if self._backward_hooks:
            kind = full if self._is_full_backward_hook else non_full
            kind.extend(self._backward_hooks.values())
        return full, non_full

    def _get_backward_pre_hooks(self) -> list[Callable]:
        return [*_global_backward_pre_hooks.values(), *self._backward_pre_hooks.values()]

    def register_forward_pre_hook(
        self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args)` before forward; a result replaces args.

        Parameters
        ----------
        prepend : run it before the hooks registered so far
        with_kwargs : call `hook(module, args, kwargs)`; it returns None or (args, kwargs)
        """
        handle = add_hook(self._forward_pre_hooks, hook, [self._forward_pre_hooks_with_kwargs], prepend)
        if with_kwargs:
            self._forward_pre_hooks_with_kwargs[handle.id] = True
        return handle

    def register_forward_hook(
        self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args, output)` after forward; a result replaces output.

        Parameters
        ----------
        prepend : run it before the hooks registered so far
        with_kwargs : call `hook(module, args, kwargs, output)` instead
        always_call : call it also when forward raises (output is None then)
        """
        extra = [self._forward_hooks_with_kwargs, self._forward_hooks_always_called]
        handle = add_hook(self._forward_hooks, hook, extra, prepend)
        if with_kwargs:
            self._forward_hooks_with_kwargs[handle.id] = True
        if always_call:
            self._forward_hooks_always_called[handle.id] = True
        return handle

    def register_full_backward_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_output)` before this module's backward.

        A result, a tuple as long as grad_output, replaces it.
        """
        return add_hook(self._backward_pre_hooks, hook, None, prepend)

    def register_full_backward_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` when gradients reach the inputs.

        A result, a tuple as long as the positional arguments, replaces grad_input. Inputs and
        outputs that have hooks cannot be changed in place.
        """
        self._claim_backward_kind(full=True)
        return add_hook(self._backward_hooks, hook, None, prepend)

    def register_backward_hook(self, hook: Callable) -> RemovableHandle:
        """Deprecated: sees only the gradients of the last node. Use the full one."""
        self._claim_backward_kind(full=False)
        return add_hook(self._backward_hooks, hook)

    def _claim_backward_kind(self, full: bool) -> None:
        if self._is_full_backward_hook is (not full):
            raise RuntimeError(_MIXED)
        self._is_full_backward_hook = full


def _attach_non_full_hooks(module: Any, hooks: list[Callable], args: tuple, result: Any) -> None:
    """Put the old kind of hooks on the node that made the first tensor of `result`."""
    found = result
    while not isinstance(found, torch.Tensor):
        if isinstance(found, dict):
            found = next((v for v in found.values() if isinstance(v, torch.Tensor)), None)
        elif isinstance(found, (tuple, list)) and found:
            found = found[0]
        else:
            return
    node = None if found is None else found.grad_fn
    if node is None:
        return
    for hook in hooks:
        node.register_hook(_bound(hook, module))


def _bound(hook: Callable, module: Any) -> Callable:
    def call(grad_input: Any, grad_output: Any) -> Any:
        return hook(module, grad_input, grad_output)

    return call
