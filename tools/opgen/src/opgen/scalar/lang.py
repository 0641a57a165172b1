"""The language of scalar bodies: what a function in `schemas/scalar/*.py` may do with its arguments.

A body is run once for each dtype with symbolic `Value`s. Operators and the functions of this module build expression nodes;
Python's own `if` may ask about types (`x.is_floating`), never about values: a choice by value is `where(c, a, b)`, which
evaluates both sides. What does not type-check raises `BodyError` with the file and line in the body.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from opgen.errors import RecordError
from opgen.scalar.ir import Builder, Node
from opgen.scalar.types import BOOL, ScalarType

_HERE = str(Path(__file__).parent)


class BodyError(RecordError):
    """A scalar body does something that its types do not allow; the message starts with file:line."""


@dataclass
class Trace:
    """What one run of a body collects: its builder and the errors it declares."""

    label: str
    builder: Builder = field(default_factory=Builder)
    errors: list[tuple[Node, str, str]] = field(default_factory=list)

    def error(self, what: str) -> BodyError:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename.startswith(_HERE):
            frame = frame.f_back
        where_ = f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else "<unknown>:0"
        return BodyError(f"{where_}: [{self.label}] {what}")


class Value:
    """A symbolic scalar.

    `type` is what it is computed in; `dtype` is what the operator's tensor holds (float16 is computed in float32).
    """

    __slots__ = ("dtype", "node", "trace")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, trace: Trace, node: Node, dtype: ScalarType | None = None) -> None:
        self.trace = trace
        self.node = node
        self.dtype = dtype or node.type

    @property
    def type(self) -> ScalarType:
        return self.node.type

    @property
    def is_floating(self) -> bool:
        return self.type.is_floating

    @property
    def is_complex(self) -> bool:
        return self.type.is_complex

    @property
    def is_integral(self) -> bool:
        """True of integers, not of bool."""
        return self.type.is_integral

    @property
    def is_bool(self) -> bool:
        return self.type.is_bool

    @property
    def is_signed(self) -> bool:
        return self.type.is_signed

    def like(self, literal: complex) -> Value:
        """The literal as a constant of this value's type."""
        return _lift(self.trace, literal, self.type, "like")

    def to(self, type: ScalarType) -> Value:
        """The value converted to `type`; float to integer saturates nowhere and follows docs/numerics.md."""
        return cast(self, type)

    @property
    def real(self) -> Value:
        return (
            Value(self.trace, self.trace.builder.make("real", self.type.real, self.node)) if self.is_complex else self
        )

    @property
    def imag(self) -> Value:
        if not self.is_complex:
            return self.like(0)
        return Value(self.trace, self.trace.builder.make("imag", self.type.real, self.node))

    def __bool__(self) -> bool:
        raise self.trace.error(
            "the value of a traced scalar is not known; choose with where(condition, a, b), or ask about types (x.is_floating)"
        )

    def __repr__(self) -> str:
        return f"Value({self.node.op}: {self.type})"

    # fmt: off
    def __add__(self, other: object) -> Value: return _arithmetic("add", self, other)
    def __radd__(self, other: object) -> Value: return _arithmetic("add", other, self)
    def __sub__(self, other: object) -> Value: return _arithmetic("sub", self, other)
    def __rsub__(self, other: object) -> Value: return _arithmetic("sub", other, self)
    def __mul__(self, other: object) -> Value: return _arithmetic("mul", self, other)
    def __rmul__(self, other: object) -> Value: return _arithmetic("mul", other, self)
    def __truediv__(self, other: object) -> Value: return _arithmetic("div", self, other)
    def __rtruediv__(self, other: object) -> Value: return _arithmetic("div", other, self)
    def __eq__(self, other: object) -> Value: return _compare("eq", self, other)  # type: ignore[override]
    def __ne__(self, other: object) -> Value: return _compare("ne", self, other)  # type: ignore[override]
    def __lt__(self, other: object) -> Value: return _compare("lt", self, other)
    def __le__(self, other: object) -> Value: return _compare("le", self, other)
    def __gt__(self, other: object) -> Value: return _compare("gt", self, other)
    def __ge__(self, other: object) -> Value: return _compare("ge", self, other)
    def __and__(self, other: object) -> Value: return _bitwise("and", self, other)
    def __rand__(self, other: object) -> Value: return _bitwise("and", other, self)
    def __or__(self, other: object) -> Value: return _bitwise("or", self, other)
    def __ror__(self, other: object) -> Value: return _bitwise("or", other, self)
    def __xor__(self, other: object) -> Value: return _bitwise("xor", self, other)
    def __lshift__(self, other: object) -> Value: return _bitwise("shl", self, other)
    def __rshift__(self, other: object) -> Value: return _bitwise("shr", self, other)
    # fmt: on

    def __invert__(self) -> Value:
        if not (self.is_bool or self.is_integral):
            raise self.trace.error(f"~ takes bool or integers, got {self.type}")
        return Value(self.trace, self.trace.builder.make("not", self.type, self.node))

    def __neg__(self) -> Value:
        if self.is_bool:
            raise self.trace.error("- takes numbers, got bool; use ~")
        return Value(self.trace, self.trace.builder.make("neg", self.type, self.node))


def _lift(trace: Trace, x: object, type: ScalarType, what: str) -> Value:
    """`x` as a Value of `type`: a Value of that type, or a literal that the type can hold."""
    if isinstance(x, Value):
        if x.type is not type:
            raise trace.error(
                f"{what} takes two values of one type, got {type} and {x.type}; convert with cast(x, type)"
            )
        return x
    if isinstance(x, bool):
        allowed = type.is_bool
    elif isinstance(x, int):
        allowed = not type.is_bool
    elif isinstance(x, float):
        allowed = type.is_floating or type.is_complex
    else:
        allowed = isinstance(x, complex) and type.is_complex
    if not allowed:
        raise trace.error(f"{what} of a {type} value takes {type} values and literals of that kind, got {x!r}")
    return Value(trace, trace.builder.const(type, x))


def _pair(what: str, x: object, y: object) -> tuple[Value, Value]:
    some = x if isinstance(x, Value) else y
    assert isinstance(some, Value)
    return _lift(some.trace, x, some.type, what), _lift(some.trace, y, some.type, what)


def _arithmetic(op: str, x: object, y: object) -> Value:
    a, b = _pair(op, x, y)
    if a.is_bool:
        raise a.trace.error(f"{op} takes numbers, got bool; use &, |, ^, or cast first")
    if op == "div" and a.is_integral:
        raise a.trace.error(
            f"/ takes floating or complex values, got {a.type}; use idiv(x, y), or promote with int_to_float"
        )
    return Value(a.trace, a.trace.builder.make(op, a.type, a.node, b.node))


def _compare(op: str, x: object, y: object) -> Value:
    a, b = _pair(op, x, y)
    if a.is_complex and op not in ("eq", "ne"):
        raise a.trace.error(f"complex values have no order: {op} is not allowed, == and != are")
    return Value(a.trace, a.trace.builder.make(op, BOOL, a.node, b.node))


def _bitwise(op: str, x: object, y: object) -> Value:
    a, b = _pair(op, x, y)
    if not (a.is_integral or (a.is_bool and op in ("and", "or", "xor"))):
        raise a.trace.error(f"{op} takes integers (and, or, xor: or bool), got {a.type}")
    return Value(a.trace, a.trace.builder.make(op, a.type, a.node, b.node))


def where(condition: Value, x: object, y: object) -> Value:
    """`x` where `condition` holds, else `y`; both are evaluated. One of `x`, `y` may be a literal."""
    trace = condition.trace
    if not condition.is_bool:
        raise trace.error(f"where takes a bool condition, got {condition.type}; compare with != 0")
    if not isinstance(x, Value) and not isinstance(y, Value):
        raise trace.error("where of two literals has no type; write x.like(literal) for one of them")
    a, b = _pair("where", x, y)
    return Value(trace, trace.builder.make("where", a.type, condition.node, a.node, b.node))


def cast(x: Value, type: ScalarType) -> Value:
    """`x` converted to `type`. Anything to bool is `x != 0`."""
    b = x.trace.builder
    if x.type is type:
        return x
    if type.is_bool:
        return x != (0 if not x.is_bool else False)
    if x.is_complex and not type.is_complex:
        raise x.trace.error(f"a complex value does not convert to {type}; take .real or .imag")
    if type.is_complex and not x.is_complex:
        return make_complex(cast(x, type.real), b and cast(x, type.real).like(0))
    return Value(x.trace, b.make("cast", type, x.node))


def make_complex(real: Value, imag: object) -> Value:
    a, b = _pair("make_complex", real, imag)
    if not a.is_floating:
        raise a.trace.error(f"make_complex takes floating values, got {a.type}")
    return Value(a.trace, a.trace.builder.make("make_complex", a.type.complex, a.node, b.node))


def bitcast(x: Value, type: ScalarType) -> Value:
    """The bits of `x` read as `type`, which has the same width."""
    if x.type.bits != type.bits or x.is_complex:
        raise x.trace.error(f"bitcast keeps the width: {x.type} has {x.type.bits} bits, {type} has {type.bits}")
    return Value(x.trace, x.trace.builder.make("bitcast", type, x.node))


def idiv(x: Value, y: object) -> Value:
    """Integer quotient rounded toward zero; a divisor of 0 gives 0 (declare the error with `error_if`)."""
    return _integer_op("idiv", x, y)


def irem(x: Value, y: object) -> Value:
    """Remainder of `idiv`, with the sign of `x`; a divisor of 0 gives 0."""
    return _integer_op("irem", x, y)


def _integer_op(op: str, x: Value, y: object) -> Value:
    a, b = _pair(op, x, y)
    if not a.is_integral:
        raise a.trace.error(f"{op} takes integers, got {a.type}")
    return Value(a.trace, a.trace.builder.make(op, a.type, a.node, b.node))


def error_if(condition: Value, kind: str, message: str) -> None:
    """Declare that the operator fails with `kind` where `condition` holds for any element."""
    if not condition.is_bool:
        raise condition.trace.error(f"error_if takes a bool condition, got {condition.type}")
    condition.trace.errors.append((condition.node, kind, message))


def call(function: str, *args: object, kinds: str = "fc", result: ScalarType | None = None) -> Value:
    """A call of the C++ function `function` on values of one type; `kinds` are the kinds it takes (f, c, i)."""
    first = next(a for a in args if isinstance(a, Value))
    letter = {"float": "f", "complex": "c", "int": "i", "uint": "i", "bool": "b"}[first.type.kind]
    if letter not in kinds:
        names = {"f": "floating", "c": "complex", "i": "integer", "b": "bool"}
        raise first.trace.error(f"{function} takes {' or '.join(names[k] for k in kinds)} values, got {first.type}")
    nodes = [_lift(first.trace, a, first.type, function).node for a in args]
    return Value(first.trace, first.trace.builder.make("call", result or first.type, *nodes, attr=function))
