"""Initialisation of parameters, in place and outside the graph."""

from __future__ import annotations

import math
import warnings

import flambeau as torch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from flambeau import Tensor

__all__ = [
    "calculate_gain",
    "constant",
    "constant_",
    "dirac",
    "dirac_",
    "eye",
    "eye_",
    "kaiming_normal",
    "kaiming_normal_",
    "kaiming_uniform",
    "kaiming_uniform_",
    "normal",
    "normal_",
    "ones_",
    "orthogonal",
    "orthogonal_",
    "sparse",
    "sparse_",
    "trunc_normal_",
    "uniform",
    "uniform_",
    "xavier_normal",
    "xavier_normal_",
    "xavier_uniform",
    "xavier_uniform_",
    "zeros_",
]

_GAINS = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}
_UNIT_GAINS = (
    "linear",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "sigmoid",
)


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Gain recommended for a nonlinearity.

    1 for linear, convolutions and sigmoid; 5/3 for tanh; sqrt(2) for relu;
    sqrt(2 / (1 + slope^2)) for leaky_relu, slope `param` or 0.01; 3/4 for selu.

    Raises
    ------
    ValueError  for another name, or a `param` that is no number
    """
    if nonlinearity in _UNIT_GAINS:
        return 1
    if nonlinearity in _GAINS:
        return _GAINS[nonlinearity]
    if nonlinearity == "leaky_relu":
        if param is None:
            slope = 0.01
        elif isinstance(param, bool) or not isinstance(param, (int, float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        else:
            slope = param
        return math.sqrt(2.0 / (1 + slope**2))
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def _no_grad_fill_(tensor: Tensor, val: float) -> Tensor:
    with torch.no_grad():
        return tensor.fill_(val)


def _no_grad_zero_(tensor: Tensor) -> Tensor:
    with torch.no_grad():
        return tensor.zero_()


def _no_grad_uniform_(tensor: Tensor, a: float, b: float, generator: Any = None) -> Tensor:
    with torch.no_grad():
        return tensor.uniform_(a, b, generator=generator)


def _no_grad_normal_(tensor: Tensor, mean: float, std: float, generator: Any = None) -> Tensor:
    with torch.no_grad():
        return tensor.normal_(mean, std, generator=generator)


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with values uniform in a..b."""
    return _no_grad_uniform_(tensor, a, b, generator)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with values of a normal distribution."""
    return _no_grad_normal_(tensor, mean, std, generator)


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Tensor:
    """Fill with values of a normal distribution cut off at a and b.

    Values outside are drawn again. Where less than three tenths of the distribution lies
    inside, values uniform in a..b are accepted by the density instead.
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of "
            "values may be incorrect.",
            stacklevel=2,
        )
    low, high = (a - mean) / std, (b - mean) / std
    with torch.no_grad():
        if _normal_cdf(high) - _normal_cdf(low) > 0.3:
            _redraw_outside_(tensor, mean, std, a, b, generator)
        else:
            peak = min(max(0.0, low), high)
            _accept_uniform_(tensor, mean, std, a, b, peak, generator)
    return tensor


def _redraw_outside_(tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Any) -> None:
    tensor.normal_(mean, std, generator=generator)
    while True:
        outside = (tensor < a) | (tensor > b)
        if not outside.any():
            return
        # A whole tensor each time: the stream then does not depend on which values are outside.
        again = torch.empty_like(tensor).normal_(mean, std, generator=generator)
        tensor.copy_(torch.where(outside, again, tensor))


def _accept_uniform_(tensor: Tensor, mean: float, std: float, a: float, b: float, peak: float, generator: Any) -> None:
    waiting = torch.ones_like(tensor, dtype=torch.bool)
    while waiting.any():
        x = torch.empty_like(tensor).uniform_(a, b, generator=generator)
        u = torch.empty_like(tensor).uniform_(generator=generator)
        z = (x - mean) / std
        # Density over its largest value in a..b. Written so that NaN accepts and ends the loop.
        refused = u > torch.exp((peak * peak - z * z) / 2)
        tensor.copy_(torch.where(waiting & ~refused, x, tensor))
        waiting &= refused


def _normal_cdf(x: float) -> float:
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with `val`."""
    return _no_grad_fill_(tensor, val)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones."""
    return _no_grad_fill_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros."""
    return _no_grad_zero_(tensor)


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with the identity.

    Raises
    ------
    ValueError  if it is no matrix
    """
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with torch.no_grad():
        tensor.zero_()
        tensor.diagonal().fill_(1)
    return tensor


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill a convolution's weight so that it passes as many channels on as it can.

    Parameters
    ----------
    tensor : weight (C_out, C_in / groups, ...) of 3 to 5 dimensions
    groups : number of groups; each passes its first channels on

    Raises
    ------
    ValueError  for another rank, or if C_out is not divisible by `groups`
    """
    if tensor.dim() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    out_channels, in_channels, *kernel = tensor.shape
    if out_channels % groups:
        raise ValueError("dim 0 must be divisible by groups")
    per_group = out_channels // groups
    centre = tuple(k // 2 for k in kernel)
    with torch.no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(per_group, in_channels)):
                tensor[(group * per_group + channel, channel, *centre)] = 1
    return tensor


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """Values that one output (input) element of a weight (out, in, ...) depends on (enters).

    Raises
    ------
    ValueError  if it has fewer than 2 dimensions
    """
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    outer, inner, *kernel = tensor.shape
    field = math.prod(kernel)
    return inner * field, outer * field


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode == "fan_in" else fan_out


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Uniform in +-gain * sqrt(6 / (fan_in + fan_out)) (Glorot, Bengio 2010)."""
    bound = math.sqrt(3.0) * _xavier_std(tensor, gain)
    return _no_grad_uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Normal with deviation gain * sqrt(2 / (fan_in + fan_out)) (Glorot, Bengio 2010)."""
    return _no_grad_normal_(tensor, 0.0, _xavier_std(tensor, gain), generator)


def _xavier_std(tensor: Tensor, gain: float) -> float:
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return gain * math.sqrt(2.0 / float(fan_in + fan_out))


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Uniform in +-gain * sqrt(3 / fan) (He et al. 2015).

    Parameters
    ----------
    a : slope of the leaky_relu that follows
    mode : "fan_in" keeps the variance in the forward pass, "fan_out" in the backward pass
    nonlinearity : name for calculate_gain
    """
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=2)
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return _no_grad_uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Normal with deviation gain / sqrt(fan) (He et al. 2015); see kaiming_uniform_."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=2)
        return tensor
    return _no_grad_normal_(tensor, 0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """Fill with a (semi-)orthogonal matrix, dimensions after the first flattened.

    The Q of a random normal matrix, with signs that make it uniformly distributed
    (Saxe et al. 2013; Mezzadri 2006).

    Raises
    ------
    ValueError  if it has fewer than 2 dimensions
    """
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    cols = tensor.numel() // rows
    with torch.no_grad():
        flat = tensor.new_empty((rows, cols)).normal_(0, 1, generator=generator)
        if rows < cols:
            flat = flat.t()
        q, r = torch.linalg.qr(flat)
        q = q * r.diagonal().sign()
        if rows < cols:
            q = q.t()
        tensor.view_as(q).copy_(q)
        tensor.mul_(gain)
    return tensor


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Fill a matrix with normal values, and a share `sparsity` of each column with zeros.

    Raises
    ------
    ValueError  if it is no matrix
    """
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, cols = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with torch.no_grad():
        tensor.normal_(0, std, generator=generator)
        for col in range(cols):
            # The order is drawn from the default generator, as it always was.
            tensor[torch.randperm(rows)[:zeros], col] = 0
    return tensor


def _deprecated(function: Callable) -> Callable:
    new_name = function.__name__
    old_name = new_name[:-1]

    def deprecated(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(
            f"`nn.init.{old_name}` is now deprecated in favor of `nn.init.{new_name}`.", FutureWarning, stacklevel=2
        )
        return function(*args, **kwargs)

    deprecated.__doc__ = f"Deprecated name of `{new_name}`."
    deprecated.__name__ = old_name
    return deprecated


uniform = _deprecated(uniform_)
normal = _deprecated(normal_)
constant = _deprecated(constant_)
eye = _deprecated(eye_)
dirac = _deprecated(dirac_)
xavier_uniform = _deprecated(xavier_uniform_)
xavier_normal = _deprecated(xavier_normal_)
kaiming_uniform = _deprecated(kaiming_uniform_)
kaiming_normal = _deprecated(kaiming_normal_)
orthogonal = _deprecated(orthogonal_)
sparse = _deprecated(sparse_)
