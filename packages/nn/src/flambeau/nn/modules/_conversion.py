"""Moving and converting a module's tensors: to, cpu, float, train, requires_grad_, ..."""

from __future__ import annotations

import warnings

import flambeau as torch
from flambeau.nn.modules._tree import Tree
from flambeau.nn.parameter import Parameter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from flambeau import Tensor

_TO_FORMS = """\
to() received an invalid combination of arguments - got ({given}), but expected one of:
 * (torch.device device = None, torch.dtype dtype = None, bool non_blocking = False, \
bool copy = False, *, torch.memory_format memory_format = None)
 * (torch.dtype dtype, bool non_blocking = False, bool copy = False, *, \
torch.memory_format memory_format = None)
 * (Tensor tensor, bool non_blocking = False, bool copy = False, *, \
torch.memory_format memory_format = None)
"""


def parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """Read the arguments of `to` in any of its three forms.

    Returns
    -------
    (device or None, dtype or None, non_blocking, memory_format or None)
    """
    names: tuple[str, ...] = ("device", "dtype", "non_blocking", "copy")
    first = args[0] if args else None
    if isinstance(first, torch.dtype) or (not args and "device" not in kwargs):
        names = ("dtype", "non_blocking", "copy")
    if isinstance(first, torch.Tensor) or "tensor" in kwargs:
        names = ("tensor", "non_blocking", "copy")
    given = dict(zip(names, args))
    wrong = len(args) > len(names) or not set(kwargs) <= {*names, "memory_format"} - set(given)
    given.update(kwargs)
    device, dtype = given.get("device"), given.get("dtype")
    if "tensor" in given and isinstance(given["tensor"], torch.Tensor):
        device, dtype = given["tensor"].device, given["tensor"].dtype
    elif "tensor" in given:
        wrong = True
    if dtype is not None and not isinstance(dtype, torch.dtype):
        wrong = True
    flags = (given.get("non_blocking", False), given.get("copy", False))
    if wrong or not all(isinstance(f, bool) for f in flags):
        shown = [type(a).__name__ for a in args]
        shown += [f"{k}={type(v).__name__}" for k, v in kwargs.items()]
        raise TypeError(_TO_FORMS.format(given=", ".join(shown)))
    if device is not None:
        device = torch.device(device)
    return device, dtype, flags[0], given.get("memory_format")


class Conversion(Tree):
    """The conversion half of Module; see Module."""

    training: bool

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Any:
        """Replace every parameter, gradient and buffer by `fn` of it; returns self.

        Parameters stay the same objects (optimizers hold them) unless the result cannot take
        the old object's place.
        """
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, param in self._parameters.items():
            if param is not None:
                self._parameters[name] = _applied_parameter(param, fn)
        for name, buf in self._buffers.items():
            if buf is not None:
                self._buffers[name] = fn(buf)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Move and/or convert parameters and buffers, in place; returns self.

        `to(device=None, dtype=None, non_blocking=False)`, `to(dtype, non_blocking=False)`,
        `to(tensor, non_blocking=False)`, `to(memory_format=...)`. A dtype applies to floating
        and complex tensors only; memory_format to tensors of four or five dimensions.

        Raises
        ------
        TypeError            if dtype is not floating or complex
        NotImplementedError  for tensors on the meta device, which have no data to move: use
            to_empty
        """
        device, dtype, non_blocking, memory_format = parse_to(*args, **kwargs)
        if dtype is not None:
            if not (dtype.is_floating_point or dtype.is_complex):
                raise TypeError(
                    f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
                )
            if dtype.is_complex:
                warnings.warn(
                    "Complex modules are a new feature under active development whose design may "
                    "change, and some modules might not work as expected when using complex "
                    "tensors as parameters or buffers.",
                    stacklevel=2,
                )

        def convert(t: Tensor) -> Tensor:
            if t.is_meta and device is not None and device.type != "meta":
                raise NotImplementedError(
                    "Cannot copy out of meta tensor; no data! Please use "
                    "torch.nn.Module.to_empty() instead of torch.nn.Module.to() when moving "
                    "module from meta to a different device."
                )
            kind = dtype if t.is_floating_point() or t.is_complex() else None
            if memory_format is not None and t.dim() in (4, 5):
                return t.to(device, kind, non_blocking, memory_format=memory_format)
            return t.to(device, kind, non_blocking)

        return self._apply(convert)

    def cpu(self) -> Any:
        """Move parameters and buffers to the CPU, in place; returns self."""
        return self._apply(lambda t: t.cpu())

    def cuda(self, device: Any = None) -> Any:
        """Move parameters and buffers to a CUDA device, in place; returns self."""
        return self._apply(lambda t: t.cuda(device))

    def xpu(self, device: Any = None) -> Any:
        """Move parameters and buffers to an XPU device, in place; returns self."""
        return self._apply(lambda t: t.to(_indexed("xpu", device)))

    def ipu(self, device: Any = None) -> Any:
        """Move parameters and buffers to an IPU device, in place; returns self."""
        return self._apply(lambda t: t.to(_indexed("ipu", device)))

    def mtia(self, device: Any = None) -> Any:
        """Move parameters and buffers to an MTIA device, in place; returns self."""
        return self._apply(lambda t: t.to(_indexed("mtia", device)))

    def type(self, dst_type: Any) -> Any:
        """Convert parameters and buffers, integer ones too, to a dtype; returns self."""
        return self._apply(lambda t: t.type(dst_type))

    def float(self) -> Any:
        """Convert floating-point parameters and buffers to float32; returns self."""
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self) -> Any:
        """Convert floating-point parameters and buffers to float64; returns self."""
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self) -> Any:
        """Convert floating-point parameters and buffers to float16; returns self."""
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def bfloat16(self) -> Any:
        """Convert floating-point parameters and buffers to bfloat16; returns self."""
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    def to_empty(self, *, device: Any, recurse: bool = True) -> Any:
        """Give parameters and buffers uninitialised memory on `device`; returns self."""
        return self._apply(lambda t: torch.empty_like(t, device=device), recurse=recurse)

    def share_memory(self) -> Any:
        """Put parameters and buffers into memory that other processes can map; returns self."""
        return self._apply(lambda t: t.share_memory_())

    def train(self, mode: bool = True) -> Any:
        """Set `training` here and below: it switches dropout, batch norm and the like.

        Raises
        ------
        ValueError  if `mode` is no bool
        """
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Any:
        """Same as `train(False)`."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Set requires_grad of every parameter; returns self."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget every parameter's gradient, or fill it with zeros."""
        for param in self.parameters():
            if param.grad is None:
                continue
            if set_to_none:
                param.grad = None
            else:
                if param.grad.grad_fn is not None:
                    param.grad.detach_()
                else:
                    param.grad.requires_grad_(False)
                param.grad.zero_()


def _indexed(kind: str, device: Any) -> Any:
    return torch.device(kind, device) if isinstance(device, int) else torch.device(device or kind)


def _fits(old: Tensor, new: Tensor) -> bool:
    """Whether `old.data = new` is possible: not between real and meta tensors or layouts."""
    return old.is_meta == new.is_meta and old.layout == new.layout


def _replaced(old: Tensor, new: Tensor) -> bool:
    """Make `old` hold what `new` does; False if it cannot."""
    if new is not old:
        if not _fits(old, new):
            return False
        old.data = new
    return True


def _applied_parameter(param: Parameter, fn: Callable[[Tensor], Tensor]) -> Parameter:
    # The graph must not remember the conversion.
    with torch.no_grad():
        applied = fn(param)
        grad = param.grad
        new_grad = None if grad is None else fn(grad)
    result = param if _replaced(param, applied) else Parameter(applied, param.requires_grad)
    if grad is not None and new_grad is not None and not _replaced(grad, new_grad):
        result.grad = new_grad.requires_grad_(grad.requires_grad)
    return result
