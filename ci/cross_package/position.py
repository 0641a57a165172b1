"""Compares f(x)[i] with f(x[i]) bit for bit, for every pointwise record; run by test_position.py, one instruction set a process.

    python position.py DTYPE...

Prints a line for each operator and dtype where they differ, or that fails; nothing when all is well.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

import flambeau as fl
from comparison import bits
from record_samples import BY_TYPE, NUMBERS
from records import OPERATORS, Operator, compute_dtype

LENGTH = 131  # more than two vectors of any instruction set, and a tail
SPECIAL = [
    0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1e-45, -1e-40, 3e38, 1e300, 88.8, -104.0, 0.5, 1.5, 2.5, 1.0, -1.0,
]  # fmt: skip


def numbers(dtype: fl.dtype, seed: int) -> fl.Tensor:
    """Special values, then ordinary ones of several sizes."""
    generator = fl.Generator().manual_seed(seed)
    sizes = fl.tensor([0.01, 1, 30], dtype=fl.float64).repeat(LENGTH)[:LENGTH]
    ordinary = fl.randn(LENGTH, generator=generator, dtype=fl.float64) * sizes
    if dtype.is_complex:
        return fl.complex(ordinary, ordinary.flip(0)).to(dtype)
    if not dtype.is_floating_point:
        return ordinary.to(fl.int64).to(dtype)
    ordinary[: len(SPECIAL)] = fl.tensor(SPECIAL, dtype=fl.float64).roll(seed)
    return ordinary.to(dtype)


def operand(argument: str, kind: str, dtype: fl.dtype, position: int) -> fl.Tensor:
    """What an argument of a body gets: a mask, a small degree, or numbers; integers that divide are not 0."""
    if kind == "bool":
        return numbers(fl.float32, position) > 0
    assert kind == "compute", kind
    if argument == "n":  # the degree of a polynomial: the work grows with it
        return (fl.arange(LENGTH) % 8).to(dtype)
    found = numbers(dtype, 1 + 4 * position)
    if position and not (dtype.is_floating_point or dtype.is_complex):
        return fl.where(found == 0, fl.ones_like(found), found)
    return found


def arguments(operator: Operator, dtype: fl.dtype) -> tuple[list[Any], dict[str, Any]]:
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    assert operator.body is not None
    kinds = iter(operator.body.inputs)
    for a in operator.record.schema.arguments:
        if a.type.base == "Tensor":
            args.append(operand(a.name, next(kinds), dtype, len(args)))
        elif a.kwarg_only and a.default is None:
            kwargs[a.name] = NUMBERS.get(a.name, BY_TYPE[a.type.base])
        elif not a.kwarg_only:
            args.append(NUMBERS.get(a.name, BY_TYPE[a.type.base]))
    return args, kwargs


def part(args: list[Any], index: Any) -> list[Any]:
    return [a[index] if isinstance(a, fl.Tensor) else a for a in args]


def result_bits(operator: Operator, args: list[Any], kwargs: dict[str, Any]) -> list[fl.Tensor]:
    found = operator.call(*args, **kwargs)
    return [bits(t) for t in (found if isinstance(found, tuple) else (found,))]


def views(args: list[Any]) -> Iterator[tuple[str, list[Any], slice]]:
    """Views of the operands and where their elements lie."""
    yield "from the third element on", part(args, slice(3, None)), slice(3, None)
    yield "every second element", part(args, slice(None, None, 2)), slice(None, None, 2)


def difference(operator: Operator, dtype: fl.dtype) -> str:
    """'' or where the bits differ."""
    args, kwargs = arguments(operator, dtype)
    whole = result_bits(operator, args, kwargs)
    rows = [w.tolist() for w in whole]
    for i in range(LENGTH):
        one = result_bits(operator, part(args, slice(i, i + 1)), kwargs)
        if [o.tolist() for o in one] != [r[i : i + 1] for r in rows]:
            return f"element {i} of {LENGTH} alone: x = {values(args, i)}"
        if i % 16 == 0 and [o.tolist() for o in result_bits(operator, part(args, i), kwargs)] != [r[i] for r in rows]:
            return f"element {i} as a 0-d tensor: x = {values(args, i)}"
    for name, view, where in views(args):
        if not all(fl.equal(v, w[where]) for v, w in zip(result_bits(operator, view, kwargs), whole, strict=True)):
            return f"a view {name}"
    return ""


def values(args: list[Any], i: int) -> list[Any]:
    return [a[i].item() for a in args if isinstance(a, fl.Tensor)]


def main() -> None:
    warnings.simplefilter("ignore")
    for name in sys.argv[1:]:
        dtype = getattr(fl, name)
        for operator in OPERATORS:
            if operator.body is None or compute_dtype(operator, dtype) not in {t.name for t in operator.body.dtypes}:
                continue
            try:
                found = difference(operator, dtype)
            except RuntimeError as err:
                found = f"{type(err).__name__}: {err}"
            if found:
                print(f"{operator} {name}: {found}")


if __name__ == "__main__":
    main()
