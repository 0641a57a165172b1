"""One sample call of every operator record, made from its schema; a line each in CALLS for those that need more.

`sample(operator)` gives the arguments of a call that succeeds with finite results. `sizes=LARGE` gives the same call on
tensors large enough for several threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import flambeau as fl
from record_calls import CALLS
from records import Operator, tensors_in


@dataclass(frozen=True)
class Sizes:
    """What the letters in CALLS stand for: a, b and c any sizes, n of square matrices, h and w of images."""

    a: int
    b: int
    c: int
    n: int
    h: int
    w: int


SMALL = Sizes(a=3, b=4, c=5, n=4, h=6, w=7)
LARGE = Sizes(a=213, b=402, c=97, n=48, h=40, w=66)
DOMAINS: dict[str, tuple[float, float]] = {"t": (-2.0, 2.0), "f": (0.15, 0.85), "g": (1.1, 3.0)}


class Inputs:
    """Makers of tensors, the same for the same seed. Floating ones can be moved along a direction of their own."""

    def __init__(
        self,
        sizes: Sizes = SMALL,
        dtype: fl.dtype = fl.float64,
        domain: str = "t",
        step: float = 0.0,
        grad: bool = False,
    ) -> None:
        self.sizes = sizes
        self.dtype = dtype
        self.domain = domain
        self.step = step
        self.grad = grad
        self.generator = fl.Generator().manual_seed(11)
        self.leaves: list[fl.Tensor] = []
        self.directions: list[fl.Tensor] = []  # of each leaf, for `step`

    def names(self) -> dict[str, Any]:
        """The names that an entry of CALLS may use."""
        return {
            **vars(self.sizes), "fl": fl, "t": self.values, "p": lambda *s: self.between(s, 0.3, 2.0), "i": self.indices,
            "m": self.mask, "spd": self.definite, "z": self.complex, "call": lambda *args, **kwargs: (args, kwargs),
            "fraction": lambda *s: self.between(s, 0.15, 0.85), "dt": self.dtype, "tril": self.triangular,
            "const": self.constant,
        }  # fmt: skip

    def between(self, shape: tuple[int, ...], low: float, high: float) -> fl.Tensor:
        return self._leaf(self._uniform(shape) * (high - low) + low)

    def values(self, *shape: int) -> fl.Tensor:
        return self.between(shape, *DOMAINS[self.domain])

    def complex(self, *shape: int) -> fl.Tensor:
        return self._leaf(self._uniform((*shape, 2)) * 2 - 1, finish=fl.view_as_complex)

    def definite(self, *shape: int) -> fl.Tensor:
        """Symmetric and positive definite; moves among the symmetric matrices."""
        n = shape[-1]
        a = self._uniform((*shape, n))
        return self._leaf(a @ a.mT + n * fl.eye(n, dtype=fl.float64), symmetric=True)

    def triangular(self, size: int) -> fl.Tensor:
        return self.definite(size).tril()

    def indices(self, below: int, *shape: int) -> fl.Tensor:
        return fl.randint(0, below, shape, generator=self.generator)

    def mask(self, *shape: int) -> fl.Tensor:
        return fl.rand(shape, generator=self.generator) < 0.5

    def constant(self, *shape: int) -> fl.Tensor:
        """Numbers that a gradient is not asked for."""
        return (self._uniform(shape) + 0.5).to(self.dtype)

    def _uniform(self, shape: tuple[int, ...]) -> fl.Tensor:
        return fl.rand(shape, generator=self.generator, dtype=fl.float64)

    def _leaf(
        self, numbers: fl.Tensor, *, symmetric: bool = False, finish: Callable[[fl.Tensor], fl.Tensor] | None = None
    ) -> fl.Tensor:
        seed = fl.Generator().manual_seed(len(self.leaves))
        direction = fl.randn(numbers.shape, generator=seed, dtype=fl.float64)
        direction = direction + direction.mT if symmetric else direction
        moved = numbers + self.step * direction if self.step else numbers
        leaf = finish(moved).clone() if finish else moved.to(self.dtype)
        self.leaves.append(leaf.requires_grad_(self.grad))
        self.directions.append(finish(direction) if finish else direction)
        return leaf


@dataclass
class Call:
    """Arguments of one call, in the order of the schema."""

    operator: Operator
    args: list[Any]
    kwargs: dict[str, Any]
    inputs: Inputs

    def run(self) -> Any:
        return self.run_form(self.operator.call)

    def run_form(self, form: Callable[..., Any], **more: Any) -> Any:
        fl.manual_seed(3)
        return form(*self.args, **self.kwargs, **more)

    def tensors(self) -> list[fl.Tensor]:
        return tensors_in([*self.args, *self.kwargs.values()])

    def mapped(self, change: Callable[[fl.Tensor], fl.Tensor]) -> Call:
        """The same call with every tensor replaced by what `change` makes of it."""
        args, kwargs = replace_tensors(self.args, change), replace_tensors(self.kwargs, change)
        return Call(self.operator, args, kwargs, self.inputs)

    def copy(self) -> Call:
        return self.mapped(lambda t: t.detach().clone())


def replace_tensors(value: Any, change: Callable[[fl.Tensor], fl.Tensor]) -> Any:
    if isinstance(value, fl.Tensor):
        return change(value)
    if isinstance(value, list | tuple):
        return type(value)(replace_tensors(v, change) for v in value)
    if isinstance(value, dict):
        return {k: replace_tensors(v, change) for k, v in value.items()}
    return value


# Required arguments that are no tensors, by name, then by type.
NUMBERS: dict[str, Any] = {
    "dim": -1, "dim0": 0, "dim1": 1, "k": 2, "n": 2, "p": 0.5, "size": [2, 2], "dims": [0], "q": 0.4, "decimals": 2, "train": True,
}  # fmt: skip
BY_TYPE: dict[str, Any] = {
    "int": 1, "float": 0.5, "bool": False, "Scalar": 1, "str": "mean", "ScalarType": fl.float64, "MemoryFormat": fl.contiguous_format,
}  # fmt: skip
# Shapes that every tensor of a call has, tried in this order.
SHAPES = ("a, b", "n, n", "b", "2, a, b", "2, 4, h, w", "1, 4, 4, h, w")


def generic(operator: Operator, inputs: Inputs, shape: tuple[int, ...]) -> tuple[list[Any], dict[str, Any]]:
    """A call with every tensor of one shape; defaults stay."""
    args, kwargs = [], {}
    operands = list(operator.body.inputs) if operator.body else []
    for a in operator.record.schema.arguments:
        kind = operands.pop(0) if a.type.base == "Tensor" and operands else "compute"
        if a.default is not None or (a.type.optional and a.kwarg_only):
            continue
        value: Any
        if a.type.base == "Tensor":
            masks = kind == "bool" or a.name in ("mask", "condition")
            value = inputs.mask(*shape) if masks else inputs.values(*shape)
            value = [value, inputs.values(*shape)] if a.type.is_list else value
        elif a.type.optional:
            value = None
        else:
            value = NUMBERS.get(a.name, BY_TYPE.get(a.type.base))
            value = [value] if a.type.is_list and not isinstance(value, list) else value
        if a.kwarg_only:
            kwargs[a.name] = value
        else:
            args.append(value)
    return args, kwargs


def candidates(operator: Operator, sizes: Sizes, step: float, grad: bool) -> Iterator[Callable[[], Call]]:
    """Calls to try, in order: the entry of CALLS alone where there is one."""

    def listed(text: str, domain: str) -> Call:
        inputs = Inputs(sizes, domain=domain, step=step, grad=grad)
        args, kwargs = eval(f"call({text})", inputs.names())
        return Call(operator, list(args), kwargs, inputs)

    def made(text: str, domain: str) -> Call:
        inputs = Inputs(sizes, domain=domain, step=step, grad=grad)
        args, kwargs = generic(operator, inputs, tuple(eval(f"[{text}]", inputs.names())))
        return Call(operator, args, kwargs, inputs)

    entry = CALLS.get(operator.name, CALLS.get(operator.record.alias_of, ""))
    for text in [entry] if entry else SHAPES:
        for domain in DOMAINS:
            yield lambda t=text, d=domain: (listed if entry else made)(t, d)


def is_finite(result: Any) -> bool:
    exact = (t for t in tensors_in(result) if t.is_floating_point() or t.is_complex())
    return all(bool(fl.isfinite(t.to(fl.complex128 if t.is_complex() else fl.float64)).all()) for t in exact)


_chosen: dict[str, int] = {}


def sample(operator: Operator, sizes: Sizes = SMALL, step: float = 0.0, grad: bool = False) -> Call:
    """A call that succeeds with finite results. Raises LookupError with the last error where none does."""
    makers = list(candidates(operator, sizes, step, grad))
    if operator.name not in _chosen:
        _chosen[operator.name] = first_that_works(operator)
    return makers[_chosen[operator.name]]()


def first_that_works(operator: Operator) -> int:
    last: object = "no finite result"
    for number, make in enumerate(candidates(operator, SMALL, 0.0, False)):
        try:
            call = make()
            result = call.run()
        except Exception as err:
            last = err
            continue
        if is_finite(result):
            return number
    raise LookupError(f"{operator.name}: no sample call succeeds; give it a line in record_calls.py ({last})")
