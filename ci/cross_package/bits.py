"""Compares f(x)[i] with f(x[i]) bit for bit; run by test_position.py with one instruction set per process.

Prints a line for each operator and dtype where they differ; nothing when all is well.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import flambeau as fl

UNARY = [
    "abs",
    "neg",
    "square",
    "sgn",
    "sign",
    "ceil",
    "floor",
    "trunc",
    "round",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sqrt",
    "rsqrt",
    "reciprocal",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "erf",
    "erfc",
    "erfinv",
    "sigmoid",
    "digamma",
    "lgamma",
    "frac",
    "isnan",
    "isfinite",
    "logical_not",
    "relu",
]
BINARY = [
    "add",
    "sub",
    "mul",
    "div",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "atan2",
    "pow",
    "remainder",
    "fmod",
    "floor_divide",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "logical_and",
    "logical_or",
    "logical_xor",
    "logaddexp",
]
FUNCTIONAL = [
    "relu",
    "silu",
    "gelu",
    "softplus",
    "elu",
    "leaky_relu",
    "hardswish",
    "hardtanh",
    "mish",
    "relu6",
    "selu",
    "celu",
    "logsigmoid",
    "softsign",
    "tanhshrink",
    "hardsigmoid",
]
DTYPES = (
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "int64",
    "int32",
    "int16",
    "int8",
    "uint8",
    "bool",
    "complex64",
    "complex128",
)
LENGTH = 131  # more than two vectors of any instruction set, and a tail
SPECIAL = [
    0.0,
    -0.0,
    float("inf"),
    float("-inf"),
    float("nan"),
    1e-45,
    -1e-40,
    3e38,
    1e300,
    88.8,
    -104.0,
    0.5,
    1.5,
    2.5,
    1.0,
    -1.0,
]


def inputs(dtype: str, seed: int) -> fl.Tensor:
    """Special values, then ordinary ones of several sizes."""
    generator = fl.Generator().manual_seed(seed)
    ordinary = (
        fl.randn(LENGTH, generator=generator, dtype=fl.float64) * fl.tensor([0.01, 1, 30]).repeat(LENGTH)[:LENGTH]
    )
    kind = getattr(fl, dtype)
    if dtype.startswith("complex"):
        return fl.complex(ordinary, ordinary.flip(0)).to(kind)
    if not kind.is_floating_point:
        return (ordinary.abs() if dtype == "uint8" else ordinary).to(kind)
    ordinary[: len(SPECIAL)] = fl.tensor(SPECIAL, dtype=fl.float64).roll(seed)
    return ordinary.to(kind)


def raw(tensor: fl.Tensor) -> Any:
    """The bits of a tensor: comparable, NaN included."""
    tensor = tensor.contiguous()
    if tensor.dtype.is_complex:
        tensor = fl.view_as_real(tensor)
    if tensor.dtype.is_floating_point:
        tensor = tensor.view({2: fl.int16, 4: fl.int32, 8: fl.int64}[tensor.element_size()])
    return tensor.tolist()


def layouts(x: fl.Tensor) -> Iterator[tuple[str, fl.Tensor, slice]]:
    """Views of x and where their elements lie in it."""
    yield "one by one", x, slice(None)
    yield "from the third on", x[3:], slice(3, None)
    yield "every second", x[::2], slice(None, None, 2)


def difference(f: Callable[..., fl.Tensor], *x: fl.Tensor) -> str:
    """'' or where the bits differ."""
    whole = raw(f(*x))
    for i in range(LENGTH):
        if raw(f(*(t[i : i + 1] for t in x))) != whole[i : i + 1]:
            return f"element {i} of {LENGTH} alone: x = {[t[i].item() for t in x]}"
        if i % 16 == 0 and [raw(f(*(t[i] for t in x)))] != whole[i : i + 1]:
            return f"element {i} as a 0-d tensor: x = {[t[i].item() for t in x]}"
    parts = [list(layouts(t)) for t in x]
    for views in zip(*parts, strict=True):
        if raw(f(*(v for _, v, _ in views))) != whole[views[0][2]]:
            return f"view {views[0][0]}"
    return ""


def main() -> None:
    warnings.simplefilter("ignore")
    functional = fl.nn.functional
    table = [(n, getattr(fl, n), 1) for n in UNARY] + [(n, getattr(fl, n), 2) for n in BINARY]
    table += [(f"nn.functional.{n}", getattr(functional, n), 1) for n in FUNCTIONAL]
    chosen = sys.argv[1:] or DTYPES
    for dtype in chosen:
        x = [inputs(dtype, 1), inputs(dtype, 5)]
        for name, function, arity in table:
            try:
                function(*(t[:1] for t in x[:arity]))
            except (RuntimeError, TypeError, NotImplementedError):
                continue  # not defined for this dtype
            if found := difference(function, *x[:arity]):
                print(f"{name} {dtype}: {found}")


if __name__ == "__main__":
    main()
