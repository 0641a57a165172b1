"""Fourier transforms of real and Hermitian signals, in terms of the complex one."""

import math

import flambeau
from flambeau import Tensor

_ops = flambeau.ops.aten
_NONE, _ROOT, _BY_N = 0, 1, 2


def _mode(norm: str | None, forward: bool) -> int:
    if norm == "ortho":
        return _ROOT
    if norm not in (None, "forward", "backward"):
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    return _BY_N if (norm == "forward") == forward else _NONE


def _as_complex(op: str, x: Tensor) -> Tensor:
    dtype = x.dtype
    if dtype.is_complex:
        if dtype not in (flambeau.complex64, flambeau.complex128):
            raise RuntimeError(
                f"[{op}] Unsupported dtype {dtype}; allowed: real and integer numbers, complex64, complex128"
            )
        return x
    if dtype in (flambeau.float16, flambeau.bfloat16):
        raise RuntimeError(
            f"[{op}] Unsupported dtype {dtype}; allowed: float32, float64, integers, complex64, complex128"
        )
    if not dtype.is_floating_point:
        dtype = flambeau.get_default_dtype()
    return x.to(dtype.to_complex())


def _real(op: str, x: Tensor) -> Tensor:
    if x.dtype.is_complex:
        raise RuntimeError(f"{op} expects a real input tensor, but got {x.dtype}")
    return x


def _wrap(x: Tensor, dim: int) -> int:
    if not -x.dim() <= dim < max(x.dim(), 1):
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-max(x.dim(), 1)}, {max(x.dim(), 1) - 1}], but got {dim})"
        )
    return dim % max(x.dim(), 1)


def _resized(x: Tensor, dim: int, n: int) -> Tensor:
    """Cut, or padded with zeros, to `n` along `dim`."""
    if n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")
    size = x.shape[dim]
    if size > n:
        return x.narrow(dim, 0, n)
    if size == n:
        return x
    shape = list(x.shape)
    shape[dim] = n - size
    return flambeau.cat([x, x.new_zeros(shape)], dim)


def _shapes(op: str, x: Tensor, s: list[int] | None, dim: list[int] | None) -> tuple[list[int | None], list[int]]:
    """One size (None: as it is) for every dim."""
    if dim is not None:
        if dim and x.dim() == 0:
            raise IndexError(f"[{op}] Dimension specified as {dim[0]} but tensor has no dimensions")
        dims = [_wrap(x, d) for d in dim]
        if len(set(dims)) != len(dims):
            raise RuntimeError("FFT dims must be unique")
        if s is not None and len(s) != len(dims):
            raise RuntimeError(
                f"When given, dim and shape arguments must have the same length, got {len(dims)} and {len(s)}"
            )
    elif s is not None:
        if len(s) > x.dim():
            raise RuntimeError(f"Got shape with {len(s)} values but input tensor only has {x.dim()} dimensions.")
        dims = list(range(x.dim() - len(s), x.dim()))
    else:
        dims = list(range(x.dim()))
    sizes: list[int | None] = [None if n == -1 else n for n in s] if s is not None else [None] * len(dims)
    return sizes, dims


def _c2c(op: str, x: Tensor, sizes: list[int | None], dims: list[int], mode: int, forward: bool) -> Tensor:
    x = _as_complex(op, x)
    for d, n in zip(dims, sizes, strict=True):
        x = _resized(x, d, x.shape[d] if n is None else n)
    return _ops._fft_c2c(x, dims, mode, forward) if dims else x.clone()


def _half(x: Tensor, dim: int, order: list[int]) -> Tensor:
    """The first half of `dim`, with strides that fall in this order of the dims."""
    back = [order.index(d) for d in range(x.dim())]
    return x.narrow(dim, 0, x.shape[dim] // 2 + 1).permute(order).contiguous().permute(back)


def _inner_last(strides: list[int], dims: list[int]) -> list[int]:
    """Dims in the order in which the strides of a result fall: `dims` after the others, each group as it was."""
    falling = sorted(range(len(strides)), key=lambda d: -strides[d])
    return [d for d in falling if d not in dims] + [d for d in falling if d in dims]


def _real_order(x: Tensor, dims: list[int]) -> list[int]:
    """The order for the transform of real numbers: the dim that is halved comes last."""
    falling = _inner_last(list(x.stride()), dims)
    return [d for d in falling if d != dims[-1]] + [dims[-1]]


def _inverse_order(x: Tensor, dims: list[int]) -> list[int]:
    """The order where the last of `dims` is halved first and the others are transformed after it."""
    first = _real_order(x, dims[-1:])
    ranks = [-first.index(d) for d in range(x.dim())]
    return _inner_last(ranks, dims[:-1]) if len(dims) > 1 else first


def _mirrored(x: Tensor, dim: int, n: int) -> Tensor:
    """The whole of a Hermitian signal of length `n` from its first half; entry k is the conjugate of entry -k."""
    x = _resized(x, dim, n // 2 + 1)
    tail = x.narrow(dim, 1, (n - 1) // 2).flip(dim).conj()
    return flambeau.cat([x, tail], dim) if tail.shape[dim] else x


def _vector(op: str, x: Tensor, n: int | None, dim: int) -> tuple[list[int | None], list[int]]:
    if x.dim() == 0:
        raise IndexError(f"[{op}] Dimension specified as {dim} but tensor has no dimensions")
    return [n], [_wrap(x, dim)]


def fft(x: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Complex transform of one dim."""
    return _c2c("fft", x, *_vector("fft", x, n, dim), _mode(norm, True), True)


def ifft(x: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Inverse complex transform of one dim."""
    return _c2c("ifft", x, *_vector("ifft", x, n, dim), _mode(norm, False), False)


def rfft(x: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """First half of the transform of real numbers."""
    return _r2c("rfft", x, *_vector("rfft", _real("rfft", x), n, dim), norm, True)


def ihfft(x: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """First half of the inverse transform of real numbers."""
    return _r2c("ihfft", x, *_vector("ihfft", _real("ihfft", x), n, dim), norm, False)


def _real_part(x: Tensor, order: list[int]) -> Tensor:
    """The real numbers, with strides that fall in this order of the dims."""
    back = [order.index(d) for d in range(x.dim())]
    return flambeau.real(x).permute(order).contiguous().permute(back)


def irfft(x: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Real numbers whose transform begins with x."""
    return _c2r("irfft", x, *_vector("irfft", x, n, dim), norm, False)


def hfft(x: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Transform of a Hermitian signal that begins with x."""
    return _c2r("hfft", x, *_vector("hfft", x, n, dim), norm, True)


def fftn(x: Tensor, s: list[int] | None = None, dim: list[int] | None = None, norm: str | None = None) -> Tensor:
    """Complex transform of several dims."""
    return _c2c("fftn", x, *_shapes("fftn", x, s, dim), _mode(norm, True), True)


def ifftn(x: Tensor, s: list[int] | None = None, dim: list[int] | None = None, norm: str | None = None) -> Tensor:
    """Inverse complex transform of several dims."""
    return _c2c("ifftn", x, *_shapes("ifftn", x, s, dim), _mode(norm, False), False)


def rfftn(x: Tensor, s: list[int] | None = None, dim: list[int] | None = None, norm: str | None = None) -> Tensor:
    """Transform of real numbers; half of the last dim."""
    return _r2c("rfftn", x, *_shapes("rfftn", _real("rfftn", x), s, dim), norm, True)


def ihfftn(x: Tensor, s: list[int] | None = None, dim: list[int] | None = None, norm: str | None = None) -> Tensor:
    """Inverse transform of real numbers; half of the last dim."""
    return _r2c("ihfftn", x, *_shapes("ihfftn", _real("ihfftn", x), s, dim), norm, False)


def irfftn(x: Tensor, s: list[int] | None = None, dim: list[int] | None = None, norm: str | None = None) -> Tensor:
    """Inverse of rfftn."""
    return _c2r("irfftn", x, *_shapes("irfftn", x, s, dim), norm, False)


def hfftn(x: Tensor, s: list[int] | None = None, dim: list[int] | None = None, norm: str | None = None) -> Tensor:
    """Transform of a signal that is Hermitian in its last dim."""
    return _c2r("hfftn", x, *_shapes("hfftn", x, s, dim), norm, True)


def _r2c(op: str, x: Tensor, sizes: list[int | None], dims: list[int], norm: str | None, forward: bool) -> Tensor:
    if not dims:
        raise RuntimeError(f"{op} must transform at least one axis")
    order = _real_order(x, dims) if forward else _inverse_order(x, dims)
    return _half(_c2c(op, x, sizes, dims, _mode(norm, forward), forward), dims[-1], order)


def _c2r(op: str, x: Tensor, sizes: list[int | None], dims: list[int], norm: str | None, forward: bool) -> Tensor:
    if not dims:
        raise RuntimeError(f"{op} must transform at least one axis")
    *others, last = dims
    n = 2 * (x.shape[last] - 1) if sizes[-1] is None else sizes[-1]
    if n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")
    mode = _mode(norm, forward)
    x = _c2c(op, x, sizes[:-1], others, mode, forward) if others else _as_complex(op, x)
    whole = _mirrored(x, last, n)
    return _real_part(_ops._fft_c2c(whole, [last], mode, forward), _inner_last(list(x.stride()), [last]))


def fftshift(x: Tensor, dim: list[int] | None = None) -> Tensor:
    """Moves the zero frequency to the middle."""
    return _rolled(x, dim, 0)


def ifftshift(x: Tensor, dim: list[int] | None = None) -> Tensor:
    """Undoes fftshift."""
    return _rolled(x, dim, 1)


def _rolled(x: Tensor, dim: list[int] | None, more: int) -> Tensor:
    """Rolled by half of each size; `more` rounds that up."""
    dims = list(range(x.dim())) if dim is None else [_wrap(x, d) for d in dim]
    return flambeau.roll(x, [(x.shape[d] + more) // 2 for d in dims], dims) if dims else x.clone()


def _frequency_step(op: str, n: int, d: float) -> float:
    """1 / (n * d), infinite for 0."""
    if n < 0:
        raise RuntimeError(f"[{op}] n must not be negative, got {n}")
    return 1.0 / (n * d) if n * d else math.copysign(math.inf, d)


def fftfreq(
    n: int, d: float = 1.0, *, dtype: flambeau.dtype | None = None, device: flambeau.device | None = None, **_: object
) -> Tensor:
    """0, 1, ..., then the negative frequencies, in cycles per unit."""
    step = _frequency_step("fft_fftfreq", n, d)
    positive = flambeau.arange((n + 1) // 2, dtype=dtype or flambeau.get_default_dtype(), device=device)
    negative = flambeau.arange(-(n // 2), 0, dtype=dtype or flambeau.get_default_dtype(), device=device)
    return flambeau.cat([positive, negative]) * step


def rfftfreq(
    n: int, d: float = 1.0, *, dtype: flambeau.dtype | None = None, device: flambeau.device | None = None, **_: object
) -> Tensor:
    """0, 1, ..., n // 2 in cycles per unit."""
    step = _frequency_step("fft_rfftfreq", n, d)
    return flambeau.arange(n // 2 + 1, dtype=dtype or flambeau.get_default_dtype(), device=device) * step
