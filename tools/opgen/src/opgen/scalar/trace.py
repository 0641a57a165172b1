"""Runs a body for one dtype and checks what it returns."""

from __future__ import annotations

from dataclasses import dataclass

from opgen.scalar.body import Body
from opgen.scalar.ir import Node
from opgen.scalar.lang import BodyError, Trace, Value
from opgen.scalar.types import BOOL, F64, I32, I64, ScalarType


@dataclass(frozen=True)
class Traced:
    """A body's expressions for one dtype. Types are those of the arithmetic; stores of half kinds round."""

    body: Body
    dtype: ScalarType
    inputs: tuple[ScalarType, ...]
    params: tuple[ScalarType, ...]
    results: tuple[Node, ...]
    errors: tuple[tuple[Node, str, str], ...]  # condition, kind, message
    narrow: tuple[Node, ...] = ()  # if any: the condition, then the results where it holds


def operand_type(kind: str, compute: ScalarType) -> ScalarType:
    """The type that an operand of `kind` has where the compute type is `compute`."""
    fixed = {"bool": BOOL, "int32": I32, "int64": I64, "real": compute.real, "complex": compute.complex}
    return fixed.get(kind, compute)


def param_type(kind: str, compute: ScalarType) -> ScalarType:
    return {"double": F64, "int": I64, "bool": BOOL}.get(kind, compute)


def trace(body: Body, dtype: ScalarType) -> Traced:
    """Run `body` with symbolic scalars of `dtype`.

    Raises
    ------
    BodyError  if the body does not type-check for this dtype, or returns another number or type of results than declared
    """
    compute = dtype.compute
    t = Trace(f"{body.name}, {dtype}")
    inputs = tuple(operand_type(kind, compute) for kind in body.inputs)
    params = tuple(param_type(p.kind, compute) for p in body.params)
    arguments = [
        Value(t, t.builder.make("input", ty, attr=i), dtype if kind == "compute" else ty)
        for i, (ty, kind) in enumerate(zip(inputs, body.inputs, strict=True))
    ]
    arguments += [Value(t, t.builder.make("param", ty, attr=i)) for i, ty in enumerate(params)]
    results = _checked(body, t, body.function(*arguments), compute)
    return Traced(body, dtype, inputs, params, results, tuple(t.errors), _narrow(body, t, arguments, compute))


def _narrow(body: Body, t: Trace, arguments: list[Value], compute: ScalarType) -> tuple[Node, ...]:
    offered = body.narrow(*arguments) if body.narrow else None
    if offered is None:
        return ()
    assert isinstance(offered, tuple)
    condition, *results = offered
    if not isinstance(condition, Value) or not condition.is_bool:
        raise BodyError(f"{body.where}: [{t.label}] narrow returns a bool condition first, got {condition!r}")
    return (condition.node, *_checked(body, t, tuple(results), compute))


def _checked(body: Body, t: Trace, returned: object, compute: ScalarType) -> tuple[Node, ...]:
    """The nodes of what a body returned, which must be what its record declares."""
    values = returned if isinstance(returned, tuple) else (returned,)
    if len(values) != len(body.results):
        raise BodyError(f"{body.where}: [{t.label}] returns {len(values)} results, its record says {len(body.results)}")
    nodes = []
    for i, (value, kind) in enumerate(zip(values, body.results, strict=True)):
        want = operand_type(kind, compute)
        if not isinstance(value, Value) or value.type is not want:
            got = value.type if isinstance(value, Value) else repr(value)
            raise BodyError(
                f"{body.where}: [{t.label}] result {i} is {got}; its record says {kind}, which is {want} here"
            )
        nodes.append(value.node)
    return tuple(nodes)
