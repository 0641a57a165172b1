"""Parameter and Buffer: tensors that modules register by being assigned."""

from __future__ import annotations

from collections import OrderedDict

import flambeau as torch
from flambeau import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, SupportsIndex

_disabled_torch_function_impl = torch._C._disabled_torch_function_impl

__all__ = [
    "Buffer",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "UninitializedTensorMixin",
    "is_lazy",
]


class _ParameterMeta(type(Tensor)):  # type: ignore[misc]
    # A tensor of another subclass that wears the mark counts as a parameter, so that tensor
    # subclasses survive `Parameter(t)`.
    def __instancecheck__(self, instance: Any) -> bool:
        if type.__instancecheck__(self, instance):
            return True
        return self is Parameter and isinstance(instance, Tensor) and getattr(instance, "_is_param", False)


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A tensor that a Module keeps as trainable when it is assigned to an attribute.

    Shares memory with `data`. Unlike other tensors it requires gradients by default, also
    when it is made inside `no_grad`.

    Parameters
    ----------
    data : Tensor; None gives an empty float tensor
    requires_grad : bool

    Raises
    ------
    RuntimeError  if gradients are asked of a dtype that has none (integers, bool)
    """

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            data = torch.empty(0)
        if type(data) is Tensor or isinstance(data, Parameter):
            return Tensor._make_subclass(cls, data, requires_grad)
        return _marked(data, "_is_param", requires_grad, "Parameter")

    def __deepcopy__(self, memo: dict) -> Parameter:
        if id(self) in memo:
            return memo[id(self)]
        copied = type(self)(self.data.clone(memory_format=torch.preserve_format), self.requires_grad)
        memo[id(self)] = copied
        return copied

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()

    def __reduce_ex__(self, proto: SupportsIndex) -> tuple:
        from flambeau import _utils

        state = _extra_state(self)
        # The third place is where torch keeps backward hooks; they are never saved.
        args: tuple = (self.data, self.requires_grad, OrderedDict())
        if not state:
            return (_utils._rebuild_parameter, args)
        return (_utils._rebuild_parameter_with_state, (*args, state))

    __torch_function__ = _disabled_torch_function_impl


def _marked(data: Any, mark: str, requires_grad: bool, what: str) -> Any:
    """Make a parameter or buffer of a tensor subclass: same type, new object, with a mark."""
    alias = data.detach()
    if type(alias) is not type(data):
        raise RuntimeError(
            f"Creating a {what} from an instance of type {type(data).__name__} requires that "
            f"detach() returns an instance of the same type, but return type "
            f"{type(alias).__name__} was found instead."
        )
    alias = alias.requires_grad_(requires_grad)
    setattr(alias, mark, True)
    return alias


def _extra_state(tensor: Tensor) -> dict:
    state = getattr(tensor, "__dict__", None)
    return {k: v for k, v in state.items() if k != "_backward_hooks"} if state else {}


class UninitializedTensorMixin:
    """What the shapeless parameters and buffers of lazy modules share."""

    _allowed_methods = frozenset(
        (
            "__hash__",
            "__repr__",
            "size",
            "copy_",
            "is_complex",
            "is_floating_point",
            "half",
            "float",
            "double",
            "char",
            "short",
            "int",
            "long",
            "cuda",
            "cpu",
            "to",
            "get_device",
            "_has_compatible_shallow_copy_type",
        )
    )
    _allowed_attributes = frozenset(
        ("data", "device", "dtype", "grad", "grad_fn", "is_leaf", "layout", "requires_grad")
    )

    def materialize(self: Any, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Become an ordinary parameter (or buffer) of the given shape, not initialised.

        Device and dtype default to the ones given at creation. The object stays the same one,
        so optimizers and other modules that hold it see the change.
        """
        device = self.data.device if device is None else device
        dtype = self.data.dtype if dtype is None else dtype
        self.data = torch.empty(shape, device=device, dtype=dtype)
        self.__class__ = self.cls_to_become

    @property
    def shape(self) -> Any:
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually "
            "happens in `load_state_dict` when trying to load an uninitialized parameter into an "
            "initialized one. Call `forward` to initialize the parameters before accessing their "
            "attributes."
        )

    def share_memory_(self) -> Any:
        """Refused: there is no memory to share yet."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to "
            "initialize the parameters before calling `module.share_memory()`."
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self: Any, proto: SupportsIndex) -> tuple:
        return (type(self), (self.requires_grad,))

    @classmethod
    def __torch_function__(cls: Any, func: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        owner = getattr(getattr(func, "__self__", None), "__name__", "")
        # Attributes arrive as a getter `__get__` bound to a descriptor of that name.
        if name in cls._allowed_methods or (name == "__get__" and owner in cls._allowed_attributes):
            return super().__torch_function__(func, types, args, {} if kwargs is None else kwargs)  # type: ignore[misc]
        if name in ("__get__", "__set__"):
            return super().__torch_function__(func, types, args, {} if kwargs is None else kwargs)  # type: ignore[misc]
        raise ValueError(
            f"Attempted to use an uninitialized parameter in {func}. This error happens when you "
            "are using a `LazyModule` or explicitly manipulating "
            "`torch.nn.parameter.UninitializedParameter` objects. When using LazyModules Call "
            "`forward` with a dummy batch to initialize the parameters before calling torch "
            "functions"
        )


def is_lazy(param: Any) -> bool:
    """Whether `param` is a parameter or buffer that has no shape yet."""
    return isinstance(param, UninitializedTensorMixin)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A Parameter of unknown shape; `materialize(shape)` makes it an ordinary one.

    Only its device, dtype and a few conversions can be used before that.
    """

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> UninitializedParameter:
        data = torch.empty(0, device=device, dtype=dtype)
        return Tensor._make_subclass(cls, data, requires_grad)

    def __deepcopy__(self, memo: dict) -> UninitializedParameter:
        if id(self) in memo:
            return memo[id(self)]
        copied = type(self)(self.requires_grad, self.data.device, self.data.dtype)
        memo[id(self)] = copied
        return copied


class _BufferMeta(type(Tensor)):  # type: ignore[misc]
    def __instancecheck__(self, instance: Any) -> bool:
        if type.__instancecheck__(self, instance):
            return True
        return self is Buffer and isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)


class Buffer(Tensor, metaclass=_BufferMeta):
    """A tensor that a Module keeps as a buffer when it is assigned to an attribute.

    The result is an ordinary Tensor with a mark, sharing memory with `data`;
    `isinstance(b, Buffer)` looks at the mark.

    Parameters
    ----------
    data : Tensor; None gives an empty float tensor
    persistent : bool, whether the buffer is part of state_dict
    """

    persistent: bool

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Any:
        if data is None:
            data = torch.empty(0)
        buffer: Any = data.detach().requires_grad_(data.requires_grad)
        buffer.persistent = persistent
        buffer._is_buffer = True
        return buffer

    __torch_function__ = _disabled_torch_function_impl


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer of unknown shape; `materialize(shape)` makes it an ordinary tensor."""

    cls_to_become = Tensor

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> UninitializedBuffer:
        data = torch.empty(0, device=device, dtype=dtype)
        buffer: Any = Tensor._make_subclass(cls, data, requires_grad)
        buffer.persistent = persistent
        buffer._is_buffer = True
        return buffer
