"""Custom differentiable functions."""

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from flambeau import _C as _core
from flambeau import Tensor
from flambeau.autograd import _C

__all__ = ["Function", "FunctionCtx", "NestedIOFunction", "once_differentiable"]


class FunctionCtx:
    """What forward leaves for backward."""

    _node: Any
    _num_inputs: int

    def __init__(self) -> None:
        self._to_save: tuple = ()
        self._saved: Any = None  # what _C._save_tensors made
        self._non_differentiable: tuple = ()
        self._dirty: tuple = ()
        self.needs_input_grad: tuple[bool, ...] = ()
        self.materialize_grads = True

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors, inputs or outputs, for backward; each at most once a call."""
        self._to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for forward-mode."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Name the inputs that forward overwrote."""
        self._dirty = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Name the outputs that carry no gradient."""
        self._non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether gradients that did not arrive are given to backward as zeros (default) or as None."""
        self.materialize_grads = value

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        if self._saved is None:
            if self._released:
                raise RuntimeError(
                    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). "
                    "Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if "
                    "you need to backward through the graph a second time or if you need to access saved tensors after calling backward."
                )
            return self._to_save
        return self._saved.unpack(self._node)

    saved_variables = saved_tensors
    _released = False

    def _release(self) -> None:
        if self._saved is not None or self._to_save:
            self._saved, self._to_save, self._released = None, (), True


class _Meta(type):
    """Gives every Function class a context class of its own, so that `ctx` prints as its backward."""

    def __init__(cls, name: str, bases: tuple, namespace: dict) -> None:
        super().__init__(name, bases, namespace)
        cls._backward_cls = type(f"{name}Backward", (_BackwardCtx,), {"_forward_cls": cls})


class _BackwardCtx(FunctionCtx):
    _forward_cls: "type[Function]"

    def __getattr__(self, name: str) -> object:
        """What the node has and the context lacks: `next_functions`, `name`, `register_hook`."""
        node = self.__dict__.get("_node")
        if node is None or name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return _C._node_attribute(node, name)

    def _apply_backward(self, grads: tuple) -> tuple:
        cls = self._forward_cls
        if cls.backward is not Function.backward and cls.vjp is not Function.vjp:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement one of them."
            )
        function = cls.vjp if cls.vjp is not Function.vjp else cls.backward
        result = function(self, *grads)
        result = result if isinstance(result, tuple) else tuple(result) if isinstance(result, list) else (result,)
        expected = self._num_inputs
        if len(result) > expected and all(r is None for r in result[expected:]):
            result = result[:expected]
        if len(result) != expected:
            raise RuntimeError(
                f"function {type(self).__name__} returned an incorrect number of gradients (expected {expected}, got {len(result)})"
            )
        return result


class Function(metaclass=_Meta):
    """Base of custom functions: `forward(ctx, ...)` and `backward(ctx, *grad_outputs)`, called through `apply`.

    With `setup_context(ctx, inputs, output)`, forward takes no context.
    """

    generate_vmap_rule = False

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: Any) -> Any:
        raise NotImplementedError("setup_context is not implemented.")

    if TYPE_CHECKING:  # subclasses take as many gradients as they have results
        backward: Callable[..., Any]
        vjp: Callable[..., Any]
        jvp: Callable[..., Any]
    else:

        @staticmethod
        def backward(ctx: Any, *grad_outputs: Any) -> Any:
            raise NotImplementedError(
                "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD."
            )

        @staticmethod
        def vjp(ctx: Any, *grad_outputs: Any) -> Any:
            raise NotImplementedError("vjp is not implemented.")

        @staticmethod
        def jvp(ctx: Any, *grad_inputs: Any) -> Any:
            raise NotImplementedError(
                "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
            )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward, and record backward when an input requires gradients."""
        if kwargs:
            args = _bind(cls, args, kwargs)
        ctx = cls._backward_cls()
        ctx._num_inputs = len(args)
        ctx.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        record = _core.is_grad_enabled() and any(ctx.needs_input_grad)
        node, ctx._node = _C._make_function_node(ctx, cls._backward_cls.__name__, args) if record else (None, None)
        saved = _core._set_grad_enabled(False)
        try:
            if cls.setup_context is Function.setup_context:
                output = cls.forward(ctx, *args)
            else:
                output = cls.forward(*args)
                cls.setup_context(ctx, args, output)
        finally:
            _core._set_grad_enabled(saved)
        outputs = (output,) if not isinstance(output, (tuple, list)) else output
        if ctx._dirty:
            _check_dirty(ctx, outputs, record)
        if record:
            return _record(ctx, node, args, output)
        ctx._to_save = ()
        if any(_contains(args, o) for o in outputs if isinstance(o, Tensor)):
            return _packed_like(output, _with_aliases(outputs, args, ctx))
        return output


def _bind(cls: type[Function], args: tuple, kwargs: dict) -> tuple:
    import inspect

    takes_ctx = cls.setup_context is Function.setup_context
    bound = inspect.signature(cls.forward).bind(*((None, *args) if takes_ctx else args), **kwargs)
    bound.apply_defaults()
    return tuple(bound.args)[1:] if takes_ctx else tuple(bound.args)


def _contains(tensors: Sequence, t: object) -> bool:
    return any(t is x for x in tensors)


def _check_dirty(ctx: FunctionCtx, outputs: Sequence, record: bool) -> None:
    """What mark_dirty named must come back, and be something that may be overwritten."""
    for d in ctx._dirty:
        _C._check_dirty(d, len(outputs), record)
    if not all(_contains(outputs, d) for d in ctx._dirty):
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
            "modified inplace must all be outputs of the Function."
        )


def _record(ctx: FunctionCtx, node: object, args: tuple, output: Any) -> object:
    """Tie the outputs to the node and turn what forward saved into saved tensors."""
    outputs = (output,) if not isinstance(output, (tuple, list)) else output
    outputs = _with_aliases(outputs, args, ctx)
    flags = tuple(isinstance(o, Tensor) and not _contains(ctx._non_differentiable, o) for o in outputs)
    overwritten = tuple(_position(args, o) if _contains(ctx._dirty, o) else -1 for o in outputs)
    _C._set_outputs(node, outputs, flags, overwritten, ctx.materialize_grads)
    ctx._saved = _C._save_tensors(ctx._to_save, tuple(_contains(outputs, t) for t in ctx._to_save))
    ctx._to_save = ()
    return _packed_like(output, outputs)


def _position(args: Sequence, t: object) -> int:
    return next((i for i, a in enumerate(args) if a is t), -1)


def _packed_like(output: Any, outputs: tuple) -> object:
    """`outputs` in the form in which forward returned them: alone, in a list, or in a tuple."""
    if not isinstance(output, (tuple, list)):
        return outputs[0]
    return type(output)(outputs) if isinstance(output, list) else outputs


def _with_aliases(outputs: Sequence, args: tuple, ctx: FunctionCtx) -> tuple:
    """An input returned as it is becomes a view: it must get a history of its own, or none."""
    saved = _core._set_grad_enabled(False)
    try:
        return tuple(
            o.view_as(o) if isinstance(o, Tensor) and _contains(args, o) and not _contains(ctx._dirty, o) else o
            for o in outputs
        )
    finally:
        _core._set_grad_enabled(saved)


def once_differentiable(function: Callable) -> Callable:
    """Decorates a backward that is not differentiable itself: its results carry no history."""

    @functools.wraps(function)
    def wrapper(ctx: FunctionCtx, *args: object) -> object:
        saved = _core._set_grad_enabled(False)
        try:
            outputs = function(ctx, *args)
        finally:
            _core._set_grad_enabled(saved)
        if not _core.is_grad_enabled() or not any(isinstance(a, Tensor) and a.requires_grad for a in args):
            return outputs

        def fail(_: object) -> None:
            raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")

        is_single = not isinstance(outputs, tuple)
        marked = []
        for o in (outputs,) if is_single else outputs:
            if isinstance(o, Tensor):
                o = o.detach().requires_grad_()
                o.register_hook(fail)
            marked.append(o)
        return marked[0] if is_single else tuple(marked)

    return wrapper


class NestedIOFunction(Function):
    """Kept for programs that name it: nested inputs are flattened by the caller."""
