"""Pointwise operators that choose among others by their arguments."""

import math

import flambeau
from flambeau import Tensor

_ops = flambeau.ops.aten


def _as_float(x: Tensor) -> Tensor:
    return x if x.dtype.is_floating_point or x.dtype.is_complex else x.to(flambeau.get_default_dtype())


def div_mode(self: Tensor, other: Tensor, rounding_mode: str | None) -> Tensor:
    """Division rounded as `rounding_mode` says: None, 'trunc' or 'floor'."""
    if rounding_mode is None:
        return _ops.div.Tensor(self, other)
    if rounding_mode == "trunc":
        return _ops.div_trunc(self, other)
    if rounding_mode == "floor":
        return _ops.div_floor(self, other)
    raise RuntimeError(f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'")


def _number(x: Tensor) -> float | int | complex | None:
    """The value of a 0-d exponent that needs no gradient, for the special powers."""
    return x.item() if x.dim() == 0 and not x.requires_grad and not x.is_meta else None


def pow_(self: Tensor, exponent: Tensor) -> Tensor:
    """Powers; small integer exponents are multiplications."""
    value = _number(exponent) if self.dim() > 0 else None
    integral = not (self.dtype.is_floating_point or self.dtype.is_complex)
    if integral and exponent._is_wrapped_number and exponent.dtype == flambeau.int64 and exponent.item() < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    if value is not None and flambeau.result_type(self, exponent) == self.dtype:
        if value == 2 and self.dtype != flambeau.bool:
            return _ops.square(self)
        if value == 3 and self.dtype != flambeau.bool:
            return _ops._cube(self)
        if not integral and value == 0.5 and not self.dtype.is_complex:
            return _ops.sqrt(self)
        if not integral and value == -1:
            return _ops.reciprocal(self)
    return _ops._pow(self, exponent)


def float_power(self: Tensor, exponent: Tensor) -> Tensor:
    """Powers in float64 or complex128."""
    dtype = flambeau.complex128 if self.dtype.is_complex or exponent.dtype.is_complex else flambeau.float64
    return flambeau.pow(self.to(dtype), exponent.to(dtype))


def sgn(self: Tensor) -> Tensor:
    """Sign; a complex number over its magnitude."""
    return _ops._sgn_complex(self) if self.dtype.is_complex else _ops.sign(self)


def addcdiv(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: object = 1) -> Tensor:
    """self + value * tensor1 / tensor2."""
    if not any(t.dtype.is_floating_point or t.dtype.is_complex for t in (tensor1, tensor2)):
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true division of tensor1 and tensor2. "
            "The historic addcdiv behavior can be implemented as (input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as "
            "(input + value * tensor1 / tensor2) for float inputs."
        )
    return _ops._addcdiv(self, tensor1, tensor2, value=value)


def isclose(self: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """|self - other| <= atol + rtol * |other|, elementwise."""
    if self.dtype != other.dtype:
        raise RuntimeError(f"{self.dtype} did not match {other.dtype}")
    if rtol < 0:
        raise RuntimeError(f"rtol must be greater than or equal to zero, but got {rtol}")
    if atol < 0:
        raise RuntimeError(f"atol must be greater than or equal to zero, but got {atol}")
    return _ops._isclose(self, other, rtol, atol, equal_nan)


def allclose(self: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether every pair is close."""
    return bool(flambeau.all(isclose(self, other, rtol, atol, equal_nan)))


def equal(self: Tensor, other: Tensor) -> bool:
    """Whether sizes and all elements agree."""
    if self.shape != other.shape:
        return False
    if self.dtype != other.dtype:
        raise RuntimeError(
            f"Expected object of data type {self.dtype} but got data type {other.dtype} for argument 'other' in call to equal"
        )
    return bool(flambeau.all(self == other)) if self.numel() else True


def isreal(self: Tensor) -> Tensor:
    """Whether the imaginary part is zero."""
    return flambeau.imag(self) == 0 if self.dtype.is_complex else flambeau.ones_like(self, dtype=flambeau.bool)


def _no_complex(name: str, *tensors: Tensor | None) -> None:
    for t in tensors:
        if t is not None and t.dtype.is_complex:
            raise RuntimeError(f"{name} is not supported for complex types")


def _with_number(self: Tensor, *numbers: complex | None) -> Tensor:
    """self in the dtype that arithmetic with the numbers has."""
    dtype = self.dtype
    for n in (n for n in numbers if n is not None):
        dtype = flambeau.result_type(flambeau.empty(1, dtype=dtype), n)
    return self if dtype == self.dtype else self.to(dtype)


def clamp(self: Tensor, min: complex | None = None, max: complex | None = None) -> Tensor:
    """Limits elements to [min, max]; NaN stays."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    _no_complex("clamp", self)
    if min is None:
        return _ops._clamp_max(_with_number(self, max), max)
    if max is None:
        return _ops._clamp_min(_with_number(self, min), min)
    return _ops._clamp(_with_number(self, min, max), min, max)


def clamp_tensor(self: Tensor, min: Tensor | None = None, max: Tensor | None = None) -> Tensor:
    """Limits elements to [min, max], broadcast; NaN in a limit gives NaN."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    _no_complex("clamp", self, min, max)
    if min is None:
        return _ops.minimum(self, max)
    if max is None:
        return _ops.maximum(self, min)
    return _ops._clamp_tensor(self, min, max)


def clamp_min(self: Tensor, min: complex) -> Tensor:
    return clamp(self, min, None)


def clamp_max(self: Tensor, max: complex) -> Tensor:
    return clamp(self, None, max)


def clamp_min_tensor(self: Tensor, min: Tensor) -> Tensor:
    return clamp_tensor(self, min, None)


def clamp_max_tensor(self: Tensor, max: Tensor) -> Tensor:
    return clamp_tensor(self, None, max)


def logit(self: Tensor, eps: float | None = None) -> Tensor:
    """log(x / (1 - x)), x limited to [eps, 1 - eps] when eps is given."""
    return _ops._logit(self, -1.0 if eps is None else eps)


def polygamma(n: int, self: Tensor) -> Tensor:
    """n-th derivative of digamma."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    return _ops.digamma(self) if n == 0 else _ops._polygamma(self, n)


def mvlgamma(self: Tensor, p: int) -> Tensor:
    """Multivariate log-gamma of dimension p."""
    if p < 1:
        raise RuntimeError(f"p has to be greater than or equal to 1, got {p}")
    x = _as_float(self)
    steps = flambeau.arange(1 - p, 1, dtype=x.dtype, device=x.device) * 0.5
    terms = flambeau.lgamma(x.unsqueeze(-1) + steps.flip(0))
    return terms.sum(-1) + p * (p - 1) / 4 * math.log(math.pi)


def nan_to_num(
    self: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """NaN and infinities replaced; by default 0 and the largest finite numbers."""
    if not (self.dtype.is_floating_point or self.dtype.is_complex):
        return self.clone()
    if self.dtype.is_complex:
        real, imag = (nan_to_num(p, nan, posinf, neginf) for p in (self.real, self.imag))
        return flambeau.complex(real, imag)
    return _ops._nan_to_num(self, nan or 0.0, posinf or 0.0, neginf or 0.0, posinf is not None, neginf is not None)


def angle(self: Tensor) -> Tensor:
    """Argument of complex numbers; 0 or pi of real ones, NaN kept."""
    return _ops._angle(
        self if self.dtype.is_floating_point or self.dtype.is_complex else self.to(flambeau.get_default_dtype())
    )


def complex_(real: Tensor, imag: Tensor) -> Tensor:
    """real + i imag, of two floating tensors of one dtype."""
    floating = (flambeau.float16, flambeau.float32, flambeau.float64)
    if real.dtype not in floating or imag.dtype not in floating:
        raise RuntimeError(
            f"[complex] Expected both inputs to be Half, Float or Double tensors but got {real.type().split('.')[-1][:-6]} and {imag.type().split('.')[-1][:-6]}"
        )
    if real.dtype is not imag.dtype:
        raise RuntimeError(
            f"[complex] Expected object of scalar type {real.type().split('.')[-1][:-6]} but got scalar type {imag.type().split('.')[-1][:-6]} for second argument"
        )
    return _ops._complex(real, imag)


def softshrink(self: Tensor, lambd: float = 0.5) -> Tensor:
    """x - lambd above lambd, x + lambd below -lambd, 0 between."""
    if lambd < 0:
        raise RuntimeError(
            f"[softshrink] lambda must be in range [0, inf) for input dtype {self.dtype}, but found {lambd}"
        )
    return _ops._softshrink(self, lambd)


def gelu(self: Tensor, *, approximate: str = "none") -> Tensor:
    """x times the normal distribution function, exact or by tanh."""
    if approximate == "none":
        return _ops._gelu(self)
    if approximate == "tanh":
        return _ops._gelu_tanh(self)
    raise RuntimeError("approximate argument must be either none or tanh.")


def prelu(self: Tensor, weight: Tensor) -> Tensor:
    """x where positive, weight * x elsewhere; one weight, or one a channel (dim 1)."""
    if self.dtype != weight.dtype:
        raise RuntimeError(f"prelu: Type promoting not supported. Got {self.dtype} and {weight.dtype}")
    if weight.numel() != 1:
        if self.dim() == 0:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = self.shape[1] if self.dim() >= 2 else 1
        if channels != weight.numel():
            raise RuntimeError(
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {weight.numel()} and channel size = {channels}."
            )
    if weight.dim() > 1:
        raise RuntimeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.dim()}")
    if self.dim() != weight.dim():
        shape = [1] * self.dim()
        if self.dim() >= 2:
            shape[1] = weight.numel()
        weight = weight.reshape(shape)
    return _ops._prelu_kernel(self, weight)


def glu(self: Tensor, dim: int = -1) -> Tensor:
    """First half times the sigmoid of the second half of `dim`."""
    if self.dim() == 0:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    size = self.shape[dim]
    if size % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim} is size {size}")
    return _ops._glu(self.narrow(dim, 0, size // 2), self.narrow(dim, size // 2, size // 2))


def special_round(self: Tensor, *, decimals: int = 0) -> Tensor:
    """Nearest multiple of 10 ** -decimals."""
    return flambeau.round(self) if decimals == 0 else flambeau.round(self, decimals=decimals)
