"""The operator records as the tests see them: read from the checkout's `schemas/` by the generator's own reader.

The tests follow from the records: an operator that is added there is tested from then on.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import flambeau as fl
from flambeau import _C

REPOSITORY = Path(os.environ.get("FLAMBEAU_REPOSITORY", Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(REPOSITORY / "tools/opgen/src"))

from opgen.records import Record  # noqa: E402
from opgen.scalar import Body  # noqa: E402
from opgen.tables import load_tables  # noqa: E402


@dataclass(frozen=True)
class Operator:
    """A record with its scalar body, if it is pointwise, and whether the tables hold a derivative for it."""

    record: Record
    body: Body | None
    has_derivative: bool

    @property
    def name(self) -> str:
        return self.record.schema.full_name

    @property
    def overload(self) -> str:
        return self.record.schema.overload

    def form(self, suffix: str = "") -> Callable[..., Any]:
        """The operator as called from Python, of this overload only; `form("_")` its in-place form."""
        found = _C._op_function("aten", self.record.schema.name + suffix, self.overload, False)
        assert found is not None, f"{self.name}{suffix} does not exist"
        return found

    @cached_property
    def call(self) -> Callable[..., Any]:
        return self.form()

    @property
    def is_random(self) -> bool:
        """Whether it draws from a generator."""
        arguments = self.record.schema.arguments
        return any(a.type.base == "Generator" for a in arguments) or "random" in self.record.tags or self.name in DRAWS

    @property
    def mutates(self) -> bool:
        return any(a.type.mutated for a in self.record.schema.arguments)

    def __repr__(self) -> str:
        return self.name


# they draw from the default generator and take none
DRAWS = {
    "native_dropout",
    "dropout",
    "feature_dropout",
    "alpha_dropout",
    "feature_alpha_dropout",
    "rrelu_with_noise",
}


def load() -> list[Operator]:
    tables = load_tables(REPOSITORY / "schemas")
    differentiable = {d.record.schema.full_name for d in tables.derivatives}
    return [Operator(r, tables.bodies.get(r.pointwise), r.schema.full_name in differentiable) for r in tables.records]


OPERATORS = load()
BY_NAME = {o.name: o for o in OPERATORS}


def compute_dtype(operator: Operator, dtype: fl.dtype) -> str:
    """What the body computes in when every operand has this dtype."""
    body = operator.body
    assert body is not None
    integral = not (dtype.is_floating_point or dtype.is_complex)
    if body.promote == "bool_to_int" and dtype == fl.bool:
        return "int64"
    return str(fl.get_default_dtype() if body.promote == "int_to_float" and integral else dtype).split(".")[-1]


def tensors_in(value: Any) -> list[fl.Tensor]:
    """Every tensor in a result or an argument, in order."""
    if isinstance(value, list | tuple):
        return [t for v in value for t in tensors_in(v)]
    return [value] if isinstance(value, fl.Tensor) else []
